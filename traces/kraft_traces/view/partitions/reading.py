"""Reader of a trace of partition reassignment for its page, which optionally checks the trace.

A truncated or malformed trace is read up to the first line that cannot be read.
"""

from kraft_traces.errors import TraceError
from kraft_traces.partitions.checker import PartitionVerdict, check_partition_reader
from kraft_traces.partitions.lines import PartitionEventLine
from kraft_traces.partitions.process import PartitionProcess
from kraft_traces.partitions.reader import PartitionTraceReader
from kraft_traces.streams import open_bytes
from kraft_traces.view.partitions.document import PartitionDocument, partition_document
from kraft_traces.view.reading import Reading, display_name


class _Readable(PartitionTraceReader):
    """Reader that ends at the first line that cannot be read."""

    broken: TraceError | None = None

    def __next__(self) -> tuple[int, PartitionEventLine]:
        if self.broken is not None:
            raise StopIteration
        try:
            return super().__next__()
        except TraceError as error:
            self.broken = error
            raise StopIteration from None


def read_partition_document(trace: str, *, checked: bool = True) -> Reading[PartitionDocument, PartitionVerdict]:
    """Return the document of a trace, and the verdict on it.

    The document has the file's name without its folder, so the same trace gives the same document in any folder.

    Args:
        trace: a file that can be read twice, .gz too.
        checked: True to check it against the model, which requires Java.  Lines after a wrong one are not checked.

    Raises:
        TraceError: the header cannot be read.
    """
    with open_bytes(trace) as stream, _Readable(stream, trace) as reader:
        numbered = list(reader)
    verdict: PartitionVerdict | None = None
    if checked:
        # TLC keeps one specification per process, and this process may have that of the quorum.
        with PartitionProcess() as process:
            verdict = process.ask(_check, trace)
    document = partition_document(display_name(trace), reader.header, numbered, verdict, broken=reader.broken)
    return Reading(document, verdict, reader.broken)


def _check(trace: str) -> PartitionVerdict:
    with open_bytes(trace) as stream, _Readable(stream, trace) as reader:
        return check_partition_reader(reader)
