"""What a trace line shows, as the values and the text that the model gives for the same things.

The order of the fields is that of `ObservedState`, `ObservedMessage` and `ObservedEffect` in Trace.tla.
A complete line is compared as text, which is fast; where the texts differ, or a foreign line leaves fields out,
the values are compared field by field.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from msgspec import UNSET, UnsetType

from kraft_spec.tlc.values import TlaValue
from kraft_traces.check.model import encoded_key
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
class Difference:
    """One field in which a line and the model disagree."""

    field: str
    expected: str
    """What the model gives."""
    actual: str
    """What the line says."""


def _plain(value: Canonical) -> Canonical:
    return value


def _replica_id(value: Canonical) -> Canonical:
    return -1 if value is None else value


def _text(value: Canonical) -> Canonical:
    return "" if value is None else value


def _key(value: Canonical) -> Canonical:
    return value if value is UNSET else encoded_key(value)  # type: ignore[arg-type]


def _keys(value: Canonical) -> Canonical:
    return value if value is UNSET else tuple(encoded_key(key) for key in value)  # type: ignore[attr-defined]


def _key_set(value: Canonical) -> Canonical:
    return value if value is UNSET else frozenset(encoded_key(key) for key in value)  # type: ignore[attr-defined]


def _set(value: Canonical) -> Canonical:
    return value if value is UNSET else frozenset(value)  # type: ignore[call-overload]


def _pairs(value: Canonical) -> Canonical:
    return value if value is UNSET else frozenset((a, b) for a, b in value)  # type: ignore[attr-defined]


def _key_pairs(value: Canonical) -> Canonical:
    return value if value is UNSET else frozenset((encoded_key(key), o) for key, o in value)  # type: ignore[attr-defined]


def _record(record: object) -> Canonical:
    voters = getattr(record, "voters", ())
    value = getattr(record, "value", 0)
    return (
        record.epoch,  # type: ignore[attr-defined]
        str(record.kind),  # type: ignore[attr-defined]
        value,
        _key_set(() if voters is UNSET else voters),
    )


def _records(value: Canonical) -> Canonical:
    return value if value is UNSET else tuple(_record(record) for record in value)  # type: ignore[attr-defined]


Field = tuple[str, Callable[[Canonical], Canonical]]

_REQUEST: tuple[Field, ...] = (
    ("source", _plain),
    ("destination", _plain),
    ("correlation_id", _plain),
)
_RESPONSE: tuple[Field, ...] = (
    *_REQUEST,
    ("error", _plain),
    ("epoch", _plain),
    ("leader_id", _replica_id),
    ("leader_endpoint", _text),
)

MESSAGE_FIELDS: Mapping[str, tuple[Field, ...]] = {
    "VoteRequest": (
        *_REQUEST,
        ("epoch", _plain),
        ("replica_key", _key),
        ("voter_key", _key),
        ("last_epoch", _plain),
        ("end_offset", _plain),
        ("pre_vote", _plain),
    ),
    "VoteResponse": (*_RESPONSE, ("granted", _plain), ("pre_vote", _plain)),
    "BeginQuorumEpochRequest": (*_REQUEST, ("epoch", _plain), ("voter_key", _key), ("leader_endpoint", _text)),
    "BeginQuorumEpochResponse": _RESPONSE,
    "EndQuorumEpochRequest": (*_REQUEST, ("epoch", _plain), ("preferred_candidates", _keys)),
    "EndQuorumEpochResponse": _RESPONSE,
    "FetchRequest": (
        *_REQUEST,
        ("epoch", _plain),
        ("replica_key", _key),
        ("fetch_offset", _plain),
        ("last_epoch", _plain),
    ),
    "FetchResponse": (
        *_RESPONSE,
        ("high_watermark", _plain),
        ("diverging_epoch", _plain),
        ("diverging_end_offset", _plain),
        ("records", _records),
    ),
}
"""The observed fields of each message, in the model's order after its type."""

STATE_FIELDS: tuple[Field, ...] = (
    ("replica_key", _key),
    ("role", _plain),
    ("epoch", _plain),
    ("leader_id", _replica_id),
    ("leader_endpoint", _text),
    ("voted_key", _key),
    ("log_end_offset", _plain),
    ("last_epoch", _plain),
    ("flushed_offset", _plain),
    ("high_watermark", _plain),
    ("voters.offset", _plain),
    ("voters.voters", _key_set),
    ("kraft_version", _plain),
    ("granted", _set),
    ("rejected", _set),
    ("fetched", _plain),
    ("searching", _plain),
    ("awaiting", _pairs),
    ("acknowledged", _set),
    ("fetchers", _set),
    ("fetch_offsets", _key_pairs),
)
"""The observed fields of a replica's state, in the model's order."""

EFFECT_FIELDS: Mapping[type[TracedEffect], tuple[str, tuple[Field, ...]]] = {
    TracedPersistQuorumState: (
        "PersistQuorumState",
        (("epoch", _plain), ("leader_id", _replica_id), ("voted_key", _key)),
    ),
    TracedTruncateLog: ("Truncate", (("end_offset", _plain),)),
    TracedAppendRecords: ("Append", (("base_offset", _plain), ("records", _records))),
    TracedFlushLog: ("Flush", (("end_offset", _plain),)),
}
"""The durable effects by their type: the model's name and the observed fields."""


def _attribute(structure: object, path: str) -> Canonical:
    for name in path.split("."):
        if structure is UNSET:
            return UNSET
        structure = getattr(structure, name, UNSET)
    return structure


def canonical_fields(structure: object, fields: tuple[Field, ...]) -> tuple[Canonical, ...]:
    """The observed fields of a message, state or effect as the model has them."""
    return tuple([convert(getattr(structure, name, UNSET)) for name, convert in fields])


_TYPE_NAMES = {traced: name for name, traced in TRACED_MESSAGES.items()}


def canonical_message(message: TracedMessage) -> tuple[Canonical, ...]:
    """A message as `ObservedMessage` gives it."""
    kind = _TYPE_NAMES[type(message)]
    return (kind, *canonical_fields(message, MESSAGE_FIELDS[kind]))


_FLAT_STATE_FIELDS = tuple(field for field in STATE_FIELDS if "." not in field[0])
_VOTERS_AT = next(i for i, (name, _) in enumerate(STATE_FIELDS) if name.startswith("voters."))


def canonical_state(state: TracedState | UnsetType) -> tuple[Canonical, ...]:
    """A state as `ObservedState` gives it."""
    flat = canonical_fields(state, _FLAT_STATE_FIELDS)
    entry = getattr(state, "voters", UNSET)
    voters = (_attribute(entry, "offset"), _key_set(_attribute(entry, "voters")))
    return (*flat[:_VOTERS_AT], *voters, *flat[_VOTERS_AT:])


def canonical_effects(effects: tuple[TracedEffect, ...] | UnsetType) -> Canonical:
    """The effects as `ObservedEffects` gives them; timers are not the model's business."""
    if effects is UNSET:
        return UNSET
    shown: list[Canonical] = []
    for effect in effects:
        if isinstance(effect, TracedSend):
            shown.append(canonical_message(effect.message))
        elif not isinstance(effect, TracedStartTimer):
            name, fields = EFFECT_FIELDS[type(effect)]
            shown.append((name, *canonical_fields(effect, fields)))
    return tuple(shown)


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


def differences(path: str, expected: TlaValue | Canonical, actual: Canonical) -> Iterator[Difference]:
    """Where two values differ; what the line leaves out agrees with everything."""
    if actual is UNSET or expected == actual:
        return
    if isinstance(expected, tuple) and isinstance(actual, tuple) and len(expected) == len(actual):
        for index, (wanted, got) in enumerate(zip(expected, actual, strict=True)):
            yield from differences(f"{path}[{index}]", wanted, got)
        return
    yield Difference(path, tla_text(expected), tla_text(actual))


def named_differences(
    prefix: str, names: tuple[str, ...], expected: TlaValue, actual: tuple[Canonical, ...]
) -> Iterator[Difference]:
    """Where two rows of named fields differ."""
    assert isinstance(expected, tuple), "an observation is a tuple"
    for name, wanted, got in zip(names, expected, actual, strict=True):
        if got is not UNSET and wanted != got:
            yield from _at_field(f"{prefix}{name}", wanted, got)


def _at_field(field: str, wanted: TlaValue, got: Canonical) -> Iterator[Difference]:
    if field.endswith("records"):
        yield from differences(field, wanted, got)
    else:
        yield Difference(field, tla_text(wanted), tla_text(got))


def message_differences(prefix: str, expected: TlaValue, actual: tuple[Canonical, ...]) -> Iterator[Difference]:
    """Where a message of the model and one of the line differ."""
    assert isinstance(expected, tuple), "an observed message is a tuple"
    if expected[0] != actual[0]:
        yield Difference(f"{prefix}type", tla_text(expected[0]), tla_text(actual[0]))
        return
    names = ("type", *(name for name, _ in MESSAGE_FIELDS[str(expected[0])]))
    yield from named_differences(prefix, names, expected, actual)


def effect_differences(expected: TlaValue, actual: Canonical) -> Iterator[Difference]:
    """Where the ordered effects differ."""
    if actual is UNSET:
        return
    assert isinstance(expected, tuple), "effects are a sequence"
    assert isinstance(actual, tuple), "effects are a sequence"
    for index in range(max(len(expected), len(actual))):
        field = f"effects[{index}]"
        if index >= len(expected):
            yield Difference(field, "nothing", tla_text(actual[index]))
        elif index >= len(actual):
            yield Difference(field, tla_text(expected[index]), "nothing")
        else:
            yield from _effect_difference(field, expected[index], actual[index])


def _effect_difference(field: str, wanted: TlaValue, got: Canonical) -> Iterator[Difference]:
    assert isinstance(wanted, tuple), "an effect is a tuple"
    assert isinstance(got, tuple), "an effect is a tuple"
    if wanted[0] != got[0]:
        yield Difference(field, tla_text(wanted), tla_text(got))
    elif wanted[0] in MESSAGE_FIELDS:
        yield from message_differences(f"{field}.message.", wanted, got)
    else:
        fields = next(fields for name, fields in EFFECT_FIELDS.values() if name == wanted[0])
        yield from named_differences(f"{field}.", ("kind", *(name for name, _ in fields)), wanted, got)
