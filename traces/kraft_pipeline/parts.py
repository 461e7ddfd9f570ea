"""A part of a trace, from one checkpoint to the next, as the checker reads it.

`ingest` has held the lines to their form and to each other, over the whole trace.
"""

from io import BufferedIOBase

from kraft_traces.checkpoint_types import CheckpointLine
from kraft_traces.continuity import Continuity
from kraft_traces.lines import HeaderLine
from kraft_traces.parsing import decode_line
from kraft_traces.raw_lines import LineReader
from kraft_traces.reader import TraceReader


class PartReader(TraceReader):
    """Reads a part whose first line is a checkpoint, or a whole trace, or its first part, which begin with the header.

    Attributes:
        start: the checkpoint at which the part begins; None where that is the header.
    """

    def __init__(
        self, stream: BufferedIOBase, source: str, *, header: bytes, first_line: int, part: int, is_closed: bool
    ) -> None:
        """Read up to the first event; `is_closed` says that a checkpoint is the last line, where another part begins.

        Raises:
            TraceError, msgspec.DecodeError: a line is not what `ingest` lets through.
        """
        self.start: CheckpointLine | None = None
        self._is_closed = is_closed
        if part == 0:
            super().__init__(stream, source, first_line=first_line)
            return
        LineReader.__init__(self, stream, source, first_line=first_line)
        self.end = None
        self.line_number = first_line - 1
        opening, known = decode_line(self._next_raw()), decode_line(header)
        assert isinstance(opening, CheckpointLine), "a part begins with a checkpoint, the first with the header"
        assert isinstance(known, HeaderLine), "a trace begins with its header"
        self.start, self.header, self.events = opening, known, opening.sequence
        self._continuity = Continuity(known, source)
        self._continuity.skip(opening.sequence, opening.time_ms, {})
        # What is on its way, the part before says.
        self._continuity.knows_messages = False

    @property
    def complete(self) -> bool:
        """Does the trace say that it holds the whole run, as far as this part can tell?"""
        return self._is_closed or super().complete
