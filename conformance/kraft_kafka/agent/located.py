"""Errors in the content of the agent's lines, with file, line and field."""

from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager

from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError
from kraft_kafka.agent import raw
from kraft_kafka.agent.decoding import snapshot_in
from kraft_kafka.agent.drafts import UnjudgedError
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


class NoEventError(LineError):
    """Error for a line that shows something that the model does not have."""


@contextmanager
def located(place: str, line: raw.RawLine) -> Iterator[None]:
    """Name file, line and field in errors about the content of a line.

    Args:
        place: file and number of the line.
        line: the line.

    Raises:
        LineError: within it, bytes cannot be decoded.
        NoEventError: within it, something has no event of the model.
    """
    try:
        yield
    except UnjudgedError as error:
        raise NoEventError(place, error) from error
    except ValueError as error:
        # Those of the wire format and of base64.
        raise LineError(place, f"{_FIELDS.get(type(line), '$.message.bytes')}: {error}") from error


def check_start(place: str, start: raw.StartLine | raw.CheckpointLine) -> None:
    """Check that the snapshot and the log of a file's first line can be decoded.

    Raises:
        LineError: they are damaged.
    """
    if isinstance(start, raw.StartLine) and start.snapshot is not None:
        try:
            snapshot_in(start.snapshot, _NO_VOTERS)
        except ValueError as error:
            raise LineError(place, f"$.snapshot.bytes: {error}") from error
    with located(place, start):
        for batch in batches_of(b64decode(start.log or "")):
            records_of(batch)
