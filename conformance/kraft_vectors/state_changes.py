"""A state after a step as the fields that changed, and back: of a replica, and of the parts of another state."""

from typing import Any, TypeVar

from msgspec import UNSET, Struct
from msgspec.structs import replace

_Part = TypeVar("_Part", bound=Struct)


def given(part: Struct) -> dict[str, Any]:
    """The fields that are there."""
    fields = {name: getattr(part, name) for name in part.__struct_fields__}
    return {name: value for name, value in fields.items() if value is not UNSET}


def changed(before: _Part, after: _Part, *names: str) -> _Part:
    """The fields of `after` whose values are not those of `before`, and those with the names; the others are absent."""
    fields = {name: getattr(after, name) for name in after.__struct_fields__}
    return type(after)(**{n: value for n, value in fields.items() if n in names or value != getattr(before, n)})


def applied(before: _Part, changes: _Part) -> _Part:
    """The state with the fields that are there in `changes`."""
    return replace(before, **given(changes))


def changed_fields(changes: Struct) -> tuple[str, ...]:
    """The names of the fields that are there."""
    return tuple(given(changes))
