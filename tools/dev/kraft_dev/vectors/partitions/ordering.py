"""Which outputs of a step must come before which, and what a step leaves open: read off the step."""

from collections.abc import Iterator, Sequence

from kraft_conformance.protocol.partitions import (
    ControllerView,
    ShownAlterReassignmentsAnswer,
    ShownEffect,
    ShownLeaderAndIsr,
    ShownListReassignmentsAnswer,
    ShownStopReplica,
    ShownStorePartitions,
    ShownStoreReassignPartitions,
)
from kraft_conformance.vectors.partitions.format import PartitionLatitude
from kraft_conformance.vectors.partitions.view_changes import by_name
from kraft_reference.partitions.errors import Error
from kraft_traces.partitions import lines
from kraft_traces.partitions.lines import Ids, TracedEvent

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


def latitude_of(
    event: TracedEvent, outputs: Sequence[ShownEffect], before: ControllerView, after: ControllerView
) -> tuple[PartitionLatitude, ...]:
    """The latitude of a step.

    What a cancellation restores may be in any order, of several replicas in sync any may come to lead, and of two
    errors either may be answered.
    Rules: partition-reassign.cancel, partition-reassign.leader-in-removing, partition-reassign.error-order.
    """
    cancelled = set()
    if isinstance(event, lines.AlterPartitionReassignments):
        cancelled = {name for name, target in event.targets if target is None}
    found = list(_errors(event, outputs, before))
    alive = frozenset(after.alive or ())
    for name, one in by_name(after).items():
        was = by_name(before)[name]
        replicas, in_sync = tuple(one.replicas or ()), frozenset(one.in_sync or ())
        stopped = (was.adding or was.removing) and not (one.adding or one.removing)
        if name in cancelled and stopped and len(replicas) > 1:
            reason = "partition-reassign.cancel leaves the order open"
            found.append(PartitionLatitude(name, "replicas", reason, any_order=True))
        unclean = one.leader not in (was.in_sync or ())
        others = [each for each in replicas if each in alive and (unclean or each in in_sync) and each != one.leader]
        if one.leader not in (None, was.leader) and others:
            reason = "partition-reassign.leader-in-removing names no order"
            found.append(PartitionLatitude(name, "leader", reason, any_of=tuple(others)))
    return tuple(found)


_ANSWERS = (ShownAlterReassignmentsAnswer, ShownListReassignmentsAnswer)


def _errors(event: TracedEvent, outputs: Sequence[ShownEffect], before: ControllerView) -> Iterator[PartitionLatitude]:
    """Where two errors apply to a request."""
    reason = "partition-reassign.error-order says SHOULD"
    answer = next((one for one in outputs if isinstance(one, _ANSWERS)), None)
    if answer is None or not isinstance(event, lines.AlterPartitionReassignments | lines.ListPartitionReassignments):
        return
    if answer.error is Error.CLUSTER_AUTHORIZATION_FAILED and event.node != before.controller:
        yield PartitionLatitude(None, "error", reason, any_of=(Error.NOT_CONTROLLER,))
    if isinstance(event, lines.AlterPartitionReassignments) and isinstance(answer, ShownAlterReassignmentsAnswer):
        for (name, target), (_, error) in zip(event.targets, answer.results, strict=False):
            unknown = error is Error.UNKNOWN_TOPIC_OR_PARTITION
            if unknown and target is not None and not _is_assignment(target):
                yield PartitionLatitude(name, "error", reason, any_of=(Error.INVALID_REPLICA_ASSIGNMENT,))


def _is_assignment(target: Ids) -> bool:
    """Does nothing in the list by itself speak against it?"""
    return bool(target) and len(set(target)) == len(target) and min(target) >= 0
