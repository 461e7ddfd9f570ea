"""Quorum reassignment (KIP-642): a target for the voters set, and the steps that the Leader takes towards it.

AlterPartitionReassignments for the quorum's partition sets, replaces or clears the target, which stands in the newest
VoterAssignment of the log.
The steps are the single-voter changes of KIP-853, appended under the same conditions (`voter_changes`) and worked on in
the same way (`pending_changes`); only nobody asked for them, so nobody is answered.
The Leader remembers nothing of the plan: target and current voters are in its log, and so the next leader goes on.
Beside it: QuorumReassignment.tla.
"""

from typing import NamedTuple

from kraft_reference.changes import ChangeKind, LearnVersions
from kraft_reference.configuration import Configuration
from kraft_reference.effects import StartTimer, Timer
from kraft_reference.events import AdvanceReassignment, AlterPartitionReassignments, Draw
from kraft_reference.identity import ReplicaKey, Target, VoterSet
from kraft_reference.log import VotersEntry
from kraft_reference.messages import Error
from kraft_reference.outcome import Outcome, Refusal, entry_timers
from kraft_reference.pending_changes import abandon_addition, append_records, conclude_committed, finalized_version
from kraft_reference.records import Record, RecordKind
from kraft_reference.responses import refused
from kraft_reference.roles import Cause, Role
from kraft_reference.state import ReplicaState
from kraft_reference.transitions import to_resigned, voters_record
from kraft_reference.voter_changes import begin_change, commit_of, epoch_is_committed, is_busy, set_is_committed

# ---------------------------------------------------------------------------------------------------------
# The request.
# ---------------------------------------------------------------------------------------------------------


def after_alter_partition_reassignments(
    state: ReplicaState, configuration: Configuration, asked: AlterPartitionReassignments, draw: Draw
) -> Outcome:
    """A target that the Leader takes on, or None to stop at the voters that there are.

    The record changes no voting right, so it may follow a step that is not committed, which its voters set contains.
    Rules: reassign.request-leader-only, reassign.request-same-target, reassign.request-new-target,
    reassign.cancel-null, reassign.cancel-by-new-target, reassign.request-success-after-commit.
    """

    if state.role is not Role.LEADER:
        return refused(state, configuration, asked, Error.NOT_LEADER_OR_FOLLOWER, Refusal.NOT_LEADER)
    if finalized_version(state, configuration) < 1:
        return refused(state, configuration, asked, Error.UNSUPPORTED_VERSION)
    if asked.replicas is None and state.target is None:
        return refused(state, configuration, asked, Error.NO_REASSIGNMENT_IN_PROGRESS)
    if asked.replicas is not None and not _is_assignment(configuration, asked.replicas):
        return refused(state, configuration, asked, Error.INVALID_REPLICA_ASSIGNMENT)
    target = None if asked.replicas is None else frozenset(asked.replicas)
    if target is not None and target == state.target:
        return _awaited(state, Outcome(state), configuration, asked.request, _set_at(state).offset, draw)
    free = abandon_addition(Outcome(state), configuration)
    record = _assignment(free.state, target)
    after, timers = append_records(free.state, configuration, (record,), draw)
    outcome = free._replace(state=after, timers=timers)
    return _awaited(state, outcome, configuration, asked.request, after.log.end_offset - 1, draw)


def _is_assignment(configuration: Configuration, replicas: tuple[int, ...]) -> bool:
    """Is this a list of controllers that are there, each once?

    Rules: reassign.assignment-record, voters.never-empty.
    """
    return bool(replicas) and len(set(replicas)) == len(replicas) and configuration.replicas.keys() >= set(replicas)


def _set_at(state: ReplicaState) -> VotersEntry:
    """The assignment that set the target in force; later ones have repeated it."""
    newest = state.log.voters[-1]
    for entry in reversed(state.log.voters):
        if entry.target != newest.target:
            break
        newest = entry
    return newest


def _assignment(state: ReplicaState, target: Target) -> Record:
    """The newest voters, committed or not, with another target.

    Rules: reassign.assignment-record, reassign.request-new-target.
    """
    newest = state.log.voters[-1]
    return Record(state.epoch, RecordKind.VOTER_ASSIGNMENT, 0, newest.voters, newest.details, target)


def _awaited(
    before: ReplicaState, outcome: Outcome, configuration: Configuration, request: int, offset: int, draw: Draw
) -> Outcome:
    """The outcome with a client that is answered when the record at this offset is committed, at once if it is.

    Rules: reassign.request-success-after-commit, reassign.request-same-target.
    """
    awaited = {**outcome.state.awaited_targets, request: offset}
    waiting = outcome._replace(state=outcome.state._replace(awaited_targets=awaited))
    return conclude_committed(before, waiting, configuration, draw)


# ---------------------------------------------------------------------------------------------------------
# The steps.
# ---------------------------------------------------------------------------------------------------------


class ReassignmentSets(NamedTuple):
    """What a target asks of a voters set, as ids.  Rule: reassign.three-sets."""

    removing: frozenset[int]
    retained: frozenset[int]
    new: frozenset[int]


def reassignment_sets(voters: VoterSet, target: frozenset[int]) -> ReassignmentSets:
    """Who is to be removed, who stays and who is to be added.  Rule: reassign.three-sets."""
    current = frozenset([voter.id for voter in voters])
    return ReassignmentSets(current - target, current & target, target - current)


def adds_next(sets: ReassignmentSets) -> bool:
    """Is the next step an addition?  Otherwise it is a removal.  Rule: reassign.add-or-remove-choice."""
    return bool(sets.new) and len(sets.new) >= len(sets.removing)


def may_advance(state: ReplicaState) -> bool:
    """Is the Leader free to take a step towards a target?

    The newest assignment is committed, be it the one that set the target or the last step, and so is a record of the
    Leader's own epoch: KIP-642 calls that unnecessary, and without it a leader that resumes may lose what is committed
    (docs/proofs.md).
    Rules: reassign.commit-before-next-step, voters.epoch-committed-before-change, reassign.new-leader-resumes.
    """
    if state.role is not Role.LEADER or state.target is None or is_busy(state):
        return False
    return epoch_is_committed(state) and set_is_committed(state)


def next_steps(state: ReplicaState) -> frozenset[ReplicaKey | None]:
    """What `AdvanceReassignment` may name now: whom to add, whom to remove, or None to finish or to hand over.

    Nobody is added before it has fetched: that is how the Leader learns its directory id.
    The Leader itself is never removed by its own step.
    Rules: reassign.three-sets, reassign.add-or-remove-choice, reassign.single-member-steps, reassign.completion,
    reassign.leader-removed-last, reassign.leader-steps-down-before-own-removal, reassign.promotion-by-leader.
    """
    target = state.target
    if target is None or not may_advance(state):
        return frozenset()
    sets = reassignment_sets(state.voters, target)
    # Rules: reassign.add-or-remove-choice, reassign.promotion-by-leader.
    if adds_next(sets):
        return frozenset([key for key in state.fetch_offsets if key.id in sets.new and key.directory_id is not None])
    # Rule: reassign.leader-removed-last.
    others = [voter for voter in state.voters if voter.id in sets.removing - {state.key.id}]
    return frozenset(others) if others else frozenset((None,))


def after_advance_reassignment(
    state: ReplicaState, configuration: Configuration, step: AdvanceReassignment, draw: Draw
) -> Outcome:
    """One step: an addition begins, a voter is removed, the Leader hands over, or the target is cleared.

    Rules: reassign.single-member-steps, reassign.commit-before-next-step, reassign.completion,
    reassign.leader-steps-down-before-own-removal, reassign.catch-up-before-add.
    """
    if state.role is not Role.LEADER:
        return Outcome(state, refusal=Refusal.NOT_IN_ROLE)
    target, voter = state.target, step.chosen
    if target is None or voter not in next_steps(state):
        return Outcome(state, refusal=Refusal.NOTHING_DUE)
    sets = reassignment_sets(state.voters, target)
    # Rules: reassign.leader-steps-down-before-own-removal, reassign.completion.
    if voter is None:
        return _handed_over(state, configuration, draw) if sets.removing else _completed(state, configuration, draw)
    # Rule: reassign.catch-up-before-add.
    if voter.id in sets.new:
        return _addition(state, configuration, voter)
    # Rule: reassign.single-member-steps.
    record = voters_record(state, state.voters - {voter}, state.log.voters[-1].details)
    change = commit_of(state, (record,), ChangeKind.REMOVE, voter, None)
    return begin_change(state, configuration, (record,), change, draw)


def _addition(state: ReplicaState, configuration: Configuration, voter: ReplicaKey) -> Outcome:
    """From here on as an AddVoter: versions, catching up, append.

    Rules: reassign.catch-up-before-add, reassign.promotion-by-leader, add-voter.learn-versions.
    """
    endpoint = configuration.replicas[voter.id].endpoint
    change = LearnVersions(voter, endpoint, None)
    timers = (StartTimer(Timer.VOTER_CHANGE, configuration.timeouts.voter_change_timeout_ms),)
    return Outcome(state._replace(pending_change=change), timers=timers)


def _handed_over(state: ReplicaState, configuration: Configuration, draw: Draw) -> Outcome:
    """Only the Leader is left to remove: the next one shall do it.  It stays a voter until then.

    Rule: reassign.leader-steps-down-before-own-removal.
    """
    resigned = to_resigned(state, configuration, Cause.LAST_TO_REMOVE)
    return Outcome(resigned, timers=entry_timers(state, resigned, draw, configuration.timeouts))


def _completed(state: ReplicaState, configuration: Configuration, draw: Draw) -> Outcome:
    """The voters are those of the target: a record of its own says that none is left.  Rule: reassign.completion."""
    after, timers = append_records(state, configuration, (_assignment(state, None),), draw)
    return conclude_committed(state, Outcome(after, timers=timers), configuration, draw)
