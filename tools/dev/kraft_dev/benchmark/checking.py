"""How fast traces are checked: as a whole, and against the length of the logs."""

import time
from collections.abc import Callable, Sequence
from statistics import median

from kraft_dev.benchmark.figure import Figure
from kraft_dev.benchmark.recording import Recording, of_others
from kraft_traces.check import EVERY, VerdictKind, check_reader
from kraft_traces.check.fast_path import COMPILED, INTERPRETED, Way
from kraft_traces.check.model import trace_model
from kraft_traces.reader import TraceReader, trace_of_bytes

CHECK_TARGET = 40_000
"""Events a second on one core."""

OTHERS_TARGET = 25_000
"""The same of traces of other software, which leave fields out."""

INTERPRETED_TARGET = 8
"""How many times faster the compiled model is than TLC, which interprets it."""

TAIL_EVENTS = 1000
"""Over how many events at the end of a run the speed at its log's length is measured: two times `EVERY`."""

TAIL_SECONDS = 0.3
"""A shorter tail is measured repeatedly for that long."""


class NotAcceptedError(Exception):
    """A trace of the reference is not accepted: a defect, and no time to measure speed."""


def check_accepted(
    reader: TraceReader, every: int = EVERY, on_events: Callable[[int], None] | None = None, way: Way = COMPILED
) -> None:
    """Check a trace that is right.

    Raises:
        NotAcceptedError: it is not accepted.
    """
    verdict = check_reader(reader, every=every, on_events=on_events, way=way)
    if verdict.kind is not VerdictKind.ACCEPTED:
        said = verdict.rejection.headline() if verdict.rejection else verdict.reason
        raise NotAcceptedError(f"{reader.source} is {verdict.kind}: {said}")


def measure_checking(
    recordings: Sequence[Recording], *, every: int = EVERY, warm_up: int = 6, passes: int = 3
) -> list[Figure]:
    """Check the traces `warm_up` times unmeasured, then `passes` times; the median pass counts.

    Passes over the traces as other software might write them, and passes in which TLC interprets the model, alternate
    with these.  "One core" is CPU time of all threads of the process, Java's included; the clock gains from a second
    core and suffers from other load.

    Raises:
        NotAcceptedError: a trace is not accepted.
    """
    events = sum(one.events for one in recordings)
    trace_model()
    first, _ = _timed_pass(recordings, every)
    others = of_others(recordings)
    for _ in range(warm_up - 1):
        _timed_pass(recordings, every)
        _timed_pass(others, every)
    _timed_pass(recordings, every, INTERPRETED)
    taken, of_other_software, interpreted = [], [], []
    for _ in range(passes):
        taken.append(_timed_pass(recordings, every))
        of_other_software.append(_timed_pass(others, every)[0])
        interpreted.append(_timed_pass(recordings, every, INTERPRETED)[0])
    seconds = median(cpu for cpu, _ in taken)
    return [
        Figure("trace checking, one core", events / seconds, CHECK_TARGET, "events/s"),
        Figure("the same of other software", events / median(of_other_software), OTHERS_TARGET, "events/s"),
        Figure("against interpreting", median(interpreted) / seconds, INTERPRETED_TARGET),
        Figure("trace checking by the clock", events / median(clock for _, clock in taken), unit="events/s"),
        Figure("trace checking, one core, without warm-up", events / first, unit="events/s"),
    ]


def _timed_pass(recordings: Sequence[Recording], every: int, way: Way = COMPILED) -> tuple[float, float]:
    """Seconds of CPU time and of the clock."""
    cpu, clock = time.process_time(), time.perf_counter()
    for one in recordings:
        check_accepted(trace_of_bytes(one.content, one.name), every, way=way)
    return time.process_time() - cpu, time.perf_counter() - clock


def measure_log_length(recording: Recording, records: int, *, every: int = EVERY) -> Figure:
    """Check a run whose longest log grows to `records`, and time its last `TAIL_EVENTS` events, or all of fewer.

    Raises:
        NotAcceptedError: it is not accepted.
    """
    tail = min(TAIL_EVENTS, recording.events)
    taken: list[float] = []
    while not taken or sum(taken) * tail < TAIL_SECONDS:
        watch = _TailWatch(recording.events - tail)
        check_accepted(trace_of_bytes(recording.content, recording.name), every, watch)
        taken.append((time.process_time() - watch.started) / watch.events)
    return Figure(f"checking at a log of {records:,} records, one core", 1 / median(taken), unit="events/s")


class _TailWatch:
    """Notes the CPU time when about so many events are done, and counts those that follow."""

    def __init__(self, skipped: int) -> None:
        self._left = skipped
        self.started = time.process_time()
        self.events = 0

    def __call__(self, events: int) -> None:
        if self._left <= 0:
            self.events += events
            return
        self._left -= events
        if self._left <= 0:
            self.started = time.process_time()
