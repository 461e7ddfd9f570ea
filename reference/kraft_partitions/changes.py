"""From partitions before an event to partitions after it: what is stored, who is notified, who is stopped."""

from collections.abc import Collection

from kraft_partitions.configuration import PartitionConfiguration
from kraft_partitions.effects import (
    Effect,
    LeaderAndIsr,
    StopReplica,
    StorePartitions,
    StoreReassignPartitions,
)
from kraft_partitions.outcome import Outcome
from kraft_partitions.partition import Partition, Partitions, TopicPartition, without
from kraft_partitions.reassignment import completed, may_complete
from kraft_partitions.state import ControllerState, exists


def is_unclean(configuration: PartitionConfiguration, name: TopicPartition) -> bool:
    """May a replica that is not in sync lead this partition?"""
    return name.topic in configuration.unclean_topics


def changed(
    state: ControllerState,
    configuration: PartitionConfiguration,
    node: int,
    after: Partitions,
    *,
    notified: Collection[TopicPartition] = (),
    kept_quiet: TopicPartition | None = None,
    refused: Collection[TopicPartition] = (),
) -> Outcome:
    """The outcome of an event after which `node` takes the partitions to be `after`.

    Args:
        state: before the event, but with the brokers, topics and the old znode as the event leaves them.
        configuration: of the cluster.
        node: the controller.
        after: all partitions; what is not equal to what the node took them to be before has changed.
        notified: partitions whose replicas get LeaderAndIsr although nothing has changed.
        kept_quiet: a partition whose replicas need not be notified of their in-sync replicas: the leader chose them.
        refused: partitions whose target in the old znode has just been refused, so that it goes from there.
    """
    before = state.memory.get(node, {})
    names = sorted(name for name in after if after[name] != before[name])
    new = {name: _stored(state, configuration, before[name], after[name]) for name in names}
    partitions = {**before, **new}
    effects: list[Effect] = []
    if names:
        # R, AR and RR together.  Rule: partition-reassign.persisted.
        effects.append(StorePartitions(tuple([(name, new[name]) for name in names])))
    # A target that is reached or refused leaves the old znode.  Rule: partition-reassign.legacy-znode.
    left = {n: target for n, target in state.legacy.items() if exists(state, partitions, n)}
    left = {n: target for n, target in left.items() if partitions[n].is_reassigned and n not in refused}
    if left != state.legacy:
        effects.append(StoreReassignPartitions(tuple(sorted(left.items()))))
    to_notify = {name for name in names if name != kept_quiet or _is_news(before[name], new[name])} | set(notified)
    for name in sorted(to_notify):
        effects += [leader_and_isr(b, name, partitions[name]) for b in _alive(state, partitions[name])]
    for name in names:
        gone = without(before[name].replicas, new[name].replicas)
        effects += [StopReplica(broker, name) for broker in dict.fromkeys(gone) if broker in state.alive]
    memory = {**state.memory, node: partitions}
    return Outcome(state._replace(memory=memory, stored={**state.stored, **new}, legacy=left), tuple(effects))


def _stored(
    state: ControllerState, configuration: PartitionConfiguration, before: Partition, after: Partition
) -> Partition:
    """The partition as it is stored: complete if it may be and that is not a step of its own.

    Rules: partition-reassign.complete-in-one-step, partition-reassign.leader-in-removing.
    """
    if configuration.profile.completes == "with-the-change" and may_complete(after, configuration):
        after = completed(after, state.alive)
    shrinks = not set(before.replicas).issubset(after.replicas)
    if configuration.profile.leader_epoch == "of-removals-too" and shrinks and after.leader == before.leader:
        after = after._replace(leader_epoch=after.leader_epoch + 1)
    return after._replace(partition_epoch=before.partition_epoch + 1)


def _is_news(before: Partition, after: Partition) -> bool:
    return before._replace(in_sync=after.in_sync, partition_epoch=after.partition_epoch) != after


def _alive(state: ControllerState, partition: Partition) -> list[int]:
    """The brokers that hold it and are alive, each once, also where nobody has looked whether R names one twice."""
    return [broker for broker in dict.fromkeys(partition.replicas) if broker in state.alive]


def leader_and_isr(broker: int, name: TopicPartition, partition: Partition) -> LeaderAndIsr:
    """What a broker is sent: all of R, so that it replicates rightly whether it heeds the other two lists or not.

    Rules: partition-reassign.leader-and-isr-fields, partition-reassign.mixed-versions.
    """
    return LeaderAndIsr(
        broker,
        name,
        partition.leader,
        partition.leader_epoch,
        partition.partition_epoch,
        partition.in_sync,
        partition.replicas,
        partition.adding,
        partition.removing,
    )
