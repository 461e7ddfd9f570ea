"""Observation of a trace line: its recorded fields as values of the model.

`kraft_spec.mapping` derives the fields and the form of their values from the reference's declarations; a state has the
form of `ObservedState` in Observed.tla.
A complete line is compared as text (`text`), which is fast.  If the texts differ, or fields are missing, the values are
compared field by field (`differences`).
The model does not have `time_ms` and the timers among the effects.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from msgspec import UNSET, UnsetType

from kraft_reference.records import RecordKind
from kraft_spec import mapping, mapping_forms
from kraft_spec.mapping_forms import (
    ModelAwaitedTarget,
    ModelRequest,
    ModelSnapshotId,
    change_to_model,
    details_to_model,
    key_to_model,
    reports_to_model,
    snapshot_to_model,
    text_to_model,
)
from kraft_spec.tlc.values import TlaValue
from kraft_traces.check import wording
from kraft_traces.effects import TRACED_EFFECTS, TracedAnswer, TracedEffect, TracedSend, TracedStartTimer
from kraft_traces.message_types import TRACED_MESSAGES, TracedMessage
from kraft_traces.state_types import TracedState
from kraft_traces.values import TracedRecord

Canonical = object
"""int, bool, str, tuple, frozenset, mapping of fields as in the model, or UNSET for a missing field."""

Fields = Mapping[str, Canonical]
"""Fields of a message, an effect or a state, by name in the model; `type` is the type of the message or effect."""


@dataclass(frozen=True, slots=True)
class Kind:
    """Kind of a field: its conversions to the model's value and to text."""

    canonical: Callable[[Canonical], Canonical]
    worded: Callable[[TlaValue], str]


class Field(NamedTuple):
    """A field of a line."""

    path: str
    """Path within the message, effect or state, such as `reply.error`."""
    name: str
    """Name in the model."""
    kind: Kind


def _if_set(convert: Callable[[Any], Canonical]) -> Callable[[Canonical], Canonical]:
    """Return a conversion that keeps UNSET and else applies `convert`."""
    return lambda value: value if value is UNSET else convert(value)


def _set(values: Any) -> Canonical:
    """Return a set; a tuple if a member occurs twice, which equals no value of the model."""
    members: tuple[Hashable, ...] = tuple(values)
    distinct = frozenset(members)
    return distinct if len(distinct) == len(members) else members


def _target(ids: Any) -> Canonical:
    return _set(() if ids is None else ids)


def canonical_record(record: TracedRecord) -> Fields:
    """Return a record as the model has it; its details and its target may be missing."""
    voters: Canonical = frozenset()
    details: Canonical = frozenset()
    if record.voters is not UNSET:
        voters = _set(key_to_model(key) for key in record.voters)
        details = UNSET if record.details is UNSET else details_to_model(record.details)
    plain = {"epoch": record.epoch, "kind": str(record.kind), "value": record.value}
    about: Fields = {**plain, "voters": voters, "details": details}
    if record.kind is not RecordKind.VOTER_ASSIGNMENT:
        return about
    return {**about, "target": UNSET if record.target is UNSET else _target(record.target)}


def _snapshot(snapshot: Any) -> Canonical:
    return () if snapshot is None else snapshot_to_model(snapshot)


def _snapshot_id(wanted: Any) -> Canonical:
    return ModelSnapshotId(-1, -1) if wanted is None else ModelSnapshotId(wanted.end_offset, wanted.epoch)


def _each(convert: Callable[..., Canonical]) -> Callable[[Any], tuple[Canonical, ...]]:
    return lambda values: tuple([convert(value) for value in values])


PLAIN = Kind(_if_set(lambda value: value), wording.plain)
REPLICA_ID = Kind(_if_set(lambda value: -1 if value is None else value), wording.replica_id)
TEXT = Kind(_if_set(text_to_model), wording.text)
KEY = Kind(_if_set(key_to_model), wording.key)
KEYS = Kind(_if_set(_each(key_to_model)), wording.keys)
KEY_SET = Kind(_if_set(lambda keys: _set(_each(key_to_model)(keys))), wording.key_set)
ID_SET = Kind(_if_set(_set), wording.id_set)
REQUESTS = Kind(_if_set(lambda pairs: _set(ModelRequest(*pair) for pair in pairs)), wording.id_pairs)
AWAITED_TARGETS = Kind(_if_set(lambda pairs: _set(ModelAwaitedTarget(*pair) for pair in pairs)), wording.id_pairs)
KEY_PAIRS = Kind(_if_set(lambda pairs: _set((key_to_model(key), offset) for key, offset in pairs)), wording.key_pairs)
RECORDS = Kind(_if_set(_each(canonical_record)), wording.records)
SNAPSHOT = Kind(_if_set(_snapshot), wording.snapshot)
SNAPSHOT_ID = Kind(_if_set(_snapshot_id), wording.snapshot_id)
CHANGE = Kind(_if_set(change_to_model), wording.change)
TARGET = Kind(_if_set(_target), wording.target)
REPORTS = Kind(_if_set(reports_to_model), wording.reports)

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
    mapping_forms.REQUESTS: REQUESTS,
    mapping_forms.AWAITED_TARGETS: AWAITED_TARGETS,
    mapping_forms.OFFSETS: KEY_PAIRS,
    mapping_forms.RECORDS: RECORDS,
    mapping_forms.SNAPSHOT: SNAPSHOT,
    mapping_forms.OPTIONAL_SNAPSHOT: SNAPSHOT,
    mapping_forms.SNAPSHOT_ID: SNAPSHOT_ID,
    mapping_forms.CHANGE: CHANGE,
    mapping_forms.REPORTS: REPORTS,
}
"""Kind of a field in a trace for each form of the reference."""


def _fields(fields: Iterable[mapping.Field], within: str = "") -> tuple[Field, ...]:
    return tuple(Field(f"{within}{field.reference}", field.model, _KINDS[field.form]) for field in fields)


MESSAGE_FIELDS: Mapping[str, tuple[Field, ...]] = {
    kind.__name__: _fields(fields) for kind, fields in mapping.MESSAGES.items()
}
"""Observed fields of each message.

The model has no `id` (the reader checks it against sequence and receiver), no `cluster_id` (`flights` checks it against
the header's) and no `timeout_ms`."""


VOTERS_FIELDS = (
    Field("offset", "offset", PLAIN),
    Field("voters", "voters", KEY_SET),
    Field("target", "target", TARGET),
)
"""Fields of the newest voter set in a state."""


def _voters(entry: Canonical) -> Fields:
    return canonical_fields(entry, VOTERS_FIELDS)


VOTERS = Kind(_voters, lambda value: str(value))

# A line has the start and the end offset of the log, and the newest voter set and kraft.version.
_OF_THE_LOG = {"last_epoch": PLAIN, "voters": VOTERS, "kraft_version": PLAIN} | dict.fromkeys(
    ("log_start_offset", "log_end_offset", "flushed_offset"), PLAIN
)
_STATE_KINDS = {field.model: _KINDS[field.form] for field in mapping.STATE if field.form in _KINDS} | _OF_THE_LOG
_STATE_KINDS["acknowledged"] = _KINDS[mapping_forms.SET]  # Two fields of the state: see states.traced_state.

STATE_FIELDS: tuple[Field, ...] = tuple(Field(name, name, _STATE_KINDS[name]) for name in TracedState.__struct_fields__)
"""Observed fields of a replica's state."""

EFFECT_FIELDS: Mapping[type[TracedEffect], tuple[str, tuple[Field, ...]]] = {
    **{TRACED_EFFECTS[kind.__name__]: (kind.__name__, _fields(fields)) for kind, fields in mapping.EFFECTS.items()},
    TracedAnswer: (mapping.REPLY_NAME, _fields(mapping.REPLY, "reply.")),
}
"""Name in the model and observed fields of each type of effect that is not a message."""


def canonical_fields(structure: object, fields: tuple[Field, ...]) -> dict[str, Canonical]:
    """Return the observed fields of a message, state or effect as the model has them."""
    return {name: kind.canonical(_attribute(structure, path)) for path, name, kind in fields}


def _attribute(structure: object, path: str) -> Canonical:
    for name in path.split("."):
        structure = getattr(structure, name, UNSET)
    return structure


_TYPE_NAMES = {traced: name for name, traced in TRACED_MESSAGES.items()}


def canonical_message(message: TracedMessage) -> Fields:
    """Return a message as the model has it."""
    name = _TYPE_NAMES[type(message)]
    return {"type": name, **canonical_fields(message, MESSAGE_FIELDS[name])}


def canonical_state(state: TracedState | UnsetType) -> Fields:
    """Return a state as `ObservedState` has it."""
    return canonical_fields(state, STATE_FIELDS)


def canonical_effect(effect: TracedEffect) -> Fields:
    """Return an effect other than a timer as `ObservedEffects` has it."""
    if isinstance(effect, TracedSend):
        return canonical_message(effect.message)
    name, fields = EFFECT_FIELDS[type(effect)]
    return {"type": name, **canonical_fields(effect, fields)}


def canonical_effects(effects: tuple[TracedEffect, ...]) -> tuple[tuple[int, Fields], ...]:
    """Return the effects other than timers as `ObservedEffects` has them, each with its index in the line."""
    return tuple(
        [
            (place, canonical_effect(effect))
            for place, effect in enumerate(effects)
            if not isinstance(effect, TracedStartTimer)
        ]
    )


def agrees(recorded: Canonical, model: TlaValue) -> bool:
    """True if the recorded parts of a value agree with the model's value.

    Members of sets may lack parts that are not needed to distinguish them.
    """
    if recorded is UNSET or recorded == model:
        return True
    if isinstance(recorded, frozenset) and isinstance(model, frozenset):
        return len(recorded) == len(model) and all(any(agrees(part, member) for member in model) for part in recorded)
    if isinstance(recorded, Mapping) and isinstance(model, Mapping):
        return recorded.keys() == model.keys() and all(agrees(recorded[name], model[name]) for name in recorded)
    if not isinstance(recorded, tuple) or not isinstance(model, tuple) or len(recorded) != len(model):
        return False
    return all(agrees(part, member) for part, member in zip(recorded, model, strict=True))


def is_whole(value: Canonical) -> bool:
    """True if no part of the value is missing."""
    if isinstance(value, Mapping):
        return all(map(is_whole, value.values()))
    return all(map(is_whole, value)) if isinstance(value, tuple | frozenset) else value is not UNSET
