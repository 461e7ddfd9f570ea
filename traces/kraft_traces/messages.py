"""Messages of the reference in the form of a trace, and back."""

from collections.abc import Callable
from dataclasses import fields
from operator import attrgetter
from typing import Any

from msgspec import UNSET

from kraft_reference import messages as reference
from kraft_reference.identity import ReplicaKey
from kraft_reference.log import Snapshot
from kraft_reference.messages import Message
from kraft_reference.records import Record
from kraft_traces.errors import IncompleteLineError
from kraft_traces.message_types import TRACED_MESSAGES, TracedMessage
from kraft_traces.values import (
    TracedKey,
    TracedRecord,
    TracedSnapshot,
    asked_key,
    record_of,
    replica_key,
    snapshot_of,
    traced_key,
    traced_record,
    traced_snapshot,
)


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


def _traced_optional_snapshot(snapshot: Snapshot | None) -> TracedSnapshot | None:
    return None if snapshot is None else traced_snapshot(snapshot)


def _optional_snapshot(snapshot: TracedSnapshot | None) -> Snapshot | None:
    return None if snapshot is None else snapshot_of(snapshot)


_Convert = Callable[[Any], object]

_CONVERSIONS: dict[str, tuple[_Convert, _Convert]] = {
    "replica_key": (traced_key, replica_key),
    "voter_key": (_traced_optional_key, _optional_key),
    "preferred_candidates": (_traced_keys, _keys),
    "records": (_traced_records, _records),
    "voter": (asked_key, replica_key),
    "snapshot": (_traced_optional_snapshot, _optional_snapshot),
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
