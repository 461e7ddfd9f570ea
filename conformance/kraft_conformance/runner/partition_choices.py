"""Choices of an implementation among allowed values, and their effect on the following steps.

A chosen leader, or an order of R, stays until the vector changes that field again.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from kraft_conformance.runner.partition_items import Item, label, partition_fields
from kraft_traces.partitions import lines
from kraft_traces.partitions.lines import Name, TracedEvent
from kraft_vectors.partitions.format import PartitionLatitude, PartitionVectorStep
from kraft_vectors.partitions.shown import ControllerView
from kraft_vectors.partitions.view_changes import by_name
from kraft_vectors.state_changes import present_fields


class Choices:
    """The choices so far, by partition and field."""

    def __init__(self) -> None:
        self._chosen: dict[tuple[Name, str], Any] = {}

    def why_not(self, step: PartitionVectorStep, after: ControllerView) -> str | None:
        """Return why the vector cannot continue from the choices; None if it can.

        Args:
            step: the next step.
            after: the vector's state after it.
        """
        changes, rows = by_name(step.state), by_name(self.adopted(after))
        for (name, field), chosen in self._chosen.items():
            changed = name in changes and field in present_fields(changes[name])
            if changed or (field == "leader" and chosen not in partition_fields(rows[name])["in_sync"]):
                return f"the adapter chose {field} {chosen} for {label(name)}, the vector continues from another choice"
        return None

    def event(self, event: TracedEvent) -> TracedEvent:
        """Return the event with the chosen leader as its sender."""
        if isinstance(event, lines.AlterPartition):
            return replace(event, broker=self._chosen.get((event.partition, "leader"), event.broker))
        return event

    def choose(self, latitude: Iterable[PartitionLatitude], after: ControllerView, observed: Sequence[Item]) -> None:
        """Record the choices of a step.

        Args:
            latitude: of the step.
            after: the vector's state after it.
            observed: observed partitions, first those of the effects, then those of the state.
        """
        for allowed in latitude:
            if allowed.partition is None or allowed.field == "error":
                continue
            expected = partition_fields(by_name(after)[allowed.partition])[allowed.field]
            shown_fields = [item.fields for item in observed if item.partition == allowed.partition]
            chosen = next((fields[allowed.field] for fields in shown_fields if allowed.field in fields), expected)
            if chosen != expected and _is_right(allowed, chosen, expected):
                self._chosen[allowed.partition, allowed.field] = chosen
                # A leader that is elected uncleanly is the only replica in sync.
                if allowed.field == "leader" and partition_fields(by_name(after)[allowed.partition])["in_sync"] == [
                    expected
                ]:
                    self._chosen[allowed.partition, "in_sync"] = [chosen]

    def leader(self, name: Name, expected: int) -> int:
        """Return the chosen leader of a partition, or `expected`."""
        return int(self._chosen.get((name, "leader"), expected))

    def adopted(self, view: ControllerView) -> ControllerView:
        """Return a state of the vector with the choices."""
        rows = by_name(view)
        for (name, field), value in self._chosen.items():
            fields = {field: tuple(value) if isinstance(value, list) else value}
            rows[name] = replace(rows[name], **fields)
        return view if view.partitions is UNSET else replace(view, partitions=tuple(rows.values()))

    def item(self, item: Item) -> Item:
        """Return an expected item with the choices."""
        fields = dict(item.fields)
        for (name, field), value in self._chosen.items():
            if item.partition == name and field in fields:
                fields[field] = value
            row = fields.get("reassignments", {}).get(label(name))
            if row is not None and field in row:
                fields["reassignments"] = {**fields["reassignments"], label(name): {**row, field: value}}
        return item._replace(fields=fields)


def _is_right(latitude: PartitionLatitude, value: Any, expected: Any) -> bool:
    if latitude.any_order:
        return isinstance(value, list) and sorted(value) == sorted(expected)
    return latitude.any_of is not UNSET and value in latitude.any_of
