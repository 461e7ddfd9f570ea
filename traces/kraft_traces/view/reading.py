"""Reader of a trace for its page, which keeps every line and optionally checks the trace.

A truncated or malformed trace is read up to the first line that cannot be read.
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
    """Verdict on the readable lines; None if the trace was not checked."""
    broken: TraceError | None
    """Error of the first line that could not be read; the document has the lines before it."""


class _KeepingReader(TraceReader):
    """Reader that keeps its events and the checkpoint before them, and ends at the first line that cannot be read."""

    broken: TraceError | None = None
    opening: CheckpointLine | None = None

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
        elif line is not None and not self.kept:
            self.opening = line
        return line


def read_document(trace: str, *, checked: bool = True) -> Reading[Document, Verdict]:
    """Return the document of a trace, and the verdict on it.

    The document has the file's name without its folder, so the same trace gives the same document in any folder.

    Args:
        trace: file, .gz too, `-` for standard input.
        checked: True to check it against the model, which requires Java.  Lines after a wrong one are not checked.

    Raises:
        TraceError: the header cannot be read, or the model cannot represent it.
    """
    with _KeepingReader.open(trace) as reader:
        # The compiled checker does not return single lines.
        verdict = check_reader(reader, way=INTERPRETED) if checked else None
        if verdict is not None and reader.broken is not None and verdict.rejection is None:
            verdict = replace(verdict, reason=inconclusive_reason(reader.broken))
        while reader.next_line() is not None:
            pass
        document = view_document(
            display_name(trace),
            reader.header,
            reader.kept,
            verdict,
            complete=reader.complete,
            broken=reader.broken,
            opening=reader.opening,
        )
    return Reading(document, verdict, reader.broken)


def display_name(trace: str) -> str:
    """Return the name of a trace on its page: the name of its file."""
    return "standard input" if trace == "-" else Path(trace).name


def inconclusive_reason(broken: TraceError) -> str:
    """Return why the verdict on a trace that cannot be read to its end is inconclusive."""
    if isinstance(broken, EmptyTraceError):
        return "the trace has no event"
    where = "the file" if broken.line_number is None else f"line {broken.line_number}"
    return f"{where} cannot be read; every event before it conforms"
