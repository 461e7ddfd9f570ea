"""The algorithm of KIP-455 on one partition: start, replace, cancel, complete."""

from kraft_partitions.configuration import PartitionConfiguration
from kraft_partitions.leadership import elect_leader
from kraft_partitions.partition import Assignment, Partition, without

# Start and replace.


def is_valid_target(target: Assignment, configuration: PartitionConfiguration) -> bool:
    """Return True if the target names configured brokers, each once, and at least one."""
    # Rule: partition-reassign.invalid-assignment.
    return bool(target) and len(set(target)) == len(target) and configuration.brokers.issuperset(target)


def start(partition: Partition, target: Assignment, configuration: PartitionConfiguration) -> Partition:
    """Return the partition at the start of a reassignment to `target`; a running one is undone first.

    A replica of the running reassignment that is not in the new target leaves R and I.
    A target with the present members only changes their order and is complete at once.
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
        # An empty list keeps the one of the running reassignment.
        adding, removing = adding or partition.adding, removing or partition.removing
    in_sync = partition.in_sync & frozenset(replicas)
    return partition._replace(replicas=replicas, in_sync=in_sync, adding=adding, removing=removing)


# Cancel.


def cancel(partition: Partition) -> Partition:
    """Return the partition without its reassignment: AR leaves R and I, replicas that had caught up included."""
    # Rule: partition-reassign.cancel.
    replicas = partition.original
    return partition._replace(
        replicas=replicas, in_sync=partition.in_sync & frozenset(replicas), adding=(), removing=()
    )


def keeps_acknowledged_records(partition: Partition) -> bool:
    """Return True if a replica in sync is left.  Rule: partition-reassign.isr-never-empty."""
    return bool(partition.in_sync)


# Complete.


def awaited_replicas(partition: Partition, configuration: PartitionConfiguration) -> Assignment:
    """Return the replicas that must be in sync before RR is removed.  Rule: partition-reassign.add-before-remove."""
    match configuration.profile.completes_with:
        case "adding":
            return partition.adding
        case "target":
            return partition.target
        case "target-if-fewer":
            return partition.target if len(partition.adding) < len(partition.removing) else partition.adding


def may_complete(partition: Partition, configuration: PartitionConfiguration) -> bool:
    """Return True if RR may be removed now.

    Rules: partition-reassign.add-before-remove, partition-reassign.complete-in-one-step,
    partition-reassign.isr-never-empty.
    """
    if not partition.is_reassigned:
        return False
    waited_for = awaited_replicas(partition, configuration)
    if not partition.in_sync.issuperset(waited_for):
        return False
    return keeps_acknowledged_records(_completed_lists(partition))


def complete(partition: Partition, alive: frozenset[int]) -> Partition:
    """Return the partition without RR, led by a replica of TR that is in sync, as one change.

    A replica in sync is always left, so the election is never unclean.
    Rules: partition-reassign.complete-in-one-step, partition-reassign.leader-in-removing.
    """
    return elect_leader(_completed_lists(partition), alive, unclean=False)


def _completed_lists(partition: Partition) -> Partition:
    target = partition.target
    return partition._replace(replicas=target, in_sync=partition.in_sync & frozenset(target), adding=(), removing=())
