"""Reading a trace for its page: every line is kept, whether it is checked on the way or not.

A trace that stops being one, in the middle of a line or with a line that is malformed, is read up to there.
"""

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from kraft_reference.configuration import Configuration
from kraft_traces.check import Verdict, check_reader
from kraft_traces.checkpoint_types import CheckpointLine
from kraft_traces.errors import EmptyTraceError, TraceError
from kraft_traces.lines import EndLine, EventLine, HeaderLine
from kraft_traces.reader import TraceReader, open_trace
from kraft_traces.view.document import Document, Numbered, view_document


class Reading(NamedTuple):
    """What a trace comes to that is read for its page."""

    document: Document
    verdict: Verdict | None
    """None if the trace was not checked."""
    broken: TraceError | None
    """What is wrong with the first line that could not be read; the document holds the lines before it."""


class _Kept:
    """A source of lines that keeps the events it hands on, and ends at the first line that cannot be read."""

    def __init__(self, reader: TraceReader) -> None:
        self.events: list[Numbered] = []
        self.broken: TraceError | None = None
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
        if self.broken is not None:
            return None
        try:
            line = self._reader.next_line()
        except TraceError as error:
            self.broken = error
            return None
        if isinstance(line, EventLine):
            self.events.append(Numbered(self._reader.line_number, line))
        return line


def read_document(trace: str, *, checked: bool = True) -> Reading:
    """The document of a trace, and the verdict on it.

    The document has the file's name without its folder, so that the same trace gives the same document wherever it
    lies.

    Args:
        trace: file, .gz too, `-` for standard input.
        checked: hold it to the model, for which Java is needed.  What comes after a wrong line is read, not checked.

    Raises:
        TraceError: the trace has no header that can be read, or the model cannot follow what it says.
    """
    with open_trace(trace) as reader:
        kept = _Kept(reader)
        verdict = check_reader(kept) if checked else None
        if verdict is not None and kept.broken is not None and verdict.rejection is None:
            verdict = replace(verdict, reason=inconclusive_reason(kept.broken))
        while kept.next_line() is not None:
            pass
        document = view_document(
            name_of(trace), reader.header, kept.events, verdict, complete=reader.complete, broken=kept.broken
        )
    return Reading(document, verdict, kept.broken)


def name_of(trace: str) -> str:
    """What a page calls a trace: the name of its file."""
    return "standard input" if trace == "-" else Path(trace).name


def inconclusive_reason(broken: TraceError) -> str:
    """Why nothing more can be said of a trace in which the check found nothing wrong before it breaks off."""
    if isinstance(broken, EmptyTraceError):
        return "the trace has no event"
    where = "it" if broken.line_number is None else f"line {broken.line_number}"
    return f"{where} cannot be read; what the trace shows before that is right"
