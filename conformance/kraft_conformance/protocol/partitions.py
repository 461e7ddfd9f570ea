"""The subject `partitions` of kraft-adapter/1: the controllers of a cluster that reassign partitions (KIP-455).

The adapter represents all controllers of the cluster and their stored state; an event names its node.
There is no crash: if a controller dies, a `ControllerFailover` follows, and only the stored state survives.
"""

from msgspec import UNSET, UnsetType

from kraft_conformance.protocol.base import Message
from kraft_partitions.outcome import Refusal
from kraft_traces.partitions.lines import TracedEvent
from kraft_vectors.partitions.shown import ControllerView, PartitionCluster, ShownEffect

LEADER_AND_ISR_LEAST = 3
"""First version of LeaderAndIsr with the lists.  Rule: partition-reassign.leader-and-isr-fields."""


class PartitionReset(Message, frozen=True, kw_only=True, tag="partition_reset"):
    """Discard all state, and set up a new cluster, or one in the state `before`, which has every field."""

    cluster: PartitionCluster
    before: ControllerView | UnsetType = UNSET


class PartitionStep(Message, frozen=True, kw_only=True, tag="partition_step"):
    """An event at the controllers."""

    event: TracedEvent


class PartitionObserve(Message, frozen=True, kw_only=True, tag="partition_observe"):
    """Request for the state."""


class PartitionResetReply(Message, frozen=True, kw_only=True, tag="partition_reset"):
    """Confirmation of a reset."""


class PartitionStepReply(Message, frozen=True, kw_only=True, tag="partition_step"):
    """Effects of the event."""

    effects: tuple[ShownEffect, ...]
    """Effects in their order."""
    refusal: Refusal | UnsetType | None = UNSET
    """Reason for doing nothing; null if the controller did something."""


class PartitionObserveReply(Message, frozen=True, kw_only=True, tag="partition_observe"):
    """The observable state."""

    state: ControllerView


PartitionRequest = PartitionReset | PartitionStep | PartitionObserve
"""Any request of the subject `partitions`."""

PartitionReply = PartitionResetReply | PartitionStepReply | PartitionObserveReply
"""Any reply of the subject `partitions`."""
