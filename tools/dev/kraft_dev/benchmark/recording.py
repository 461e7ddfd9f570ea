"""The traces that the benchmark measures with: runs of the reference, as the bytes of their files."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from random import Random

from kraft_dev.agreement import of_other_software
from kraft_reference.cluster.occurrence import Occurrence
from kraft_reference.cluster.plan import RunPlan
from kraft_reference.cluster.simulation import Simulation
from kraft_reference.cluster.workload import WORKLOADS, Faults, Workload
from kraft_spec.fingerprint import spec_hash
from kraft_traces.own import own_generator
from kraft_traces.writer import trace_bytes

BUSY_CLIENT_MS = 40
"""Mean time between two appends in the runs with long logs: about one event in three appends a record."""


@dataclass(frozen=True, slots=True)
class Recording:
    """A trace in memory."""

    name: str
    events: int
    content: bytes


def recording(plan: RunPlan, events: int | None = None) -> Recording:
    """The trace of a run, or of its first `events` events."""
    simulation = plan.simulation()
    name = f"{plan.workload}-{plan.seed}"
    return _recorded(name, simulation, islice(simulation.run(), events), plan.seed, plan.workload)


def mix(events: int, seed: int = 1) -> list[Recording]:
    """One trace of each named workload."""
    return [recording(RunPlan(seed=seed, steps=events, workload=name), events) for name in WORKLOADS]


def of_others(recordings: Iterable[Recording]) -> list[Recording]:
    """The same traces as other software might write them: other correlation ids, and fields left out."""
    found = []
    for number, one in enumerate(recordings):
        lines = of_other_software(one.content.splitlines(keepends=True), Random(number))
        found.append(replace(one, content=b"".join(lines)))
    return found


def short_traces(number: int, events: int) -> Iterator[Recording]:
    """Traces of the named workloads in turn, each with its own seed."""
    names = list(WORKLOADS)
    for index in range(number):
        plan = RunPlan(seed=index + 1, steps=events, workload=names[index % len(names)])
        yield recording(plan, events)


def with_log_of(records: int) -> Recording:
    """A quiet run with a busy client that ends when a log has so many records."""
    configuration = RunPlan(seed=1, workload="calm").configuration()
    simulation = Simulation(
        configuration, 1, Workload(append_interval_ms=BUSY_CLIENT_MS), Faults(), steps=records * 100
    )
    return _recorded(f"log-{records}", simulation, _until_log(simulation.run(), records), 1, "calm, busy client")


def _until_log(occurrences: Iterator[Occurrence], records: int) -> Iterator[Occurrence]:
    for occurrence in occurrences:
        yield occurrence
        if occurrence.state is not None and occurrence.state.log.end_offset >= records:
            return


def _recorded(
    name: str, simulation: Simulation, occurrences: Iterator[Occurrence], seed: int, workload: str
) -> Recording:
    lines = list(
        trace_bytes(occurrences, simulation.configuration, own_generator(seed, workload), spec_hash=spec_hash())
    )
    # All lines but the header and the end are events.
    return Recording(name, len(lines) - 2, b"".join(lines))
