"""Reader of a trace, which checks each line before it returns it."""

from collections.abc import Iterator
from functools import cached_property
from io import BufferedIOBase, BytesIO
from pathlib import Path

from kraft_reference.configuration import Configuration
from kraft_traces.checkpoint_types import CheckpointLine
from kraft_traces.continuity import Continuity
from kraft_traces.errors import (
    DuplicateHeaderError,
    EmptyTraceError,
    EventCountError,
    FieldError,
    LinesAfterEndError,
    TraceError,
)
from kraft_traces.lines import EndLine, EventLine, HeaderLine
from kraft_traces.parsing import parse_header, parse_line
from kraft_traces.raw_lines import LineReader
from kraft_traces.restore import configuration_of
from kraft_traces.streams import LINE_BYTES_MAX

_KINDS_SOUGHT, _KIND_BYTES = (b'"checkpoint"', b'"end"'), 64
"""Kinds of lines that end a gap, and the number of bytes of a line that have its kind."""


class TraceReader(LineReader):
    """Iterator over the event lines of one trace, with one line in memory.

    Attributes:
        header: the first line.
        raw_header: the bytes of the first line.
        line_number: number of the line read last, counted from `first_line`, by default 1.
        end: the end line, once it was read; else None.
    """

    def __init__(
        self, stream: BufferedIOBase, source: str, *, line_bytes_max: int = LINE_BYTES_MAX, first_line: int = 1
    ) -> None:
        """Read the header.

        Raises:
            TraceError: the header is missing or wrong.
        """
        super().__init__(stream, source, line_bytes_max=line_bytes_max, first_line=first_line)
        self.end: EndLine | None = None
        self.line_number = first_line - 1
        self.raw_header = self._next_raw()
        if not self.raw_header:
            raise EmptyTraceError("the file is empty, expected a header", source)
        self.header: HeaderLine = self._lines.parse(parse_header, self.raw_header, source)
        self._continuity = Continuity(self.header, source)

    @property
    def complete(self) -> bool:
        """True if the end line says that the run was over; False until all lines were read."""
        return self.end is not None and self.end.complete

    @cached_property
    def configuration(self) -> Configuration:
        """Configuration of the header's cluster.

        Raises:
            UnknownProfileError: the header has an unknown profile.
        """
        return configuration_of(self.header, self.source)

    @property
    def opaque(self) -> frozenset[int]:
        """Replicas that are not observed where the trace begins."""
        return self.header.opaque

    def __iter__(self) -> Iterator[EventLine]:
        return self

    def __next__(self) -> EventLine:
        """Return the next event line; checkpoints are skipped.

        Raises:
            TraceError: the line is wrong, or the trace stops too early.
        """
        while (line := self.next_line()) is not None:
            if type(line) is EventLine:
                return line
        raise StopIteration

    def next_line(self) -> EventLine | CheckpointLine | None:
        """Return the next event or checkpoint, None after the last.

        Raises:
            TraceError: the line is wrong, or the trace stops too early.
        """
        if self.end is not None:
            return None
        raw = self._next_raw()
        if not raw:
            self.line_number -= 1
            if not self.events:
                raise EmptyTraceError("the trace has a header, but no event", self.source)
            return None
        line = self._lines.parse(parse_line, raw, self.source, self.line_number)
        if type(line) is EventLine:
            self._continuity.follow(line, self.line_number)
            self.events += 1
            return line
        if isinstance(line, CheckpointLine):
            self._continuity.follow_checkpoint(line, self.line_number)
            return line
        if isinstance(line, EndLine):
            self._finish(line)
            return None
        detail = "a second header, expected one trace per file"
        raise DuplicateHeaderError(detail, self.source, self.line_number)

    def has_next(self) -> bool:
        """True if the next line is there, or an error; a trace that still grows may have more lines later."""
        return self._lines.has_next()

    def skip_to_checkpoint(self) -> CheckpointLine | None:
        """Skip lines up to the next checkpoint with the whole history; None if it is not there yet, or at the end.

        The lines before it are not checked.
        """
        while self.has_next():
            try:
                raw = self._next_raw()
                if not any(kind in raw[:_KIND_BYTES] for kind in _KINDS_SOUGHT):
                    continue
                line = parse_line(raw, self.source, self.line_number)
            except TraceError:
                continue
            if isinstance(line, EndLine):
                self.end = line
                return None
            if isinstance(line, CheckpointLine) and line.has_whole_history:
                copies = {str(flight.message.id): flight.copies for flight in line.network}
                self.resume(line.sequence, line.time_ms, copies, self.unobserved, has_gaps=self.has_gaps)
                return line
        return None

    @property
    def unobserved(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Replicas that are not observed at present, and those with unrecorded events."""
        return self._continuity.unobserved

    def resume(
        self,
        sequence: int,
        time_ms: int,
        copies: dict[str, int],
        unobserved: tuple[tuple[int, ...], tuple[int, ...]],
        *,
        has_gaps: bool,
    ) -> None:
        """Continue behind lines that are not read, from this sequence and with these messages in flight.

        `unobserved` is as for the property; `has_gaps` if one of these lines marked events as unrecorded.
        """
        self.events = sequence
        self._continuity.skip(sequence, time_ms, copies)
        self._continuity.has_gaps = has_gaps
        self._continuity.unobserved = unobserved

    @property
    def has_gaps(self) -> bool:
        """True if a line marked events before it as unrecorded."""
        return self._continuity.has_gaps

    def begin_gap(self, replica: int) -> None:
        """Count a replica as one with unrecorded events, so that a checkpoint may show its state."""
        self._continuity.unobserved = (self.unobserved[0], (*self.unobserved[1], replica))

    def ahead(self) -> bytes:
        """Return complete lines that come next, without taking them."""
        return b"" if self.end is not None else self._lines.ahead()

    def skip(self, lines: int, size: int) -> None:
        """Take the first `lines` event lines of `ahead`, which have `size` bytes and were checked elsewhere."""
        self._lines.skip(lines, size)
        self.line_number += lines
        self.events += lines

    def follow(self, time_ms: int, copies: dict[str, int]) -> None:
        """Continue after skipped lines, from this time and with these copies of messages in flight."""
        self._continuity.skip(self.events, time_ms, copies)

    @property
    def sequence(self) -> int:
        """Sequence of the newest line."""
        return self._continuity.sequence

    @property
    def time_ms(self) -> int:
        """Time of the newest line that has one."""
        return self._continuity.time_ms

    def _finish(self, end: EndLine) -> None:
        number = self.line_number
        if end.events != self.events:
            detail = f"the end line counts {end.events} events, the trace has {self.events}"
            raise EventCountError(detail, self.source, number, "$.events")
        if end.complete and self._continuity.has_gaps:
            detail = "expected false, because a line marks events as unrecorded"
            raise FieldError(detail, self.source, number, "$.complete", problem="inconsistent")
        if self._next_raw():
            raise LinesAfterEndError("expected nothing after the end line", self.source, self.line_number)
        if not self.events:
            raise EmptyTraceError("the trace has no event between its header and its end line", self.source)
        self.line_number = number
        self.end = end

    def _next_raw(self) -> bytes:
        self.line_number += 1
        return self._lines.read()


def open_trace(path: str | Path, *, source: str | None = None, line_bytes_max: int = LINE_BYTES_MAX) -> TraceReader:
    """Open a file, gzip or not, or standard input (`-`), as a trace; use it in a `with` statement.

    `source` is the name of the file in errors, by default its path.

    Raises:
        TraceError: the file cannot be opened, or its header is missing or wrong.
    """
    return TraceReader.open(path, source, line_bytes_max=line_bytes_max)


def trace_of_bytes(content: bytes, source: str = "-") -> TraceReader:
    """Return a reader of a trace in memory."""
    return TraceReader(BytesIO(content), source)
