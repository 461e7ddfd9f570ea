"""Reading a trace of partition reassignment for its page: every line is kept, whether the trace is checked or not.

A trace that stops being one, in the middle of a line or with a line that is malformed, is read up to there.
"""

from kraft_traces.errors import TraceError
from kraft_traces.partitions.checker import PartitionVerdict, check_partition_reader
from kraft_traces.partitions.lines import PartitionEventLine
from kraft_traces.partitions.process import PartitionProcess
from kraft_traces.partitions.reader import PartitionTraceReader
from kraft_traces.streams import open_bytes
from kraft_traces.view.partitions.document import PartitionDocument, partition_document
from kraft_traces.view.reading import Reading, name_of


class _Readable(PartitionTraceReader):
    """Ends at the first line that cannot be read."""

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
    """The document of a trace, and the verdict on it.

    The document has the file's name without its folder: the same trace gives the same document wherever it lies.

    Args:
        trace: a file that can be read twice, .gz too.
        checked: hold it to the model, for which Java is needed.  What comes after a wrong line is read, not checked.

    Raises:
        TraceError: the trace has no header that can be read.
    """
    with open_bytes(trace) as stream, _Readable(stream, trace) as reader:
        numbered = list(reader)
    verdict: PartitionVerdict | None = None
    if checked:
        # TLC keeps one specification in a process, and here it may be that of the quorum.
        with PartitionProcess() as process:
            verdict = process.ask(_check, trace)
    document = partition_document(name_of(trace), reader.header, numbered, verdict, broken=reader.broken)
    return Reading(document, verdict, reader.broken)


def _check(trace: str) -> PartitionVerdict:
    with open_bytes(trace) as stream, _Readable(stream, trace) as reader:
        return check_partition_reader(reader)
