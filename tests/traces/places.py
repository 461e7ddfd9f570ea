"""Every field of a trace, read off the types of its lines: where it stands, and the smallest other value it can have.

A field that is added to the types is found here without further ado, so that none can be forgotten.
"""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from msgspec import inspect

from kraft_traces.encode import encode_line
from kraft_traces.lines import EndLine, EventLine, Line

EVENT = inspect.type_info(EventLine)
END = inspect.type_info(EndLine)

Document = dict[str, Any]
FieldPath = tuple[str, ...]
"""Names from the line inwards, `#` for any element of a list, `<VoteRequest>` where there is a choice of types."""


class FieldPlace(NamedTuple):
    """A field of one line that is there."""

    path: tuple[str | int, ...]
    """Steps into the document."""
    field: FieldPath
    """Which field of the types it is."""
    kind: inspect.Type
    removable: bool
    """Whether the line may leave it out."""


def plain(kind: inspect.Type) -> inspect.Type:
    """The type without its limits' wrapping."""
    while isinstance(kind, inspect.Metadata):
        kind = kind.type
    return kind


def document_of(line: Line) -> Document:
    """A line as JSON."""
    document: Document = json.loads(encode_line(line))
    return document


def member_of(kind: inspect.Type, value: Any) -> inspect.Type:
    """The member of a union that a value is of; the type itself if it is no union."""
    kind = plain(kind)
    if not isinstance(kind, inspect.UnionType):
        return kind
    for member in map(plain, kind.types):
        if isinstance(member, inspect.NoneType):
            if value is None:
                return member
        elif isinstance(member, inspect.StructType) and member.tag_field is not None:
            if isinstance(value, dict) and value.get(member.tag_field) == member.tag:
                return member
        elif isinstance(member, inspect.LiteralType):
            if value in member.values:
                return member
        elif value is not None and isinstance(value, str) == isinstance(member, inspect.StrType | inspect.EnumType):
            return member
    raise AssertionError(f"{value!r} is of none of the types")


def _tagged(kind: inspect.Type, member: inspect.Type) -> FieldPath:
    """The step that says which of several types stands here."""
    if isinstance(plain(kind), inspect.UnionType) and isinstance(member, inspect.StructType) and member.tag_field:
        return (f"<{member.tag}>",)
    return ()


def fields_there(document: Document, kind: inspect.Type) -> Iterator[FieldPlace]:
    """Every field that a line has, at every depth."""
    return _there(document, kind, (), (), removable=False)


def _there(
    value: Any, kind: inspect.Type, path: tuple[str | int, ...], field: FieldPath, *, removable: bool
) -> Iterator[FieldPlace]:
    if path:
        yield FieldPlace(path, field, plain(kind), removable)
    member = member_of(kind, value)
    inside = (*field, *_tagged(kind, member))
    if isinstance(member, inspect.StructType):
        for part in member.fields:
            name = part.encode_name
            if name in value:
                yield from _there(value[name], part.type, (*path, name), (*inside, name), removable=not part.required)
    elif isinstance(member, inspect.VarTupleType):
        for index, item in enumerate(value):
            yield from _there(item, member.item_type, (*path, index), (*inside, "#"), removable=False)
    elif isinstance(member, inspect.TupleType):
        for index, (item, item_kind) in enumerate(zip(value, member.item_types, strict=True)):
            yield from _there(item, item_kind, (*path, index), (*inside, str(index)), removable=False)


def declared_fields(kind: inspect.Type) -> tuple[FieldPath, ...]:
    """Every field that the types of a line have, in their order.

    An element of a list is one if it is a number or a text; what it is made of, if it is not.
    A structure that has to be there, of the one type that it can have, lies by its fields alone.
    """
    return tuple(dict.fromkeys(_declared(kind, ())))


def _declared(kind: inspect.Type, field: FieldPath, *, required: bool = True) -> Iterator[FieldPath]:
    kind = plain(kind)
    members = kind.types if isinstance(kind, inspect.UnionType) else (kind,)
    is_composed = any(isinstance(plain(member), inspect.StructType | inspect.TupleType) for member in members)
    is_element = bool(field) and (field[-1] == "#" or field[-1].isdigit())
    is_fixed = isinstance(kind, inspect.StructType) and required
    if field and not is_fixed and not (is_composed and is_element):
        yield field
    if field == ("answer",):
        # The reader refuses any other message there.
        members = tuple(m for m in members if isinstance(m, inspect.StructType) and m.tag == "VoteResponse")
    for member in map(plain, members):
        inside = (*field, *_tagged(kind, member))
        if isinstance(member, inspect.StructType):
            for part in member.fields:
                yield from _declared(part.type, (*inside, part.encode_name), required=part.required)
        elif isinstance(member, inspect.VarTupleType):
            yield from _declared(member.item_type, (*inside, "#"))
        elif isinstance(member, inspect.TupleType):
            for index, item in enumerate(member.item_types):
                yield from _declared(item, (*inside, str(index)))


def shown_field(field: FieldPath) -> str:
    """A field in one word: `effects[<Send>].message<FetchResponse>.epoch`."""
    text = ""
    for step in field:
        if step == "#":
            text += "[]"
        elif step.startswith("<") or step.isdigit():
            text += step if step.startswith("<") else f"[{step}]"
        else:
            text += f".{step}" if text else step
    return text


ABSENT = object()
"""The field is left out."""


def other_values(kind: inspect.Type, value: Any, removable: bool) -> Iterator[Any]:
    """Other values of a field that its type allows, the nearest ones first."""
    member = member_of(kind, value)
    match member:
        case inspect.BoolType():
            yield not value
        case inspect.IntType():
            for number in (value + 1, value - 1, 0, 999):
                if number != value and _within(member, number):
                    yield number
        case inspect.StrType() if member.pattern is not None and "." in value:
            sequence, receiver, *change = value.split(".")
            yield ".".join((str(int(sequence) + 1), receiver, *change))
            yield ".".join((sequence, str(int(receiver) + 1), *change))
        case inspect.StrType() if member.pattern is not None:
            yield ("1" if value[:1] == "0" else "0") + value[1:]
        case inspect.StrType():
            yield f"{value}?"
        case inspect.EnumType():
            yield from (it.value for it in member.cls if it.value != value)
        case inspect.LiteralType() if len(member.values) == 1:
            # Any other value is beyond the type, which the reader says.
            yield f"{value}?"
        case inspect.LiteralType():
            yield from (it for it in member.values if it != value)
        case inspect.VarTupleType():
            if value:
                yield value[:-1]
            yield [*value, _smallest(member.item_type)]
        case inspect.StructType() if member.tag_field is not None and isinstance(plain(kind), inspect.UnionType):
            yield from ({**value, member.tag_field: tag} for tag in _other_tags(kind, member))
        case _:
            pass
    kind = plain(kind)
    if isinstance(kind, inspect.UnionType):
        for alternative in map(plain, kind.types):
            if isinstance(alternative, inspect.NoneType) and value is not None:
                yield None
            elif value is None and not isinstance(alternative, inspect.NoneType):
                yield _smallest(alternative)
    if removable:
        yield ABSENT


def _other_tags(kind: inspect.Type, member: inspect.StructType) -> Iterator[Any]:
    for alternative in getattr(plain(kind), "types", ()):
        other = plain(alternative)
        if isinstance(other, inspect.StructType) and other.tag != member.tag:
            yield other.tag


def _within(kind: inspect.IntType, number: int) -> bool:
    return (kind.ge is None or number >= kind.ge) and (kind.le is None or number <= kind.le)


def _smallest(kind: inspect.Type) -> Any:
    kind = plain(kind)
    match kind:
        case inspect.BoolType():
            return False
        case inspect.IntType():
            return 1
        case inspect.StrType():
            return "1.1" if kind.pattern is not None else "?"
        case inspect.EnumType():
            return next(iter(kind.cls)).value
        case inspect.LiteralType():
            return kind.values[0]
        case inspect.NoneType():
            return None
        case inspect.UnionType():
            return _smallest(kind.types[0])
        case inspect.VarTupleType():
            return []
        case inspect.TupleType():
            return [_smallest(item) for item in kind.item_types]
        case inspect.StructType():
            tag = {} if kind.tag_field is None else {kind.tag_field: kind.tag}
            return {**tag, **{field.encode_name: _smallest(field.type) for field in kind.fields if field.required}}
    raise AssertionError(f"no values of {kind}")


def value_at(document: Document, path: tuple[str | int, ...]) -> Any:
    """Return the value at a place of a line."""
    value: Any = document
    for step in path:
        value = value[step]
    return value


def with_value(document: Document, path: tuple[str | int, ...], value: Any) -> Document:
    """The line with another value at one place."""
    copy: Document = json.loads(json.dumps(document))
    owner = value_at(copy, path[:-1])
    if value is ABSENT:
        del owner[path[-1]]
    else:
        owner[path[-1]] = value
    return copy
