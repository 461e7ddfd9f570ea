"""A view after a step as the fields that changed, and back: of each partition those that changed in it."""

from msgspec import UNSET
from msgspec.structs import replace

from kraft_traces.partitions.lines import Name
from kraft_vectors import state_changes
from kraft_vectors.partitions.shown import ControllerView, ShownPartition


def by_name(view: ControllerView) -> dict[Name, ShownPartition]:
    """The partitions of a view."""
    return {} if view.partitions is UNSET else {one.name: one for one in view.partitions}


def changed(before: ControllerView, after: ControllerView) -> ControllerView:
    """The fields of `after` whose values are not those of `before`; of a partition those that changed in it."""
    earlier = by_name(before)
    later = [one for name, one in by_name(after).items() if one != earlier[name]]
    rows = tuple([state_changes.changed(earlier[one.name], one, "name") for one in later])
    changes = state_changes.changed(before, after)
    return replace(changes, partitions=rows) if rows else changes


def applied(before: ControllerView, changes: ControllerView) -> ControllerView:
    """The view with the fields that are there in `changes`."""
    rows = by_name(before)
    for name, change in by_name(changes).items():
        rows[name] = state_changes.applied(rows[name], change)
    return replace(state_changes.applied(before, changes), partitions=tuple(rows.values()))
