"""Changes between two views as the changed fields, per partition, and their application."""

from msgspec import UNSET
from msgspec.structs import replace

from kraft_traces.partitions.lines import Name
from kraft_vectors import state_changes
from kraft_vectors.partitions.shown import ControllerView, ShownPartition


def by_name(view: ControllerView) -> dict[Name, ShownPartition]:
    """Return the partitions of a view by name."""
    return {} if view.partitions is UNSET else {partition.name: partition for partition in view.partitions}


def view_changes_between(before: ControllerView, after: ControllerView) -> ControllerView:
    """Return `after` with only the changed fields, per partition."""
    earlier = by_name(before)
    later = [partition for name, partition in by_name(after).items() if partition != earlier[name]]
    rows = tuple([state_changes.changes_between(earlier[partition.name], partition, "name") for partition in later])
    changes = state_changes.changes_between(before, after)
    return replace(changes, partitions=rows) if rows else changes


def apply_view_changes(before: ControllerView, changes: ControllerView) -> ControllerView:
    """Return the view with the present fields of `changes`."""
    rows = by_name(before)
    for name, change in by_name(changes).items():
        rows[name] = state_changes.apply_changes(rows[name], change)
    return replace(state_changes.apply_changes(before, changes), partitions=tuple(rows.values()))
