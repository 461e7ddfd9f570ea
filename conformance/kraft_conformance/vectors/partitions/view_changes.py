"""A view after a step as the fields that changed, and back."""

from typing import Any

from msgspec import UNSET, Struct
from msgspec.structs import replace

from kraft_conformance.protocol.partitions import ControllerView, ShownPartition
from kraft_traces.partitions.lines import Name


def by_name(view: ControllerView) -> dict[Name, ShownPartition]:
    """The partitions of a view."""
    return {} if view.partitions is UNSET else {one.name: one for one in view.partitions}


def changed(before: ControllerView, after: ControllerView) -> ControllerView:
    """The fields of `after` whose values are not those of `before`; of a partition those that changed in it."""
    earlier = by_name(before)
    rows = tuple(
        [
            ShownPartition(name, **{field: getattr(one, field) for field in _differing(one, was)})
            for name, one in by_name(after).items()
            if (was := earlier[name]) != one
        ]
    )
    fields = {name: value for name, value in given(after).items() if getattr(before, name) != value}
    return ControllerView(**({**fields, "partitions": rows} if rows else fields))


def applied(before: ControllerView, changes: ControllerView) -> ControllerView:
    """The view with the fields that are there in `changes`."""
    rows = by_name(before)
    for name, change in by_name(changes).items():
        rows[name] = replace(rows[name], **given(change))
    fields = {**given(changes), "partitions": tuple(rows.values())}
    return replace(before, **fields)


def given(part: Struct) -> dict[str, Any]:
    """The fields that are there."""
    fields = {name: getattr(part, name) for name in part.__struct_fields__ if name != "name"}
    return {name: value for name, value in fields.items() if value is not UNSET}


def _differing(one: ShownPartition, was: ShownPartition) -> tuple[str, ...]:
    return tuple(name for name in one.__struct_fields__ if getattr(one, name) != getattr(was, name))
