"""Records of a model that Python holds as named tuples: hashable, sorted by their fields, and read by name.

A record of any other shape is a `kraft_spec.tlc.values.Function`.
"""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

_Record = TypeVar("_Record", bound=tuple[Any, ...])

_TYPES: dict[frozenset[str], type[tuple[Any, ...]]] = {}
_KINDS: set[type] = set()


def record_type(kind: type[_Record]) -> type[_Record]:
    """Register a named tuple as the Python type of all records with exactly its fields; a class decorator."""
    _TYPES[frozenset(field_names(kind))] = kind
    _KINDS.add(kind)
    return kind


def field_names(kind: type) -> tuple[str, ...]:
    """Return the fields of a named tuple."""
    fields: tuple[str, ...] = kind._fields  # type: ignore[attr-defined]
    return fields


def is_record_type(kind: type) -> bool:
    """Return True if the type is registered."""
    return kind in _KINDS


def named_record(entries: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """Return the record as an instance of the type that is registered for its fields; None if there is none."""
    kind = _TYPES.get(frozenset(entries))
    return None if kind is None else kind(**entries)


def like(example: tuple[Any, ...], parts: Iterable[Any]) -> tuple[Any, ...]:
    """Return a tuple of these parts; if the example is a named tuple, one of its type."""
    kind: Any = type(example)
    return tuple(parts) if kind is tuple else kind(*parts)
