"""How one kind of value looks in the model and in the reference: the forms that the tables of `mapping` name.

A model value is what `kraft_spec.tlc.values` encodes and decodes: int, bool, str, tuple, frozenset, and a mapping for
a record or a function.
What is not there is None in the reference, and -1, "" or <<-1, "">> in the model.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, NamedTuple, Protocol

from kraft_reference.identity import ReplicaKey
from kraft_reference.log import VotersEntry
from kraft_reference.messages import Error
from kraft_reference.records import Record, RecordKind
from kraft_reference.roles import Role

ModelValue = Any
"""A value of the model; Any, because the reference's types say what belongs where."""

EMPTY_TEXT = "(empty)"
"""In the model, a directory id or endpoint that is there and has no letters: a trace of other software may have one."""


class Form(NamedTuple):
    """One kind of value, in both directions."""

    to_model: Callable[[Any], ModelValue]
    from_model: Callable[[ModelValue], Any]


class SomeKey(Protocol):
    """A replica key of the reference or of a trace."""

    @property
    def id(self) -> int: ...
    @property
    def directory_id(self) -> str | None: ...


def text_to_model(text: str | None) -> str:
    """A directory id or an endpoint."""
    return "" if text is None else text or EMPTY_TEXT


def text_from_model(text: str) -> str | None:
    """The way back of `text_to_model`."""
    if not text:
        return None
    return "" if text == EMPTY_TEXT else text


def key_to_model(key: SomeKey | None) -> tuple[int, str]:
    """A replica key: <<id, directory id>>."""
    return (-1, "") if key is None else (key.id, text_to_model(key.directory_id))


def key_from_model(key: tuple[int, str]) -> ReplicaKey | None:
    """The way back of `key_to_model`."""
    return None if key[0] == -1 else ReplicaKey(key[0], text_from_model(key[1]))


def function_entries(function: ModelValue) -> Mapping[Any, ModelValue]:
    """The entries of a TLA+ function; one over 1..n is a sequence, and so is the empty one."""
    if isinstance(function, Mapping):
        return function
    return dict(enumerate(function, start=1))


def _same(value: Any) -> Any:
    return value


def _text_of(value: Any) -> str:
    return str(value)


def _each(convert: Callable[[Any], Any]) -> Callable[[Iterable[Any]], tuple[Any, ...]]:
    return lambda values: tuple([convert(value) for value in values])


def _key_set(keys: Iterable[SomeKey]) -> frozenset[tuple[int, str]]:
    return frozenset([key_to_model(key) for key in keys])


def _known_keys(keys: Iterable[tuple[int, str]]) -> frozenset[ReplicaKey | None]:
    return frozenset([key_from_model(key) for key in keys])


def _offsets_to_model(offsets: Mapping[ReplicaKey, int]) -> ModelValue:
    # TLC's empty function is the empty sequence.
    return {key_to_model(key): offset for key, offset in offsets.items()} or ()


def _offsets_from_model(offsets: ModelValue) -> Mapping[ReplicaKey | None, int]:
    return {key_from_model(key): offset for key, offset in function_entries(offsets).items()} if offsets else {}


def record_to_model(record: Record) -> dict[str, ModelValue]:
    """A record of the log."""
    return {
        "epoch": record.epoch,
        "kind": str(record.kind),
        "value": record.value,
        "voters": _key_set(record.voters),
    }


def record_from_model(record: Mapping[str, ModelValue]) -> Record:
    """The way back of `record_to_model`."""
    kind = RecordKind(record["kind"])
    return Record(record["epoch"], kind, record["value"], _known_keys(record["voters"]))  # type: ignore[arg-type]


def record_row(record: Any) -> tuple[ModelValue, ...]:
    """A record of the reference or of a trace as `ObservedRecord` shows it."""
    return (record.epoch, str(record.kind), record.value, _key_set(record.voters))


def _voters_entry_to_model(entry: VotersEntry) -> dict[str, ModelValue]:
    return {"offset": entry.offset, "voters": _key_set(entry.voters)}


def _voters_entry_from_model(entry: Mapping[str, ModelValue]) -> VotersEntry:
    return VotersEntry(entry["offset"], _known_keys(entry["voters"]))  # type: ignore[arg-type]


def _pairs(mapping: Mapping[Hashable, Hashable]) -> frozenset[tuple[Hashable, Hashable]]:
    return frozenset(mapping.items())


PLAIN = Form(_same, _same)
"""A number, TRUE or FALSE, a text of the configuration."""
ROLE = Form(_text_of, Role)
ERROR = Form(_text_of, Error)
REPLICA_ID = Form(lambda replica_id: -1 if replica_id is None else replica_id, lambda id_: None if id_ == -1 else id_)
"""A replica id, or none."""
TEXT = Form(text_to_model, text_from_model)
"""A directory id or an endpoint, or none."""
KEY = Form(key_to_model, key_from_model)
"""A replica key, or none."""
KEYS = Form(_each(key_to_model), _each(key_from_model))
"""Replica keys in their order."""
KEY_SET = Form(_key_set, _known_keys)
SET = Form(frozenset, frozenset)
"""Replica ids, or names, each once."""
ID_TUPLE = Form(frozenset, lambda ids: tuple(sorted(ids)))
"""Replica ids whose order says nothing."""
REQUESTS = Form(_pairs, dict)
"""Outstanding requests: receiver and correlation id."""
OFFSETS = Form(_offsets_to_model, _offsets_from_model)
"""Fetch offsets by replica key."""
RECORDS = Form(_each(record_to_model), _each(record_from_model))
RECORD_ROWS = _each(record_row)
"""Records as `ObservedRecords` shows them: `RECORDS` of what is seen from outside."""
VOTERS_HISTORY = Form(_each(_voters_entry_to_model), _each(_voters_entry_from_model))
