"""Writer of a trace during a run."""

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from kraft_mutants.replicas import mutated_replicas
from kraft_reference.configuration import Configuration
from kraft_simulation.checkpoint import Checkpoints
from kraft_simulation.occurrence import Occurrence
from kraft_traces.checkpoints import checkpoint_line
from kraft_traces.encode import encode_line, event_line, header_line
from kraft_traces.lines import EndLine, Generator, HeaderLine, Line
from kraft_traces.streams import atomic_file


def event_lines(occurrence: Occurrence) -> Iterable[Line]:
    """Return the line of an occurrence."""
    return (event_line(occurrence),)


def line_maker(
    configuration: Configuration, checkpoint_every: int | None, switched_off: Collection[str] = ()
) -> Callable[[Occurrence], Iterable[Line]]:
    """Return a function that makes the lines of each occurrence of a run, called in order.

    Args:
        configuration: the cluster.
        checkpoint_every: number of events between checkpoints; None for no checkpoints.
        switched_off: rules that its replicas omit.
    """
    if checkpoint_every is None:
        return event_lines
    checkpoints = Checkpoints(configuration, mutated_replicas(switched_off))

    def lines(occurrence: Occurrence) -> Iterator[Line]:
        yield event_line(occurrence)
        checkpoints.follow(occurrence)
        if occurrence.sequence % checkpoint_every == 0:
            yield checkpoint_line(checkpoints.now())

    return lines


class TraceWriter:
    """Writer of one trace to a stream: the header at once, the end line with `end`.

    `lines` returns the lines of an occurrence: its event, and perhaps a checkpoint (`line_maker`).

    Attributes:
        events: number of event lines written.
        ended: True if the end line was written.
    """

    def __init__(
        self, stream: BinaryIO, header: HeaderLine, lines: Callable[[Occurrence], Iterable[Line]] = event_lines
    ) -> None:
        self.events = 0
        self.ended = False
        self._lines = lines
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
        for line in self._lines(occurrence):
            self._stream.write(encode_line(line))
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
    target: str | Path,
    configuration: Configuration,
    generator: Generator,
    *,
    spec_hash: str | None = None,
    checkpoint_every: int | None = None,
    switched_off: Collection[str] = (),
) -> Iterator[TraceWriter]:
    """Open a writer to a file, compressed if it is named `.gz`, or to standard output (`-`).

    `checkpoint_every` is the number of events between checkpoints; `switched_off` are the rules that the replicas omit,
    for the header.

    The file gets its name only if the block ends without an error; else an existing file stays.  Unless the block wrote
    an end line, the writer adds one with `complete`.

    Raises:
        OSError: the operating system refuses.
        ValueError: the configuration has a profile without a name.
    """
    header = header_line(configuration, generator, spec_hash=spec_hash, switched_off=switched_off)
    with atomic_file(target) as stream:
        writer = TraceWriter(stream, header, line_maker(configuration, checkpoint_every, switched_off))
        yield writer
        if not writer.ended:
            writer.end()


def trace_bytes(
    occurrences: Iterable[Occurrence],
    configuration: Configuration,
    generator: Generator,
    *,
    spec_hash: str | None = None,
    checkpoint_every: int | None = None,
    switched_off: Collection[str] = (),
) -> Iterator[bytes]:
    """Yield the lines of a complete trace as bytes."""
    yield encode_line(header_line(configuration, generator, spec_hash=spec_hash, switched_off=switched_off))
    events = 0
    lines = line_maker(configuration, checkpoint_every, switched_off)
    for occurrence in occurrences:
        yield from map(encode_line, lines(occurrence))
        events += 1
    yield encode_line(EndLine(events, complete=True))
