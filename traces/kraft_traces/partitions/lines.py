"""The lines of a kraft-partition-trace/1: names and order are the reference's, and a set of ids is a list that ascends.

A partition is named by topic and number, as in `["A", 0]`.
"""

from typing import Annotated, Literal, TypeAlias

from msgspec import UNSET, Meta, Struct, UnsetType

from kraft_reference.partitions.errors import Error
from kraft_reference.partitions.outcome import Refusal
from kraft_traces.lines import SpecHash
from kraft_traces.values import ReplicaId, SmallCount

SCHEMA: Literal["kraft-partition-trace/1"] = "kraft-partition-trace/1"

Id: TypeAlias = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
"""Of a broker or a node, or an epoch, as a request may have it: what the model's integers can hold."""
Name: TypeAlias = tuple[str, Id]
Ids: TypeAlias = tuple[Id, ...]
Target: TypeAlias = tuple[Name, Ids]


class _Part(Struct, frozen=True, forbid_unknown_fields=True):
    """What has all its fields and no others."""


class TracedPartition(_Part, frozen=True):
    """One partition."""

    name: Name
    replicas: Ids
    in_sync: Ids
    adding: Ids
    removing: Ids
    leader: ReplicaId | None
    leader_epoch: SmallCount
    partition_epoch: SmallCount


# ---------------------------------------------------------------------------------------------------------
# Events.
# ---------------------------------------------------------------------------------------------------------


class _Event(_Part, frozen=True, tag_field="name"):
    """What happens."""


class AlterPartitionReassignments(_Event, frozen=True):
    """Rule: partition-reassign.per-partition."""

    node: Id
    targets: tuple[tuple[Name, Ids | None], ...]
    may_alter: bool
    timeout_ms: Id


class ListPartitionReassignments(_Event, frozen=True):
    """Rule: partition-reassign.list."""

    node: Id
    partitions: tuple[Name, ...] | None
    may_describe: bool
    timeout_ms: Id


class AlterPartition(_Event, frozen=True):
    """The leader's request."""

    node: Id
    broker: Id
    partition: Name
    leader_epoch: Id
    partition_epoch: Id
    in_sync: Ids


class CompleteReassignment(_Event, frozen=True):
    """Rule: partition-reassign.complete-in-one-step."""

    partition: Name


class BrokerFails(_Event, frozen=True):
    """A broker is gone."""

    broker: Id


class BrokerStarts(_Event, frozen=True):
    """A broker is back."""

    broker: Id


class ControllerFailover(_Event, frozen=True):
    """Rule: partition-reassign.persisted."""

    node: Id


class DeleteTopic(_Event, frozen=True):
    """Rule: partition-reassign.unknown-partition."""

    topic: str


class WriteReassignPartitions(_Event, frozen=True):
    """Rule: partition-reassign.legacy-znode."""

    targets: tuple[Target, ...]


TracedEvent: TypeAlias = (
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
"""What happened, with the fields of its own."""

# ---------------------------------------------------------------------------------------------------------
# Effects.
# ---------------------------------------------------------------------------------------------------------


class _Effect(_Part, frozen=True, tag_field="type"):
    """What is done."""


class StorePartitions(_Effect, frozen=True):
    """Rule: partition-reassign.persisted."""

    partitions: tuple[TracedPartition, ...]


class StoreReassignPartitions(_Effect, frozen=True):
    """Rule: partition-reassign.legacy-znode."""

    targets: tuple[Target, ...]


class LeaderAndIsr(_Effect, frozen=True):
    """Rule: partition-reassign.leader-and-isr-fields."""

    broker: Id
    partition: Name
    leader: ReplicaId | None
    leader_epoch: SmallCount
    partition_epoch: SmallCount
    in_sync: Ids
    replicas: Ids
    adding: Ids
    removing: Ids
    version: Id


class StopReplica(_Effect, frozen=True):
    """A replica stops and is deleted."""

    broker: Id
    partition: Name


class AlterReassignmentsAnswer(_Effect, frozen=True):
    """Rule: partition-reassign.error-order."""

    error: Error
    results: tuple[tuple[Name, Error], ...]


class TracedReassignment(_Part, frozen=True):
    """A row of a list."""

    partition: Name
    replicas: Ids
    adding: Ids
    removing: Ids


class ListReassignmentsAnswer(_Effect, frozen=True):
    """Rule: partition-reassign.list."""

    error: Error
    reassignments: tuple[TracedReassignment, ...]


class AlterPartitionAnswer(_Effect, frozen=True):
    """The answer to a leader."""

    error: Error
    partition_epoch: SmallCount | None


TracedEffect: TypeAlias = (
    StorePartitions
    | StoreReassignPartitions
    | LeaderAndIsr
    | StopReplica
    | AlterReassignmentsAnswer
    | ListReassignmentsAnswer
    | AlterPartitionAnswer
)
"""An entry of the `effects` of a line."""

# ---------------------------------------------------------------------------------------------------------
# Lines.
# ---------------------------------------------------------------------------------------------------------


class TracedState(_Part, frozen=True):
    """The state after an event, as the controller has it."""

    controller: Id
    alive: Ids
    deleting: tuple[str, ...]
    legacy: tuple[Target, ...]
    partitions: tuple[TracedPartition, ...]


class PartitionEventLine(_Part, frozen=True):
    """One event, what came of it, and the state after."""

    sequence: Annotated[int, Meta(ge=1)]
    event: TracedEvent
    refusal: Refusal | None
    effects: tuple[TracedEffect, ...]
    state: TracedState


class PartitionHeader(_Part, frozen=True, kw_only=True):
    """What the cluster was when the trace began: everybody alive and in sync."""

    schema: Literal["kraft-partition-trace/1"]
    generator: str
    seed: Id | None
    profile: str
    """Name of the answers to the open points of KIP-455."""
    spec_hash: SpecHash | UnsetType = UNSET
    """Of the model that the trace was written for."""
    brokers: tuple[ReplicaId, ...]
    controllers: tuple[ReplicaId, ...]
    """The first one is controller to begin with."""
    assignments: tuple[tuple[Name, tuple[ReplicaId, ...]], ...]
    unclean_topics: tuple[str, ...]
    switched_off: tuple[str, ...]
    """Ids of the rules that this run leaves out on purpose."""
