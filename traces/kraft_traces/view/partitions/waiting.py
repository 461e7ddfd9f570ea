"""What a reassignment in progress still waits for, by the profile of the trace."""

from collections.abc import Collection
from typing import TypedDict

from kraft_reference.partitions.configuration import PartitionConfiguration
from kraft_reference.partitions.partition import Partition
from kraft_traces.partitions.lines import TracedPartition


class WaitsFor(TypedDict):
    """The brokers that have to be in sync before the reassignment may complete; none if it may."""

    brokers: list[int]
    any: bool
    """One of them is enough."""


def waits_for(
    traced: TracedPartition, configuration: PartitionConfiguration, switched_off: Collection[str] = ()
) -> WaitsFor | None:
    """What the reassignment of a partition waits for, without these rules; None if none is in progress.

    Rules: partition-reassign.add-before-remove, partition-reassign.isr-never-empty.
    """
    partition = Partition(
        traced.replicas,
        frozenset(traced.in_sync),
        traced.adding,
        traced.removing,
        traced.leader,
        traced.leader_epoch,
        traced.partition_epoch,
    )
    if not partition.is_reassigned:
        return None
    wanted = partition.adding if configuration.profile.completes_with == "adding" else partition.target
    missing = [broker for broker in wanted if broker not in partition.in_sync]
    if missing and "partition-reassign.add-before-remove" not in switched_off:
        return WaitsFor(brokers=missing, any=False)
    nobody_left = partition.in_sync.isdisjoint(partition.target)
    if nobody_left and "partition-reassign.isr-never-empty" not in switched_off:
        return WaitsFor(brokers=list(partition.target), any=len(partition.target) > 1)
    return WaitsFor(brokers=[], any=False)
