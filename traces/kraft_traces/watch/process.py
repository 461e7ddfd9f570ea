"""Trace of one process that still grows, over all files that its writer begins."""

from collections.abc import Iterable

from msgspec import UNSET, Struct

from kraft_traces.errors import DuplicateHeaderError, DuplicateSequenceError, LinesAfterEndError
from kraft_traces.lines import EndLine, EventLine, HeaderLine
from kraft_traces.parsing import parse_line
from kraft_traces.process_trace import ProcessTrace, missing_events
from kraft_traces.watch.growing import Position

PENDING_MAX = 5_000
"""Number of events beyond which no more lines of a process are read before some are merged."""


class SavedProcess(Struct, frozen=True):
    """State of a `GrowingProcess` behind its last merged event, as JSON."""

    header: HeaderLine
    merged: Position
    sequence: int
    """Sequence of the last merged event."""
    own: tuple[int, ...]
    gap: str
    """Reason why the next event follows a gap; empty if it does not."""
    first_event: str
    """First event line, by which a file that was written anew is recognised."""


class MergedProcess(ProcessTrace):
    """Trace that grows; `events` has those that are read and not merged yet, from `position` on."""

    __slots__ = ("has_ended", "lines_read", "own", "quiet_since", "since")

    def __init__(self, source: str, header: HeaderLine, own: Iterable[int] = ()) -> None:
        """Begin without events."""
        super().__init__(source, header, [])
        self.own: set[int] = set(own)
        """Replicas whose events it has had so far."""
        self.since: float | None = None
        """Time at which its next event began to wait for a message; None if it does not wait."""
        self.has_ended = False
        """True behind an end line."""
        self.quiet_since: float | None = None
        """Time since which all its events are merged; None while some wait."""
        self.lines_read = 0
        """Number of lines that were read."""

    @property
    def replicas(self) -> frozenset[int]:
        """Replicas whose events it has had so far."""
        return frozenset(self.own)

    @property
    def waiting(self) -> int:
        """Number of events that are read and not merged yet."""
        return len(self.events) - self.position

    @property
    def next_place(self) -> tuple[str, int]:
        """File and line of the next event."""
        raise NotImplementedError

    def drop_merged(self) -> None:
        """Forget the events before `position`, which are merged."""
        merged = self.position
        if merged:
            del self.events[:merged]
            self.gaps = {at - merged: text for at, text in self.gaps.items() if at >= merged}
            self.position = 0


class GrowingProcess(MergedProcess):
    """Trace of a process, in the files of kraft-trace/1 that it writes one after the other."""

    __slots__ = ("_expected", "_first_event", "_gap", "_last", "_marks", "_merged", "_rereads")

    def __init__(self, header: HeaderLine, begin: Position, saved: SavedProcess | None = None) -> None:
        """Begin behind the header, or where an earlier watch stopped."""
        super().__init__(begin.path, header, () if saved is None else saved.own)
        self._merged = (begin, 0) if saved is None else (saved.merged, saved.sequence)
        """Place behind the last merged event, and its sequence."""
        self._expected = self._merged[1] + 1
        self._gap = "" if saved is None else saved.gap
        """Reason of a gap before the next event that is read."""
        self._marks: list[tuple[Position, int]] = []
        """Place behind each of `events`, and its sequence."""
        self._first_event = b"" if saved is None else saved.first_event.encode()
        self._last = b""
        """Event line that was read last."""
        self._rereads: bool | None = None
        """True while lines are skipped that the file before it had; None if the first event decides."""

    @property
    def lost(self) -> frozenset[int]:
        """Indices in `events` before which lines are missing; `len(events)` for lines after the last."""
        return frozenset(self.gaps) | (frozenset({len(self.events)}) if self._gap or not self.is_over else frozenset())

    def save(self) -> SavedProcess:
        """Return the state behind the last merged event."""
        gap = self.gaps.get(self.position, self._gap if not self.waiting else "")
        first = self._first_event.decode()
        return SavedProcess(self.header, *self._merged, tuple(sorted(self.own)), gap, first)

    @property
    def next_place(self) -> tuple[str, int]:
        """File and line of the next event."""
        place, _ = self._marks[self.position]
        return place.path, place.lines

    def drop_merged(self) -> None:
        """Forget the events before `position`, which are merged."""
        merged = self.position
        if merged:
            self._merged = self._marks[merged - 1]
            del self._marks[:merged]
        super().drop_merged()

    def lose(self, reason: str) -> None:
        """Open a gap before the next event that is read."""
        self._gap = self._gap or reason

    def begin_file(self, header: HeaderLine, *, is_torn: bool) -> None:
        """Continue with the next file of the process, behind its header."""
        self.header = header
        if is_torn:
            self.lose("the file before it ends in the middle of a line")
        self._rereads = None

    def read(self, raw: bytes, place: Position) -> str | None:
        """Take a complete line; `place` is behind it.  Return the reason if a gap precedes it.

        Raises:
            TraceError: the line is wrong.
        """
        self.lines_read += 1
        source, number = place.path, place.lines
        line = parse_line(raw, source, number)
        if isinstance(line, HeaderLine):
            raise DuplicateHeaderError("a second header, expected one trace per file", source, number)
        if self.has_ended and self._rereads is False:
            raise LinesAfterEndError("expected nothing after the end line", source, number)
        if isinstance(line, EndLine):
            self.has_ended, self.is_over = True, line.complete
            if line.events > self._expected - 1:
                self.lose(missing_events(self._expected, line.events))
        if not isinstance(line, EventLine):
            return None
        if self._rereads is None:
            self._begin_events(line, raw)
        if self._rereads and line.sequence < self._expected:
            if line.sequence == self._expected - 1 and self._last not in (b"", raw):
                self.lose(f"event {line.sequence} was written again, and differs")
            return None
        self._rereads = False
        if line.sequence < self._expected:
            detail = f"an earlier line has sequence {line.sequence} already, expected {self._expected}"
            raise DuplicateSequenceError(detail, source, number, "$.sequence")
        if line.sequence > self._expected:
            self.lose(missing_events(self._expected, line.sequence - 1))
        reason, self._gap = self._gap, ""
        if reason:
            self.gaps = {**self.gaps, len(self.events): reason}
        self._expected = line.sequence + 1
        self._first_event, self._last = self._first_event or raw, raw
        self.events.append((number, line))
        self._marks.append((place, line.sequence))
        if line.replica is not UNSET:
            self.own.add(line.replica)
        return reason or None

    def _begin_events(self, line: EventLine, raw: bytes) -> None:
        """Decide what the first event of a later file means for the numbers of events."""
        self._rereads = line.sequence < self._expected and raw == self._first_event
        if line.sequence < self._expected and not self._rereads:
            if not self.has_ended and self._expected > 1:
                self.lose("the writer began anew without an end line")
            self._expected, self._first_event = line.sequence, raw
        self.has_ended = False

    def skip_wrong(self) -> None:
        """Count a wrong line as a missing event."""
        self.lose("the line before it is malformed")
        # Its sequence is not known, so any number may follow.
        self._expected = 0
