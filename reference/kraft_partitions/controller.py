"""The state machine: one event at a time."""

from collections.abc import Callable
from typing import NamedTuple

from kraft_partitions.changes import apply_changes
from kraft_partitions.configuration import PartitionConfiguration
from kraft_partitions.events import (
    AlterPartition,
    AlterPartitionReassignments,
    BrokerFails,
    BrokerStarts,
    CompleteReassignment,
    ControllerFailover,
    DeleteTopic,
    Event,
    ListPartitionReassignments,
    WriteReassignPartitions,
)
from kraft_partitions.failures import after_broker_fails, after_broker_starts, after_controller_failover
from kraft_partitions.in_sync import after_alter_partition
from kraft_partitions.outcome import Outcome, Refusal
from kraft_partitions.partition import TopicPartition
from kraft_partitions.reassignment import complete, may_complete
from kraft_partitions.requests import (
    after_alter_reassignments,
    after_list_reassignments,
    after_write_reassign_partitions,
)
from kraft_partitions.state import ControllerState, exists


def handle(state: ControllerState, event: Event, configuration: PartitionConfiguration) -> Outcome:
    """Return the outcome of an event; a refused event changes nothing."""
    match event:
        case AlterPartitionReassignments():
            return after_alter_reassignments(state, configuration, event)
        case ListPartitionReassignments():
            return after_list_reassignments(state, configuration, event)
        case AlterPartition():
            return after_alter_partition(state, configuration, event)
        case CompleteReassignment():
            return _after_complete(state, configuration, event)
        case BrokerFails():
            return after_broker_fails(state, configuration, event)
        case BrokerStarts():
            return after_broker_starts(state, configuration, event)
        case ControllerFailover():
            return after_controller_failover(state, configuration, event)
        case DeleteTopic():
            return _after_delete_topic(state, configuration, event)
        case WriteReassignPartitions():
            return after_write_reassign_partitions(state, configuration, event)


class Controllers(NamedTuple):
    """Functions of the controllers of a cluster: those of the reference, or of a mutant."""

    handle: Callable[[ControllerState, Event, PartitionConfiguration], Outcome]
    due: Callable[[ControllerState, PartitionConfiguration], tuple[TopicPartition, ...]]


def due(state: ControllerState, configuration: PartitionConfiguration) -> tuple[TopicPartition, ...]:
    """The partitions whose reassignment may complete.  Rule: partition-reassign.complete-in-one-step."""
    partitions = state.partitions
    there = sorted(name for name in partitions if exists(state, partitions, name))
    return tuple([name for name in there if may_complete(partitions[name], configuration)])


def _after_complete(
    state: ControllerState, configuration: PartitionConfiguration, event: CompleteReassignment
) -> Outcome:
    """Rules: partition-reassign.complete-in-one-step, partition-reassign.add-before-remove."""
    name = event.partition
    if name not in due(state, configuration):
        return Outcome(state, refusal=Refusal.NOTHING_DUE)
    partition = state.partitions[name]
    after = complete(partition, state.alive)
    return apply_changes(state, configuration, state.controller, {**state.partitions, name: after})


def _after_delete_topic(state: ControllerState, configuration: PartitionConfiguration, event: DeleteTopic) -> Outcome:
    """From now on requests do not know the topic.  Rule: partition-reassign.unknown-partition."""
    known = any(name.topic == event.topic for name in state.partitions)
    if not known or event.topic in state.deleting:
        return Outcome(state, refusal=Refusal.ALREADY_SO if known else Refusal.UNKNOWN_ID)
    now = state._replace(deleting=state.deleting | {event.topic})
    return apply_changes(now, configuration, state.controller, state.partitions)


REFERENCE = Controllers(handle, due)
