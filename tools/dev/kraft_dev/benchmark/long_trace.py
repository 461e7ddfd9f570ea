"""A trace of very many lines: is checking it linear in its length, and does what is kept in memory stay the same?"""

import gc
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from statistics import median

import jpype

from kraft_conformance.console import progress
from kraft_dev.benchmark.checking import check_accepted
from kraft_reference.cluster.occurrence import Occurrence
from kraft_reference.cluster.plan import RunPlan
from kraft_reference.cluster.simulation import Simulation
from kraft_reference.events import ClientAppend
from kraft_spec.fingerprint import spec_hash
from kraft_traces.own import own_generator
from kraft_traces.reader import open_trace
from kraft_traces.writer import write_trace

PARTS = 10
"""Into how many stretches of equal length a trace is divided."""

WORKLOAD = "snapshots"
APPEND_INTERVAL_MS = 40
"""A busy client: more than one event in ten appends a record."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A tenth of the trace, and what is kept in memory after it."""

    events: int
    """Lines checked so far."""
    seconds: float
    """CPU time of all threads for this stretch alone."""
    python_objects: int
    """Objects that Python's collector knows of."""
    java_bytes: int
    """Bytes in use in Java's heap after a collection."""


@dataclass(frozen=True, slots=True)
class LongTrace:
    """How checking went."""

    events: int
    appends: int
    """Lines that append a client's record."""
    bytes_read: int
    stretches: tuple[Stretch, ...]

    @property
    def slowdown(self) -> float:
        """The time of the last stretch in medians of all of them: 1 where time is linear in length."""
        return self.stretches[-1].seconds / median(stretch.seconds for stretch in self.stretches)

    @property
    def growth(self) -> float:
        """Java's heap after the last stretch in that after the first: 1 where memory does not grow."""
        return self.stretches[-1].java_bytes / self.stretches[0].java_bytes


def long_plan(events: int, seed: int = 1) -> Simulation:
    """A run with voter changes of the snapshots workload and a busy client."""
    plan = RunPlan(seed=seed, workload=WORKLOAD, steps=events)
    preset = plan.preset()
    workload = replace(preset.workload, append_interval_ms=APPEND_INTERVAL_MS)
    return Simulation(plan.configuration(), seed, workload, preset.faults, steps=events)


def record_long_trace(events: int, target: Path, seed: int = 1, checkpoint_every: int | None = None) -> int:
    """Write the trace of so many events; gives how many of them append a client's record."""
    simulation = long_plan(events, seed)
    appends = 0

    def counted(occurrences: Iterator[Occurrence]) -> Iterator[Occurrence]:
        nonlocal appends
        for occurrence in occurrences:
            appends += isinstance(occurrence.event, ClientAppend) and occurrence.refusal is None
            yield occurrence

    generator = own_generator(seed, WORKLOAD)
    with (
        progress(f"simulating {events:,} events", events) as advance,
        write_trace(
            target,
            simulation.configuration,
            generator,
            spec_hash=spec_hash(),
            checkpoint_every=checkpoint_every,
        ) as writer,
    ):
        for occurrence in counted(islice(simulation.run(), events)):
            writer.write(occurrence)
            advance()
    return appends


def measure_long_trace(events: int, folder: Path, seed: int = 1) -> LongTrace:
    """Record a trace in `folder`, then check it stretch by stretch.

    Raises:
        NotAcceptedError: it is not accepted.
    """
    target = folder / "long.jsonl"
    appends = record_long_trace(events, target, seed)
    each = max(1, events // PARTS)
    with open_trace(target) as reader, progress(f"checking {events:,} lines", events) as advance:
        stretches = _Stretches(each)

        def checked(lines: int) -> None:
            advance(lines)
            stretches.count(lines)

        check_accepted(reader, on_events=checked)
    return LongTrace(events, appends, target.stat().st_size, tuple(stretches.found))


class _Stretches:
    """Ends a stretch after each so many lines."""

    def __init__(self, each: int) -> None:
        self.found: list[Stretch] = []
        self._each = each
        self._events = 0
        self._started = time.process_time()

    def count(self, events: int) -> None:
        """So many lines more."""
        self._events += events
        if self._events >= self._each * (1 + len(self.found)):
            seconds = time.process_time() - self._started
            gc.collect()
            runtime = jpype.JClass("java.lang.Runtime").getRuntime()
            runtime.gc()
            used = int(runtime.totalMemory() - runtime.freeMemory())
            self.found.append(Stretch(self._events, seconds, len(gc.get_objects()), used))
            self._started = time.process_time()
