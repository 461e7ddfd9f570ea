"""reassign.*: what AlterPartitionReassignments does to the target of the quorum, and who is answered when."""

from dataclasses import replace
from itertools import permutations

import pytest
from tests.reference.builders import (
    SIX,
    adding,
    assignment,
    candidate,
    checkpoint,
    cluster,
    committing,
    data,
    details,
    endpoint,
    established,
    follower,
    in_every_role,
    key,
    keys,
    leader,
    log_of,
    reassigning,
    receive,
    refused,
    role_name,
    states,
    step,
    unattached,
    version_record,
    voters_record,
)
from tests.reference.reassigning import TARGET
from tests.reference.wire import (
    add_voter,
    add_voter_reply,
    asked,
    bqe,
    bqe_reply,
    fetch,
    remove_voter,
    remove_voter_reply,
    reply,
    update_voter,
    update_voter_reply,
    vote_reply,
)

from kraft_reference.changes import REASSIGNMENT, ChangeKind, ChangePhase
from kraft_reference.events import (
    AddVoter,
    AlterPartitionReassignments,
    AppendVoters,
    Crash,
    RemoveVoter,
    Shutdown,
    TakeSnapshot,
    UpdateFeatures,
)
from kraft_reference.identity import VoterDetails
from kraft_reference.log import VotersEntry, append, flush, log_on, snapshot_at
from kraft_reference.messages import Error
from kraft_reference.outcome import Outcome, Refusal
from kraft_reference.quorum_reassignment import next_steps
from kraft_reference.records import Record, RecordKind
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState

TO_FOUR_FIVE_SIX = AlterPartitionReassignments(9, (4, 5, 6))
STOP = AlterPartitionReassignments(9, None)
QUIET = frozenset({2, 3})


def with_record(state: ReplicaState, *records: Record) -> ReplicaState:
    """The leader with records at the end of its log."""
    return state._replace(log=flush(append(state.log, records)))


def answered(state: ReplicaState, error: Error, refusal: Refusal | None = Refusal.REQUEST_REFUSED) -> Outcome:
    """Nothing but an answer to request 9."""
    return Outcome(state, (reply(9, state.epoch, state.leader_id, error),), (), refusal)


# ---------------------------------------------------------------------------------------------------------
# Which request is taken on.
# ---------------------------------------------------------------------------------------------------------


@states("reassign.request-leader-only")
@pytest.mark.parametrize("state", [s for s in in_every_role(4) if s.role is not Role.LEADER], ids=role_name)
def test_only_the_leader_takes_a_target(state: ReplicaState) -> None:
    expected = answered(state, Error.NOT_LEADER_OR_FOLLOWER, Refusal.NOT_LEADER)
    assert step(state, TO_FOUR_FIVE_SIX, SIX) == expected
    assert step(state, STOP, SIX) == expected


@states("reassign.request-leader-only", "reassign.cancel-null", "wire.reassignment-rpcs")
def test_the_tests_come_in_their_order() -> None:
    # Each line puts right what was wrong first in the line before.
    static = cluster(3, observers=3, kraft_version=0)
    at_level_0 = established(4, log=log_of(voters=static.voters))
    unfinalized = with_record(at_level_0, version_record(4), voters_record(4, 1, 2, 3))
    finalized = unfinalized._replace(high_watermark=3)
    wrong = AlterPartitionReassignments(9, ())
    assert step(unattached(4, log=at_level_0.log), STOP, static) == answered(
        unattached(4, log=at_level_0.log), Error.NOT_LEADER_OR_FOLLOWER, Refusal.NOT_LEADER
    )
    assert step(at_level_0, STOP, static) == answered(at_level_0, Error.UNSUPPORTED_VERSION)
    assert step(unfinalized, wrong, static) == answered(unfinalized, Error.UNSUPPORTED_VERSION)
    assert step(finalized, STOP, static) == answered(finalized, Error.NO_REASSIGNMENT_IN_PROGRESS)
    assert step(finalized, wrong, static) == answered(finalized, Error.INVALID_REPLICA_ASSIGNMENT)
    accepted = step(finalized, TO_FOUR_FIVE_SIX, static)
    assert (accepted.refusal, accepted.sends, accepted.state.target) == (None, (), TARGET)


@states("reassign.assignment-record")
@pytest.mark.parametrize("replicas", [(), (4, 4), (4, 5, 4), (7,), (1, 2, 3, 99), (-1,), (1, -1)])
def test_a_target_names_controllers_that_are_there_each_once(replicas: tuple[int, ...]) -> None:
    for state in (established(4), reassigning(1, 2, 3)):
        expected = answered(state, Error.INVALID_REPLICA_ASSIGNMENT)
        assert step(state, AlterPartitionReassignments(9, replicas), SIX) == expected


@states("reassign.assignment-record", "reassign.request-new-target")
def test_a_target_is_written_beside_the_voters_that_there_are() -> None:
    state = established(4)
    log = flush(append(state.log, [assignment(4, 1, 2, 3, target=(4, 5, 6))]))
    after = state._replace(log=log, awaited_targets={9: 1})
    assert step(state, TO_FOUR_FIVE_SIX, SIX) == Outcome(after)
    assert after.log.voters[-1] == VotersEntry(1, keys(1, 2, 3), details(1, 2, 3), TARGET)
    assert (after.voters, after.target) == (keys(1, 2, 3), TARGET)


@states("reassign.assignment-record")
def test_the_newest_record_is_the_assignment_of_a_replica() -> None:
    log = log_of(more=(assignment(3, 1, 2, 3, target=(4,)), assignment(3, 1, 2, 3, 4, target=(4,)), *data(3)))
    assert [(entry.offset, entry.target) for entry in log.voters] == [(-1, None), (0, {4}), (1, {4})]
    state = follower(3, 1, 2, log=log)
    assert (state.voters, state.target) == (keys(1, 2, 3, 4), frozenset((4,)))
    # A VotersRecord and the LeaderChange of an epoch say nothing of a target: the one that stands is kept, or none.
    assert follower(3, 1, 2, log=log_of(more=(voters_record(3, 1, 2),))).target is None
    assert reassigning(1, 2, 3).target == TARGET


@states("reassign.request-new-target")
def test_a_target_needs_no_commit_before_it() -> None:
    fresh = leader(4)
    taken = step(fresh, TO_FOUR_FIVE_SIX, SIX)
    assert (taken.refusal, taken.state.target, taken.state.awaited_targets) == (None, TARGET, {9: 1})
    # Nor does it wait for a change: the record holds the newest set, which is not committed.
    removing = committing(ChangeKind.REMOVE, key(3), 2)
    pending = with_record(established(4, acknowledged=QUIET), *data(4), voters_record(4, 1, 2))
    pending = pending._replace(pending_change=removing)
    after = step(pending, TO_FOUR_FIVE_SIX, SIX).state
    assert after.log.records[-1] == assignment(4, 1, 2, target=(4, 5, 6))
    assert (after.pending_change, after.log.voters[-2].voters) == (removing, keys(1, 2))


@states("reassign.request-new-target")
def test_the_newest_voters_are_copied_not_the_committed_ones() -> None:
    state = with_record(reassigning(1, 2, 4), assignment(4, 1, 2, 4, 5, target=(4, 5, 6)))
    back = AlterPartitionReassignments(9, (1, 2, 3))
    after = step(state, back, SIX).state
    assert after.log.records[-1] == assignment(4, 1, 2, 4, 5, target=(1, 2, 3))
    undone = step(state, back, SIX, "reassign.request-new-target").state
    assert undone.log.records[-1] == assignment(4, 1, 2, 4, target=(1, 2, 3))


@states("reassign.cancel-by-new-target")
def test_another_target_replaces_the_one_that_stands() -> None:
    state = reassigning(1, 2, 4, 5)
    back = AlterPartitionReassignments(9, (1, 2, 3))
    after = step(state, back, SIX)
    assert after.state.log.records[-1] == assignment(4, 1, 2, 4, 5, target=(1, 2, 3))
    assert (after.refusal, after.state.awaited_targets) == (None, {9: 2})
    # One record with the old voters would be three changes at once.
    at_once = step(state, back, SIX, "reassign.cancel-by-new-target").state
    assert at_once.log.records[-1] == assignment(4, 1, 2, 3, target=(1, 2, 3))


@states("reassign.cancel-null")
def test_null_stops_at_the_voters_that_there_are() -> None:
    state = reassigning(1, 2, 4, 5)
    after = step(state, STOP, SIX).state
    assert after.log.records[-1] == assignment(4, 1, 2, 4, 5, target=None)
    assert (after.voters, after.target, after.awaited_targets) == (keys(1, 2, 4, 5), None, {9: 2})
    # There is nothing more to stop, whether that is committed or not.
    again = AlterPartitionReassignments(10, None)
    refusal = reply(10, 4, 1, Error.NO_REASSIGNMENT_IN_PROGRESS)
    assert step(after, again, SIX) == Outcome(after, (refusal,), (), Refusal.REQUEST_REFUSED)
    done = after._replace(high_watermark=3, awaited_targets={})
    assert step(done, again, SIX) == Outcome(done, (refusal,), (), Refusal.REQUEST_REFUSED)


@states("reassign.request-same-target")
def test_the_voters_that_there_are_may_be_a_target() -> None:
    """The literal reading: it differs from null, so it is written, and then cleared."""
    after = step(established(4), AlterPartitionReassignments(9, (1, 2, 3)), SIX).state
    assert after.log.records[-1] == assignment(4, 1, 2, 3, target=(1, 2, 3))
    assert next_steps(after._replace(high_watermark=2)) == {None}


# ---------------------------------------------------------------------------------------------------------
# When the client is answered.
# ---------------------------------------------------------------------------------------------------------


@states("reassign.request-success-after-commit")
def test_success_comes_with_the_commit_of_the_target() -> None:
    waiting = step(established(4, acknowledged=QUIET), TO_FOUR_FIVE_SIX, SIX).state
    done = receive(waiting, fetch(2, 1, 4, 2, 4), SIX)
    assert (done.state.high_watermark, done.state.awaited_targets) == (2, {})
    assert done.sends[1:] == (reply(9, 4, 1),)
    assert (done.state.voters, done.state.target) == (keys(1, 2, 3), TARGET)
    # A Fetch of less commits nothing and answers nobody but its sender.
    less = receive(waiting, fetch(2, 1, 4, 1, 4), SIX)
    assert (len(less.sends), less.state.awaited_targets) == (1, {9: 1})


@states("reassign.request-success-after-commit")
def test_a_sole_voter_is_answered_at_once() -> None:
    alone = established(4, log=log_of(voters=keys(1)))
    done = step(alone, AlterPartitionReassignments(9, (1, 2)), SIX)
    assert (done.sends, done.state.high_watermark, done.state.awaited_targets) == ((reply(9, 4, 1),), 2, {})


@states("reassign.request-same-target")
@pytest.mark.parametrize("replicas", list(permutations((4, 5, 6))))
def test_the_same_target_is_not_written_twice(replicas: tuple[int, ...]) -> None:
    again = AlterPartitionReassignments(10, replicas)
    # Not committed: it is waited for.
    first = step(established(4), TO_FOUR_FIVE_SIX, SIX).state
    both = step(first, again, SIX)
    assert both == Outcome(first._replace(awaited_targets={9: 1, 10: 1}))
    done = receive(both.state, fetch(2, 1, 4, 2, 4), SIX)
    assert done.sends[1:] == (reply(9, 4, 1), reply(10, 4, 1))
    # Committed, and committed with steps after it that are not: it is answered at once.
    for state in (reassigning(1, 2, 3), with_record(reassigning(1, 2, 3), assignment(4, 1, 2, 3, 4, target=(4, 5, 6)))):
        assert step(state, again, SIX) == Outcome(state, (reply(10, 4, 1),))


@states("reassign.request-same-target")
def test_a_step_that_is_not_committed_is_not_waited_for() -> None:
    """What is waited for is the record that set the target, and no earlier one with the same ids."""
    records = (
        assignment(3, 1, 2, 3, target=(4, 5, 6)),
        assignment(3, 1, 2, 3, target=(1, 2)),
        assignment(3, 1, 2, 3, target=(4, 5, 6)),
    )
    state = leader(4, log=log_of(more=records), high_watermark=2)
    waiting = step(state, TO_FOUR_FIVE_SIX, SIX)
    assert waiting == Outcome(state._replace(awaited_targets={9: 2}))
    # On a snapshot the record is gone, and it is committed.
    base = snapshot_at(log_of(more=records), 3)
    on_snapshot = established(4, log=log_on(base))
    assert (base.target, on_snapshot.log.records) == (TARGET, (Record(4, RecordKind.LEADER_CHANGE, 1),))
    assert step(on_snapshot, TO_FOUR_FIVE_SIX, SIX) == Outcome(on_snapshot, (reply(9, 4, 1),))


@states("reassign.request-success-after-commit")
def test_clients_with_different_targets_are_each_told_of_their_own_record() -> None:
    state = step(established(4), TO_FOUR_FIVE_SIX, SIX).state
    state = step(state, AlterPartitionReassignments(10, (1, 2)), SIX).state
    state = step(state, AlterPartitionReassignments(11, None), SIX).state
    assert state.awaited_targets == {9: 1, 10: 2, 11: 3}
    one = receive(state, fetch(2, 1, 4, 2, 4), SIX)
    assert (one.sends[1:], one.state.awaited_targets) == ((reply(9, 4, 1),), {10: 2, 11: 3})
    rest = receive(one.state, fetch(3, 1, 4, 4, 4), SIX)
    assert (rest.sends[1:], rest.state.awaited_targets) == ((reply(10, 4, 1), reply(11, 4, 1)), {})


@states("reassign.client-retries")
def test_whoever_waits_hears_when_the_leader_leaves_its_office() -> None:
    waiting = reassigning(1, 2, 3, awaited_targets={9: 2, 7: 2}, acknowledged=QUIET)
    waiting = with_record(waiting, assignment(4, 1, 2, 3, target=(1,)))
    error = Error.NOT_LEADER_OR_FOLLOWER
    resigned = step(waiting, Shutdown(), SIX)
    assert (resigned.state.role, resigned.state.awaited_targets) == (Role.RESIGNED, {})
    assert resigned.sends == (reply(7, 4, 1, error), reply(9, 4, 1, error))
    told = receive(waiting, bqe(2, 1, 5), SIX)
    assert told.sends == (bqe_reply(1, 2, 5, 2), reply(7, 5, 2, error), reply(9, 5, 2, error))
    # A process that dies answers nobody.
    assert step(waiting, Crash(3), SIX).sends == ()


@states("reassign.client-retries")
def test_a_retry_finds_the_target_or_writes_it_anew() -> None:
    survived = leader(4, log=log_of(more=(assignment(3, 1, 2, 3, target=(4, 5, 6)),)))
    assert step(survived, TO_FOUR_FIVE_SIX, SIX) == Outcome(survived._replace(awaited_targets={9: 0}))
    lost = leader(4)
    assert step(lost, TO_FOUR_FIVE_SIX, SIX).state.log.records[-1] == assignment(4, 1, 2, 3, target=(4, 5, 6))


# ---------------------------------------------------------------------------------------------------------
# What an addition on its way comes to.
# ---------------------------------------------------------------------------------------------------------


@states("reassign.cancel-by-new-target")
@pytest.mark.parametrize("phase", [ChangePhase.LEARN_VERSIONS, ChangePhase.CATCH_UP])
@pytest.mark.parametrize("replicas", [(1, 2), None])
def test_an_addition_that_is_not_in_the_log_is_given_up(phase: ChangePhase, replicas: tuple[int, ...] | None) -> None:
    state = reassigning(1, 2, 3)
    asks = AlterPartitionReassignments(12, replicas)
    after = with_record(state, assignment(4, 1, 2, 3, target=replicas))._replace(awaited_targets={12: 2})
    # A step of the Leader's own: nobody is answered.
    own = state._replace(pending_change=adding(phase, requester=REASSIGNMENT, request=0))
    assert step(own, asks, SIX) == Outcome(after)


@states("reassign.cancel-by-new-target", "reassign.single-member-steps")
@pytest.mark.parametrize("phase", [ChangePhase.LEARN_VERSIONS, ChangePhase.CATCH_UP])
def test_an_addition_by_hand_gives_way_to_a_target(phase: ChangePhase) -> None:
    error = Error.REASSIGNMENT_IN_PROGRESS
    state = established(4)
    after = with_record(state, assignment(4, 1, 2, 3, target=(4, 5, 6)))._replace(awaited_targets={12: 1})
    asks = AlterPartitionReassignments(12, (4, 5, 6))
    by_client = state._replace(pending_change=adding(phase))
    assert step(by_client, asks, SIX) == Outcome(after, (reply(9, 4, 1, error),))
    by_replica = state._replace(pending_change=adding(phase, requester=4, request=7))
    assert step(by_replica, asks, SIX) == Outcome(after, (add_voter_reply(1, 4, 4, 1, error),))
    # What is in the log is finished first; nothing is answered before its commit.
    committed = state._replace(pending_change=adding(ChangePhase.COMMIT, offset=1))
    assert step(committed, asks, SIX).state.pending_change == committed.pending_change


@states("reassign.single-member-steps")
def test_nobody_changes_voters_by_hand_while_a_target_stands() -> None:
    error, no = Error.REASSIGNMENT_IN_PROGRESS, Refusal.REQUEST_REFUSED
    # It comes before all that only asks for patience, and after what is wrong with the request itself.
    behind = leader(4, log=log_of(more=(assignment(3, 1, 2, 3, target=(4, 5, 6)),)))
    for state in (reassigning(1, 2, 3), behind):
        assert step(state, AddVoter(9, key(4), endpoint(4)), SIX) == answered(state, error)
        assert step(state, RemoveVoter(9, key(3)), SIX) == answered(state, error)
        joins = receive(state, add_voter(4, 1), SIX)
        assert joins == Outcome(state, (add_voter_reply(1, 4, 4, 1, error),), (), no)
        leaves = receive(state, remove_voter(4, 1, key(3)), SIX)
        assert leaves == Outcome(state, (remove_voter_reply(1, 4, 4, 1, error),), (), no)
        assert step(state, AppendVoters(keys(1, 2, 3, 4)), SIX) == refused(state, Refusal.CHANGE_NOT_ALLOWED)
        malformed = step(state, AddVoter(9, key(4), None), SIX)
        assert malformed == answered(state, Error.INVALID_REQUEST, Refusal.MALFORMED_REQUEST)
    # Without the target they are taken on again.
    cleared = reassigning(1, 2, 3, target=None)
    assert step(cleared, AddVoter(9, key(4), endpoint(4)), SIX).refusal is None
    assert step(cleared, RemoveVoter(9, key(3)), SIX).refusal is None
    assert step(cleared, AppendVoters(keys(1, 2, 3, 4)), SIX).refusal is None


# ---------------------------------------------------------------------------------------------------------
# What carries the target on.
# ---------------------------------------------------------------------------------------------------------


@states("reassign.assignment-record")
def test_a_report_of_a_voter_carries_the_target() -> None:
    state = reassigning(1, 2, 3)
    done = receive(state, update_voter(2, 1, 4, endpoint="elsewhere:9093"), SIX)
    assert done.sends == (update_voter_reply(1, 2, 4, 1),)
    told = (details(1)[0], VoterDetails(2, "elsewhere:9093", 0, 1), details(3)[0])
    assert done.state.log.records[-1] == replace(assignment(4, 1, 2, 3, target=(4, 5, 6)), details=told)
    # The level that is in force already is no change, and its request none either.
    assert step(state, UpdateFeatures(9, 1), SIX) == answered(state, Error.NONE, None)


@states("reassign.assignment-record", "reassign.new-leader-resumes")
def test_a_leader_that_corrects_its_own_entry_carries_the_target() -> None:
    log = log_of(more=(assignment(3, 1, 2, 3, target=(4, 5, 6)),))
    state = candidate(4, log=log, moved_to="elsewhere:9093", awaiting=asked(2))
    elected = receive(state, vote_reply(2, 1, 4, True), SIX).state
    own = VoterDetails(1, "elsewhere:9093", 0, 1)
    corrected = replace(assignment(4, 1, 2, 3, target=(4, 5, 6)), details=(own, *details(2, 3)))
    assert elected.role is Role.LEADER
    assert elected.log.records[1:] == (Record(4, RecordKind.LEADER_CHANGE, 1), version_record(4), corrected)


@states("reassign.assignment-record")
def test_a_snapshot_carries_the_target_that_stood_at_its_end() -> None:
    records = (assignment(3, 1, 2, 3, target=(4, 5, 6)), *data(3), assignment(3, 1, 2, 3, target=None))
    state = follower(4, 1, 2, log=log_of(more=records), high_watermark=3)
    taken = step(state, TakeSnapshot(2), SIX).state
    expected = checkpoint(keys(1, 2, 3), 2, 3)._replace(target=TARGET)
    assert (taken.log.base, taken.target) == (expected, None)
    assert taken.log.voters[0] == VotersEntry(1, keys(1, 2, 3), details(1, 2, 3), TARGET)
    assert step(state, TakeSnapshot(3), SIX).state.log.base.target is None
    # Whoever begins from it knows the target.
    assert follower(4, 1, 5, log=log_on(expected)).target == TARGET
