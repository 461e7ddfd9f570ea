"""The algorithm of KIP-455 on one partition: start, replace, cancel, complete."""

from kraft_partitions.configuration import PartitionConfiguration
from kraft_partitions.leadership import led
from kraft_partitions.partition import Assignment, Partition, without

# ---------------------------------------------------------------------------------------------------------
# Start and replace.
# ---------------------------------------------------------------------------------------------------------


def is_valid_target(target: Assignment, configuration: PartitionConfiguration) -> bool:
    """May these be the replicas of a partition?  An id below zero names no broker either.

    Rule: partition-reassign.invalid-assignment.
    """
    return bool(target) and len(set(target)) == len(target) and configuration.brokers.issuperset(target)


def reassigned(partition: Partition, target: Assignment, configuration: PartitionConfiguration) -> Partition:
    """The partition at the start of a reassignment to `target`, a running one undone before.

    A replica of the running one that the new one does not know is out of R and of I; what has been copied to one
    that is in both stays.
    A target with the same members adds and removes nothing: only the order is new, and there is nothing to wait for.
    Rules: partition-reassign.start, partition-reassign.override, partition-reassign.no-op-target.
    """
    base = partition.original if configuration.profile.override_base == "original" else partition.replicas
    adding, removing = without(target, base), without(base, target)
    if configuration.profile.replicas_order == "removing-first":
        replicas = removing + target
    else:
        adding, removing = tuple(sorted(adding)), tuple(sorted(removing))
        replicas = target + removing
    if configuration.profile.override_base == "replicas":
        # A list that would be empty stays as the running reassignment has left it.
        adding, removing = adding or partition.adding, removing or partition.removing
    in_sync = partition.in_sync & frozenset(replicas)
    return partition._replace(replicas=replicas, in_sync=in_sync, adding=adding, removing=removing)


# ---------------------------------------------------------------------------------------------------------
# Cancel.
# ---------------------------------------------------------------------------------------------------------


def cancelled(partition: Partition) -> Partition:
    """The partition without its reassignment; AR is gone from R and from I, even those that had caught up.

    Rule: partition-reassign.cancel.
    """
    replicas = partition.original
    return partition._replace(
        replicas=replicas, in_sync=partition.in_sync & frozenset(replicas), adding=(), removing=()
    )


def keeps_acknowledged_records(partition: Partition) -> bool:
    """Is somebody in sync left?  Rule: partition-reassign.isr-never-empty."""
    return bool(partition.in_sync)


# ---------------------------------------------------------------------------------------------------------
# Complete.
# ---------------------------------------------------------------------------------------------------------


def awaited_replicas(partition: Partition, configuration: PartitionConfiguration) -> Assignment:
    """Replicas that have to be in sync before RR goes.  Rule: partition-reassign.add-before-remove."""
    match configuration.profile.completes_with:
        case "adding":
            return partition.adding
        case "target":
            return partition.target
        case "target-if-fewer":
            return partition.target if len(partition.adding) < len(partition.removing) else partition.adding


def may_complete(partition: Partition, configuration: PartitionConfiguration) -> bool:
    """May RR go now?

    Rules: partition-reassign.add-before-remove, partition-reassign.complete-in-one-step,
    partition-reassign.isr-never-empty.
    """
    if not partition.is_reassigned:
        return False
    waited_for = awaited_replicas(partition, configuration)
    if not partition.in_sync.issuperset(waited_for):
        return False
    return keeps_acknowledged_records(_completed_lists(partition))


def completed(partition: Partition, alive: frozenset[int]) -> Partition:
    """The partition with RR gone, led by a replica of TR that is in sync: all of it one change.

    Somebody in sync is always left, so no election is unclean.

    Rules: partition-reassign.complete-in-one-step, partition-reassign.leader-in-removing.
    """
    return led(_completed_lists(partition), alive, unclean=False)


def _completed_lists(partition: Partition) -> Partition:
    target = partition.target
    return partition._replace(replicas=target, in_sync=partition.in_sync & frozenset(target), adding=(), removing=())
