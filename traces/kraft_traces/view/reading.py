"""Reading a trace for its page: every line is kept, whether it is checked on the way or not."""

from kraft_reference.configuration import Configuration
from kraft_traces.check import Verdict, check_reader
from kraft_traces.checkpoint_types import CheckpointLine
from kraft_traces.lines import EndLine, EventLine, HeaderLine
from kraft_traces.reader import TraceReader, open_trace
from kraft_traces.view.document import Document, Numbered, view_document


class _Kept:
    """A source of lines that keeps the events it hands on."""

    def __init__(self, reader: TraceReader) -> None:
        self.events: list[Numbered] = []
        self._reader = reader
        self.source: str = reader.source
        self.header: HeaderLine = reader.header

    @property
    def line_number(self) -> int:
        return self._reader.line_number

    @property
    def end(self) -> EndLine | None:
        return self._reader.end

    @property
    def complete(self) -> bool:
        return self._reader.complete

    @property
    def configuration(self) -> Configuration:
        return self._reader.configuration

    def next_line(self) -> EventLine | CheckpointLine | None:
        line = self._reader.next_line()
        if isinstance(line, EventLine):
            self.events.append(Numbered(self._reader.line_number, line))
        return line


def read_document(trace: str, *, checked: bool = True) -> tuple[Document, Verdict | None]:
    """The document of a trace, and the verdict on it.

    Args:
        trace: file, .gz too, `-` for standard input.
        checked: hold it to the model, for which Java is needed.  What comes after a wrong line is read, not checked.

    Raises:
        TraceError: the trace is malformed.
    """
    with open_trace(trace) as reader:
        kept = _Kept(reader)
        verdict = check_reader(kept) if checked else None
        while kept.next_line() is not None:
            pass
        document = view_document(reader.source, reader.header, kept.events, verdict, complete=reader.complete)
    return document, verdict
