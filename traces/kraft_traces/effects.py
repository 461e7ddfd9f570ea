"""Effects as a trace shows them: those of `kraft_reference.effects`, named by `kind`."""

from typing import assert_never

from msgspec import UNSET, Struct, UnsetType

from kraft_reference.cluster.occurrence import message_id
from kraft_reference.effects import (
    Answer,
    AppendRecords,
    Effect,
    FlushLog,
    PersistQuorumState,
    Send,
    StartTimer,
    Timer,
    TruncateLog,
    WriteSnapshot,
)
from kraft_reference.messages import Error, Reply
from kraft_traces.errors import IncompleteLineError
from kraft_traces.message_types import TracedMessage
from kraft_traces.messages import message_of, traced_message
from kraft_traces.values import (
    DurationMs,
    Epoch,
    KraftVersion,
    Offset,
    ReplicaId,
    RequestNumber,
    TracedKey,
    TracedRecord,
    TracedSnapshot,
    record_of,
    replica_key,
    snapshot_of,
    traced_key,
    traced_record,
    traced_snapshot,
)


class _Traced(Struct, frozen=True, forbid_unknown_fields=True, gc=False, tag_field="kind"):
    pass


class TracedPersistQuorumState(_Traced, frozen=True, gc=False, tag="PersistQuorumState"):
    """Epoch, leader id and voted key were written to the quorum state file and synced."""

    epoch: Epoch
    leader_id: ReplicaId | None
    voted_key: TracedKey | None
    version: KraftVersion | UnsetType = UNSET
    """Of the file."""


class TracedWriteSnapshot(_Traced, frozen=True, gc=False, tag="WriteSnapshot"):
    """A snapshot was written and synced, and what it stands for deleted."""

    snapshot: TracedSnapshot
    replaces_log: bool


class TracedTruncateLog(_Traced, frozen=True, gc=False, tag="TruncateLog"):
    """The log was cut to `end_offset`."""

    end_offset: Offset


class TracedAppendRecords(_Traced, frozen=True, gc=False, tag="AppendRecords"):
    """Records were appended at `base_offset`, not yet synced."""

    base_offset: Offset
    records: tuple[TracedRecord, ...]


class TracedFlushLog(_Traced, frozen=True, gc=False, tag="FlushLog"):
    """The log was synced up to `end_offset`."""

    end_offset: Offset


class TracedSend(_Traced, frozen=True, gc=False, tag="Send"):
    """A message was handed to the network."""

    message: TracedMessage


class TracedReply(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """What a client is told: the number of its request, the error, and who leads."""

    request: RequestNumber
    error: Error
    epoch: Epoch
    leader_id: ReplicaId | None
    leader_endpoint: str | None


class TracedAnswer(_Traced, frozen=True, gc=False, tag="Answer"):
    """A client was answered."""

    reply: TracedReply


class TracedStartTimer(_Traced, frozen=True, gc=False, tag="StartTimer"):
    """A timer was (re)started to fire after `duration_ms`."""

    timer: Timer
    duration_ms: DurationMs


TracedEffect = (
    TracedPersistQuorumState
    | TracedWriteSnapshot
    | TracedTruncateLog
    | TracedAppendRecords
    | TracedFlushLog
    | TracedSend
    | TracedAnswer
    | TracedStartTimer
)
"""An entry of the `effects` of a line."""


def traced_effect(sequence: int, effect: Effect) -> TracedEffect:
    """The trace's form of an effect of the line with this sequence number."""
    match effect:
        case Send(message):
            return TracedSend(traced_message(message_id(sequence, message), message))
        case PersistQuorumState(epoch, leader_id, voted_key, version):
            voted = None if voted_key is None else traced_key(voted_key)
            return TracedPersistQuorumState(epoch, leader_id, voted, version)  # type: ignore[arg-type]
        case StartTimer(timer, duration_ms):
            return TracedStartTimer(timer, duration_ms)
        case AppendRecords(base_offset, records):
            return TracedAppendRecords(base_offset, tuple([traced_record(record) for record in records]))
        case FlushLog(end_offset):
            return TracedFlushLog(end_offset)
        case TruncateLog(end_offset):
            return TracedTruncateLog(end_offset)
        case WriteSnapshot(snapshot, replaces_log):
            return TracedWriteSnapshot(traced_snapshot(snapshot), replaces_log)
        case Answer(reply):
            told = (reply.error, reply.epoch, reply.leader_id, reply.leader_endpoint)
            return TracedAnswer(TracedReply(reply.request, *told))
        case _:
            assert_never(effect)


def effect_of(traced: TracedEffect, path: str = "$.effects[0]") -> Effect:
    """The reference's form of an effect.

    Raises:
        IncompleteLineError: a field of it, or of a sent message, was not observed; `path` is where the effect stands.
    """
    match traced:
        case TracedSend(message):
            return Send(message_of(message, f"{path}.message"))
        case TracedPersistQuorumState(epoch, leader_id, voted_key, version):
            if version is UNSET:
                raise IncompleteLineError(f"{path}.version")
            return PersistQuorumState(epoch, leader_id, None if voted_key is None else replica_key(voted_key), version)
        case TracedStartTimer(timer, duration_ms):
            return StartTimer(timer, duration_ms)
        case TracedAppendRecords(base_offset, records):
            return AppendRecords(base_offset, tuple(record_of(record) for record in records))
        case TracedFlushLog(end_offset):
            return FlushLog(end_offset)
        case TracedTruncateLog(end_offset):
            return TruncateLog(end_offset)
        case TracedWriteSnapshot(snapshot, replaces_log):
            return WriteSnapshot(snapshot_of(snapshot), replaces_log)
        case TracedAnswer(reply):
            told = (reply.error, reply.epoch, reply.leader_id, reply.leader_endpoint)
            return Answer(Reply(reply.request, *told))
        case _:
            assert_never(traced)
