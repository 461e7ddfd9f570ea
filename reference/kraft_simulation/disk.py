"""The disk of a replica, reconstructed from its effects, to compare it with the replica's state.

Data that the effects have not written when a message is sent is not durable, whatever the replica's state is.
"""

from kraft_reference.effects import (
    AppendRecords,
    Effect,
    FlushLog,
    PersistQuorumState,
    Send,
    TruncateLog,
    WriteSnapshot,
)
from kraft_reference.identity import ReplicaKey, names
from kraft_reference.log import Snapshot
from kraft_reference.messages import (
    BeginQuorumEpochRequest,
    FetchRequest,
    FetchResponse,
    FetchSnapshotResponse,
    Message,
    VoteRequest,
    VoteResponse,
)
from kraft_reference.records import Record
from kraft_reference.state import ReplicaState
from kraft_simulation.history import Part
from kraft_simulation.violation import BrokenProperty

PROPERTY = "DurableBeforeSend"


class Disk:
    """Quorum state, the newest snapshot, the records after it, and the synced offset."""

    __slots__ = ("base", "epoch", "flushed", "leader_id", "records", "version", "voted_key")

    def __init__(self, formatted: ReplicaState) -> None:
        """Return the disk of a newly formatted replica."""
        self.epoch = 0
        self.leader_id: int | None = None
        self.voted_key: ReplicaKey | None = None
        self.version = formatted.quorum_state_version
        self.base: Snapshot = formatted.log.base
        self.records: list[Record] = []
        self.flushed = 0
        """Records before this offset survive a crash."""

    @property
    def end_offset(self) -> int:
        """Offset after the last record."""
        return self.base.end_offset + len(self.records)

    @property
    def last_epoch(self) -> int:
        """Epoch of the last record, 0 for an empty log."""
        return self.records[-1].epoch if self.records else self.base.epoch

    def part(self) -> Part:
        """Records with their offset in the log."""
        return Part(self.base.end_offset, tuple(self.records))

    def write(self, effect: Effect) -> None:
        """Apply a durable effect."""
        if isinstance(effect, PersistQuorumState):
            self.epoch, self.leader_id, self.voted_key = effect.epoch, effect.leader_id, effect.voted_key
            self.version = effect.version
        elif isinstance(effect, AppendRecords):
            if effect.base_offset != self.end_offset:
                raise BrokenProperty(
                    PROPERTY, f"records appended at {effect.base_offset}, the log on disk ends at {self.end_offset}"
                )
            self.records.extend(effect.records)
        elif isinstance(effect, FlushLog):
            if not self.flushed <= effect.end_offset <= self.end_offset:
                raise BrokenProperty(PROPERTY, f"{effect.end_offset} records synced of {self.end_offset} on disk")
            self.flushed = effect.end_offset
        elif isinstance(effect, TruncateLog):
            self.truncate(effect.end_offset)
        elif isinstance(effect, WriteSnapshot):
            self._write_snapshot(effect)

    def _write_snapshot(self, effect: WriteSnapshot) -> None:
        """Replace the records before the end of a snapshot, or the whole log, by the snapshot."""
        snapshot = effect.snapshot
        end, start = snapshot.end_offset, self.base.end_offset
        if end <= start:
            raise BrokenProperty(PROPERTY, f"a snapshot of {end} records follows one of {start}")
        if effect.replaces_log:
            self.records.clear()
            self.flushed = end
        elif end > self.end_offset:
            raise BrokenProperty(PROPERTY, f"a snapshot of {end} records, of which {self.end_offset} are on disk")
        else:
            del self.records[: end - start]
            self.flushed = max(self.flushed, end)
        self.base = snapshot

    def truncate(self, end_offset: int) -> None:
        """Truncate the log."""
        if not self.base.end_offset <= end_offset <= self.end_offset:
            raise BrokenProperty(
                PROPERTY, f"the log from {self.base.end_offset} to {self.end_offset} is cut to {end_offset}"
            )
        del self.records[end_offset - self.base.end_offset :]
        self.flushed = min(self.flushed, end_offset)

    def crash(self, log_end_offset: int) -> None:
        """Drop unsynced records."""
        if log_end_offset < self.flushed:
            raise BrokenProperty(PROPERTY, f"a crash kept {log_end_offset} records of {self.flushed} that were synced")
        self.truncate(log_end_offset)
        self.flushed = log_end_offset

    def check_send(self, send: Send, own_id: int) -> None:
        """Check that the disk has everything that a sent message promises."""
        message = send.message
        if message.source != own_id:
            raise BrokenProperty("TypeOk", f"replica {own_id} sends in the name of {message.source}")
        epoch = getattr(message, "epoch", 0)
        if epoch > self.epoch:
            raise BrokenProperty(PROPERTY, f"{_kind(message)} of epoch {epoch} leaves, epoch {self.epoch} is on disk")
        if isinstance(message, FetchResponse):
            if message.high_watermark > self.flushed:
                raise BrokenProperty(
                    PROPERTY, f"high watermark {message.high_watermark} published, {self.flushed} records are synced"
                )
        elif isinstance(message, FetchRequest):
            if not message.fetch_offset == self.end_offset == self.flushed:
                raise BrokenProperty(
                    PROPERTY,
                    f"Fetch from {message.fetch_offset}, {self.flushed} of {self.end_offset} records are synced",
                )
        elif isinstance(message, FetchSnapshotResponse):
            if message.snapshot not in (None, self.base):
                raise BrokenProperty(PROPERTY, f"snapshot {message.snapshot} leaves, on disk is {self.base}")
        elif isinstance(message, VoteRequest):
            if not message.pre_vote:
                self._check_vote(message.epoch, message.replica_key)
        elif isinstance(message, BeginQuorumEpochRequest) and (self.leader_id, self.epoch) != (own_id, epoch):
            raise BrokenProperty(
                PROPERTY,
                f"leadership of epoch {epoch} announced, on disk is leader {self.leader_id} of {self.epoch}",
            )

    def check_grant(self, request: VoteRequest, response: VoteResponse) -> None:
        """Check that the disk has the vote that a response grants."""
        self._check_vote(response.epoch, request.replica_key)

    def _check_vote(self, epoch: int, candidate: ReplicaKey) -> None:
        if self.epoch != epoch or self.voted_key is None or not names(self.voted_key, candidate):
            raise BrokenProperty(
                PROPERTY,
                f"a vote for {candidate} in epoch {epoch} leaves, on disk is {self.voted_key} in {self.epoch}",
            )

    def check_equals(self, state: ReplicaState) -> None:
        """Check that the replica's state agrees with its disk, comparing only the ends of the logs."""
        if (
            self.epoch != state.epoch
            or self.leader_id != state.leader_id
            or self.voted_key != state.voted_key
            or self.version != state.quorum_state_version
            or self.flushed != state.log.flushed
            or (self.base is not state.log.base and self.base != state.log.base)
            or len(self.records) != len(state.log.records)
            or self.records[-1:] != list(state.log.records[-1:])
        ):
            raise BrokenProperty(
                PROPERTY,
                f"on disk are epoch {self.epoch}, leader {self.leader_id}, vote {self.voted_key} in a file of version "
                f"{self.version}, {self.flushed} synced of {self.end_offset} records and snapshot {self.base.id}; "
                f"the state says {state.epoch}, {state.leader_id}, {state.voted_key}, {state.quorum_state_version}, "
                f"{state.log.flushed} of {state.log.end_offset} and {state.log.base.id}",
            )


def _kind(message: Message) -> str:
    return type(message).__name__
