"""A state after a step as the fields that changed, and back."""

from msgspec import UNSET
from msgspec.structs import replace

from kraft_traces.state_types import TracedState

FIELDS = TracedState.__struct_fields__


def changed(before: TracedState, after: TracedState) -> TracedState:
    """The fields of `after` whose values are not those of `before`; the others are absent."""
    differing = {name: getattr(after, name) for name in FIELDS if getattr(after, name) != getattr(before, name)}
    return TracedState(**differing)


def applied(before: TracedState, changes: TracedState) -> TracedState:
    """The state with the fields that are there in `changes`."""
    given = {name: getattr(changes, name) for name in FIELDS}
    return replace(before, **{name: value for name, value in given.items() if value is not UNSET})


def changed_fields(changes: TracedState) -> tuple[str, ...]:
    """The names of the fields that are there."""
    return tuple(name for name in FIELDS if getattr(changes, name) is not UNSET)
