"""Changes between two states as the changed fields, and their application."""

from typing import Any, TypeVar

from msgspec import UNSET, Struct
from msgspec.structs import replace

_Part = TypeVar("_Part", bound=Struct)


def present_fields(part: Struct) -> dict[str, Any]:
    """Return the present fields."""
    fields = {name: getattr(part, name) for name in part.__struct_fields__}
    return {name: value for name, value in fields.items() if value is not UNSET}


def changes_between(before: _Part, after: _Part, *names: str) -> _Part:
    """Return `after` with only the changed fields and those in `names`; the others are absent."""
    fields = {name: getattr(after, name) for name in after.__struct_fields__}
    return type(after)(**{n: value for n, value in fields.items() if n in names or value != getattr(before, n)})


def apply_changes(before: _Part, changes: _Part) -> _Part:
    """Return the state with the present fields of `changes`."""
    return replace(before, **present_fields(changes))


def changed_fields(changes: Struct) -> tuple[str, ...]:
    """Return the names of the present fields."""
    return tuple(present_fields(changes))
