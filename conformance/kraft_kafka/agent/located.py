"""Errors in the content of the agent's lines, with file, line and field."""

from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager

from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError
from kraft_kafka.agent import raw
from kraft_kafka.agent.decoding import snapshot_in
from kraft_kafka.agent.drafts import UnjudgedError
from kraft_kafka.agent.reading import RawFile
from kraft_kafka.wire.log_records import batches_of, records_of
from kraft_reference.log import Snapshot

_FIELDS = {
    raw.StartLine: "$.log",
    raw.CheckpointLine: "$.log",
    raw.AppendLine: "$.records",
    raw.InstallLine: "$.snapshot.bytes",
    raw.SnapshotLine: "$.snapshot.bytes",
}
"""Field with Kafka's bytes, for lines without a message."""
_NO_VOTERS = Snapshot(0, 0, 0, frozenset())


class LineError(CommandError):
    """Error for a line that has no event: its bytes are damaged, or the model does not have what it shows."""

    def __init__(self, place: str, detail: object) -> None:
        super().__init__(f"{place}: {detail}", ExitCode.BAD_INPUT)


@contextmanager
def located(file: RawFile, index: int) -> Iterator[None]:
    """Name file, line and field in errors about the content of a line.

    Args:
        file: the file.
        index: number of the line as for `RawFile.place`.

    Raises:
        LineError: within it, bytes cannot be decoded, or something has no event of the model.
    """
    try:
        yield
    except UnjudgedError as error:
        raise LineError(file.place(index), error) from error
    except ValueError as error:
        # Those of the wire format and of base64.
        line = file.lines[index - 1] if index else file.start
        raise LineError(file.place(index), f"{_FIELDS.get(type(line), '$.message.bytes')}: {error}") from error


def check_start(file: RawFile) -> None:
    """Check that the snapshot and the log of a file's first line can be decoded.

    Raises:
        LineError: they are damaged.
    """
    if isinstance(file.start, raw.StartLine) and file.start.snapshot is not None:
        try:
            snapshot_in(file.start.snapshot, _NO_VOTERS)
        except ValueError as error:
            raise LineError(file.place(0), f"$.snapshot.bytes: {error}") from error
    with located(file, 0):
        for batch in batches_of(b64decode(file.start.log or "")):
            records_of(batch)
