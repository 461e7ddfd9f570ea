"""Text of a line's observation, in the form in which TLC prints the model's observation.

Comparing two texts is faster than converting the model's values.
The text of a record is assembled from the kinds of its fields (`observation`); keys, voter sets and records are cached.
A line without some field has a text that TLC never prints, and is then compared field by field (`differences`).
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache
from operator import attrgetter
from typing import Any, NamedTuple

import jpype
from msgspec import UNSET, Struct, UnsetType

from kraft_spec.mapping_forms import ModelAwaitedTarget, ModelRequest, key_to_model, text_to_model
from kraft_spec.tlc.records import field_names, is_record_type
from kraft_traces.check import observation
from kraft_traces.check.observation import (
    EFFECT_FIELDS,
    MESSAGE_FIELDS,
    STATE_FIELDS,
    Canonical,
    Field,
    Kind,
    canonical_record,
)
from kraft_traces.effects import TracedEffect, TracedSend, TracedStartTimer
from kraft_traces.message_types import TRACED_MESSAGES, TracedMessage
from kraft_traces.state_types import TracedState, TracedVoters
from kraft_traces.values import TracedKey, TracedRecord

_LEFT_OUT = "UNSET"
"""Text of a missing field. TLC prints it for no value, so the texts differ and the fields are compared."""


def tla_text(value: Canonical) -> str:
    """Return the text that TLC prints for a value; for a missing value, a text that it never prints."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return f'"{value}"'
    if is_record_type(type(value)):
        record: Any = value
        places = _places(field_names(type(value)))
        return f"[{', '.join([f'{name} |-> {tla_text(record[place])}' for name, place in places])}]"
    if isinstance(value, tuple):
        return f"<<{', '.join([tla_text(part) for part in value])}>>"
    if isinstance(value, frozenset):
        return f"{{{', '.join([tla_text(part) for part in sorted(value, key=_rank)])}}}"
    if isinstance(value, Mapping):
        return f"[{', '.join([f'{name} |-> {tla_text(value[name])}' for name in _in_order(tuple(value))])}]"
    return _LEFT_OUT


@cache
def _places(fields: tuple[str, ...]) -> tuple[tuple[str, int], ...]:
    """The fields of a record in TLC's order, each with its place."""
    return tuple((name, fields.index(name)) for name in _in_order(fields))


def _rank(value: Any) -> Any:
    """The place of a member of a set in TLC's order of values, among members of its kind."""
    if isinstance(value, str):
        return int(jpype.JClass("util.UniqueString").uniqueStringOf(value).getTok())
    if is_record_type(type(value)):
        return [_rank(value[place]) for _, place in _places(field_names(type(value)))]
    return [len(value), *map(_rank, value)] if isinstance(value, tuple) else value


@cache
def _in_order(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return names of fields in TLC's order: the order in which they entered its table of strings."""
    table = jpype.JClass("util.UniqueString")
    return tuple(sorted(names, key=lambda name: int(table.uniqueStringOf(name).getTok())))


def _plain(value: Any) -> str:
    if value is True or value is False:
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return str(value)
    return _LEFT_OUT if value is UNSET else f'"{value}"'


def _replica_id(replica_id: int | UnsetType | None) -> str:
    return "-1" if replica_id is None else str(replica_id)


def _text(text: str | UnsetType | None) -> str:
    return _LEFT_OUT if text is UNSET else f'"{text_to_model(text)}"'


@lru_cache(maxsize=4096)
def _key(key: TracedKey | UnsetType | None) -> str:
    return _LEFT_OUT if key is UNSET else tla_text(key_to_model(key))


# A missing collection is as false as an empty one, so `_nothing` tells them apart.
def _ids(ids: tuple[int, ...] | UnsetType) -> str:
    return f"{{{', '.join(map(str, sorted(ids)))}}}" if ids else _nothing(ids)


def _pair_records(kind: type[ModelRequest] | type[ModelAwaitedTarget]) -> "_Writer":
    def text(pairs: tuple[tuple[int, int], ...] | UnsetType) -> str:
        return tla_text(frozenset([kind(*pair) for pair in pairs])) if pairs else _nothing(pairs)

    return text


def _key_pairs(pairs: tuple[tuple[TracedKey, int], ...] | UnsetType) -> str:
    if not pairs:
        return _nothing(pairs)
    order = _order(tuple([key for key, _ in pairs]))
    ordered = pairs if order is None else [pairs[place] for place in order]
    return f"{{{', '.join([f'<<{_key(key)}, {offset}>>' for key, offset in ordered])}}}"


@lru_cache(maxsize=1024)
def _order(keys: tuple[TracedKey, ...]) -> tuple[int, ...] | None:
    """Return the places of keys in the order in which TLC prints a set of them; None if that is their own order."""
    ranks = [_rank(key_to_model(key)) for key in keys]
    places = tuple(sorted(range(len(keys)), key=ranks.__getitem__))
    return None if places == tuple(range(len(keys))) else places


def _nothing(members: tuple[object, ...] | UnsetType) -> str:
    return _LEFT_OUT if members is UNSET else "{}"


@lru_cache(maxsize=1024)
def _voters(entry: TracedVoters | UnsetType) -> str:
    return tla_text(observation.VOTERS.canonical(entry))


# The leader appends a record and sends it to every follower, which appends it too.
@lru_cache(maxsize=4096)
def _record(record: TracedRecord) -> str:
    return tla_text(canonical_record(record))


def _records(records: tuple[TracedRecord, ...] | UnsetType) -> str:
    return _LEFT_OUT if records is UNSET else f"<<{', '.join([_record(record) for record in records])}>>"


_Writer = Callable[[Any], str]

_WRITERS: Mapping[Kind, _Writer] = {
    observation.PLAIN: _plain,
    observation.REPLICA_ID: _replica_id,
    observation.TEXT: _text,
    observation.KEY: _key,
    observation.ID_SET: _ids,
    observation.REQUESTS: _pair_records(ModelRequest),
    observation.AWAITED_TARGETS: _pair_records(ModelAwaitedTarget),
    observation.KEY_PAIRS: _key_pairs,
    observation.RECORDS: _records,
    observation.VOTERS: _voters,
}
"""Functions for the most frequent kinds; the text of any other is that of its canonical value."""


class _Template(NamedTuple):
    """Template of the text of one kind of record."""

    text: str
    values: Callable[[Any], tuple[Any, ...]]
    writers: tuple[_Writer, ...]

    def fill(self, structure: object) -> str:
        """Return the text of a record."""
        return self.text % tuple(
            [write(value) for write, value in zip(self.writers, self.values(structure), strict=True)]
        )


def _writer(kind: Kind) -> _Writer:
    return _WRITERS.get(kind) or lru_cache(maxsize=64)(lambda value: tla_text(kind.canonical(value)))


def _template(fields: Iterable[Field], name: str | None = None) -> _Template:
    by_name = {field.name: field for field in fields}
    entries = {**dict.fromkeys(by_name, "%s"), **({} if name is None else {"type": f'"{name}"'})}
    order = _in_order(tuple(entries))
    ordered = [by_name[entry] for entry in order if entry in by_name]
    text = f"[{', '.join([f'{entry} |-> {entries[entry]}' for entry in order])}]"
    # With a single attribute, attrgetter returns no tuple.
    values = attrgetter(*[field.path for field in ordered])
    writers = tuple(_writer(field.kind) for field in ordered)
    return _Template(text, values if len(ordered) > 1 else lambda structure: (values(structure),), writers)


@cache
def _templates() -> Mapping[type[Struct], _Template]:
    templates: dict[type[Struct], _Template] = {TracedState: _template(STATE_FIELDS)}
    templates |= {traced: _template(MESSAGE_FIELDS[name], name) for name, traced in TRACED_MESSAGES.items()}
    templates |= {traced: _template(fields, name) for traced, (name, fields) in EFFECT_FIELDS.items()}
    return templates


def text_of(observation: TracedState | TracedMessage | TracedEffect) -> str:
    """Return the text of a state (`ObservedState`), a message, or an effect that is neither send nor timer."""
    return _templates()[type(observation)].fill(observation)


def effects_text(effects: tuple[TracedEffect, ...]) -> str:
    """Return the text of `ObservedEffects`."""
    texts = [
        text_of(effect.message if isinstance(effect, TracedSend) else effect)
        for effect in effects
        if not isinstance(effect, TracedStartTimer)
    ]
    return f"<<{', '.join(texts)}>>"


def observation_text(state: TracedState, reason: str, effects: tuple[TracedEffect, ...]) -> str:
    """Return the text of `Observation`."""
    return f'<<{text_of(state)}, <<"{reason}", {effects_text(effects)}>>>>'


def answer_text(answer: TracedMessage | UnsetType) -> str:
    """Return the text of `NetworkObservation`."""
    return f'<<"", <<{"" if answer is UNSET else text_of(answer)}>>>>'
