"""Quorum reassignment (KIP-642): a target for the voter set, and the leader's steps towards it.

AlterPartitionReassignments for the quorum's partition sets, replaces or clears the target, which is stored in the
newest VoterAssignment of the log.
The steps are the single-voter changes of KIP-853 under the same preconditions (`voter_changes`, `pending_changes`), but
without a requester.
The leader keeps no plan in memory: target and voters are in the log, so the next leader continues.
Beside it: QuorumReassignment.tla.
"""

from itertools import takewhile
from typing import NamedTuple

from kraft_reference.changes import AwaitingVersions, ChangeKind
from kraft_reference.configuration import Configuration
from kraft_reference.effects import StartTimer, Timer
from kraft_reference.events import AdvanceReassignment, AlterPartitionReassignments, Draw
from kraft_reference.identity import Offset, ReplicaId, ReplicaKey, Target, VoterSet
from kraft_reference.messages import Error
from kraft_reference.outcome import Outcome, Refusal, entry_timers
from kraft_reference.pending_changes import abandon_addition, append_records, conclude_committed, finalized_version
from kraft_reference.records import Record, RecordKind
from kraft_reference.responses import refuse
from kraft_reference.roles import Cause, Role
from kraft_reference.state import ReplicaState
from kraft_reference.transitions import to_resigned, voters_record
from kraft_reference.voter_changes import (
    awaiting_commit,
    begin_change,
    epoch_is_committed,
    is_busy,
    set_is_committed,
)

# The request.


def after_alter_partition_reassignments(
    state: ReplicaState, configuration: Configuration, request: AlterPartitionReassignments, draw: Draw
) -> Outcome:
    """Set a target, or clear it (None) and stay with the present voters."""
    # Rule: reassign.request-leader-only.
    if state.role is not Role.LEADER:
        return refuse(state, configuration, request, Error.NOT_LEADER_OR_FOLLOWER, Refusal.NOT_LEADER)
    if finalized_version(state, configuration) < 1:
        return refuse(state, configuration, request, Error.UNSUPPORTED_VERSION)
    # Rule: reassign.cancel-null.
    if request.replicas is None and state.target is None:
        return refuse(state, configuration, request, Error.NO_REASSIGNMENT_IN_PROGRESS)
    if request.replicas is not None and not _is_assignment(configuration, request.replicas):
        return refuse(state, configuration, request, Error.INVALID_REPLICA_ASSIGNMENT)
    target = None if request.replicas is None else frozenset(request.replicas)
    # Rule: reassign.request-same-target.
    if target is not None and target == state.target:
        offset = _target_offset(state)
        return _await_commit(state, Outcome(state), configuration, request.request, offset, draw)
    # Rules: reassign.request-new-target, reassign.cancel-by-new-target.
    free = abandon_addition(Outcome(state), configuration)
    # The record changes no voting right, so it may follow an uncommitted step: it repeats that step's voter set.
    record = _assignment(free.state, target)
    after, timers = append_records(free.state, configuration, (record,), draw)
    outcome = free._replace(state=after, timers=timers)
    # Rule: reassign.request-success-after-commit.
    return _await_commit(state, outcome, configuration, request.request, after.log.end_offset - 1, draw)


def _is_assignment(configuration: Configuration, replicas: tuple[ReplicaId, ...]) -> bool:
    """Return True for a list of configured controllers, each once."""
    # Rules: reassign.assignment-record, voters.never-empty.
    return bool(replicas) and len(set(replicas)) == len(replicas) and configuration.replicas.keys() >= set(replicas)


def _target_offset(state: ReplicaState) -> Offset:
    """Return the offset of the oldest record in a row that has the present target; the steps since repeat it."""
    same = takewhile(lambda entry: entry.target == state.target, reversed(state.log.voters))
    return min(entry.offset for entry in same)


def _assignment(state: ReplicaState, target: Target) -> Record:
    """Return the record of another target for the newest voters, committed or not."""
    # Rules: reassign.assignment-record, reassign.request-new-target.
    newest = state.log.voters[-1]
    return Record(state.epoch, RecordKind.VOTER_ASSIGNMENT, 0, newest.voters, newest.details, target)


def _await_commit(
    before: ReplicaState, outcome: Outcome, configuration: Configuration, request: int, offset: Offset, draw: Draw
) -> Outcome:
    """Return the outcome with a client that gets its reply when the record at this offset is committed."""
    # Rules: reassign.request-success-after-commit, reassign.request-same-target.
    awaited = {**outcome.state.awaited_targets, request: offset}
    waiting = outcome._replace(state=outcome.state._replace(awaited_targets=awaited))
    return conclude_committed(before, waiting, configuration, draw)


# The steps.


class ReassignmentSets(NamedTuple):
    """Voter ids to remove, to keep and to add.  Rule: reassign.three-sets."""

    removing: frozenset[ReplicaId]
    retained: frozenset[ReplicaId]
    new: frozenset[ReplicaId]


def reassignment_sets(voters: VoterSet, target: frozenset[ReplicaId]) -> ReassignmentSets:
    """Return the difference between a voter set and a target.  Rule: reassign.three-sets."""
    current = frozenset([voter.id for voter in voters])
    return ReassignmentSets(current - target, current & target, target - current)


def adds_next(sets: ReassignmentSets) -> bool:
    """Return True if the next step is an addition, False if it is a removal.  Rule: reassign.add-or-remove-choice."""
    return bool(sets.new) and len(sets.new) >= len(sets.removing)


def may_advance(state: ReplicaState) -> bool:
    """Return True if the leader may take a step towards a target."""
    # Rule: reassign.new-leader-resumes.
    if state.role is not Role.LEADER or state.target is None or is_busy(state):
        return False
    # KIP-642 calls the committed record of the leader's own epoch unnecessary.  Without it, a leader that resumes a
    # reassignment may lose committed records (docs/proofs.md).
    # Rules: reassign.commit-before-next-step, voters.epoch-committed-before-change.
    return epoch_is_committed(state) and set_is_committed(state)


def next_steps(state: ReplicaState) -> frozenset[ReplicaKey | None]:
    """Return the choices for the next `AdvanceReassignment`: voters to add, voters to remove, or None.

    None completes the reassignment, or hands leadership over when only the leader is left to remove.
    Rules: reassign.three-sets, reassign.single-member-steps.
    """
    target = state.target
    if target is None or not may_advance(state):
        return frozenset()
    sets = reassignment_sets(state.voters, target)
    # A replica is added only after it has fetched: that is how the leader learns its directory id.
    # Rules: reassign.add-or-remove-choice, reassign.promotion-by-leader.
    if adds_next(sets):
        return frozenset([key for key in state.fetch_offsets if key.id in sets.new and key.directory_id is not None])
    # The leader never removes itself.
    # Rules: reassign.leader-removed-last, reassign.leader-steps-down-before-own-removal, reassign.completion.
    others = [voter for voter in state.voters if voter.id in sets.removing - {state.key.id}]
    return frozenset(others) if others else frozenset((None,))


def after_advance_reassignment(
    state: ReplicaState, configuration: Configuration, step: AdvanceReassignment, draw: Draw
) -> Outcome:
    """Take one step: begin an addition, remove a voter, hand leadership over, or clear the target."""
    if state.role is not Role.LEADER:
        return Outcome(state, refusal=Refusal.NOT_IN_ROLE)
    target, voter = state.target, step.chosen
    # Rule: reassign.commit-before-next-step.
    if target is None or voter not in next_steps(state):
        return Outcome(state, refusal=Refusal.NOTHING_DUE)
    sets = reassignment_sets(state.voters, target)
    # Rules: reassign.leader-steps-down-before-own-removal, reassign.completion.
    if voter is None:
        return _hand_over(state, configuration, draw) if sets.removing else _complete(state, configuration, draw)
    # Rule: reassign.catch-up-before-add.
    if voter.id in sets.new:
        return _begin_addition(state, configuration, voter)
    # Rule: reassign.single-member-steps.
    record = voters_record(state, state.voters - {voter}, state.log.voters[-1].details)
    change = awaiting_commit(state, (record,), ChangeKind.REMOVE, voter, None)
    return begin_change(state, configuration, (record,), change, draw)


def _begin_addition(state: ReplicaState, configuration: Configuration, voter: ReplicaKey) -> Outcome:
    """Begin an addition, which continues as that of an AddVoter."""
    # Rules: reassign.catch-up-before-add, reassign.promotion-by-leader, add-voter.learn-versions.
    endpoint = configuration.replicas[voter.id].endpoint
    change = AwaitingVersions(voter, endpoint, None)
    timers = (StartTimer(Timer.VOTER_CHANGE, configuration.timeouts.voter_change_timeout_ms),)
    return Outcome(state._replace(pending_change=change), timers=timers)


def _hand_over(state: ReplicaState, configuration: Configuration, draw: Draw) -> Outcome:
    """Resign, because only the leader is left to remove: the next leader removes it."""
    # Rule: reassign.leader-steps-down-before-own-removal.
    resigned = to_resigned(state, configuration, Cause.LAST_TO_REMOVE)
    return Outcome(resigned, timers=entry_timers(state, resigned, draw, configuration.timeouts))


def _complete(state: ReplicaState, configuration: Configuration, draw: Draw) -> Outcome:
    """Clear the target, which the voters have reached.  Rule: reassign.completion."""
    after, timers = append_records(state, configuration, (_assignment(state, None),), draw)
    return conclude_committed(state, Outcome(after, timers=timers), configuration, draw)
