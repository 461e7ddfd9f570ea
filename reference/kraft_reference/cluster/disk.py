"""The disk of a replica as its effects say, kept beside the replica to compare the two.

It is built from nothing but the effects, in their order: what it does not hold when a message leaves is not
durable, whatever the replica's state says.
"""

from kraft_reference.cluster.violation import BrokenProperty
from kraft_reference.effects import AppendRecords, Effect, FlushLog, PersistQuorumState, Send, TruncateLog
from kraft_reference.identity import ReplicaKey, names
from kraft_reference.messages import (
    BeginQuorumEpochRequest,
    FetchRequest,
    FetchResponse,
    Message,
    VoteRequest,
    VoteResponse,
)
from kraft_reference.records import Record
from kraft_reference.state import ReplicaState

PROPERTY = "DurableBeforeSend"


class Disk:
    """Quorum state, records and how many of them are synced."""

    __slots__ = ("epoch", "flushed", "leader_id", "records", "voted_key")

    def __init__(self) -> None:
        self.epoch = 0
        self.leader_id: int | None = None
        self.voted_key: ReplicaKey | None = None
        self.records: list[Record] = []
        self.flushed = 0

    def write(self, effect: Effect) -> None:
        """Carry out a durable effect."""
        kind = type(effect)
        if kind is PersistQuorumState:
            assert isinstance(effect, PersistQuorumState)
            self.epoch, self.leader_id, self.voted_key = effect.epoch, effect.leader_id, effect.voted_key
        elif kind is AppendRecords:
            assert isinstance(effect, AppendRecords)
            if effect.base_offset != len(self.records):
                raise BrokenProperty(
                    PROPERTY, f"records appended at {effect.base_offset}, the log on disk ends at {len(self.records)}"
                )
            self.records.extend(effect.records)
        elif kind is FlushLog:
            assert isinstance(effect, FlushLog)
            if not self.flushed <= effect.end_offset <= len(self.records):
                raise BrokenProperty(PROPERTY, f"{effect.end_offset} records synced of {len(self.records)} on disk")
            self.flushed = effect.end_offset
        elif kind is TruncateLog:
            assert isinstance(effect, TruncateLog)
            self.truncate(effect.end_offset)

    def truncate(self, end_offset: int) -> None:
        """Cut the log."""
        if not 0 <= end_offset <= len(self.records):
            raise BrokenProperty(PROPERTY, f"the log of {len(self.records)} records cut to {end_offset}")
        del self.records[end_offset:]
        self.flushed = min(self.flushed, end_offset)

    def crash(self, log_end_offset: int) -> None:
        """Lose the end of the log that was not synced."""
        if log_end_offset < self.flushed:
            raise BrokenProperty(PROPERTY, f"a crash kept {log_end_offset} records of {self.flushed} that were synced")
        self.truncate(log_end_offset)
        self.flushed = log_end_offset

    def check_send(self, send: Send, own_id: int) -> None:
        """Everything that a message promises is on disk when it leaves."""
        message = send.message
        if message.source != own_id:
            raise BrokenProperty("TypeOk", f"replica {own_id} sends in the name of {message.source}")
        epoch = getattr(message, "epoch", 0)
        if epoch > self.epoch:
            raise BrokenProperty(PROPERTY, f"{_kind(message)} of epoch {epoch} leaves, epoch {self.epoch} is on disk")
        kind = type(message)
        if kind is FetchResponse:
            assert isinstance(message, FetchResponse)
            if message.high_watermark > self.flushed:
                raise BrokenProperty(
                    PROPERTY, f"high watermark {message.high_watermark} published, {self.flushed} records are synced"
                )
        elif kind is FetchRequest:
            assert isinstance(message, FetchRequest)
            if not message.fetch_offset == len(self.records) == self.flushed:
                raise BrokenProperty(
                    PROPERTY,
                    f"Fetch from {message.fetch_offset}, {self.flushed} of {len(self.records)} records are synced",
                )
        elif kind is VoteRequest:
            assert isinstance(message, VoteRequest)
            if not message.pre_vote:
                self._check_vote(message.epoch, message.replica_key)
        elif kind is BeginQuorumEpochRequest and (self.leader_id, self.epoch) != (own_id, message.epoch):
            raise BrokenProperty(
                PROPERTY,
                f"leadership of epoch {message.epoch} announced, on disk is leader {self.leader_id} of {self.epoch}",
            )

    def check_grant(self, request: VoteRequest, response: VoteResponse) -> None:
        """The vote that a response grants is on disk."""
        self._check_vote(response.epoch, request.replica_key)

    def _check_vote(self, epoch: int, candidate: ReplicaKey) -> None:
        if self.epoch != epoch or self.voted_key is None or not names(self.voted_key, candidate):
            raise BrokenProperty(
                PROPERTY,
                f"a vote for {candidate} in epoch {epoch} leaves, on disk is {self.voted_key} in {self.epoch}",
            )

    def check_equals(self, state: ReplicaState) -> None:
        """The replica's state is what its disk says, as far as a look at the ends of the logs can tell."""
        if (
            self.epoch != state.epoch
            or self.leader_id != state.leader_id
            or self.voted_key != state.voted_key
            or self.flushed != state.log.flushed
            or len(self.records) != len(state.log.records)
            or (self.records and self.records[-1] is not state.log.records[-1])
        ):
            raise BrokenProperty(
                PROPERTY,
                f"on disk are epoch {self.epoch}, leader {self.leader_id}, vote {self.voted_key} and "
                f"{self.flushed} synced of {len(self.records)} records; the state says {state.epoch}, "
                f"{state.leader_id}, {state.voted_key} and {state.log.flushed} of {state.log.end_offset}",
            )


def _kind(message: Message) -> str:
    return type(message).__name__
