"""The subject `partitions` of kraft-adapter/1: the controllers of a cluster that reassign partitions (KIP-455).

The adapter stands for all controllers of the cluster and what they have stored: an event names the node that it
happens at.
There is no crash: a controller that dies is a `ControllerFailover`, and what was stored is all that is left.
"""

from msgspec import UNSET, UnsetType

from kraft_conformance.protocol.base import Message
from kraft_partitions.outcome import Refusal
from kraft_traces.partitions.lines import TracedEvent
from kraft_vectors.partitions.shown import ControllerView, PartitionCluster, ShownEffect

LEADER_AND_ISR_LEAST = 3
"""The first version of LeaderAndIsr with the lists.  Rule: partition-reassign.leader-and-isr-fields."""


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
