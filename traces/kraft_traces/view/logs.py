"""Logs of the replicas, as far as the lines of a trace record them."""

from typing import Any, NamedTuple

from msgspec import UNSET, to_builtins

from kraft_traces.effects import TracedAppendRecords, TracedEffect, TracedTruncateLog, TracedWriteSnapshot
from kraft_traces.lines import EventLine
from kraft_traces.values import TracedRecord

Run = TracedRecord | int
"""Record, or number of consecutive records that the trace does not have; offsets may be larger than the trace."""


class LogChange(NamedTuple):
    """Change of a log by a line: the log starts at `start`, keeps its records up to `end`, and appends `added`."""

    start: int
    end: int
    added: tuple[dict[str, Any] | int, ...]
    """Records; a number represents that many records that the trace does not have."""


class ObservedLog:
    """Log of one replica: its start offset, and the records from there on."""

    def __init__(self) -> None:
        self._start = 0
        self._runs: tuple[Run, ...] = ()

    def begin(self, start: int, records: tuple[TracedRecord, ...]) -> LogChange:
        """Begin with the log of a checkpoint, and return the change from an empty log."""
        self._start, self._runs = start, records
        return LogChange(start, start, tuple(to_builtins(record) for record in records))

    def follow(self, line: EventLine) -> LogChange | None:
        """Follow a line of this replica, and return the change of its log; None if there is none.

        Recorded start and end offsets take precedence over effects; records that are then unknown are not shown.
        """
        before_start, before = self._start, self._runs
        for effect in () if line.effects is UNSET else line.effects:
            self._apply(effect)
        state = line.state
        if state is not UNSET:
            if state.log_start_offset is not UNSET:
                self._start_at(state.log_start_offset)
            if state.log_end_offset is not UNSET:
                self._end_at(state.log_end_offset)
        return self._change(before_start, before)

    def _apply(self, effect: TracedEffect) -> None:
        match effect:
            case TracedAppendRecords(base_offset, records):
                self._end_at(base_offset)
                self._runs = (*self._runs, *records)
            case TracedTruncateLog(end_offset):
                self._end_at(end_offset)
            case TracedWriteSnapshot(snapshot, replaces_log):
                if replaces_log:
                    self._runs = ()
                    self._start = snapshot.end_offset
                self._start_at(snapshot.end_offset)
            case _:
                pass

    def _start_at(self, offset: int) -> None:
        """Drop the records before `offset`; if the log starts earlier than before, its records are unknown."""
        if offset > self._start:
            self._runs = _without_first(self._runs, offset - self._start)
        elif offset < self._start:
            # The disk was replaced.
            self._runs = ()
        self._start = offset

    def _end_at(self, offset: int) -> None:
        self._runs = _first(self._runs, max(0, offset - self._start))

    def _change(self, before_start: int, before: tuple[Run, ...]) -> LogChange | None:
        if before_start == self._start and before == self._runs:
            return None
        kept = 0
        if self._start >= before_start:
            kept = _common(_without_first(before, self._start - before_start), self._runs)
        added = _without_first(self._runs, kept)
        runs = tuple(run if isinstance(run, int) else to_builtins(run) for run in added)
        return LogChange(self._start, self._start + kept, runs)


def _length(run: Run) -> int:
    return run if isinstance(run, int) else 1


def _first(runs: tuple[Run, ...], length: int) -> tuple[Run, ...]:
    """Return the first `length` records; missing ones are represented by their number."""
    kept: list[Run] = []
    for run in runs:
        if length == 0:
            break
        kept.append(min(run, length) if isinstance(run, int) else run)
        length -= _length(kept[-1])
    if length:
        # Two numbers are never adjacent, so equal logs have equal runs.
        last = kept.pop() if kept and isinstance(kept[-1], int) else 0
        kept.append(_length(last) + length)
    return tuple(kept)


def _without_first(runs: tuple[Run, ...], length: int) -> tuple[Run, ...]:
    for place, run in enumerate(runs):
        if length < _length(run):
            return (run - length if isinstance(run, int) else run, *runs[place + 1 :])
        length -= _length(run)
    return ()


def _common(runs: tuple[Run, ...], other: tuple[Run, ...]) -> int:
    """Return the number of common records at the start of both."""
    length = 0
    for left, right in zip(runs, other, strict=False):
        if left != right:
            return length + (min(left, right) if isinstance(left, int) and isinstance(right, int) else 0)
        length += _length(left)
    return length
