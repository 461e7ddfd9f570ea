"""What a trace line shows, as the values and the text that the model gives for the same things.

Which fields there are, and in which order, the tables of `kraft_spec.mapping` say; for a state, `ObservedState` in
Observed.tla does, which shows of a log and of its voters sets where they end.
A complete line is compared as text (`text`), which is fast; where the texts differ, or a foreign line leaves fields
out, the values are compared field by field (`differences`).
What a line shows and the model does not have: `time_ms`, and the timers among the effects.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from msgspec import UNSET, UnsetType

from kraft_reference import effects
from kraft_reference.records import RecordKind
from kraft_spec import mapping, mapping_forms
from kraft_spec.mapping_forms import (
    change_row,
    details_to_model,
    key_to_model,
    reports_to_model,
    snapshot_row,
    text_to_model,
)
from kraft_spec.tlc.values import TlaValue
from kraft_traces.check import wording
from kraft_traces.effects import (
    TracedAnswer,
    TracedAppendRecords,
    TracedEffect,
    TracedFlushLog,
    TracedPersistQuorumState,
    TracedSend,
    TracedStartTimer,
    TracedTruncateLog,
    TracedWriteSnapshot,
)
from kraft_traces.message_types import TRACED_MESSAGES, TracedMessage
from kraft_traces.state_types import TracedState
from kraft_traces.values import TracedRecord

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


def _target(ids: Any) -> Canonical:
    return _set(() if ids is None else ids)


def canonical_record(record: TracedRecord) -> Canonical:
    """A record as `ObservedRecord` gives it; its details and its target may be left out."""
    voters: Canonical = frozenset()
    details: Canonical = frozenset()
    if record.voters is not UNSET:
        voters = _set(key_to_model(key) for key in record.voters)
        details = UNSET if record.details is UNSET else details_to_model(record.details)
    target: Canonical = frozenset()
    if record.kind is RecordKind.VOTER_ASSIGNMENT:
        target = UNSET if record.target is UNSET else _target(record.target)
    return (record.epoch, str(record.kind), record.value, voters, details, target)


def _snapshot_id(wanted: Any) -> Canonical:
    return (-1, -1) if wanted is None else (wanted.end_offset, wanted.epoch)


def _each(convert: Callable[..., Canonical]) -> Callable[[object], tuple[Canonical, ...]]:
    return lambda values: tuple(convert(value) for value in values)  # type: ignore[attr-defined]


PLAIN = Kind(_given(lambda value: value), wording.plain)
REPLICA_ID = Kind(_given(lambda value: -1 if value is None else value), wording.replica_id)
TEXT = Kind(_given(text_to_model), wording.text)  # type: ignore[arg-type]
KEY = Kind(_given(key_to_model), wording.key)  # type: ignore[arg-type]
KEYS = Kind(_given(_each(key_to_model)), wording.keys)
KEY_SET = Kind(_given(lambda keys: _set(_each(key_to_model)(keys))), wording.key_set)
ID_SET = Kind(_given(_set), wording.id_set)
ID_PAIRS = Kind(_given(lambda pairs: _set((a, b) for a, b in pairs)), wording.id_pairs)  # type: ignore[attr-defined]
KEY_PAIRS = Kind(
    _given(lambda pairs: _set((key_to_model(key), offset) for key, offset in pairs)),  # type: ignore[attr-defined]
    wording.key_pairs,
)
RECORDS = Kind(_given(_each(canonical_record)), wording.records)
SNAPSHOT = Kind(_given(snapshot_row), wording.snapshot)
SNAPSHOT_ID = Kind(_given(_snapshot_id), wording.snapshot_id)
CHANGE = Kind(_given(change_row), wording.change)
TARGET = Kind(_given(_target), wording.target)
REPORTS = Kind(_given(reports_to_model), wording.reports)  # type: ignore[arg-type]

Field = tuple[str, Kind]

_KINDS: Mapping[mapping_forms.Form, Kind] = {
    mapping_forms.PLAIN: PLAIN,
    mapping_forms.ROLE: PLAIN,
    mapping_forms.ERROR: PLAIN,
    mapping_forms.REPLICA_ID: REPLICA_ID,
    mapping_forms.TEXT: TEXT,
    mapping_forms.KEY: KEY,
    mapping_forms.NAMED_KEY: KEY,
    mapping_forms.KEYS: KEYS,
    mapping_forms.SET: ID_SET,
    mapping_forms.REQUESTS: ID_PAIRS,
    mapping_forms.OFFSETS: KEY_PAIRS,
    mapping_forms.RECORDS: RECORDS,
    mapping_forms.SNAPSHOT: SNAPSHOT,
    mapping_forms.OPTIONAL_SNAPSHOT: SNAPSHOT,
    mapping_forms.SNAPSHOT_ID: SNAPSHOT_ID,
    mapping_forms.CHANGE: CHANGE,
    mapping_forms.REPORTS: REPORTS,
}
"""How a trace says what a form of the reference is about; a set comes as a sequence there."""

_TRACE_NAMES = {"key": "replica_key", "log.flushed": "flushed_offset"}
"""The fields of a state that a trace names in another way than the reference."""


def _fields(fields: Iterable[mapping.Field]) -> tuple[Field, ...]:
    return tuple((_TRACE_NAMES.get(field.reference, field.reference), _KINDS[field.form]) for field in fields)


def _state_fields(*names: str) -> tuple[Field, ...]:
    """The fields of a state with these names in the model."""
    by_name = {field.model: field for field in mapping.STATE}
    return _fields(by_name[name] for name in names)


MESSAGE_FIELDS: Mapping[str, tuple[Field, ...]] = {
    kind.__name__: _fields(fields) for kind, fields in mapping.MESSAGES.items()
}
"""The observed fields of each message, in the model's order after its type.

The model has no `id` (the reader holds it to sequence and receiver), no `cluster_id` (`flights` holds it to the
header's) and no `timeout_ms`."""

STATE_FIELDS: tuple[Field, ...] = (
    *_state_fields("replica_key", "role", "epoch", "leader_id", "leader_endpoint", "voted_key"),
    ("log_end_offset", PLAIN),
    ("last_epoch", PLAIN),
    *_state_fields("flushed", "high_watermark"),
    ("voters.offset", PLAIN),
    ("voters.voters", KEY_SET),
    ("voters.target", TARGET),
    ("kraft_version", PLAIN),
    *_state_fields(
        "granted", "rejected", "fetched", "searching", "awaiting", "acknowledged", "fetchers", "fetch_offsets"
    ),
    ("log_start_offset", PLAIN),
    *_state_fields(
        "pending_change", "reports", "awaited_targets", "wanted_snapshot", "quorum_state_version", "moved_to"
    ),
)
"""The observed fields of a replica's state, in the order of `ObservedState`."""

_TRACED_EFFECTS: Mapping[type[effects.DurableEffect], type[TracedEffect]] = {
    effects.PersistQuorumState: TracedPersistQuorumState,
    effects.WriteSnapshot: TracedWriteSnapshot,
    effects.TruncateLog: TracedTruncateLog,
    effects.AppendRecords: TracedAppendRecords,
    effects.FlushLog: TracedFlushLog,
}

EFFECT_FIELDS: Mapping[type[TracedEffect], tuple[str, tuple[Field, ...]]] = {
    **{_TRACED_EFFECTS[kind]: (kind.__name__, _fields(fields)) for kind, fields in mapping.EFFECTS.items()},
    TracedAnswer: (mapping.REPLY_NAME, tuple((f"reply.{name}", kind) for name, kind in _fields(mapping.REPLY))),
}
"""The effects that are no messages by their type: the model's name and the observed fields."""


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
    """Is the model's value what is given, as far as it is given?

    Members of sets may leave out parts that do not tell them from each other.
    """
    if given == model or given is UNSET:
        return True
    if isinstance(given, frozenset) and isinstance(model, frozenset):
        return len(given) == len(model) and all(any(agrees(one, other) for other in model) for one in given)
    if not isinstance(given, tuple) or not isinstance(model, tuple) or len(given) != len(model):
        return False
    return all(agrees(one, other) for one, other in zip(given, model, strict=True))


def is_whole(value: Canonical) -> bool:
    """Is nothing left out?"""
    return all(map(is_whole, value)) if isinstance(value, tuple | frozenset) else value is not UNSET


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
