"""The files of the metadata log's folder, decoded to the state of a stopped replica.

Rules: wire.quorum-state, wire.control-records, snapshot.bootstrap-checkpoint.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from kraft_kafka.wire.errors import WireError
from kraft_kafka.wire.log_records import Batch, batches_of, records_of
from kraft_kafka.wire.quorum_state import DATA_VERSION, decode_quorum_state
from kraft_kafka.wire.schema import NULL_UUID
from kraft_kafka.wire.snapshot_files import SnapshotFile, decode_snapshot
from kraft_kafka.wire.trace_links import TOPIC
from kraft_kafka.wire.translation import directory_of
from kraft_reference.identity import ReplicaKey
from kraft_reference.log import Snapshot, append, log_from
from kraft_reference.state import ReplicaState, new_replica

META, PARTITION = "meta.properties", f"{TOPIC}-0"
"""Names in the data folder: the file that formatting writes, and the metadata log's folder."""
QUORUM_STATE, LOG = "quorum-state", ".log"
_CHECKPOINT = re.compile(r"(\d{20})-(\d{10})\.checkpoint")


class DamagedFileError(WireError):
    """A file whose contents do not fit its name."""

    def __init__(self, name: str, error: WireError) -> None:
        super().__init__(error.reason, f"{name}: {error.where}", error.expected, error.actual, error.offset)
        self.name, self.error = name, error


class OnDisk(NamedTuple):
    """Contents of a folder."""

    state: ReplicaState
    """The state; its whole log counts as synced."""
    batches: tuple[Batch, ...]
    """Batches of the log, including remaining ones that the snapshot covers."""
    values: tuple[bytes, ...]
    """The controller's records in the newest snapshot."""


def is_of_the_log(name: str) -> bool:
    """True for the name of a file that `on_disk` reads."""
    return name == QUORUM_STATE or name.endswith(LOG) or _CHECKPOINT.fullmatch(name) is not None


def snapshot_id(name: str) -> tuple[int, int] | None:
    """Return end offset and epoch of the snapshot file of this name; None for another file."""
    match = _CHECKPOINT.fullmatch(name)
    return None if match is None else (int(match[1]), int(match[2]))


def snapshots(files: Mapping[str, bytes], formatted: Snapshot) -> Iterator[SnapshotFile]:
    """Yield the snapshots of a folder, the newest last; one without voters has those of `formatted`.

    Raises:
        DamagedFileError: a file is damaged.
    """
    for name in sorted(files):
        if (identifier := snapshot_id(name)) is not None:
            with _name_in_errors(name):
                yield decode_snapshot(files[name], *identifier, formatted)


def on_disk(key: ReplicaKey, files: Mapping[str, bytes], formatted: Snapshot) -> OnDisk:
    """Decode the files of a folder.

    Args:
        key: the replica's key.
        files: contents by name; other files are ignored.
        formatted: the state without any snapshot: the static voters, or no voters.

    Raises:
        DamagedFileError: a file is damaged.
    """
    snapshot, values = [SnapshotFile(formatted, ()), *snapshots(files, formatted)][-1]
    log, batches = log_from(snapshot), []
    for name in sorted(name for name in files if name.endswith(LOG)):
        with _name_in_errors(name):
            for batch in batches_of(files[name]):
                if batch.end_offset > snapshot.end_offset:
                    log = append(log, records_of(batch)[max(0, log.end_offset - batch.base_offset) :])
                batches.append(batch)
    state = new_replica(key, snapshot)._replace(log=log._replace(flushed=log.end_offset))
    if QUORUM_STATE in files:
        with _name_in_errors(QUORUM_STATE):
            state = _with_quorum_state(state, files[QUORUM_STATE].decode(errors="replace"))
    return OnDisk(state, tuple(batches), values)


def _with_quorum_state(state: ReplicaState, text: str) -> ReplicaState:
    fields = decode_quorum_state(text)
    leader, voted = fields["leaderId"], fields["votedId"]
    directory = directory_of(fields.get("votedDirectoryId", NULL_UUID))
    return state._replace(
        epoch=fields["leaderEpoch"],
        leader_id=None if leader < 0 else leader,
        voted_key=None if voted < 0 else ReplicaKey(voted, directory),
        quorum_state_version=fields[DATA_VERSION],
    )


@contextmanager
def _name_in_errors(name: str) -> Iterator[None]:
    try:
        yield
    except WireError as error:
        raise DamagedFileError(name, error) from None
