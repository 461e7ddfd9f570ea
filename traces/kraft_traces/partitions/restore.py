"""From the line of a partition trace back to the event of the reference, so that a trace can be repeated."""

from typing import Any

from kraft_reference.partitions import events
from kraft_reference.partitions.partition import TopicPartition
from kraft_traces.partitions import lines
from kraft_traces.partitions.lines import Name, TracedEvent


def event_of(traced: TracedEvent) -> events.Event:
    """The event of a line: what `encode.line_of` made it of."""
    match traced:
        case lines.AlterPartitionReassignments():
            targets = tuple([(_name(name), target) for name, target in traced.targets])
            return events.AlterPartitionReassignments(traced.node, targets, traced.may_alter, traced.timeout_ms)
        case lines.ListPartitionReassignments():
            asked = None if traced.partitions is None else tuple([_name(name) for name in traced.partitions])
            return events.ListPartitionReassignments(traced.node, asked, traced.may_describe, traced.timeout_ms)
        case lines.AlterPartition():
            epochs = (traced.leader_epoch, traced.partition_epoch)
            name = _name(traced.partition)
            return events.AlterPartition(traced.node, traced.broker, name, *epochs, frozenset(traced.in_sync))
        case lines.CompleteReassignment():
            return events.CompleteReassignment(_name(traced.partition))
        case lines.WriteReassignPartitions():
            written = tuple([(_name(name), target) for name, target in traced.targets])
            return events.WriteReassignPartitions(written)
        case _:
            # The others have numbers and texts alone, the same in both.
            fields: dict[str, Any] = {field: getattr(traced, field) for field in traced.__struct_fields__}
            made: events.Event = getattr(events, type(traced).__name__)(**fields)
            return made


def _name(name: Name) -> TopicPartition:
    return TopicPartition(*name)
