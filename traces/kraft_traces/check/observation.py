"""What a trace line shows, as the values that the model gives for the same things.

Which fields there are, and how their values look, `kraft_spec.mapping` takes from the reference's declarations; a
state is shown as `ObservedState` in Observed.tla has it.
A complete line is compared as text (`text`), which is fast; where the texts differ, or a foreign line leaves fields
out, the values are compared field by field (`differences`).
What a line shows and the model does not have: `time_ms`, and the timers among the effects.
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
"""int, bool, str, tuple, frozenset, mapping of fields as in the model, or UNSET for what the line leaves out."""

Fields = Mapping[str, Canonical]
"""The fields of a message, an effect or a state, by their names in the model; `type` names the message or effect."""


@dataclass(frozen=True, slots=True)
class Kind:
    """How a field is turned into the model's value, and the model's value into the words of a trace."""

    canonical: Callable[[Canonical], Canonical]
    worded: Callable[[TlaValue], str]


class Field(NamedTuple):
    """A field of a line."""

    path: str
    """Where it is in the line's part, `reply.error` for one."""
    name: str
    """What the model calls it."""
    kind: Kind


def _given(convert: Callable[[Any], Canonical]) -> Callable[[Canonical], Canonical]:
    """The same conversion, which leaves alone what the line leaves out."""
    return lambda value: value if value is UNSET else convert(value)


def _set(values: Any) -> Canonical:
    """A set; what has a member twice is none, and equals nothing that the model gives."""
    members: tuple[Hashable, ...] = tuple(values)
    distinct = frozenset(members)
    return distinct if len(distinct) == len(members) else members


def _target(ids: Any) -> Canonical:
    return _set(() if ids is None else ids)


def canonical_record(record: TracedRecord) -> Fields:
    """A record of the log; its details and its target may be left out."""
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


PLAIN = Kind(_given(lambda value: value), wording.plain)
REPLICA_ID = Kind(_given(lambda value: -1 if value is None else value), wording.replica_id)
TEXT = Kind(_given(text_to_model), wording.text)
KEY = Kind(_given(key_to_model), wording.key)
KEYS = Kind(_given(_each(key_to_model)), wording.keys)
KEY_SET = Kind(_given(lambda keys: _set(_each(key_to_model)(keys))), wording.key_set)
ID_SET = Kind(_given(_set), wording.id_set)
REQUESTS = Kind(_given(lambda pairs: _set(ModelRequest(*pair) for pair in pairs)), wording.id_pairs)
AWAITED_TARGETS = Kind(_given(lambda pairs: _set(ModelAwaitedTarget(*pair) for pair in pairs)), wording.id_pairs)
KEY_PAIRS = Kind(_given(lambda pairs: _set((key_to_model(key), offset) for key, offset in pairs)), wording.key_pairs)
RECORDS = Kind(_given(_each(canonical_record)), wording.records)
SNAPSHOT = Kind(_given(_snapshot), wording.snapshot)
SNAPSHOT_ID = Kind(_given(_snapshot_id), wording.snapshot_id)
CHANGE = Kind(_given(change_to_model), wording.change)
TARGET = Kind(_given(_target), wording.target)
REPORTS = Kind(_given(reports_to_model), wording.reports)

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
"""How a trace says what a form of the reference is about; a set comes as a sequence there."""


def _fields(fields: Iterable[mapping.Field], within: str = "") -> tuple[Field, ...]:
    return tuple(Field(f"{within}{field.reference}", field.model, _KINDS[field.form]) for field in fields)


MESSAGE_FIELDS: Mapping[str, tuple[Field, ...]] = {
    kind.__name__: _fields(fields) for kind, fields in mapping.MESSAGES.items()
}
"""The observed fields of each message.

The model has no `id` (the reader holds it to sequence and receiver), no `cluster_id` (`flights` holds it to the
header's) and no `timeout_ms`."""


VOTERS_FIELDS = (
    Field("offset", "offset", PLAIN),
    Field("voters", "voters", KEY_SET),
    Field("target", "target", TARGET),
)
"""What a state shows of its newest voters set."""


def _voters(entry: Canonical) -> Fields:
    return canonical_fields(entry, VOTERS_FIELDS)


VOTERS = Kind(_voters, lambda value: str(value))

# A line shows of a log where it begins and ends, and of its voters sets and levels the newest.
_OF_THE_LOG = {"last_epoch": PLAIN, "voters": VOTERS, "kraft_version": PLAIN} | dict.fromkeys(
    ("log_start_offset", "log_end_offset", "flushed_offset"), PLAIN
)
_STATE_KINDS = {field.model: _KINDS[field.form] for field in mapping.STATE if field.form in _KINDS} | _OF_THE_LOG

STATE_FIELDS: tuple[Field, ...] = tuple(Field(name, name, _STATE_KINDS[name]) for name in TracedState.__struct_fields__)
"""The observed fields of a replica's state."""

EFFECT_FIELDS: Mapping[type[TracedEffect], tuple[str, tuple[Field, ...]]] = {
    **{TRACED_EFFECTS[kind.__name__]: (kind.__name__, _fields(fields)) for kind, fields in mapping.EFFECTS.items()},
    TracedAnswer: (mapping.REPLY_NAME, _fields(mapping.REPLY, "reply.")),
}
"""The effects that are no messages by their type: the model's name and the observed fields."""


def canonical_fields(structure: object, fields: tuple[Field, ...]) -> dict[str, Canonical]:
    """The observed fields of a message, state or effect as the model has them."""
    return {name: kind.canonical(_attribute(structure, path)) for path, name, kind in fields}


def _attribute(structure: object, path: str) -> Canonical:
    for name in path.split("."):
        structure = getattr(structure, name, UNSET)
    return structure


_TYPE_NAMES = {traced: name for name, traced in TRACED_MESSAGES.items()}


def canonical_message(message: TracedMessage) -> Fields:
    """A message as the model has it."""
    name = _TYPE_NAMES[type(message)]
    return {"type": name, **canonical_fields(message, MESSAGE_FIELDS[name])}


def canonical_state(state: TracedState | UnsetType) -> Fields:
    """A state as `ObservedState` gives it."""
    return canonical_fields(state, STATE_FIELDS)


def canonical_effect(effect: TracedEffect) -> Fields:
    """An effect that is no timer as `ObservedEffects` gives it."""
    if isinstance(effect, TracedSend):
        return canonical_message(effect.message)
    name, fields = EFFECT_FIELDS[type(effect)]
    return {"type": name, **canonical_fields(effect, fields)}


def canonical_effects(effects: tuple[TracedEffect, ...]) -> tuple[tuple[int, Fields], ...]:
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
    if given is UNSET or given == model:
        return True
    if isinstance(given, frozenset) and isinstance(model, frozenset):
        return len(given) == len(model) and all(any(agrees(one, other) for other in model) for one in given)
    if isinstance(given, Mapping) and isinstance(model, Mapping):
        return given.keys() == model.keys() and all(agrees(given[name], model[name]) for name in given)
    if not isinstance(given, tuple) or not isinstance(model, tuple) or len(given) != len(model):
        return False
    return all(agrees(one, other) for one, other in zip(given, model, strict=True))


def is_whole(value: Canonical) -> bool:
    """Is nothing left out?"""
    if isinstance(value, Mapping):
        return all(map(is_whole, value.values()))
    return all(map(is_whole, value)) if isinstance(value, tuple | frozenset) else value is not UNSET
