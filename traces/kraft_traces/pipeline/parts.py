"""A part of a trace, from one checkpoint to the next, as lines for the checker.

`ingest` has held the lines to their form and to each other, so here they are decoded and no more.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from msgspec import UNSET

from kraft_reference.configuration import Configuration
from kraft_traces.checkpoint_types import CheckpointLine
from kraft_traces.lines import EndLine, EventLine, HeaderLine
from kraft_traces.parsing import decode_line
from kraft_traces.restore import configuration_of

Row = dict[str, Any]

_LINES_AHEAD = 100


class PartLines:
    """What `check_reader` asks of a reader.

    Attributes:
        source: the file.
        header: of the trace.
        start: the checkpoint at which the part begins; None for the first part.
        line_number: that of the line read last, counted from the header.
        sequence: of the newest event.
        time_ms: of the newest line.
        end: the end line once it was read.
    """

    def __init__(self, header: bytes, source: str, segments: Iterable[Row], part: int, first_line: int) -> None:
        """Read up to the first event.

        Raises:
            msgspec.DecodeError: a line is not what `ingest` lets through.
        """
        self.source = source
        self.end: EndLine | None = None
        self._closed = False
        self._lines = self._raw_lines(segments)
        self._ahead: deque[tuple[int, bytes]] = deque()
        self.line_number = 0
        self._first_line = first_line
        line = decode_line(header)
        assert isinstance(line, HeaderLine), "a trace begins with its header"
        self.header: HeaderLine = line
        self.line_number, raw = next(self._lines)
        opening = decode_line(raw)
        self.start = opening if isinstance(opening, CheckpointLine) else None
        self.sequence, self.time_ms = (0, 0) if self.start is None else (self.start.sequence, self.start.time_ms)
        assert (self.start is None) == (part == 0), "a part begins with a checkpoint, the first with the header"

    @property
    def configuration(self) -> Configuration:
        """The cluster of the header."""
        return configuration_of(self.header, self.source)

    @property
    def complete(self) -> bool:
        """Does the trace say that it holds the whole run, as far as this part can tell?"""
        return self._closed or (self.end is not None and self.end.complete)

    def next_line(self) -> EventLine | CheckpointLine | None:
        """The next event or checkpoint, None after the last."""
        found = self._ahead.popleft() if self._ahead else next(self._lines, None)
        if found is None:
            return None
        self.line_number, raw = found
        line = decode_line(raw)
        assert not isinstance(line, HeaderLine), "a trace has one header"
        if isinstance(line, EndLine):
            self.end = line
            return None
        self.sequence = line.sequence
        if line.time_ms is not UNSET:
            self.time_ms = line.time_ms
        return line

    def ahead(self) -> bytes:
        """Lines that come next, without taking them."""
        self._ahead.extend(islice(self._lines, max(0, _LINES_AHEAD - len(self._ahead))))
        return b"".join([raw for _, raw in self._ahead])

    def skip(self, lines: int, size: int) -> None:
        """Take the first of the lines that `ahead` gave, all of them events, as read."""
        for _ in range(lines):
            self.line_number, _ = self._ahead.popleft()
        self.sequence += lines

    def follow(self, time_ms: int, copies: dict[str, int]) -> None:
        """Go on from this time; `ingest` has followed the messages."""
        self.time_ms = time_ms

    def _raw_lines(self, segments: Iterable[Row]) -> Iterator[tuple[int, bytes]]:
        for segment in segments:
            number = segment["first_line"] - self._first_line
            raw, start = segment["raw"], 0
            while start < len(raw):
                # Segments end where lines do; the last line of a trace may lack its newline.
                end = raw.find(b"\n", start) + 1 or len(raw)
                number += 1
                yield number, raw[start:end]
                start = end
            if segment["closing"] is not None:
                self._closed = True
                yield number + 1, segment["closing"]
