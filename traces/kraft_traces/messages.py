"""Messages as a trace shows them: the fields of `kraft_reference.messages` with an id, each of which may be absent.

`UNSET` stands for a field that was not observed and `None` for an explicit null.
"""

from collections.abc import Callable
from dataclasses import fields
from operator import attrgetter
from typing import Any

from msgspec import UNSET, Struct, UnsetType

from kraft_reference import messages as reference
from kraft_reference.identity import ReplicaKey
from kraft_reference.messages import Error, Message
from kraft_reference.records import Record
from kraft_traces.errors import IncompleteLineError
from kraft_traces.values import (
    CorrelationId,
    Epoch,
    MessageId,
    Offset,
    ReplicaId,
    TracedKey,
    TracedRecord,
    record_of,
    replica_key,
    traced_key,
    traced_record,
)


class _Traced(Struct, frozen=True, forbid_unknown_fields=True, gc=False, tag_field="type"):
    id: MessageId | UnsetType = UNSET
    source: ReplicaId | UnsetType = UNSET
    destination: ReplicaId | UnsetType = UNSET
    correlation_id: CorrelationId | UnsetType = UNSET


class TracedVoteRequest(_Traced, frozen=True, gc=False, tag="VoteRequest"):
    """A Vote or Pre-Vote."""

    epoch: Epoch | UnsetType = UNSET
    replica_key: TracedKey | UnsetType = UNSET
    voter_key: TracedKey | UnsetType | None = UNSET
    last_epoch: Epoch | UnsetType = UNSET
    end_offset: Offset | UnsetType = UNSET
    pre_vote: bool | UnsetType = UNSET
    cluster_id: str | UnsetType | None = UNSET


class _TracedResponse(_Traced, frozen=True, gc=False):
    error: Error | UnsetType = UNSET
    epoch: Epoch | UnsetType = UNSET
    leader_id: ReplicaId | UnsetType | None = UNSET
    leader_endpoint: str | UnsetType | None = UNSET


class TracedVoteResponse(_TracedResponse, frozen=True, gc=False, tag="VoteResponse"):
    """An answer to a Vote or Pre-Vote."""

    granted: bool | UnsetType = UNSET
    pre_vote: bool | UnsetType = UNSET


class TracedBeginQuorumEpochRequest(_Traced, frozen=True, gc=False, tag="BeginQuorumEpochRequest"):
    """A leader's announcement."""

    epoch: Epoch | UnsetType = UNSET
    voter_key: TracedKey | UnsetType | None = UNSET
    leader_endpoint: str | UnsetType | None = UNSET
    cluster_id: str | UnsetType | None = UNSET


class TracedBeginQuorumEpochResponse(_TracedResponse, frozen=True, gc=False, tag="BeginQuorumEpochResponse"):
    """An answer to a leader's announcement."""


class TracedEndQuorumEpochRequest(_Traced, frozen=True, gc=False, tag="EndQuorumEpochRequest"):
    """A leader's resignation."""

    epoch: Epoch | UnsetType = UNSET
    preferred_candidates: tuple[TracedKey, ...] | UnsetType = UNSET
    cluster_id: str | UnsetType | None = UNSET


class TracedEndQuorumEpochResponse(_TracedResponse, frozen=True, gc=False, tag="EndQuorumEpochResponse"):
    """An answer to a leader's resignation."""


class TracedFetchRequest(_Traced, frozen=True, gc=False, tag="FetchRequest"):
    """A Fetch."""

    epoch: Epoch | UnsetType = UNSET
    replica_key: TracedKey | UnsetType = UNSET
    fetch_offset: Offset | UnsetType = UNSET
    last_epoch: Epoch | UnsetType = UNSET
    cluster_id: str | UnsetType | None = UNSET


class TracedFetchResponse(_TracedResponse, frozen=True, gc=False, tag="FetchResponse"):
    """An answer to a Fetch."""

    high_watermark: Offset | UnsetType = UNSET
    diverging_epoch: Epoch | UnsetType = UNSET
    diverging_end_offset: Offset | UnsetType = UNSET
    records: tuple[TracedRecord, ...] | UnsetType = UNSET


TracedMessage = (
    TracedVoteRequest
    | TracedVoteResponse
    | TracedBeginQuorumEpochRequest
    | TracedBeginQuorumEpochResponse
    | TracedEndQuorumEpochRequest
    | TracedEndQuorumEpochResponse
    | TracedFetchRequest
    | TracedFetchResponse
)

TRACED_MESSAGES: dict[str, type[TracedMessage]] = {
    "VoteRequest": TracedVoteRequest,
    "VoteResponse": TracedVoteResponse,
    "BeginQuorumEpochRequest": TracedBeginQuorumEpochRequest,
    "BeginQuorumEpochResponse": TracedBeginQuorumEpochResponse,
    "EndQuorumEpochRequest": TracedEndQuorumEpochRequest,
    "EndQuorumEpochResponse": TracedEndQuorumEpochResponse,
    "FetchRequest": TracedFetchRequest,
    "FetchResponse": TracedFetchResponse,
}
"""By the name of the message, which is its `type` in a trace."""


def _traced_optional_key(key: ReplicaKey | None) -> TracedKey | None:
    return None if key is None else traced_key(key)


def _traced_keys(keys: tuple[ReplicaKey, ...]) -> tuple[TracedKey, ...]:
    return tuple([traced_key(key) for key in keys])


def _traced_records(records: tuple[Record, ...]) -> tuple[TracedRecord, ...]:
    return tuple([traced_record(record) for record in records]) if records else ()


def _optional_key(key: TracedKey | None) -> ReplicaKey | None:
    return None if key is None else replica_key(key)


def _keys(keys: tuple[TracedKey, ...]) -> tuple[ReplicaKey, ...]:
    return tuple(replica_key(key) for key in keys)


def _records(records: tuple[TracedRecord, ...]) -> tuple[Record, ...]:
    return tuple(record_of(record) for record in records)


_Convert = Callable[[Any], object]

_CONVERSIONS: dict[str, tuple[_Convert, _Convert]] = {
    "replica_key": (traced_key, replica_key),
    "voter_key": (_traced_optional_key, _optional_key),
    "preferred_candidates": (_traced_keys, _keys),
    "records": (_traced_records, _records),
}
"""The fields whose form differs: to the trace and back.  All others are the same in both."""

_REFERENCE_MESSAGES: dict[type[TracedMessage], type[Message]] = {
    traced: getattr(reference, name) for name, traced in TRACED_MESSAGES.items()
}

_Plan = tuple[
    type[TracedMessage], Callable[[Message], tuple[Any, ...]], tuple[tuple[int, Callable[[Any], object]], ...]
]


def _plan(traced: type[TracedMessage], message: type[Message]) -> _Plan:
    names = [field.name for field in fields(message)]
    changes = tuple((index, _CONVERSIONS[name][0]) for index, name in enumerate(names) if name in _CONVERSIONS)
    return traced, attrgetter(*names), changes


# The fields of both sides stand in the same order (a test holds them to it), so that one call fetches them all.
_PLANS: dict[type[Message], _Plan] = {
    message: _plan(traced, message) for traced, message in _REFERENCE_MESSAGES.items()
}


def traced_message(identifier: str, message: Message) -> TracedMessage:
    """The trace's form of a message."""
    traced, read_fields, changes = _PLANS[type(message)]
    values = read_fields(message)
    if changes:
        changed = list(values)
        for index, convert in changes:
            changed[index] = convert(changed[index])
        return traced(identifier, *changed)
    return traced(identifier, *values)


def message_of(traced: TracedMessage, path: str = "$.message") -> Message:
    """The reference's form of a message.

    Raises:
        IncompleteLineError: a field other than the id was not observed; `path` is where the message stands.
    """
    message = _REFERENCE_MESSAGES[type(traced)]
    values: dict[str, object] = {}
    for field in fields(message):
        value = getattr(traced, field.name)
        if value is UNSET:
            raise IncompleteLineError(f"{path}.{field.name}")
        values[field.name] = _CONVERSIONS[field.name][1](value) if field.name in _CONVERSIONS else value
    return message(**values)  # type: ignore[arg-type]  # the fields are read from the class itself
