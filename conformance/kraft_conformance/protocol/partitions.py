"""The subject `partitions` of kraft-adapter/1: the controllers of a cluster that reassign partitions (KIP-455).

Events, effects and fields of the state are those of kraft-partition-trace/1, under the same names.
What a reply may leave out has the default `UNSET` here, where a trace must have it.
The adapter stands for all controllers of the cluster and what they have stored: an event names the node that it
happens at.
There is no crash: a controller that dies is a `ControllerFailover`, and what was stored is all that is left.
"""

from typing import TYPE_CHECKING, Any, TypeAlias, Union, get_args

from msgspec import UNSET, Struct, UnsetType

from kraft_conformance.protocol.base import Message
from kraft_partitions import effects
from kraft_partitions.configuration import PartitionConfiguration
from kraft_partitions.outcome import Refusal
from kraft_partitions.partition import Partition, TopicPartition
from kraft_traces.partitions.encode import header_of
from kraft_traces.partitions.lines import (
    OF_PARTITIONS,
    VALUES,
    Id,
    Ids,
    Name,
    Target,
    TracedEvent,
    TracedReassignment,
    derived,
)
from kraft_traces.values import ReplicaId

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


_MAY_BE_ABSENT = frozenset({*Partition._fields, "version"})
"""How a partition is, which an adapter need not show."""


class _NamedPartition(Struct, frozen=True, forbid_unknown_fields=True):
    name: Name


class _Effect(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type"):
    """What is done."""


_SHOWN_PARTITION = derived(
    Partition, _NamedPartition, VALUES, OF_PARTITIONS, name="ShownPartition", may_be_absent=_MAY_BE_ABSENT
)
_PARTS = {
    **VALUES,
    tuple[TopicPartition, Partition]: _SHOWN_PARTITION,
    effects.Reassignment: TracedReassignment,
}
_SHOWN = {
    f"Shown{kind.__name__}": derived(
        kind,
        _Effect,
        _PARTS,
        OF_PARTITIONS,
        name=f"Shown{kind.__name__}",
        may_be_absent=_MAY_BE_ABSENT,
        tag=kind.__name__,
    )
    for kind in get_args(effects.Effect)
}

if TYPE_CHECKING:
    ShownPartition: TypeAlias = Any
    ShownEffect: TypeAlias = Any

    def __getattr__(name: str) -> Any: ...

else:
    ShownPartition = _SHOWN_PARTITION
    """A partition, as far as it is shown."""
    ShownEffect = Union[tuple(_SHOWN.values())]  # noqa: UP007 - of as many as there are
    """What a controller of partitions did, as an adapter shows it."""
    globals().update(_SHOWN)


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
