"""Writing a trace as it happens."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from kraft_reference.cluster.occurrence import Occurrence
from kraft_reference.configuration import Configuration
from kraft_traces.encode import encode_line, event_line, header_line
from kraft_traces.lines import EndLine, Generator, HeaderLine
from kraft_traces.streams import whole_file


class TraceWriter:
    """Writes the lines of one trace to a stream: the header at once, the end line with `end`.

    Attributes:
        events: how many event lines were written.
        ended: whether the end line was written.
    """

    def __init__(self, stream: BinaryIO, header: HeaderLine) -> None:
        self.events = 0
        self.ended = False
        self._stream = stream
        stream.write(encode_line(header))

    def write(self, occurrence: Occurrence) -> None:
        """Write the next event.

        Raises:
            ValueError: its sequence is not the next one, the trace has ended, or the occurrence lacks a part.
        """
        if self.ended or occurrence.sequence != self.events + 1:
            expected = "nothing after the end" if self.ended else f"sequence {self.events + 1}"
            raise ValueError(f"expected {expected}, got sequence {occurrence.sequence}")
        self._stream.write(encode_line(event_line(occurrence)))
        self.events += 1

    def write_all(self, occurrences: Iterable[Occurrence]) -> None:
        """Write events in their order."""
        for occurrence in occurrences:
            self.write(occurrence)

    def end(self, *, complete: bool = True) -> None:
        """Write the end line.

        Args:
            complete: False if the run would have gone on.
        """
        if self.ended:
            raise ValueError("the trace has ended already")
        self._stream.write(encode_line(EndLine(self.events, complete)))
        self.ended = True


@contextmanager
def write_trace(
    target: str | Path, configuration: Configuration, generator: Generator, *, spec_hash: str | None = None
) -> Iterator[TraceWriter]:
    """A writer to a file, `.gz` by its name, or `-` for standard output.

    The file appears under its name only when the block ends without an error, with an end line that says `complete`
    unless the block wrote one itself; after an error there is no file, and what was there before stays.

    Raises:
        OSError: the operating system refuses.
        ValueError: the configuration has a profile without a name.
    """
    header = header_line(configuration, generator, spec_hash=spec_hash)
    with whole_file(target) as stream:
        writer = TraceWriter(stream, header)
        yield writer
        if not writer.ended:
            writer.end()


def trace_bytes(
    occurrences: Iterable[Occurrence],
    configuration: Configuration,
    generator: Generator,
    *,
    spec_hash: str | None = None,
) -> Iterator[bytes]:
    """The lines of a complete trace, for whoever needs no file."""
    yield encode_line(header_line(configuration, generator, spec_hash=spec_hash))
    events = 0
    for occurrence in occurrences:
        yield encode_line(event_line(occurrence))
        events += 1
    yield encode_line(EndLine(events, complete=True))
