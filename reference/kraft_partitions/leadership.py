"""Leadership of a partition."""

from kraft_partitions.partition import Partition


def elect_leader(partition: Partition, alive: frozenset[int], unclean: bool) -> Partition:
    """Return the partition with its leader, if that may lead, else with the first of R that is in sync and alive.

    With unclean election any live replica may lead if none in sync is alive; it is then the only one in sync.
    Without such a replica the partition is offline and keeps its in-sync replicas.  If a cancellation with unclean
    election has left none, the first of R counts as in sync.
    """
    # Rules: partition-reassign.leader-in-removing, partition-reassign.isr-never-empty.
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
    """Return the partition after the failure of a broker, which leaves I unless it is the last one."""
    in_sync = partition.in_sync - {broker}
    return elect_leader(partition._replace(in_sync=in_sync or partition.in_sync), alive, unclean)
