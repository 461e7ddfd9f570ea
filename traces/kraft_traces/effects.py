"""Types of the effects in a trace: those of `kraft_reference.effects`, named by `kind`."""

from collections.abc import Mapping
from typing import get_args

from msgspec import UNSET, Struct, UnsetType

from kraft_reference import effects
from kraft_reference.effects import Answer, Effect, Send, Timer
from kraft_reference.messages import Error, Reply
from kraft_simulation.occurrence import message_id
from kraft_traces.forms import reference_values, traced_values
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
)


class _Traced(Struct, frozen=True, forbid_unknown_fields=True, gc=False, tag_field="kind"):
    pass


class TracedPersistQuorumState(_Traced, frozen=True, gc=False, tag="PersistQuorumState"):
    """Epoch, leader id and voted key were written to the quorum state file and synced."""

    epoch: Epoch
    leader_id: ReplicaId | None
    voted_key: TracedKey | None
    version: KraftVersion | UnsetType = UNSET
    """Version of the file."""


class TracedWriteSnapshot(_Traced, frozen=True, gc=False, tag="WriteSnapshot"):
    """A snapshot was written and synced, and the log that it replaces was deleted."""

    snapshot: TracedSnapshot
    replaces_log: bool


class TracedTruncateLog(_Traced, frozen=True, gc=False, tag="TruncateLog"):
    """The log was truncated to `end_offset`."""

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
    """Reply to a client: the number of its request, the error, and the leader."""

    request: RequestNumber
    error: Error
    epoch: Epoch
    leader_id: ReplicaId | None
    leader_endpoint: str | None


class TracedAnswer(_Traced, frozen=True, gc=False, tag="Answer"):
    """A reply was sent to a client."""

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
"""Entry of the `effects` of a line."""


TRACED_EFFECTS: Mapping[str, type[TracedEffect]] = {
    str(traced.__struct_config__.tag): traced for traced in get_args(TracedEffect)
}
"""Types of effects by name, which is their `kind` in a trace."""

_TRACED: dict[type[Effect], type[TracedEffect]] = {
    getattr(effects, name): traced for name, traced in TRACED_EFFECTS.items()
}
_REFERENCE: dict[type[TracedEffect], type[Effect]] = {traced: kind for kind, traced in _TRACED.items()}


def traced_effect(sequence: int, effect: Effect) -> TracedEffect:
    """Return the trace form of an effect of the line with this sequence."""
    if isinstance(effect, Send):
        return TracedSend(traced_message(message_id(sequence, effect.message), effect.message))
    if isinstance(effect, Answer):
        return TracedAnswer(TracedReply(*traced_values(effect.reply)))
    return _TRACED[type(effect)](*traced_values(effect))


def effect_of(traced: TracedEffect, path: str = "$.effects[0]") -> Effect:
    """Return the reference's effect.

    Raises:
        IncompleteLineError: a field of it, or of a sent message, is missing; `path` is the JSON path of the effect.
    """
    if isinstance(traced, TracedSend):
        return Send(message_of(traced.message, f"{path}.message"))
    if isinstance(traced, TracedAnswer):
        return Answer(Reply(**reference_values(Reply, traced.reply, f"{path}.reply")))
    kind = _REFERENCE[type(traced)]
    return kind(**reference_values(kind, traced, path))
