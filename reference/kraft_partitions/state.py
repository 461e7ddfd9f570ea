"""Partitions in the memory of the controllers and in their store."""

from collections.abc import Mapping
from typing import NamedTuple

from kraft_partitions.configuration import PartitionConfiguration
from kraft_partitions.partition import Assignment, Partition, Partitions, TopicPartition


class ControllerState(NamedTuple):
    """All controllers of a cluster and their store."""

    controller: int
    """The node that is controller."""
    memory: Mapping[int, Partitions]
    """Partitions in the memory of each node; only the controller has any.

    Rule: partition-reassign.controller-only."""
    stored: Partitions
    """Rule: partition-reassign.persisted."""
    alive: frozenset[int]
    """The brokers that are alive."""
    deleting: frozenset[str] = frozenset()
    """Topics that are being deleted."""
    legacy: Mapping[TopicPartition, Assignment] = {}
    """The content of /admin/reassign_partitions.  Rule: partition-reassign.legacy-znode."""

    @property
    def partitions(self) -> Partitions:
        """Partitions in the memory of the controller."""
        return self.memory[self.controller]


def initial_state(configuration: PartitionConfiguration) -> ControllerState:
    """Return the state in which all brokers are alive, all replicas in sync, and nothing is reassigned."""
    partitions = {
        name: Partition(replicas, frozenset(replicas), leader=replicas[0])
        for name, replicas in sorted(configuration.assignments.items())
    }
    first = configuration.controllers[0]
    return ControllerState(first, {first: partitions}, partitions, configuration.brokers)


def exists(state: ControllerState, partitions: Partitions, name: TopicPartition) -> bool:
    """Return True for a partition of a topic that is not being deleted.  Rule: partition-reassign.unknown-partition."""
    return name in partitions and name.topic not in state.deleting
