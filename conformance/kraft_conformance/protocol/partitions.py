"""The subject `partitions` of kraft-adapter/1: the controllers of a cluster that reassign partitions (KIP-455).

Events, effects and fields of the state are those of kraft-partition-trace/1, under the same names.
What a reply may leave out has the default `UNSET` here, where a trace must have it.
The adapter stands for all controllers of the cluster and what they have stored: an event names the node that it
happens at.
There is no crash: a controller that dies is a `ControllerFailover`, and what was stored is all that is left.
"""

from msgspec import UNSET, Struct, UnsetType

from kraft_conformance.protocol.base import Message
from kraft_reference.partitions.configuration import PartitionConfiguration
from kraft_reference.partitions.decisions import PROFILES
from kraft_reference.partitions.errors import Error
from kraft_reference.partitions.outcome import Refusal
from kraft_reference.partitions.partition import TopicPartition
from kraft_traces.partitions.encode import header_of
from kraft_traces.partitions.lines import Id, Ids, Name, Target, TracedEvent, TracedReassignment
from kraft_traces.values import ReplicaId, SmallCount

# -------------------------------------------------------------------------------------------------------------
# The cluster and its state.
# -------------------------------------------------------------------------------------------------------------


class PartitionCluster(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The fields of a partition trace's header that say what the cluster is: everybody alive and in sync."""

    profile: str
    brokers: tuple[ReplicaId, ...]
    controllers: tuple[ReplicaId, ...]
    """The first one is controller to begin with."""
    assignments: tuple[tuple[Name, tuple[ReplicaId, ...]], ...]
    unclean_topics: tuple[str, ...]


def partition_cluster_of(configuration: PartitionConfiguration) -> PartitionCluster:
    """The protocol's form of a configuration.

    Raises:
        ValueError: the profile has no name.
    """
    header = header_of(configuration)
    return PartitionCluster(**{name: getattr(header, name) for name in PartitionCluster.__struct_fields__})


def partition_configuration_from(cluster: PartitionCluster) -> PartitionConfiguration:
    """The reference's form of a cluster.

    Raises:
        KeyError: there is no such profile.
    """
    return PartitionConfiguration(
        frozenset(cluster.brokers),
        {TopicPartition(*name): replicas for name, replicas in cluster.assignments},
        cluster.controllers,
        frozenset(cluster.unclean_topics),
        PROFILES[cluster.profile],
    )


class ShownPartition(Struct, frozen=True, forbid_unknown_fields=True):
    """A partition, as far as it is shown."""

    name: Name
    replicas: Ids | UnsetType = UNSET
    in_sync: Ids | UnsetType = UNSET
    adding: Ids | UnsetType = UNSET
    removing: Ids | UnsetType = UNSET
    leader: ReplicaId | UnsetType | None = UNSET
    leader_epoch: SmallCount | UnsetType = UNSET
    partition_epoch: SmallCount | UnsetType = UNSET


class ControllerView(Struct, frozen=True, forbid_unknown_fields=True):
    """The state, as the controller has it and as far as it is shown."""

    controller: Id | UnsetType = UNSET
    alive: Ids | UnsetType = UNSET
    deleting: tuple[str, ...] | UnsetType = UNSET
    legacy: tuple[Target, ...] | UnsetType = UNSET
    partitions: tuple[ShownPartition, ...] | UnsetType = UNSET


LEADER_AND_ISR_LEAST = 3
"""The first version of LeaderAndIsr with the lists.  Rule: partition-reassign.leader-and-isr-fields."""

# -------------------------------------------------------------------------------------------------------------
# What a controller does.
# -------------------------------------------------------------------------------------------------------------


class _Effect(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type"):
    """What is done."""


class ShownStorePartitions(_Effect, frozen=True, tag="StorePartitions"):
    """Partitions are stored.  Rule: partition-reassign.persisted."""

    partitions: tuple[ShownPartition, ...]


class ShownStoreReassignPartitions(_Effect, frozen=True, tag="StoreReassignPartitions"):
    """What is left of /admin/reassign_partitions is stored.  Rule: partition-reassign.legacy-znode."""

    targets: tuple[Target, ...]


class ShownLeaderAndIsr(_Effect, frozen=True, tag="LeaderAndIsr"):
    """A broker is told of a partition.  Rule: partition-reassign.leader-and-isr-fields."""

    broker: Id
    partition: Name
    leader: ReplicaId | UnsetType | None = UNSET
    leader_epoch: SmallCount | UnsetType = UNSET
    partition_epoch: SmallCount | UnsetType = UNSET
    in_sync: Ids | UnsetType = UNSET
    replicas: Ids | UnsetType = UNSET
    adding: Ids | UnsetType = UNSET
    removing: Ids | UnsetType = UNSET
    version: Id | UnsetType = UNSET


class ShownStopReplica(_Effect, frozen=True, tag="StopReplica"):
    """A broker is told to stop and delete its replica."""

    broker: Id
    partition: Name


class ShownAlterReassignmentsAnswer(_Effect, frozen=True, tag="AlterReassignmentsAnswer"):
    """The answer to AlterPartitionReassignments.  Rule: partition-reassign.error-order."""

    error: Error
    results: tuple[tuple[Name, Error], ...]


class ShownListReassignmentsAnswer(_Effect, frozen=True, tag="ListReassignmentsAnswer"):
    """The answer to ListPartitionReassignments.  Rule: partition-reassign.list."""

    error: Error
    reassignments: tuple[TracedReassignment, ...]


class ShownAlterPartitionAnswer(_Effect, frozen=True, tag="AlterPartitionAnswer"):
    """The answer to the leader of a partition."""

    error: Error
    partition_epoch: SmallCount | UnsetType | None = UNSET


ShownEffect = (
    ShownStorePartitions
    | ShownStoreReassignPartitions
    | ShownLeaderAndIsr
    | ShownStopReplica
    | ShownAlterReassignmentsAnswer
    | ShownListReassignmentsAnswer
    | ShownAlterPartitionAnswer
)
"""What a controller of partitions did, as an adapter shows it."""

# -------------------------------------------------------------------------------------------------------------
# Requests and replies.
# -------------------------------------------------------------------------------------------------------------


class PartitionReset(Message, frozen=True, kw_only=True, tag="partition_reset"):
    """Forget everything; the cluster begins, or is in the state `before`, which has every field."""

    cluster: PartitionCluster
    before: ControllerView | UnsetType = UNSET


class PartitionStep(Message, frozen=True, kw_only=True, tag="partition_step"):
    """An event happens to the controllers."""

    event: TracedEvent


class PartitionObserve(Message, frozen=True, kw_only=True, tag="partition_observe"):
    """What is the state?"""


class PartitionResetReply(Message, frozen=True, kw_only=True, tag="partition_reset"):
    """It is done."""


class PartitionStepReply(Message, frozen=True, kw_only=True, tag="partition_step"):
    """What the controller did."""

    effects: tuple[ShownEffect, ...]
    """In their order."""
    refusal: Refusal | UnsetType | None = UNSET
    """Why nothing happened; null if something did."""


class PartitionObserveReply(Message, frozen=True, kw_only=True, tag="partition_observe"):
    """The state, as far as it is observed."""

    state: ControllerView


PartitionRequest = PartitionReset | PartitionStep | PartitionObserve
"""What the suite asks a controller of partitions alone."""

PartitionReply = PartitionResetReply | PartitionStepReply | PartitionObserveReply
"""What a controller of partitions answers."""
