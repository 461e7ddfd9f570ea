"""Events of the controllers: requests, changes of the in-sync replicas, brokers and controllers that fail."""

from dataclasses import dataclass
from typing import TypeAlias

from kraft_partitions.partition import Assignment, TopicPartition

TIMEOUT_MS_DEFAULT = 60_000
"""Rule: partition-reassign.timeout-ignored."""


@dataclass(frozen=True, slots=True)
class AlterPartitionReassignments:
    """A client starts, replaces and cancels reassignments, each of its own partition.

    Rules: partition-reassign.per-partition, partition-reassign.admin-api.
    """

    node: int
    """The node that got the request."""
    targets: tuple[tuple[TopicPartition, Assignment | None], ...]
    """Per partition the replicas TR, or None to cancel."""
    may_alter: bool = True
    """Whether the client has ALTER on CLUSTER.  Rule: partition-reassign.authorization."""
    timeout_ms: int = TIMEOUT_MS_DEFAULT


@dataclass(frozen=True, slots=True)
class ListPartitionReassignments:
    """A client asks what is being reassigned.  Rule: partition-reassign.list."""

    node: int
    partitions: tuple[TopicPartition, ...] | None = None
    """Those asked for by name; None for all."""
    may_describe: bool = True
    """Whether the client has DESCRIBE on CLUSTER.  Rule: partition-reassign.authorization."""
    timeout_ms: int = TIMEOUT_MS_DEFAULT


@dataclass(frozen=True, slots=True)
class AlterPartition:
    """The leader of a partition says which replicas are in sync: one has caught up, or fallen behind.

    KIP-455 supposes this and does not describe it; the request is that of KIP-497.
    """

    node: int
    broker: int
    """Who says so."""
    partition: TopicPartition
    leader_epoch: int
    partition_epoch: int
    in_sync: frozenset[int]


@dataclass(frozen=True, slots=True)
class CompleteReassignment:
    """The controller acts on a reassignment that may complete.  Rule: partition-reassign.complete-in-one-step."""

    partition: TopicPartition


@dataclass(frozen=True, slots=True)
class BrokerFails:
    """The controller learns that a broker is gone."""

    broker: int


@dataclass(frozen=True, slots=True)
class BrokerStarts:
    """A registered broker is back; its replicas are in sync where they had to stay so."""

    broker: int


@dataclass(frozen=True, slots=True)
class ControllerFailover:
    """Another node becomes controller and reads what was stored.  Rule: partition-reassign.persisted."""

    node: int


@dataclass(frozen=True, slots=True)
class DeleteTopic:
    """The deletion of a topic begins.  Rule: partition-reassign.unknown-partition."""

    topic: str


@dataclass(frozen=True, slots=True)
class WriteReassignPartitions:
    """An old tool writes /admin/reassign_partitions.  Rule: partition-reassign.legacy-znode."""

    targets: tuple[tuple[TopicPartition, Assignment], ...]


Event: TypeAlias = (
    AlterPartitionReassignments
    | ListPartitionReassignments
    | AlterPartition
    | CompleteReassignment
    | BrokerFails
    | BrokerStarts
    | ControllerFailover
    | DeleteTopic
    | WriteReassignPartitions
)
"""All that may happen at the controller of the partitions."""
