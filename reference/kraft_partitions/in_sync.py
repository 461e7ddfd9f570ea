"""AlterPartition: the leader of a partition changes its in-sync replicas (KIP-497, as far as KIP-455 rests on it)."""

from kraft_partitions.changes import changed
from kraft_partitions.configuration import PartitionConfiguration
from kraft_partitions.effects import AlterPartitionAnswer
from kraft_partitions.errors import Error
from kraft_partitions.events import AlterPartition
from kraft_partitions.outcome import Outcome, Refusal
from kraft_partitions.state import ControllerState, exists


def after_alter_partition(
    state: ControllerState, configuration: PartitionConfiguration, asked: AlterPartition
) -> Outcome:
    """The in-sync replicas as the leader knows them, unless it knows something else wrongly.

    Where that completes a reassignment which takes the leader away, the answer is that another one leads.
    Rules: partition-reassign.controller-only, partition-reassign.leader-in-removing.
    """
    error = _error(state, asked)
    if error is not None:
        return Outcome(state, (AlterPartitionAnswer(error),), Refusal.REQUEST_REFUSED)
    partitions = state.memory[asked.node]
    name = asked.partition
    after = {**partitions, name: partitions[name]._replace(in_sync=asked.in_sync)}
    outcome = changed(state, configuration, asked.node, after, kept_quiet=name)
    now = outcome.state.memory[asked.node][name]
    error = Error.NONE if now.leader == asked.broker else Error.NEW_LEADER_ELECTED
    epoch = now.partition_epoch if error is Error.NONE else None
    return Outcome(outcome.state, (*outcome.effects, AlterPartitionAnswer(error, epoch)))


def _error(state: ControllerState, asked: AlterPartition) -> Error | None:
    """What is wrong with a request, in Kafka's order.

    Whoever knows of a later epoch than this node knows of a later controller.
    Rules: partition-reassign.controller-only, partition-reassign.unknown-partition.
    """
    if asked.node != state.controller:
        return Error.NOT_CONTROLLER
    if not exists(state, state.memory.get(asked.node, {}), asked.partition):
        return Error.UNKNOWN_TOPIC_OR_PARTITION
    partition = state.memory[asked.node][asked.partition]
    if asked.leader_epoch > partition.leader_epoch or asked.partition_epoch > partition.partition_epoch:
        return Error.NOT_CONTROLLER
    if asked.leader_epoch < partition.leader_epoch:
        return Error.FENCED_LEADER_EPOCH
    if asked.broker != partition.leader:
        return Error.INVALID_REQUEST
    if asked.partition_epoch < partition.partition_epoch:
        return Error.INVALID_UPDATE_VERSION
    if asked.broker not in asked.in_sync or not asked.in_sync.issubset(partition.replicas):
        return Error.INVALID_REQUEST
    if not asked.in_sync <= state.alive:
        return Error.INELIGIBLE_REPLICA
    return None
