"""Which outputs of a step must come before which, and what a step leaves open: read off the step."""

from collections.abc import Sequence

from kraft_conformance.protocol.partitions import (
    ControllerView,
    ShownEffect,
    ShownLeaderAndIsr,
    ShownStopReplica,
    ShownStorePartitions,
    ShownStoreReassignPartitions,
)
from kraft_conformance.vectors.partitions.format import PartitionLatitude
from kraft_conformance.vectors.partitions.view_changes import by_name
from kraft_traces.partitions import lines
from kraft_traces.partitions.lines import TracedEvent

_STORED = (ShownStorePartitions, ShownStoreReassignPartitions)


def happens_before(outputs: Sequence[ShownEffect], earlier: ControllerView) -> tuple[tuple[int, int], ...]:
    """The pairs of positions of which the first comes before the second.

    Args:
        outputs: of the step.
        earlier: the state before it.

    Partitions are stored before anybody is told of them, and a new leader is told before the old one stops.
    When the old znode is written does not matter to anybody.
    Rules: partition-reassign.start, partition-reassign.complete-in-one-step, partition-reassign.leader-in-removing.
    """
    led = {name: one.leader for name, one in by_name(earlier).items()}
    pairs = []
    for first, one in enumerate(outputs):
        for second, other in enumerate(outputs):
            stored = isinstance(one, ShownStorePartitions) and not isinstance(other, _STORED)
            leads_on = (
                isinstance(one, ShownLeaderAndIsr)
                and isinstance(other, ShownStopReplica)
                and one.partition == other.partition
                and one.leader == one.broker
                and led[one.partition] == other.broker
            )
            if stored or leads_on:
                pairs.append((first, second))
    return tuple(pairs)


def latitude_of(event: TracedEvent, before: ControllerView, after: ControllerView) -> tuple[PartitionLatitude, ...]:
    """The latitude of a step.

    What a cancellation restores may be in any order, and of several replicas in sync any may come to lead.
    Rules: partition-reassign.cancel, partition-reassign.leader-in-removing.
    """
    cancelled = set()
    if isinstance(event, lines.AlterPartitionReassignments):
        cancelled = {name for name, target in event.targets if target is None}
    found = []
    alive = frozenset(after.alive or ())
    for name, one in by_name(after).items():
        was = by_name(before)[name]
        replicas, in_sync = tuple(one.replicas or ()), frozenset(one.in_sync or ())
        if name in cancelled and was.adding and not one.adding and len(replicas) > 1:
            reason = "partition-reassign.cancel leaves the order open"
            found.append(PartitionLatitude(name, "replicas", reason, any_order=True))
        others = [each for each in replicas if each in in_sync & alive and each != one.leader]
        if one.leader not in (None, was.leader) and others:
            reason = "partition-reassign.leader-in-removing names no order"
            found.append(PartitionLatitude(name, "leader", reason, any_of=tuple(others)))
    return tuple(found)
