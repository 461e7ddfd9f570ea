"""Effects of the controller, in their order: store, notify brokers, reply.

Partitions are stored first, so that the next controller knows of the change.
The replicas that stay are notified before those that are removed: a new leader leads before the old one stops.
Rules: partition-reassign.start, partition-reassign.leader-in-removing.
"""

from dataclasses import dataclass
from typing import TypeAlias

from kraft_partitions.errors import Error
from kraft_partitions.partition import Assignment, Partition, TopicPartition

LEADER_AND_ISR_VERSION = 3
"""The first version with AddingReplicas and RemovingReplicas.  Rule: partition-reassign.leader-and-isr-fields."""


@dataclass(frozen=True, slots=True)
class StorePartitions:
    """Write partitions, each with R, AR and RR together, all of them in one atomic step.

    Rules: partition-reassign.persisted, partition-reassign.per-partition.
    """

    partitions: tuple[tuple[TopicPartition, Partition], ...]


@dataclass(frozen=True, slots=True)
class StoreReassignPartitions:
    """Write what is left of /admin/reassign_partitions.  Rule: partition-reassign.legacy-znode."""

    targets: tuple[tuple[TopicPartition, Assignment], ...]


@dataclass(frozen=True, slots=True)
class LeaderAndIsr:
    """Tell a broker about a partition that it holds.  Rule: partition-reassign.leader-and-isr-fields."""

    broker: int
    partition: TopicPartition
    leader: int | None
    leader_epoch: int
    partition_epoch: int
    in_sync: frozenset[int]
    replicas: Assignment
    """All of R, old and new ones, for brokers that know nothing of the other two lists.

    Rule: partition-reassign.mixed-versions."""
    adding: Assignment
    removing: Assignment
    version: int = LEADER_AND_ISR_VERSION


@dataclass(frozen=True, slots=True)
class StopReplica:
    """Tell a broker to stop and delete its replica.  Rules: partition-reassign.complete-in-one-step,
    partition-reassign.cancel, partition-reassign.override.
    """

    broker: int
    partition: TopicPartition


@dataclass(frozen=True, slots=True)
class AlterReassignmentsAnswer:
    """Response to AlterPartitionReassignments; without results if `error` is set.

    Rules: partition-reassign.error-order, partition-reassign.per-partition.
    """

    error: Error
    results: tuple[tuple[TopicPartition, Error], ...] = ()


@dataclass(frozen=True, slots=True)
class Reassignment:
    """Partition in the response to ListPartitionReassignments."""

    partition: TopicPartition
    replicas: Assignment
    adding: Assignment
    removing: Assignment


@dataclass(frozen=True, slots=True)
class ListReassignmentsAnswer:
    """Response to ListPartitionReassignments; without reassignments if `error` is set.

    Rule: partition-reassign.list.
    """

    error: Error
    reassignments: tuple[Reassignment, ...] = ()


@dataclass(frozen=True, slots=True)
class AlterPartitionAnswer:
    """Response to AlterPartition."""

    error: Error
    partition_epoch: int | None = None
    """Partition epoch of the change; None if nothing changed."""


Effect: TypeAlias = (
    StorePartitions
    | StoreReassignPartitions
    | LeaderAndIsr
    | StopReplica
    | AlterReassignmentsAnswer
    | ListReassignmentsAnswer
    | AlterPartitionAnswer
)
"""What the driver of a controller has to do after a step, in order."""
