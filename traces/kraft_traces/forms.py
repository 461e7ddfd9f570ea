"""Form of the reference's fields in a trace: the type that a line is checked against, and the conversions.

The form follows from the type of a field in the reference, or from its name for plain numbers, whose ranges differ.
A new field of a message or an event needs an entry here only if its values are of a new kind.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, get_type_hints

from msgspec import UNSET, Struct, UnsetType

from kraft_reference.identity import ReplicaKey, VoterSet
from kraft_reference.log import Snapshot
from kraft_reference.records import Record
from kraft_traces.errors import IncompleteLineError
from kraft_traces.values import (
    CorrelationId,
    DurationMs,
    Epoch,
    Level,
    MessageId,
    Number,
    Offset,
    ReplicaId,
    RequestedId,
    RequestedKey,
    RequestNumber,
    TracedKey,
    TracedRecord,
    TracedSnapshot,
    record_of,
    replica_key,
    requested_key,
    snapshot_of,
    traced_key,
    traced_record,
    traced_snapshot,
    traced_voters,
    voter_set,
)


class Derived(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """Part of a line with the fields that the reference declares; each may be absent, which is `UNSET`."""

    if TYPE_CHECKING:

        def __init__(self, *values: Any, **named: Any) -> None: ...

        def __getattr__(self, name: str) -> Any: ...


class TraceForm(NamedTuple):
    """Form of one kind of value in a trace."""

    checked: Any
    """Type that msgspec checks."""
    to_trace: Callable[[Any], Any] | None = None
    """None if both have the same value."""
    to_reference: Callable[[Any], Any] | None = None


def _or_none(convert: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else convert(value)


def _each(convert: Callable[[Any], Any]) -> Callable[[Any], tuple[Any, ...]]:
    return lambda values: tuple([convert(value) for value in values])


_BY_TYPE: Mapping[object, TraceForm] = {
    int: TraceForm(Number),
    ReplicaKey: TraceForm(TracedKey, traced_key, replica_key),
    ReplicaKey | None: TraceForm(TracedKey | None, _or_none(traced_key), _or_none(replica_key)),
    tuple[ReplicaKey, ...]: TraceForm(tuple[TracedKey, ...], _each(traced_key), _each(replica_key)),
    VoterSet: TraceForm(tuple[TracedKey, ...], traced_voters, voter_set),
    tuple[int, ...] | None: TraceForm(tuple[RequestedId, ...] | None),
    tuple[Record, ...]: TraceForm(tuple[TracedRecord, ...], _each(traced_record), _each(record_of)),
    Snapshot: TraceForm(TracedSnapshot, traced_snapshot, snapshot_of),
    Snapshot | None: TraceForm(TracedSnapshot | None, _or_none(traced_snapshot), _or_none(snapshot_of)),
}

_BY_NAME: Mapping[str, TraceForm] = {
    # A key in a request, valid or not.
    "voter": TraceForm(RequestedKey, requested_key, replica_key),
    "message_id": TraceForm(MessageId),
    "correlation_id": TraceForm(CorrelationId),
    "request": TraceForm(RequestNumber),
    "timeout_ms": TraceForm(DurationMs),
    "leader_id": TraceForm(ReplicaId | None),
    **dict.fromkeys(("source", "destination"), TraceForm(ReplicaId)),
    **dict.fromkeys(("epoch", "last_epoch", "diverging_epoch", "snapshot_epoch"), TraceForm(Epoch)),
    **dict.fromkeys(("end_offset", "fetch_offset", "base_offset", "log_end_offset"), TraceForm(Offset)),
    **dict.fromkeys(("high_watermark", "diverging_end_offset", "snapshot_end_offset"), TraceForm(Offset)),
    **dict.fromkeys(("min_version", "max_version", "kraft_version", "brokers_min", "brokers_max"), TraceForm(Level)),
}


@cache
def forms(kind: Any) -> Mapping[str, TraceForm]:
    """Return the forms of the fields of a message, an event or an effect of the reference, by name and in order."""
    hints = get_type_hints(kind)
    return {
        field.name: _BY_NAME.get(field.name) or _BY_TYPE.get(hints[field.name]) or TraceForm(hints[field.name])
        for field in fields(kind)
    }


def observed(form: TraceForm) -> tuple[Any, Any]:
    """Return the type and the default of an optional field."""
    return form.checked | UnsetType, UNSET


@cache
def _plan(kind: Any) -> tuple[Callable[[Any], Any], tuple[tuple[int, Callable[[Any], Any]], ...]]:
    declared = forms(kind)
    changes = tuple((place, form.to_trace) for place, form in enumerate(declared.values()) if form.to_trace is not None)
    read = attrgetter(*declared) if declared else lambda _: ()
    return (read if len(declared) != 1 else lambda structure: (read(structure),)), changes


def traced_values(structure: object) -> tuple[Any, ...]:
    """Return the values of the fields of a message, an event or an effect in trace form."""
    kind: Any = type(structure)
    read, changes = _plan(kind)
    values: tuple[Any, ...] = read(structure)
    if not changes:
        return values
    changed = list(values)
    for place, convert in changes:
        changed[place] = convert(changed[place])
    return tuple(changed)


def reference_values(kind: type, traced: object, path: str) -> dict[str, Any]:
    """Return the reference's arguments of a message, an event or an effect, from the part of a line at `path`.

    Raises:
        IncompleteLineError: a field is missing.
    """
    values: dict[str, Any] = {}
    for name, form in forms(kind).items():
        value = getattr(traced, name)
        if value is UNSET:
            raise IncompleteLineError(f"{path}.{name}")
        values[name] = value if form.to_reference is None else form.to_reference(value)
    return values
