"""Every way to alter one field of a trace line into another valid value, read off the types of the line.

A field that is added to the types is altered here without further ado, so that none can be forgotten.
"""

import json
from collections.abc import Iterator
from random import Random
from typing import Any, NamedTuple

import msgspec
from msgspec import inspect

from kraft_dev.detectors.places import EVENT as LINE
from kraft_dev.detectors.places import Document, document_of, member_of, plain
from kraft_traces.lines import EventLine

__all__ = [
    "LINE",
    "Alteration",
    "Document",
    "Place",
    "altered",
    "document_of",
    "line_from",
    "line_of",
    "places",
    "shown",
]

SETS = frozenset(
    (
        "voters",
        "details",
        "reports",
        "granted",
        "rejected",
        "awaiting",
        "acknowledged",
        "fetchers",
        "fetch_offsets",
        "target",
        "awaited_targets",
    )
)
"""Lists that stand for sets and mappings: their order says nothing."""


class Place(NamedTuple):
    """A field, or an element of a list, of one line."""

    path: tuple[str | int, ...]
    kind: inspect.Type
    there: bool
    """False for an optional field that the line does not have."""
    optional: bool


class Alteration(NamedTuple):
    """An altered line."""

    path: str
    raw: bytes
    said: Any
    says: Any


def places(document: Document) -> Iterator[Place]:
    """Every field of a line, there or not, at every depth."""
    return _places(document, LINE, (), there=True, optional=False)


def _places(
    value: Any, kind: inspect.Type, path: tuple[str | int, ...], *, there: bool, optional: bool
) -> Iterator[Place]:
    kind = plain(kind)
    if path:
        yield Place(path, kind, there, optional)
    if not there:
        return
    chosen = member_of(kind, value)
    if isinstance(chosen, inspect.StructType):
        for field in chosen.fields:
            name = field.encode_name
            # What is null when it is absent, as the target of a snapshot, says the same without it.
            optional = not field.required and field.default is not None
            yield from _places(value.get(name), field.type, (*path, name), there=name in value, optional=optional)
    elif isinstance(chosen, inspect.VarTupleType):
        for index, item in enumerate(value):
            yield from _places(item, chosen.item_type, (*path, index), there=True, optional=False)
    elif isinstance(chosen, inspect.TupleType):
        for index, (item, item_kind) in enumerate(zip(value, chosen.item_types, strict=True)):
            yield from _places(item, item_kind, (*path, index), there=True, optional=False)


def altered(document: Document, place: Place, chance: Random) -> Alteration | None:
    """The line with another value at one place; None if the place has none, or none that the line would show."""
    copy: Document = json.loads(json.dumps(document))
    owner: Any = copy
    for step in place.path[:-1]:
        owner = owner[step]
    last = place.path[-1]
    said = owner[last] if place.there else "(absent)"
    if place.there and place.optional and chance.random() < 0.2:
        says: Any = "(absent)"
        del owner[last]
    else:
        says = _other(place.kind, said, chance) if place.there else _some(place.kind, chance)
        owner[last] = says
    if shown(copy) == shown(document):
        return None
    return Alteration(".".join(map(str, place.path)), json.dumps(copy).encode() + b"\n", said, says)


def shown(document: Document) -> Document:
    """What the model can see of a line: not the time, not the timers and durations, not the order of sets."""
    seen = dict(document)
    if "time_ms" in seen:
        seen["time_ms"] = 0
    if "effects" in seen:
        seen["effects"] = [effect for effect in seen["effects"] if effect["kind"] != "StartTimer"]
    ordered: Document = _without_order(seen)
    return ordered


def _without_order(value: Any, name: str | None = None) -> Any:
    if isinstance(value, dict):
        return {key: 0 if key == "timeout_ms" else _without_order(part, key) for key, part in value.items()}
    if isinstance(value, list):
        parts = [_without_order(part) for part in value]
        return sorted(parts, key=json.dumps) if name in SETS else parts
    return value


def _other(kind: inspect.Type, value: Any, chance: Random) -> Any:
    """Another valid value."""
    chosen = member_of(kind, value)
    if isinstance(kind, inspect.UnionType) and chance.random() < 0.3:
        member = chance.choice([m for m in map(plain, kind.types) if m != chosen])
        return _some(member, chance)
    if isinstance(chosen, inspect.VarTupleType):
        return _other_list(chosen, value, chance)
    if isinstance(chosen, inspect.IntType) and chance.random() < 0.6:
        near = [n for n in (value - 1, value + 1) if _within(chosen, n)]
        return chance.choice(near)
    for _ in range(20):
        found = _some(kind if isinstance(chosen, inspect.NoneType) else chosen, chance)
        if found != value:
            return found
    return value


def _other_list(kind: inspect.VarTupleType, items: list[Any], chance: Random) -> list[Any]:
    changed = list(items)
    moves = ("add", "remove", "repeat", "swap") if len(items) > (kind.min_length or 0) else ("add", "repeat", "swap")
    move = chance.choice(moves) if items else "add"
    at = chance.randrange(len(items)) if items else 0
    if move == "add":
        changed.insert(at, _some(plain(kind.item_type), chance))
    elif move == "remove":
        del changed[at]
    elif move == "repeat":
        changed.insert(at, items[at])
    else:
        changed[at], changed[0] = changed[0], changed[at]
    return changed


def _within(kind: inspect.IntType, number: int) -> bool:
    return (kind.ge is None or number >= kind.ge) and (kind.le is None or number <= kind.le)


_NUMBERS = (0, 1, 2, 3, 4, 5, -1, 7, 1000, 2**31 - 1, 2**40)
_TEXTS = ("", "A1", "A2", "B2", "replica-1:9093", "replica-2:9093", "other", "kraft-spec", "\u00e9\"'<<>>\\")


def _some(kind: inspect.Type, chance: Random) -> Any:
    """Some valid value of a type."""
    kind = plain(kind)
    match kind:
        case inspect.IntType():
            return chance.choice([number for number in _NUMBERS if _within(kind, number)])
        case inspect.StrType():
            if kind.pattern is not None:
                return f"{chance.randint(1, 300)}.{chance.randint(1, 3)}"
            return chance.choice(_TEXTS)
        case inspect.BoolType():
            return chance.random() < 0.5
        case inspect.NoneType():
            return None
        case inspect.EnumType():
            return chance.choice([member.value for member in kind.cls])
        case inspect.LiteralType():
            return chance.choice(kind.values)
        case inspect.UnionType():
            return _some(chance.choice(kind.types), chance)
        case inspect.VarTupleType():
            fewest = kind.min_length or 0
            return [_some(kind.item_type, chance) for _ in range(chance.randint(fewest, fewest + 2))]
        case inspect.TupleType():
            return [_some(item, chance) for item in kind.item_types]
        case inspect.StructType():
            tagged = {} if kind.tag_field is None else {kind.tag_field: kind.tag}
            fields = {f.encode_name: _some(f.type, chance) for f in kind.fields if f.required or chance.random() < 0.9}
            return {**tagged, **fields}
    raise AssertionError(f"no values of {kind}")


def line_of(raw: bytes) -> EventLine:
    """The line of altered bytes, its shape checked but nothing else."""
    return msgspec.json.decode(raw, type=EventLine)


def line_from(document: Document) -> EventLine:
    """The line that a JSON document stands for."""
    return line_of(json.dumps(document).encode())
