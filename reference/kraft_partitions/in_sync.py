"""AlterPartition: the leader of a partition changes its in-sync replicas (KIP-497, as far as KIP-455 needs it)."""

from kraft_partitions.changes import apply_changes
from kraft_partitions.configuration import PartitionConfiguration
from kraft_partitions.effects import AlterPartitionAnswer
from kraft_partitions.errors import Error
from kraft_partitions.events import AlterPartition
from kraft_partitions.outcome import Outcome, Refusal
from kraft_partitions.state import ControllerState, exists


def after_alter_partition(
    state: ControllerState, configuration: PartitionConfiguration, request: AlterPartition
) -> Outcome:
    """Set the in-sync replicas to those of the leader's request.

    If that completes a reassignment which removes the leader, the response is NEW_LEADER_ELECTED.
    Rules: partition-reassign.controller-only, partition-reassign.leader-in-removing.
    """
    error = _error(state, request)
    if error is not None:
        return Outcome(state, (AlterPartitionAnswer(error),), Refusal.REQUEST_REFUSED)
    partitions = state.memory[request.node]
    name = request.partition
    after = {**partitions, name: partitions[name]._replace(in_sync=request.in_sync)}
    outcome = apply_changes(state, configuration, request.node, after, kept_quiet=name)
    now = outcome.state.memory[request.node][name]
    error = Error.NONE if now.leader == request.broker else Error.NEW_LEADER_ELECTED
    epoch = now.partition_epoch if error is Error.NONE else None
    return Outcome(outcome.state, (*outcome.effects, AlterPartitionAnswer(error, epoch)))


def _error(state: ControllerState, request: AlterPartition) -> Error | None:
    """Return the error of a request, in Kafka's order, None if there is none."""
    # A broker with a later epoch than this node's has it from a later controller.
    # Rules: partition-reassign.controller-only, partition-reassign.unknown-partition.
    if request.node != state.controller:
        return Error.NOT_CONTROLLER
    if not exists(state, state.memory.get(request.node, {}), request.partition):
        return Error.UNKNOWN_TOPIC_OR_PARTITION
    partition = state.memory[request.node][request.partition]
    if request.leader_epoch > partition.leader_epoch or request.partition_epoch > partition.partition_epoch:
        return Error.NOT_CONTROLLER
    if request.leader_epoch < partition.leader_epoch:
        return Error.FENCED_LEADER_EPOCH
    if request.broker != partition.leader:
        return Error.INVALID_REQUEST
    if request.partition_epoch < partition.partition_epoch:
        return Error.INVALID_UPDATE_VERSION
    if request.broker not in request.in_sync or not request.in_sync.issubset(partition.replicas):
        return Error.INVALID_REQUEST
    if not request.in_sync <= state.alive:
        return Error.INELIGIBLE_REPLICA
    return None
