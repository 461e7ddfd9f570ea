"""Reading a trace for its page: every line is kept, whether it is checked on the way or not.

A trace that stops being one, in the middle of a line or with a line that is malformed, is read up to there.
"""

from dataclasses import replace
from io import BufferedIOBase
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from kraft_traces.check import Verdict, check_reader
from kraft_traces.check.fast_path import INTERPRETED
from kraft_traces.checkpoint_types import CheckpointLine
from kraft_traces.errors import EmptyTraceError, TraceError
from kraft_traces.lines import EventLine
from kraft_traces.reader import TraceReader
from kraft_traces.view.document import Document, Numbered, view_document

DocumentT = TypeVar("DocumentT")
VerdictT = TypeVar("VerdictT")


class Reading(NamedTuple, Generic[DocumentT, VerdictT]):
    """The result of reading a trace for its page."""

    document: DocumentT
    verdict: VerdictT | None
    """On the lines that could be read; None if the trace was not checked."""
    broken: TraceError | None
    """What is wrong with the first line that could not be read; the document holds the lines before it."""


class _Kept(TraceReader):
    """Keeps the events that it hands on, and ends at the first line that cannot be read."""

    broken: TraceError | None = None

    def __init__(self, stream: BufferedIOBase, source: str) -> None:
        super().__init__(stream, source)
        self.kept: list[Numbered] = []

    def next_line(self) -> EventLine | CheckpointLine | None:
        if self.broken is not None:
            return None
        try:
            line = super().next_line()
        except TraceError as error:
            self.broken = error
            return None
        if isinstance(line, EventLine):
            self.kept.append(Numbered(self.line_number, line))
        return line


def read_document(trace: str, *, checked: bool = True) -> Reading[Document, Verdict]:
    """The document of a trace, and the verdict on it.

    The document has the file's name without its folder, so that the same trace gives the same document wherever it
    lies.

    Args:
        trace: file, .gz too, `-` for standard input.
        checked: hold it to the model, for which Java is needed.  What comes after a wrong line is read, not checked.

    Raises:
        TraceError: the trace has no header that can be read, or the model cannot follow what it says.
    """
    with _Kept.open(trace) as reader:
        # The compiled checker takes lines without a look at each.
        verdict = check_reader(reader, way=INTERPRETED) if checked else None
        if verdict is not None and reader.broken is not None and verdict.rejection is None:
            verdict = replace(verdict, reason=inconclusive_reason(reader.broken))
        while reader.next_line() is not None:
            pass
        document = view_document(
            name_of(trace), reader.header, reader.kept, verdict, complete=reader.complete, broken=reader.broken
        )
    return Reading(document, verdict, reader.broken)


def name_of(trace: str) -> str:
    """What a page calls a trace: the name of its file."""
    return "standard input" if trace == "-" else Path(trace).name


def inconclusive_reason(broken: TraceError) -> str:
    """Return why the verdict on a trace that cannot be read to its end is inconclusive."""
    if isinstance(broken, EmptyTraceError):
        return "the trace has no event"
    where = "the file" if broken.line_number is None else f"line {broken.line_number}"
    return f"{where} cannot be read; every event before it conforms"
