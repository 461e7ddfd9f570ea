"""Reader of a kraft-partition-trace/1, which checks the form of each line."""

from collections.abc import Iterator
from io import BufferedIOBase, BytesIO
from pathlib import Path

from kraft_traces.continuity import check_sequence
from kraft_traces.errors import EmptyTraceError
from kraft_traces.partitions.lines import SCHEMA, PartitionEventLine
from kraft_traces.partitions.parsing import parse_partition_header, parse_partition_line, schema_of
from kraft_traces.raw_lines import LineReader, RawLines
from kraft_traces.streams import LINE_BYTES_MAX, open_bytes


class PartitionTraceReader(LineReader):
    """Iterator over the event lines of one trace with their line numbers.

    Attributes:
        header: the first line.
    """

    def __init__(self, stream: BufferedIOBase, source: str, *, line_bytes_max: int = LINE_BYTES_MAX) -> None:
        """Read the header.

        Raises:
            TraceError: the header is missing or wrong.
        """
        super().__init__(stream, source, line_bytes_max=line_bytes_max)
        raw = self._lines.read()
        if not raw:
            raise EmptyTraceError("the file is empty, expected a header", source)
        self.header = self._lines.parse(parse_partition_header, raw, source)

    def __iter__(self) -> Iterator[tuple[int, PartitionEventLine]]:
        return self

    def __next__(self) -> tuple[int, PartitionEventLine]:
        """Return the next event line with its number.

        Raises:
            TraceError: the line is wrong, or the trace stops too early.
        """
        raw = self._lines.read()
        number = self._lines.line_number
        if not raw:
            if not self.events:
                raise EmptyTraceError("the trace has a header, but no event", self.source)
            raise StopIteration
        line = self._lines.parse(parse_partition_line, raw, self.source, number)
        earlier = number - self.events - 1 + line.sequence
        check_sequence(line.sequence, self.events + 1, self.source, number, earlier)
        self.events += 1
        return number, line


def open_partition_trace(path: str | Path, *, source: str | None = None) -> PartitionTraceReader:
    """Open a file as a partition trace; see `LineReader.open`."""
    return PartitionTraceReader.open(path, source)


def partition_trace_of_bytes(content: bytes, source: str = "-") -> PartitionTraceReader:
    """Return a reader of a trace in memory."""
    return PartitionTraceReader(BytesIO(content), source)


def is_partition_trace(path: str | Path, source: str) -> bool:
    """True if the first line has this format, in any version; `source` is the name of the file in errors.

    Raises:
        TraceError: the file cannot be read.
    """
    with open_bytes(path) as stream:
        schema = schema_of(RawLines(stream, source).read())
    return isinstance(schema, str) and schema.partition("/")[0] == SCHEMA.partition("/")[0]
