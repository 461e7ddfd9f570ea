"""The files of the metadata log's folder as the state of a replica that is stopped.

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
from kraft_reference.log import Snapshot, append, log_on
from kraft_reference.state import ReplicaState, new_replica

META, PARTITION = "meta.properties", f"{TOPIC}-0"
"""In the data folder: the file that formatting writes, and the folder of the metadata log."""
QUORUM_STATE, LOG = "quorum-state", ".log"
_CHECKPOINT = re.compile(r"(\d{20})-(\d{10})\.checkpoint")


class DamagedFileError(WireError):
    """A file of a folder is not what its name says."""

    def __init__(self, name: str, error: WireError) -> None:
        super().__init__(error.reason, f"{name}: {error.where}", error.expected, error.actual, error.offset)
        self.name, self.error = name, error


class OnDisk(NamedTuple):
    """What a folder says."""

    state: ReplicaState
    """All of its log counts as synced."""
    batches: tuple[Batch, ...]
    """Of the log, those included that the snapshot stands for and that are still there."""
    values: tuple[bytes, ...]
    """Of the controller's records that the newest snapshot stands for."""


def is_of_the_log(name: str) -> bool:
    """Is it the name of a file that `on_disk` reads?"""
    return name == QUORUM_STATE or name.endswith(LOG) or _CHECKPOINT.fullmatch(name) is not None


def snapshot_id(name: str) -> tuple[int, int] | None:
    """End offset and epoch of the snapshot in a file of this name; None for another file."""
    found = _CHECKPOINT.fullmatch(name)
    return None if found is None else (int(found[1]), int(found[2]))


def snapshots(files: Mapping[str, bytes], formatted: Snapshot) -> Iterator[SnapshotFile]:
    """The snapshots of a folder, the newest last; one without voters has those of `formatted`.

    Raises:
        DamagedFileError: one is damaged.
    """
    for name in sorted(files):
        if (identifier := snapshot_id(name)) is not None:
            with _named(name):
                yield decode_snapshot(files[name], *identifier, formatted)


def on_disk(key: ReplicaKey, files: Mapping[str, bytes], formatted: Snapshot) -> OnDisk:
    """What the files of a folder say.

    Args:
        key: the replica's.
        files: content by name; other files are passed over.
        formatted: what is known without a snapshot: the static voters, or nobody.

    Raises:
        DamagedFileError: one is damaged.
    """
    snapshot, values = [SnapshotFile(formatted, ()), *snapshots(files, formatted)][-1]
    log, batches = log_on(snapshot), []
    for name in sorted(name for name in files if name.endswith(LOG)):
        with _named(name):
            for batch in batches_of(files[name]):
                if batch.end_offset > snapshot.end_offset:
                    log = append(log, records_of(batch)[max(0, log.end_offset - batch.base_offset) :])
                batches.append(batch)
    state = new_replica(key, snapshot)._replace(log=log._replace(flushed=log.end_offset))
    if QUORUM_STATE in files:
        with _named(QUORUM_STATE):
            state = _with_quorum_state(state, files[QUORUM_STATE].decode(errors="replace"))
    return OnDisk(state, tuple(batches), values)


def _with_quorum_state(state: ReplicaState, text: str) -> ReplicaState:
    said = decode_quorum_state(text)
    leader, voted = said["leaderId"], said["votedId"]
    directory = directory_of(said.get("votedDirectoryId", NULL_UUID))
    return state._replace(
        epoch=said["leaderEpoch"],
        leader_id=None if leader < 0 else leader,
        voted_key=None if voted < 0 else ReplicaKey(voted, directory),
        quorum_state_version=said[DATA_VERSION],
    )


@contextmanager
def _named(name: str) -> Iterator[None]:
    try:
        yield
    except WireError as error:
        raise DamagedFileError(name, error) from None
