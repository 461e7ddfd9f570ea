"""Effects of a change of partitions: what is stored, which brokers are notified and which replicas stopped."""

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
from kraft_partitions.reassignment import complete, may_complete
from kraft_partitions.state import ControllerState, exists


def is_unclean(configuration: PartitionConfiguration, name: TopicPartition) -> bool:
    """Return True if a replica that is not in sync may lead this partition."""
    return name.topic in configuration.unclean_topics


def apply_changes(
    state: ControllerState,
    configuration: PartitionConfiguration,
    node: int,
    after: Partitions,
    *,
    notified: Collection[TopicPartition] = (),
    kept_quiet: TopicPartition | None = None,
    refused: Collection[TopicPartition] = (),
) -> Outcome:
    """Return the outcome of an event after which `node` has the partitions `after` in memory.

    Args:
        state: State before the event, but with the brokers, topics and the old znode after it.
        configuration: Configuration of the cluster.
        node: The controller.
        after: All partitions after the event.
        notified: Partitions whose replicas get LeaderAndIsr although nothing has changed.
        kept_quiet: A partition whose replicas get no LeaderAndIsr for a change of I alone: its leader chose that I.
        refused: Partitions whose target in the old znode is refused, so that it is deleted there.
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
        removed = without(before[name].replicas, new[name].replicas)
        effects += [StopReplica(broker, name) for broker in dict.fromkeys(removed) if broker in state.alive]
    memory = {**state.memory, node: partitions}
    return Outcome(state._replace(memory=memory, stored={**state.stored, **new}, legacy=left), tuple(effects))


def _stored(
    state: ControllerState, configuration: PartitionConfiguration, before: Partition, after: Partition
) -> Partition:
    """Return the partition as it is stored: completed at once if it may be, unless the profile has a step for that."""
    # Rules: partition-reassign.complete-in-one-step, partition-reassign.leader-in-removing.
    if configuration.profile.completes == "with-the-change" and may_complete(after, configuration):
        after = complete(after, state.alive)
    shrinks = not set(before.replicas).issubset(after.replicas)
    if configuration.profile.leader_epoch == "of-removals-too" and shrinks and after.leader == before.leader:
        after = after._replace(leader_epoch=after.leader_epoch + 1)
    return after._replace(partition_epoch=before.partition_epoch + 1)


def _is_news(before: Partition, after: Partition) -> bool:
    return before._replace(in_sync=after.in_sync, partition_epoch=after.partition_epoch) != after


def _alive(state: ControllerState, partition: Partition) -> list[int]:
    """Return the live brokers of R, each once: the old znode may name a broker twice."""
    return [broker for broker in dict.fromkeys(partition.replicas) if broker in state.alive]


def leader_and_isr(broker: int, name: TopicPartition, partition: Partition) -> LeaderAndIsr:
    """Return the notice to a broker: with all of R, so that a broker that ignores AR and RR replicates correctly.

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
