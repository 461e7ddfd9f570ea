"""A user's trace as a file of lines; in Parquet, each row is a line."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

from kraft_conformance.failure import need
from kraft_traces.errors import TraceError
from kraft_traces.streams import PARQUET_SUFFIX


@contextmanager
def lines_of(trace: str) -> Iterator[str]:
    """Yield the name of a file of lines: the trace itself, or a temporary copy of its rows.

    Raises:
        CommandError: the trace is Parquet, and its library is not installed.
        TraceError: its rows are no lines; or the block raises an error about the copy, which then names the trace.
    """
    if not trace.endswith(PARQUET_SUFFIX) or not Path(trace).is_file():
        yield trace
        return
    need("Parquet", "pipeline", "pyarrow")
    # Only the pipeline imports its libraries.
    blocks = import_module("kraft_pipeline.blocks")
    with TemporaryDirectory() as folder:
        copy = Path(folder) / Path(trace).name
        with copy.open("wb") as output:
            for block in blocks.blocks_of(Path(trace), trace):
                if not isinstance(block, bytes):
                    raise block.error
                output.write(block)
        try:
            yield str(copy)
        except TraceError as error:
            error.source = trace
            raise
