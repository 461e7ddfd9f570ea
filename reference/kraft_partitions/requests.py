"""AlterPartitionReassignments and ListPartitionReassignments, and the old way to ask for a reassignment."""

from kraft_partitions.changes import changed, is_unclean
from kraft_partitions.configuration import PartitionConfiguration
from kraft_partitions.effects import AlterReassignmentsAnswer, ListReassignmentsAnswer, Reassignment
from kraft_partitions.errors import Error
from kraft_partitions.events import (
    AlterPartitionReassignments,
    ListPartitionReassignments,
    WriteReassignPartitions,
)
from kraft_partitions.leadership import led
from kraft_partitions.outcome import Outcome, Refusal
from kraft_partitions.partition import Assignment, Partition, Partitions, TopicPartition
from kraft_partitions.reassignment import (
    cancelled,
    is_valid_target,
    keeps_acknowledged_records,
    reassigned,
)
from kraft_partitions.state import ControllerState, exists


def _top_level_error(state: ControllerState, node: int, permitted: bool) -> Error | None:
    """What fails a request as a whole.

    Rules: partition-reassign.error-order, partition-reassign.authorization, partition-reassign.controller-only.
    """
    if not permitted:
        return Error.CLUSTER_AUTHORIZATION_FAILED
    if node != state.controller:
        return Error.NOT_CONTROLLER
    return None


# ---------------------------------------------------------------------------------------------------------
# AlterPartitionReassignments.
# ---------------------------------------------------------------------------------------------------------


def after_alter_reassignments(
    state: ControllerState, configuration: PartitionConfiguration, asked: AlterPartitionReassignments
) -> Outcome:
    """A batch of starts, replacements and cancellations, each with its own result.

    Each meets the partition as it was before the request; of several about one partition the last that is accepted
    counts, as the client's API is a map.
    How long the client wants to wait is not looked at.
    Rules: partition-reassign.per-partition, partition-reassign.error-order, partition-reassign.timeout-ignored,
    partition-reassign.admin-api.
    """
    error = _top_level_error(state, asked.node, asked.may_alter)
    if error is not None:
        return Outcome(state, (AlterReassignmentsAnswer(error),), Refusal.REQUEST_REFUSED)
    before = state.memory.get(asked.node, {})
    partitions = dict(before)
    results: list[tuple[TopicPartition, Error]] = []
    for name, target in asked.targets:
        altered = _altered(state, configuration, before, name, target)
        if isinstance(altered, Partition):
            partitions[name] = altered
        results.append((name, altered if isinstance(altered, Error) else Error.NONE))
    outcome = changed(state, configuration, asked.node, partitions)
    answer = AlterReassignmentsAnswer(Error.NONE, tuple(results))
    refused = bool(results) and all(error is not Error.NONE for _, error in results)
    return Outcome(outcome.state, (*outcome.effects, answer), Refusal.REQUEST_REFUSED if refused else None)


def _altered(
    state: ControllerState,
    configuration: PartitionConfiguration,
    partitions: Partitions,
    name: TopicPartition,
    target: Assignment | None,
) -> Partition | Error:
    """One partition of a request.

    Where nobody in sync would be left the request is refused; a replacement undoes the running reassignment, so that
    it may come to that as well.
    With unclean election another replica takes their place, and only then: a partition whose replicas in sync are
    merely dead must not get a leader that has just been added and has nothing.
    Rules: partition-reassign.error-order, partition-reassign.unknown-partition, partition-reassign.cancel-nothing,
    partition-reassign.invalid-assignment, partition-reassign.isr-never-empty.
    """
    if not exists(state, partitions, name):
        return Error.UNKNOWN_TOPIC_OR_PARTITION
    partition = partitions[name]
    if target is None and not partition.is_reassigned:
        return Error.NO_REASSIGNMENT_IN_PROGRESS
    if target is not None and not is_valid_target(target, configuration):
        return Error.INVALID_REPLICA_ASSIGNMENT
    after = cancelled(partition) if target is None else reassigned(partition, target, configuration)
    unclean = is_unclean(configuration, name)
    if not unclean and not keeps_acknowledged_records(after):
        return Error.INVALID_REPLICA_ASSIGNMENT
    return led(after, state.alive, unclean and not after.in_sync)


# ---------------------------------------------------------------------------------------------------------
# ListPartitionReassignments.
# ---------------------------------------------------------------------------------------------------------


def after_list_reassignments(
    state: ControllerState, configuration: PartitionConfiguration, asked: ListPartitionReassignments
) -> Outcome:
    """What is being reassigned, from the controller's memory; a partition that does not exist is left out.

    Rules: partition-reassign.list, partition-reassign.error-order, partition-reassign.timeout-ignored.
    """
    error = _top_level_error(state, asked.node, asked.may_describe)
    if error is not None:
        return Outcome(state, (ListReassignmentsAnswer(error),), Refusal.REQUEST_REFUSED)
    partitions = state.memory.get(asked.node, {})
    idle_too = asked.partitions is not None and configuration.profile.idle_when_named == "listed"
    names = sorted(partitions) if asked.partitions is None else dict.fromkeys(asked.partitions)
    found = {name: partitions[name] for name in names if exists(state, partitions, name)}
    listed = tuple(
        [
            Reassignment(name, partition.replicas, partition.adding, partition.removing)
            for name, partition in found.items()
            if partition.is_reassigned or idle_too
        ]
    )
    return Outcome(state, (ListReassignmentsAnswer(Error.NONE, listed),))


# ---------------------------------------------------------------------------------------------------------
# /admin/reassign_partitions.
# ---------------------------------------------------------------------------------------------------------


def after_write_reassign_partitions(
    state: ControllerState, configuration: PartitionConfiguration, written: WriteReassignPartitions
) -> Outcome:
    """A batch by way of the old znode; ignored unless that is empty.

    Rule: partition-reassign.legacy-znode.
    """
    if state.legacy:
        return Outcome(state, refusal=Refusal.ZNODE_NOT_EMPTY)
    now = state._replace(legacy=dict(written.targets))
    partitions, refused = with_legacy_targets(now, configuration, state.partitions)
    return changed(now, configuration, state.controller, partitions, refused=refused)


def with_legacy_targets(
    state: ControllerState, configuration: PartitionConfiguration, partitions: Partitions
) -> tuple[Partitions, frozenset[TopicPartition]]:
    """The partitions when the old znode is acted on, and those whose target there is refused, without a word.

    What is refused must not stay in the znode: a failover would try it again, against requests that came later.
    Rules: partition-reassign.legacy-znode, partition-reassign.legacy-znode-precedence.
    """
    after = dict(partitions)
    refused: set[TopicPartition] = set()
    for name, target in sorted(state.legacy.items()):
        altered = _altered(state, configuration, partitions, name, target)
        if isinstance(altered, Partition):
            after[name] = altered
        else:
            refused.add(name)
    return after, frozenset(refused)
