"""Who leads a partition."""

from kraft_partitions.partition import Partition


def led(partition: Partition, alive: frozenset[int], unclean: bool) -> Partition:
    """The partition with a leader that may lead it: the one that it has, else the first of R in sync and alive.

    R is in the order of the target once a reassignment is complete.
    With unclean election any replica that is alive may lead if none in sync is; it is then the only one in sync.
    Without any the partition is offline, and keeps its in-sync replicas; where a cancellation with unclean election
    has left none, the first of R counts as in sync.
    Rules: partition-reassign.leader-in-removing, partition-reassign.isr-never-empty.
    """
    if partition.leader in partition.replicas and partition.leader in partition.in_sync & alive:
        return partition
    candidates = [replica for replica in partition.replicas if replica in alive]
    leader = next((replica for replica in candidates if replica in partition.in_sync), None)
    if leader is None and unclean and candidates:
        leader = candidates[0]
        partition = partition._replace(in_sync=frozenset({leader}))
    if unclean and not partition.in_sync:
        partition = partition._replace(in_sync=frozenset(partition.replicas[:1]))
    if leader == partition.leader:
        return partition
    return partition._replace(leader=leader, leader_epoch=partition.leader_epoch + 1)


def after_failure(partition: Partition, broker: int, alive: frozenset[int], unclean: bool) -> Partition:
    """The partition after one of its brokers failed: it is not in sync any more, unless it is the last one."""
    in_sync = partition.in_sync - {broker}
    return led(partition._replace(in_sync=in_sync or partition.in_sync), alive, unclean)
