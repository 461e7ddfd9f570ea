"""What a trace line shows, as the values and the text that the model gives for the same things.

The order of the fields is that of `ObservedState`, `ObservedMessage` and `ObservedEffect` in Trace.tla.
A complete line is compared as text (`text`), which is fast; where the texts differ, or a foreign line leaves fields
out, the values are compared field by field (`differences`).
What a line shows and the model does not have: `time_ms`, and the timers among the effects.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from msgspec import UNSET, UnsetType

from kraft_spec.tlc.values import TlaValue
from kraft_traces.check import wording
from kraft_traces.check.model import encoded_key, encoded_text
from kraft_traces.effects import (
    TracedAppendRecords,
    TracedEffect,
    TracedFlushLog,
    TracedPersistQuorumState,
    TracedSend,
    TracedStartTimer,
    TracedTruncateLog,
)
from kraft_traces.lines import TracedState
from kraft_traces.messages import TRACED_MESSAGES, TracedMessage

Canonical = object
"""int, bool, str, tuple, frozenset as in the model, or UNSET for what the line leaves out."""


@dataclass(frozen=True, slots=True)
class Kind:
    """How a field is turned into the model's value, and the model's value into the words of a trace."""

    canonical: Callable[[Canonical], Canonical]
    worded: Callable[[TlaValue], str]


def _given(convert: Callable[[object], Canonical]) -> Callable[[Canonical], Canonical]:
    """The same conversion, which leaves alone what the line leaves out."""
    return lambda value: value if value is UNSET else convert(value)


def _set(values: Any) -> Canonical:
    """A set; what has a member twice is none, and equals nothing that the model gives."""
    members: tuple[Hashable, ...] = tuple(values)
    distinct = frozenset(members)
    return distinct if len(distinct) == len(members) else members


def canonical_record(record: object) -> Canonical:
    """A record as `ObservedRecord` gives it."""
    voters = getattr(record, "voters", ())
    return (
        record.epoch,  # type: ignore[attr-defined]
        str(record.kind),  # type: ignore[attr-defined]
        record.value,  # type: ignore[attr-defined]
        _set(encoded_key(key) for key in (() if voters is UNSET else voters)),
    )


def _each(convert: Callable[..., Canonical]) -> Callable[[object], tuple[Canonical, ...]]:
    return lambda values: tuple(convert(value) for value in values)  # type: ignore[attr-defined]


PLAIN = Kind(_given(lambda value: value), wording.plain)
REPLICA_ID = Kind(_given(lambda value: -1 if value is None else value), wording.replica_id)
TEXT = Kind(_given(encoded_text), wording.text)  # type: ignore[arg-type]
KEY = Kind(_given(encoded_key), wording.key)  # type: ignore[arg-type]
KEYS = Kind(_given(_each(encoded_key)), wording.keys)
KEY_SET = Kind(_given(lambda keys: _set(_each(encoded_key)(keys))), wording.key_set)
ID_SET = Kind(_given(_set), wording.id_set)
ID_PAIRS = Kind(_given(lambda pairs: _set((a, b) for a, b in pairs)), wording.id_pairs)  # type: ignore[attr-defined]
KEY_PAIRS = Kind(
    _given(lambda pairs: _set((encoded_key(key), offset) for key, offset in pairs)),  # type: ignore[attr-defined]
    wording.key_pairs,
)
RECORDS = Kind(_given(_each(canonical_record)), wording.records)

Field = tuple[str, Kind]

_REQUEST: tuple[Field, ...] = (
    ("source", PLAIN),
    ("destination", PLAIN),
    ("correlation_id", PLAIN),
)
_RESPONSE: tuple[Field, ...] = (
    *_REQUEST,
    ("error", PLAIN),
    ("epoch", PLAIN),
    ("leader_id", REPLICA_ID),
    ("leader_endpoint", TEXT),
)

MESSAGE_FIELDS: Mapping[str, tuple[Field, ...]] = {
    "VoteRequest": (
        *_REQUEST,
        ("epoch", PLAIN),
        ("replica_key", KEY),
        ("voter_key", KEY),
        ("last_epoch", PLAIN),
        ("end_offset", PLAIN),
        ("pre_vote", PLAIN),
    ),
    "VoteResponse": (*_RESPONSE, ("granted", PLAIN), ("pre_vote", PLAIN)),
    "BeginQuorumEpochRequest": (*_REQUEST, ("epoch", PLAIN), ("voter_key", KEY), ("leader_endpoint", TEXT)),
    "BeginQuorumEpochResponse": _RESPONSE,
    "EndQuorumEpochRequest": (*_REQUEST, ("epoch", PLAIN), ("preferred_candidates", KEYS)),
    "EndQuorumEpochResponse": _RESPONSE,
    "FetchRequest": (
        *_REQUEST,
        ("epoch", PLAIN),
        ("replica_key", KEY),
        ("fetch_offset", PLAIN),
        ("last_epoch", PLAIN),
    ),
    "FetchResponse": (
        *_RESPONSE,
        ("high_watermark", PLAIN),
        ("diverging_epoch", PLAIN),
        ("diverging_end_offset", PLAIN),
        ("records", RECORDS),
    ),
}
"""The observed fields of each message, in the model's order after its type.

The model has no `id` (the reader holds it to sequence and receiver) and no `cluster_id` (`flights` holds it to the
header's)."""

STATE_FIELDS: tuple[Field, ...] = (
    ("replica_key", KEY),
    ("role", PLAIN),
    ("epoch", PLAIN),
    ("leader_id", REPLICA_ID),
    ("leader_endpoint", TEXT),
    ("voted_key", KEY),
    ("log_end_offset", PLAIN),
    ("last_epoch", PLAIN),
    ("flushed_offset", PLAIN),
    ("high_watermark", PLAIN),
    ("voters.offset", PLAIN),
    ("voters.voters", KEY_SET),
    ("kraft_version", PLAIN),
    ("granted", ID_SET),
    ("rejected", ID_SET),
    ("fetched", PLAIN),
    ("searching", PLAIN),
    ("awaiting", ID_PAIRS),
    ("acknowledged", ID_SET),
    ("fetchers", ID_SET),
    ("fetch_offsets", KEY_PAIRS),
)
"""The observed fields of a replica's state, in the model's order."""

EFFECT_FIELDS: Mapping[type[TracedEffect], tuple[str, tuple[Field, ...]]] = {
    TracedPersistQuorumState: (
        "PersistQuorumState",
        (("epoch", PLAIN), ("leader_id", REPLICA_ID), ("voted_key", KEY)),
    ),
    TracedTruncateLog: ("Truncate", (("end_offset", PLAIN),)),
    TracedAppendRecords: ("Append", (("base_offset", PLAIN), ("records", RECORDS))),
    TracedFlushLog: ("Flush", (("end_offset", PLAIN),)),
}
"""The durable effects by their type: the model's name and the observed fields."""


def canonical_fields(structure: object, fields: tuple[Field, ...]) -> tuple[Canonical, ...]:
    """The observed fields of a message, state or effect as the model has them."""
    return tuple([kind.canonical(_attribute(structure, name)) for name, kind in fields])


def _attribute(structure: object, path: str) -> Canonical:
    for name in path.split("."):
        structure = getattr(structure, name, UNSET)
    return structure


_TYPE_NAMES = {traced: name for name, traced in TRACED_MESSAGES.items()}


def canonical_message(message: TracedMessage) -> tuple[Canonical, ...]:
    """A message as `ObservedMessage` gives it."""
    name = _TYPE_NAMES[type(message)]
    return (name, *canonical_fields(message, MESSAGE_FIELDS[name]))


def canonical_state(state: TracedState | UnsetType) -> tuple[Canonical, ...]:
    """A state as `ObservedState` gives it."""
    return canonical_fields(state, STATE_FIELDS)


def canonical_effect(effect: TracedEffect) -> tuple[Canonical, ...]:
    """An effect that is no timer as `ObservedEffects` gives it."""
    if isinstance(effect, TracedSend):
        return canonical_message(effect.message)
    name, fields = EFFECT_FIELDS[type(effect)]
    return (name, *canonical_fields(effect, fields))


def canonical_effects(effects: tuple[TracedEffect, ...]) -> tuple[tuple[int, tuple[Canonical, ...]], ...]:
    """The effects as `ObservedEffects` gives them, each with its place in the line; timers are left out."""
    return tuple(
        [
            (place, canonical_effect(effect))
            for place, effect in enumerate(effects)
            if not isinstance(effect, TracedStartTimer)
        ]
    )


def agrees(given: Canonical, model: TlaValue) -> bool:
    """Is the model's row what is given, as far as it is given?"""
    assert isinstance(given, tuple), "a row of observed fields"
    assert isinstance(model, tuple), "a row of observed fields"
    return given[0] == model[0] and all(a is UNSET or a == b for a, b in zip(given, model, strict=True))


def tla_text(value: Canonical) -> str:
    """The text that TLC gives for a value; something it never gives for a value that is left out."""
    if value is True:
        return "TRUE"
    if value is False:
        return "FALSE"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, tuple):
        return "<<" + ", ".join([tla_text(part) for part in value]) + ">>"
    if isinstance(value, frozenset):
        if not value:
            return "{}"
        return "{" + ", ".join([tla_text(part) for part in sorted(value)]) + "}"
    return "UNSET"
