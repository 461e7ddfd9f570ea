"""AlterPartitionReassignments, ListPartitionReassignments, and the znode /admin/reassign_partitions."""

from kraft_partitions.changes import apply_changes, is_unclean
from kraft_partitions.configuration import PartitionConfiguration
from kraft_partitions.effects import AlterReassignmentsAnswer, ListReassignmentsAnswer, Reassignment
from kraft_partitions.errors import Error
from kraft_partitions.events import (
    AlterPartitionReassignments,
    ListPartitionReassignments,
    WriteReassignPartitions,
)
from kraft_partitions.leadership import elect_leader
from kraft_partitions.outcome import Outcome, Refusal
from kraft_partitions.partition import Assignment, Partition, Partitions, TopicPartition
from kraft_partitions.reassignment import (
    cancel,
    is_valid_target,
    keeps_acknowledged_records,
    start,
)
from kraft_partitions.state import ControllerState, exists


def _top_level_error(state: ControllerState, node: int, permitted: bool) -> Error | None:
    """Return the error of a request as a whole, None if there is none.

    Rules: partition-reassign.error-order, partition-reassign.authorization, partition-reassign.controller-only.
    """
    if not permitted:
        return Error.CLUSTER_AUTHORIZATION_FAILED
    if node != state.controller:
        return Error.NOT_CONTROLLER
    return None


# AlterPartitionReassignments.


def after_alter_reassignments(
    state: ControllerState, configuration: PartitionConfiguration, request: AlterPartitionReassignments
) -> Outcome:
    """Start, replace or cancel the reassignment of several partitions, each with its own result.

    Each target applies to the partition as it was before the request.  Of several targets for one partition the last
    accepted one counts, as the client's API is a map.  The timeout is ignored.
    Rules: partition-reassign.per-partition, partition-reassign.error-order, partition-reassign.timeout-ignored,
    partition-reassign.admin-api.
    """
    error = _top_level_error(state, request.node, request.may_alter)
    if error is not None:
        return Outcome(state, (AlterReassignmentsAnswer(error),), Refusal.REQUEST_REFUSED)
    before = state.memory.get(request.node, {})
    partitions = dict(before)
    results: list[tuple[TopicPartition, Error]] = []
    for name, target in request.targets:
        altered = _altered(state, configuration, before, name, target)
        if isinstance(altered, Partition):
            partitions[name] = altered
        results.append((name, altered if isinstance(altered, Error) else Error.NONE))
    outcome = apply_changes(state, configuration, request.node, partitions)
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
    """Return one partition of a request after it, or the error."""
    # Rules: partition-reassign.error-order, partition-reassign.unknown-partition, partition-reassign.cancel-nothing,
    # partition-reassign.invalid-assignment.
    if not exists(state, partitions, name):
        return Error.UNKNOWN_TOPIC_OR_PARTITION
    partition = partitions[name]
    if target is None and not partition.is_reassigned:
        return Error.NO_REASSIGNMENT_IN_PROGRESS
    if target is not None and not is_valid_target(target, configuration):
        return Error.INVALID_REPLICA_ASSIGNMENT
    after = cancel(partition) if target is None else start(partition, target, configuration)
    # A target that leaves no replica in sync is refused; a replacement may do so, because it first undoes the running
    # reassignment.  With unclean election another replica takes over, but only then: if the replicas in sync are only
    # down, a replica that was added a moment ago and has no records must not lead.
    # Rule: partition-reassign.isr-never-empty.
    unclean = is_unclean(configuration, name)
    if not unclean and not keeps_acknowledged_records(after):
        return Error.INVALID_REPLICA_ASSIGNMENT
    return elect_leader(after, state.alive, unclean and not after.in_sync)


# ListPartitionReassignments.


def after_list_reassignments(
    state: ControllerState, configuration: PartitionConfiguration, request: ListPartitionReassignments
) -> Outcome:
    """List the reassignments in the controller's memory; a partition that does not exist is left out.

    Rules: partition-reassign.list, partition-reassign.error-order, partition-reassign.timeout-ignored.
    """
    error = _top_level_error(state, request.node, request.may_describe)
    if error is not None:
        return Outcome(state, (ListReassignmentsAnswer(error),), Refusal.REQUEST_REFUSED)
    partitions = state.memory.get(request.node, {})
    idle_too = request.partitions is not None and configuration.profile.idle_when_named == "listed"
    names = sorted(partitions) if request.partitions is None else dict.fromkeys(request.partitions)
    existing = {name: partitions[name] for name in names if exists(state, partitions, name)}
    listed = tuple(
        [
            Reassignment(name, partition.replicas, partition.adding, partition.removing)
            for name, partition in existing.items()
            if partition.is_reassigned or idle_too
        ]
    )
    return Outcome(state, (ListReassignmentsAnswer(Error.NONE, listed),))


# /admin/reassign_partitions.


def after_write_reassign_partitions(
    state: ControllerState, configuration: PartitionConfiguration, written: WriteReassignPartitions
) -> Outcome:
    """Start the reassignments that are written to the old znode, unless it holds others already.

    Rule: partition-reassign.legacy-znode.
    """
    if state.legacy:
        return Outcome(state, refusal=Refusal.ZNODE_NOT_EMPTY)
    now = state._replace(legacy=dict(written.targets))
    partitions, refused = with_legacy_targets(now, configuration, state.partitions)
    return apply_changes(now, configuration, state.controller, partitions, refused=refused)


def with_legacy_targets(
    state: ControllerState, configuration: PartitionConfiguration, partitions: Partitions
) -> tuple[Partitions, frozenset[TopicPartition]]:
    """Return the partitions with the targets of the old znode, and the partitions whose target is refused.

    A refused target must not stay in the znode: a failover would try it again, against later requests.
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
