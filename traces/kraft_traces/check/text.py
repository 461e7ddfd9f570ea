"""The text that TLC gives for an observation, made from a line without asking for a value of the model.

The text of a record names its fields, so it is put together from the fields' kinds (`observation`); what comes back
often, keys, voters sets and records, is remembered.
A line that leaves something out gives a text that TLC never gives, and is then compared field by field (`differences`).
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
"""TLC has no value without a text, so this one is never equal to what it gives: the fields are compared then."""


def tla_text(value: Canonical) -> str:
    """The text that TLC gives for a value; something it never gives for a value that is left out."""
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
    """Names of fields as TLC has them in a record: as they came into its table of strings."""
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


# In these, what is left out is as false as what is empty: the second look is for the few that are.
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
    """The places of keys in the order in which TLC shows a set of them; None if that is their own order."""
    ranks = [_rank(key_to_model(key)) for key in keys]
    places = tuple(sorted(range(len(keys)), key=ranks.__getitem__))
    return None if places == tuple(range(len(keys))) else places


def _nothing(members: tuple[object, ...] | UnsetType) -> str:
    return _LEFT_OUT if members is UNSET else "{}"


@lru_cache(maxsize=1024)
def _voters(entry: TracedVoters | UnsetType) -> str:
    return tla_text(observation.VOTERS.canonical(entry))


# The same record is appended by its leader, sent to every follower and appended there.
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
"""The kinds that most lines have; the text of another is that of its canonical value."""


class _Template(NamedTuple):
    """How the text of one kind of record is put together."""

    text: str
    values: Callable[[Any], tuple[Any, ...]]
    writers: tuple[_Writer, ...]

    def filled(self, structure: object) -> str:
        """The text of a record."""
        return self.text % tuple(
            [write(value) for write, value in zip(self.writers, self.values(structure), strict=True)]
        )


def _writer(kind: Kind) -> _Writer:
    return _WRITERS.get(kind) or lru_cache(maxsize=64)(lambda value: tla_text(kind.canonical(value)))


def _template(fields: Iterable[Field], name: str | None = None) -> _Template:
    by_name = {field.name: field for field in fields}
    entries = {**dict.fromkeys(by_name, "%s"), **({} if name is None else {"type": f'"{name}"'})}
    order = _in_order(tuple(entries))
    ordered = [by_name[one] for one in order if one in by_name]
    text = f"[{', '.join([f'{one} |-> {entries[one]}' for one in order])}]"
    # Asked for one attribute alone, attrgetter gives no tuple.
    values = attrgetter(*[field.path for field in ordered])
    writers = tuple(_writer(field.kind) for field in ordered)
    return _Template(text, values if len(ordered) > 1 else lambda structure: (values(structure),), writers)


@cache
def _templates() -> Mapping[type[Struct], _Template]:
    templates: dict[type[Struct], _Template] = {TracedState: _template(STATE_FIELDS)}
    templates |= {traced: _template(MESSAGE_FIELDS[name], name) for name, traced in TRACED_MESSAGES.items()}
    templates |= {traced: _template(fields, name) for traced, (name, fields) in EFFECT_FIELDS.items()}
    return templates


def text_of(shown: TracedState | TracedMessage | TracedEffect) -> str:
    """The text of a state as `ObservedState` gives it, of a message, or of an effect that is neither send nor timer."""
    return _templates()[type(shown)].filled(shown)


def effects_text(effects: tuple[TracedEffect, ...]) -> str:
    """The text of `ObservedEffects`."""
    shown = [
        text_of(effect.message if isinstance(effect, TracedSend) else effect)
        for effect in effects
        if not isinstance(effect, TracedStartTimer)
    ]
    return f"<<{', '.join(shown)}>>"


def observation_text(state: TracedState, reason: str, effects: tuple[TracedEffect, ...]) -> str:
    """The text of `Observation`."""
    return f'<<{text_of(state)}, <<"{reason}", {effects_text(effects)}>>>>'


def answer_text(answer: TracedMessage | UnsetType) -> str:
    """The text of `NetworkObservation`."""
    return f'<<"", <<{"" if answer is UNSET else text_of(answer)}>>>>'
