"""The data folder of a node, in Kafka's formats: meta.properties, quorum-state, the log, snapshots.

    DATA/meta.properties
    DATA/__cluster_metadata-0/quorum-state
    DATA/__cluster_metadata-0/00000000000000000000.log
    DATA/__cluster_metadata-0/00000000000000000000-0000000000.checkpoint

Rules: wire.quorum-state, wire.control-records, durable.write-before-act, snapshot.bootstrap-checkpoint.
"""

import fcntl
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from kraft_kafka.node.errors import bad_file, no_file, refused
from kraft_kafka.node.image import counted
from kraft_kafka.node.names import random_directory_id
from kraft_kafka.node.properties import read_properties
from kraft_kafka.wire.decoding import Document
from kraft_kafka.wire.disk_files import (
    META,
    PARTITION,
    QUORUM_STATE,
    DamagedFileError,
    is_of_the_log,
    on_disk,
    snapshot_id,
)
from kraft_kafka.wire.log_records import (
    Batch,
    batches_of,
    control_batch,
    data_batch,
    number_of,
    records_of,
    values_of,
)
from kraft_kafka.wire.quorum_state import encode_quorum_state
from kraft_kafka.wire.snapshot_files import decode_snapshot, encode_snapshot, file_name
from kraft_kafka.wire.translation import directory_of, uuid_of
from kraft_reference.effects import (
    AppendRecords,
    DurableEffect,
    FlushLog,
    PersistQuorumState,
    TruncateLog,
    WriteSnapshot,
)
from kraft_reference.identity import ReplicaKey
from kraft_reference.log import Snapshot
from kraft_reference.records import Record, RecordKind
from kraft_reference.state import ReplicaState


def format_folder(folder: Path, cluster_id: str, key: ReplicaKey, checkpoint: Snapshot | None) -> None:
    """Format a data folder: all of it, or nothing.

    Rules: identity.directory-id-at-format, bootstrap.standalone, bootstrap.multi-voter,
    bootstrap.no-list-means-observer.

    Raises:
        CommandError: the folder is formatted already, or has other files in it.
        OSError: the folder cannot be written.
    """
    if (folder / META).exists():
        raise refused(f"{folder} is formatted already, expected a folder that is empty or not there")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise refused(f"{folder} is not empty, expected a folder that is empty or not there")
    partition = folder / PARTITION
    partition.mkdir(parents=True)
    if checkpoint is not None:
        (partition / file_name(checkpoint)).write_bytes(encode_snapshot(checkpoint, (), 0))
    uuid = uuid_of(key.directory_id, "directory.id")
    # Last, because a folder without it counts as unformatted.
    text = f"version=1\ncluster.id={cluster_id}\nnode.id={key.id}\ndirectory.id={uuid}\n"
    (folder / META).write_text(text, encoding="utf-8")


class Disk:
    """The folder of a running node, which has exclusive use of it."""

    def __init__(self, folder: Path, static: Snapshot) -> None:
        """Open and lock the folder.

        Args:
            folder: the folder from `format_folder`.
            static: the state without any snapshot: the static voters, or no voters.

        Raises:
            CommandError: the folder is not formatted, is in use, or has a damaged file; the message names it.
        """
        self.folder, self._partition = folder, folder / PARTITION
        meta = read_properties(folder / META) if (folder / META).exists() else None
        if meta is None:
            raise no_file(folder, f"is not formatted, expected {META} in it: `kraft-spec node format`")
        self.cluster_id = meta.required("cluster.id", "the id of the cluster")
        node_id = int(meta.required("node.id", "the number of the node"))
        self._lock = (folder / ".lock").open("w")
        try:
            # Java takes the same kind of lock, so Kafka and a node cannot use the same folder.
            fcntl.lockf(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise refused(f"{folder} is in use by another process") from None
        self.key = ReplicaKey(node_id, directory_of(meta.get("directory.id") or self._new_directory_id()))
        self._batches: list[Batch] = []
        self.snapshot_bytes: dict[tuple[int, int], bytes] = {}
        """Contents of snapshot files, by end offset and epoch."""
        self._values_below: tuple[bytes, ...] = ()
        self._values_end = 0
        """End offset of the controller's records in `_values_below`; the log may have them as well."""
        self._earlier: list[Path] = []
        """Segments before the active one, which only a folder of Kafka's has."""
        self.state = self._read(static)
        self._log: IO[bytes] = self._open_log()

    def close(self) -> None:
        self._log.close()
        self._lock.close()

    # Reading.

    def _new_directory_id(self) -> str:
        """Add a directory id to a folder that an older release formatted.  Rule: identity.directory-id-on-upgrade."""
        directory_id = random_directory_id()
        with (self.folder / META).open("a", encoding="utf-8") as file:
            file.write(f"directory.id={directory_id}\n")
        return directory_id

    def _read(self, static: Snapshot) -> ReplicaState:
        files = {path.name: path.read_bytes() for path in self._partition.iterdir() if is_of_the_log(path.name)}
        try:
            contents = on_disk(self.key, files, static)
        except DamagedFileError as damaged:
            raise bad_file(self._partition / damaged.name, None, None, str(damaged.error)) from damaged
        by_id = {snapshot_id(name): raw for name, raw in files.items()}
        self.snapshot_bytes = {identifier: raw for identifier, raw in by_id.items() if identifier is not None}
        self._batches = [*contents.batches]
        self._values_below, self._values_end = contents.values, contents.state.log.base.end_offset
        # Readable data counts as synced, because `_open_log` syncs it.
        return contents.state

    def _open_log(self) -> IO[bytes]:
        segments = sorted(self._partition.glob("*.log"))
        path = segments[-1] if segments else self._partition / f"{self.state.log.end_offset:020d}.log"
        self._earlier = segments[:-1]
        log = path.open("ab")
        # A batch that a crash left incomplete is no part of the log.
        log.truncate(self._size() - self._earlier_size())
        _sync(log)
        return log

    # Writing.

    def carry_out(
        self,
        effect: DurableEffect,
        fetched: Sequence[Batch],
        values: Mapping[int, bytes],
        voters: Sequence[int],
        snapshot: bytes | None,
    ) -> None:
        """Carry out an effect of a step, completely before it returns.

        Args:
            effect: the effect.
            fetched: batches of the current Fetch response, whose records the effect may append.
            values: the controller's own records by number, which a leader may append.
            voters: ids of the voters, which a LeaderChange names.
            snapshot: the bytes of the fetched snapshot, if any.

        Raises:
            OSError: the folder cannot be written.
        """
        match effect:
            case PersistQuorumState():
                self._persist(effect)
            case WriteSnapshot(taken, replaces_log):
                self._write_snapshot(taken, snapshot if replaces_log else None, replaces_log)
            case TruncateLog(end_offset):
                self._truncate(end_offset)
            case AppendRecords(base_offset, records):
                for batch in _batches(base_offset, records, fetched, values, voters):
                    self._log.write(batch.raw)
                    self._batches.append(batch)
                self._log.flush()
            case FlushLog():
                _sync(self._log)

    def _persist(self, effect: PersistQuorumState) -> None:
        voted = effect.voted_key
        document: Document = {
            "leaderId": -1 if effect.leader_id is None else effect.leader_id,
            "leaderEpoch": effect.epoch,
            "votedId": -1 if voted is None else voted.id,
        }
        if effect.version:
            document["votedDirectoryId"] = uuid_of(None if voted is None else voted.directory_id, "votedDirectoryId")
        else:
            document |= {"clusterId": "", "appliedOffset": 0, "currentVoters": []}
        text, _ = encode_quorum_state(effect.version, document)
        self._replace(QUORUM_STATE, text.encode())

    def _replace(self, name: str, content: bytes) -> None:
        """Replace a file of the partition atomically."""
        staged = self._partition / f"{name}.tmp"
        with staged.open("wb") as file:
            file.write(content)
            _sync(file)
        staged.replace(self._partition / name)
        folder = os.open(self._partition, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def _write_snapshot(self, taken: Snapshot, fetched: bytes | None, replaces_log: bool) -> None:
        if fetched is None:
            # Without transaction markers: Kafka expects none in a snapshot.
            values, _ = counted(self.values(taken.end_offset))
            raw = encode_snapshot(taken, values, int(time.time() * 1000))
        else:
            raw = fetched
            values = decode_snapshot(raw, taken.end_offset, taken.epoch, taken).values
        self._replace(file_name(taken), raw)
        self.snapshot_bytes[taken.id] = raw
        if not replaces_log:
            return
        self._values_below, self._values_end = values, taken.end_offset
        self._batches = []
        for path in self._earlier:
            path.unlink()
        self._earlier = []
        name = Path(self._log.name)
        self._log.close()
        name.unlink()
        self._log = (self._partition / f"{taken.end_offset:020d}.log").open("ab")

    def _truncate(self, end_offset: int) -> None:
        torn = next((batch for batch in self._batches if batch.base_offset < end_offset < batch.end_offset), None)
        self._batches = [batch for batch in self._batches if batch.end_offset <= end_offset]
        while self._size() < self._earlier_size():
            name = Path(self._log.name)
            self._log.close()
            name.unlink()
            self._log = self._earlier.pop().open("ab")
        self._log.truncate(self._size() - self._earlier_size())
        if torn is not None:
            # The new end is inside a batch, which is rewritten with the records that remain.
            values = {} if torn.is_control else {number_of(value): value for value in values_of(torn)}
            for batch in _batches(torn.base_offset, records_of(torn)[: end_offset - torn.base_offset], (), values, ()):
                self._log.write(batch.raw)
                self._batches.append(batch)
        _sync(self._log)

    def _size(self) -> int:
        """Return the size of the log in bytes."""
        return sum(len(batch.raw) for batch in self._batches)

    def _earlier_size(self) -> int:
        return sum(path.stat().st_size for path in self._earlier)

    def values(self, end_offset: int) -> tuple[bytes, ...]:
        """Return the controller's records up to an offset, including those in a fetched snapshot."""
        kept = list(self._values_below)
        for batch in self._batches:
            if not batch.is_control and self._values_end < batch.end_offset and batch.base_offset < end_offset:
                kept += values_of(batch)[max(0, self._values_end - batch.base_offset) : end_offset - batch.base_offset]
        return tuple(kept)

    @property
    def bytes_since_snapshot(self) -> int:
        """Bytes of the log after the newest snapshot."""
        end = self._values_end if not self.snapshot_bytes else max(self.snapshot_bytes)[0]
        return sum(len(batch.raw) for batch in self._batches if batch.end_offset > end)

    def between(self, start_offset: int, end_offset: int) -> bytes:
        """Return the batches with the records between two offsets."""
        return b"".join(
            batch.raw for batch in self._batches if batch.end_offset > start_offset and batch.base_offset < end_offset
        )


def _batches(
    base_offset: int,
    records: Sequence[Record],
    fetched: Sequence[Batch],
    values: Mapping[int, bytes],
    voters: Sequence[int],
) -> list[Batch]:
    """Return records as batches: fetched ones unchanged, a leader's own encoded here."""
    reused = [b for b in fetched if b.base_offset >= base_offset and b.end_offset <= base_offset + len(records)]
    if reused:
        return reused
    raw, offset, now_ms = b"", base_offset, int(time.time() * 1000)
    control = [record for record in records if record.kind is not RecordKind.DATA]
    if control:
        raw += control_batch(offset, control, now_ms, voters)
        offset += len(control)
    data = [record for record in records if record.kind is RecordKind.DATA]
    assert not control or not data, "a leader appends control records and the controller's records in different steps"
    if data:
        raw += data_batch(offset, data[0].epoch, [values[record.value] for record in data], now_ms)
    return list(batches_of(raw))


def _sync(file: IO[bytes]) -> None:
    file.flush()
    os.fsync(file.fileno())
