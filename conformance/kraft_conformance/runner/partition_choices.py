"""What an implementation has chosen where a vector leaves it the choice, and what follows for the rest of the vector.

A chosen leader, or an order of R, stays until the vector changes that field again.
"""

from collections.abc import Iterable
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from kraft_conformance.protocol.partitions import ControllerView
from kraft_conformance.runner.partition_items import Item, label, partition_fields
from kraft_conformance.vectors.partitions.format import PartitionLatitude, PartitionVectorStep
from kraft_conformance.vectors.partitions.view_changes import by_name, given
from kraft_traces.partitions import lines
from kraft_traces.partitions.lines import Name, TracedEvent


class Choices:
    """The choices so far: by partition and field what was expected and what was chosen instead."""

    def __init__(self) -> None:
        self._chosen: dict[tuple[Name, str], Any] = {}

    def why_not(self, step: PartitionVectorStep) -> str | None:
        """Why the vector cannot go on from what was chosen; None if it can."""
        for (name, field), chosen in self._chosen.items():
            changes = by_name(step.state).get(name)
            goes = field == "leader" and isinstance(step.event, lines.BrokerFails) and step.event.broker == chosen
            if goes or (changes is not None and field in given(changes)) or self._is_out(step.event, name, chosen):
                return f"the implementation has chosen {field} {chosen} of {label(name)}, and the vector goes on from another"
        return None

    @staticmethod
    def _is_out(event: TracedEvent, name: Name, leader: Any) -> bool:
        return isinstance(event, lines.AlterPartition) and event.partition == name and leader not in event.in_sync

    def event(self, event: TracedEvent) -> TracedEvent:
        """The event as it happens here: a leader that was chosen is the one that asks."""
        if isinstance(event, lines.AlterPartition):
            return replace(event, broker=self._chosen.get((event.partition, "leader"), event.broker))
        return event

    def choose(self, latitude: Iterable[PartitionLatitude], after: ControllerView, shown: Iterable[Item]) -> None:
        """Take note of what was chosen in a step.

        Args:
            latitude: of the step.
            after: the state after it, as the vector has it.
            shown: what is shown of partitions, what is done first and then the state.
        """
        seen = list(shown)
        for one in latitude:
            expected = partition_fields(by_name(after)[one.partition])[one.field]
            values = [item.fields[one.field] for item in seen if item.partition == one.partition and one.field in item.fields]
            if values and values[0] != expected and _is_right(one, values[0], expected):
                self._chosen[one.partition, one.field] = values[0]

    def leader(self, name: Name, expected: int) -> int:
        """The broker that leads a partition here, where the vector has `expected`."""
        return int(self._chosen.get((name, "leader"), expected))

    def adopted(self, view: ControllerView) -> ControllerView:
        """A state of the vector with what was chosen."""
        rows = by_name(view)
        for (name, field), value in self._chosen.items():
            fields = {field: tuple(value) if isinstance(value, list) else value}
            rows[name] = replace(rows[name], **fields)
        return view if view.partitions is UNSET else replace(view, partitions=tuple(rows.values()))

    def item(self, item: Item) -> Item:
        """What a vector expects to be done, with what was chosen."""
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
