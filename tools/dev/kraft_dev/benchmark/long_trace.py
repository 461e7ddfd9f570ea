"""Benchmark of one very long trace: checking time must be linear in its length, and memory must stay constant."""

import gc
import time
from dataclasses import replace
from itertools import islice
from pathlib import Path
from statistics import median

import jpype

from kraft_conformance.console import progress
from kraft_dev.benchmark.checking import check_accepted
from kraft_dev.benchmark.figure import Figure
from kraft_reference.events import ClientAppend
from kraft_simulation.plan import RunPlan
from kraft_simulation.simulation import Simulation
from kraft_spec.fingerprint import spec_hash
from kraft_traces.own import own_generator
from kraft_traces.reader import open_trace
from kraft_traces.writer import write_trace

PARTS = 10
"""Number of stretches of equal length that the trace is divided into."""

WORKLOAD = "snapshots"
SEED = 1
APPEND_INTERVAL_MS = 40
"""Append interval of a busy client: more than one event in ten appends a record."""


def long_plan(events: int) -> Simulation:
    """Return the plan of a run with voter changes of the snapshots workload and a busy client."""
    plan = RunPlan(seed=SEED, workload=WORKLOAD, steps=events)
    preset = plan.preset()
    workload = replace(preset.workload, append_interval_ms=APPEND_INTERVAL_MS)
    return Simulation(plan.configuration(), SEED, workload, preset.faults, steps=events)


def record_long_trace(events: int, target: Path) -> int:
    """Write a trace with this many events; return the number of events that append a client's record."""
    simulation = long_plan(events)
    appends = 0
    generator = own_generator(SEED, WORKLOAD)
    with (
        progress(f"simulating {events:,} events", events) as advance,
        write_trace(target, simulation.configuration, generator, spec_hash=spec_hash()) as writer,
    ):
        for occurrence in islice(simulation.run(), events):
            appends += isinstance(occurrence.event, ClientAppend) and occurrence.refusal is None
            writer.write(occurrence)
            advance()
    return appends


def measure_long_trace(events: int, folder: Path) -> list[Figure]:
    """Record a trace in `folder`, then check it in `PARTS` stretches.

    Raises:
        BenchmarkError: it is not accepted.
    """
    target = folder / "long.jsonl"
    appends = record_long_trace(events, target)
    with open_trace(target) as reader, progress(f"checking {events:,} lines", events) as advance:
        stretches = _Stretches(max(1, events // PARTS))

        def checked(lines: int) -> None:
            advance(lines)
            stretches.count(lines)

        check_accepted(reader, on_events=checked)
    seconds, heaps = stretches.seconds, stretches.heaps
    return [
        Figure("checked", events, unit="lines"),
        Figure("of them appends of a client", appends, unit="lines"),
        Figure("read", target.stat().st_size / 1e6, unit="MB"),
        *[Figure(f"stretch {number}", taken, unit="CPU s") for number, taken in enumerate(seconds, 1)],
        *[Figure(f"Java heap after stretch {number}", used / 1e6, unit="MB") for number, used in enumerate(heaps, 1)],
        Figure("last stretch / median stretch, CPU time", seconds[-1] / median(seconds)),
        Figure("Java heap after the last stretch / after the first", heaps[-1] / heaps[0]),
    ]


class _Stretches:
    """Marks the end of each stretch, with the CPU time of all threads and the bytes in use in Java's heap."""

    def __init__(self, each: int) -> None:
        self.seconds: list[float] = []
        self.heaps: list[int] = []
        self._each = each
        self._events = 0
        self._started = time.process_time()

    def count(self, events: int) -> None:
        """Count more lines."""
        self._events += events
        if self._events >= self._each * (1 + len(self.seconds)):
            self.seconds.append(time.process_time() - self._started)
            gc.collect()
            runtime = jpype.JClass("java.lang.Runtime").getRuntime()
            runtime.gc()
            self.heaps.append(int(runtime.totalMemory() - runtime.freeMemory()))
            self._started = time.process_time()
