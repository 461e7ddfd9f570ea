"""A part of a trace, from one checkpoint to the next, as lines for the checker.

`ingest` has held the lines to their form and to each other, so here they are decoded and no more.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from kraft_reference.configuration import Configuration
from kraft_traces.checkpoint_types import CheckpointLine
from kraft_traces.lines import EndLine, EventLine, HeaderLine
from kraft_traces.parsing import decode_line
from kraft_traces.restore import configuration_of

Row = dict[str, Any]


class PartLines:
    """What `check_reader` asks of a reader.

    Attributes:
        source: the file.
        header: of the trace.
        start: the checkpoint at which the part begins; None for the first part.
        line_number: that of the line read last, counted from the header.
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
        self.line_number = 0
        self._first_line = first_line
        line = decode_line(header)
        assert isinstance(line, HeaderLine), "a trace begins with its header"
        self.header: HeaderLine = line
        opening = decode_line(next(self._lines))
        self.start = opening if isinstance(opening, CheckpointLine) else None
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
        raw = next(self._lines, b"")
        line = decode_line(raw) if raw else None
        assert not isinstance(line, HeaderLine), "a trace has one header"
        if isinstance(line, EndLine):
            self.end = line
            return None
        return line

    def _raw_lines(self, segments: Iterable[Row]) -> Iterator[bytes]:
        for segment in segments:
            self.line_number = segment["first_line"] - self._first_line
            raw, start = segment["raw"], 0
            while start < len(raw):
                # Segments end where lines do; the last line of a trace may lack its newline.
                end = raw.find(b"\n", start) + 1 or len(raw)
                self.line_number += 1
                yield raw[start:end]
                start = end
            if segment["closing"] is not None:
                self._closed = True
                self.line_number += 1
                yield segment["closing"]
