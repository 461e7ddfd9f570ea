"""What the controllers of a cluster hold in memory and have stored."""

from collections.abc import Mapping
from typing import NamedTuple

from kraft_partitions.configuration import PartitionConfiguration
from kraft_partitions.partition import Assignment, Partition, Partitions, TopicPartition


class ControllerState(NamedTuple):
    """All controllers of a cluster and their store."""

    controller: int
    """The node that is controller."""
    memory: Mapping[int, Partitions]
    """What each node takes the partitions to be: only the controller's counts, and no other node has one.

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
        """What the controller takes the partitions to be."""
        return self.memory[self.controller]


def initial_state(configuration: PartitionConfiguration) -> ControllerState:
    """The state in which everybody is alive and in sync, and nothing is reassigned."""
    partitions = {
        name: Partition(replicas, frozenset(replicas), leader=replicas[0])
        for name, replicas in sorted(configuration.assignments.items())
    }
    first = configuration.controllers[0]
    return ControllerState(first, {first: partitions}, partitions, configuration.brokers)


def exists(state: ControllerState, partitions: Partitions, name: TopicPartition) -> bool:
    """Is there such a partition, of a topic that is not being deleted?  Rule: partition-reassign.unknown-partition."""
    return name in partitions and name.topic not in state.deleting
