"""The logs of the replicas, as far as the lines of a trace show them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from msgspec import UNSET, to_builtins

from kraft_traces.effects import TracedAppendRecords, TracedEffect, TracedTruncateLog, TracedWriteSnapshot
from kraft_traces.lines import EventLine
from kraft_traces.values import TracedRecord

HIDDEN: None = None
"""Stands for a record that the trace does not show."""


class LogChange(NamedTuple):
    """What a line does to a log: it then starts at `start`, keeps what it has up to `end`, and goes on with `added`."""

    start: int
    end: int
    added: tuple[dict[str, Any] | None, ...]


class ShownLog:
    """One replica's log: the offset it starts at, and the records from there on."""

    def __init__(self, start: int = 0) -> None:
        self._start = start
        self._records: list[TracedRecord | None] = []

    def follow(self, line: EventLine) -> LogChange | None:
        """Take in a line of this replica; None if the log stays as it is.

        The ends of the log that the line observed are believed more than its effects: what they leave open is
        `HIDDEN`.
        """
        before_start, before = self._start, list(self._records)
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
                self._records.extend(records)
            case TracedTruncateLog(end_offset):
                self._end_at(end_offset)
            case TracedWriteSnapshot(snapshot, replaces_log):
                if replaces_log:
                    self._records.clear()
                    self._start = snapshot.end_offset
                self._start_at(snapshot.end_offset)
            case _:
                pass

    def _start_at(self, offset: int) -> None:
        """What is before `offset` is gone; what an earlier start would hold is not shown."""
        if offset > self._start:
            del self._records[: offset - self._start]
        elif offset < self._start:
            # A new disk starts over.
            self._records.clear()
        self._start = offset

    def _end_at(self, offset: int) -> None:
        length = max(0, offset - self._start)
        del self._records[length:]
        self._records.extend([HIDDEN] * (length - len(self._records)))

    def _change(self, before_start: int, before: Sequence[TracedRecord | None]) -> LogChange | None:
        if before_start == self._start and before == self._records:
            return None
        kept = 0
        if self._start >= before_start:
            still = before[self._start - before_start :]
            while kept < min(len(still), len(self._records)) and still[kept] == self._records[kept]:
                kept += 1
        added = tuple(None if record is None else to_builtins(record) for record in self._records[kept:])
        return LogChange(self._start, self._start + kept, added)
