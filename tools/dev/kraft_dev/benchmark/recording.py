"""Traces for the benchmark: runs of the reference, as the bytes of their files."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import islice
from random import Random

from kraft_dev.opaque_traces import without_replicas
from kraft_dev.other_software import of_other_software
from kraft_simulation.plan import RunPlan
from kraft_simulation.workload import WORKLOADS
from kraft_spec.fingerprint import spec_hash
from kraft_traces.own import own_generator
from kraft_traces.writer import trace_bytes


@dataclass(frozen=True, slots=True)
class Recording:
    """A trace in memory."""

    name: str
    events: int
    content: bytes


def record_run(plan: RunPlan) -> Recording:
    """Return the trace of a run, without the liveness phase."""
    simulation = plan.simulation()
    generator = own_generator(plan.seed, plan.workload)
    run = islice(simulation.run(), plan.steps)
    lines = list(trace_bytes(run, simulation.configuration, generator, spec_hash=spec_hash()))
    # All lines but the header and the end line are events.
    return Recording(f"{plan.workload}-{plan.seed}", len(lines) - 2, b"".join(lines))


def record_workloads(events: int) -> list[Recording]:
    """Return one trace of each named workload."""
    return [record_run(RunPlan(seed=1, steps=events, workload=name)) for name in WORKLOADS]


def take_replica_away(recordings: Iterable[Recording]) -> list[Recording]:
    """Return the same traces as if nobody had recorded replica 3."""
    rewritten = []
    for original in recordings:
        lines = list(without_replicas(original.content.splitlines(keepends=True), (3,)))
        rewritten.append(Recording(original.name, len(lines) - 2, b"".join(lines)))
    return rewritten


def rewrite_as_foreign(recordings: Iterable[Recording]) -> list[Recording]:
    """Return the same traces as other software might write them: other correlation ids, fields omitted."""
    rewritten = []
    for number, original in enumerate(recordings):
        lines = of_other_software(original.content.splitlines(keepends=True), Random(number))
        rewritten.append(replace(original, content=b"".join(lines)))
    return rewritten
