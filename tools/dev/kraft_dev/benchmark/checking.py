"""Benchmark of the trace checker."""

import time
from collections.abc import Callable, Sequence
from statistics import median

from kraft_dev.benchmark.figure import BenchmarkError, Figure
from kraft_dev.benchmark.recording import Recording, rewrite_as_foreign, take_replica_away
from kraft_traces.check import EVERY, VerdictKind, check_reader
from kraft_traces.check.fast_path import COMPILED, INTERPRETED, Way
from kraft_traces.check.model import trace_model
from kraft_traces.reader import TraceReader, trace_of_bytes

CHECK_TARGET = 40_000
"""Events per second on one core."""

OTHERS_TARGET = 25_000
"""Events per second for traces of other software, which omit fields."""

OPAQUE_TARGET = 20_000
"""Events per second for traces that do not observe one replica."""

INTERPRETED_TARGET = 8
"""Speedup of the compiled model over TLC's interpreter."""


def check_accepted(
    reader: TraceReader, every: int = EVERY, on_events: Callable[[int], None] | None = None, way: Way = COMPILED
) -> None:
    """Check a trace that the model accepts.

    Raises:
        BenchmarkError: it is not accepted.
    """
    verdict = check_reader(reader, every=every, on_events=on_events, way=way)
    if verdict.kind is not VerdictKind.ACCEPTED:
        reason = verdict.rejection.headline() if verdict.rejection else verdict.reason
        raise BenchmarkError(f"{reader.source} is {verdict.kind}: {reason}")


def measure_checking(
    recordings: Sequence[Recording], *, every: int = EVERY, warm_up: int = 6, passes: int = 3
) -> list[Figure]:
    """Check the traces `warm_up` times unmeasured, then `passes` times, and return the median pass.

    Passes over traces as other software might write them, over traces without one replica, and passes that TLC
    interprets, alternate with these.  "One core" is CPU time of all threads of the process, Java's included.

    Raises:
        BenchmarkError: a trace is not accepted.
    """
    events = sum(recording.events for recording in recordings)
    trace_model()
    foreign, opaque = rewrite_as_foreign(recordings), take_replica_away(recordings)
    for _ in range(warm_up):
        for traces in (recordings, foreign, opaque):
            _timed_pass(traces, every)
    _timed_pass(recordings, every, INTERPRETED)
    taken, of_other_software, without_replica, interpreted = [], [], [], []
    for _ in range(passes):
        taken.append(_timed_pass(recordings, every))
        of_other_software.append(_timed_pass(foreign, every))
        without_replica.append(_timed_pass(opaque, every))
        interpreted.append(_timed_pass(recordings, every, INTERPRETED))
    seconds = median(taken)
    return [
        Figure("trace checking, one core", events / seconds, CHECK_TARGET, "events/s"),
        Figure(
            "checking traces of other software, one core", events / median(of_other_software), OTHERS_TARGET, "events/s"
        ),
        Figure(
            "checking traces without one replica, one core",
            sum(recording.events for recording in opaque) / median(without_replica),
            OPAQUE_TARGET,
            "events/s",
        ),
        Figure("against interpreting", median(interpreted) / seconds, INTERPRETED_TARGET),
    ]


def _timed_pass(recordings: Sequence[Recording], every: int, way: Way = COMPILED) -> float:
    """Return the seconds of CPU time of one pass."""
    began = time.process_time()
    for recording in recordings:
        check_accepted(trace_of_bytes(recording.content, recording.name), every, way=way)
    return time.process_time() - began
