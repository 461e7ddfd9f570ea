"""reassign.*: removals, the hand-over and the end of a reassignment, and what the next leader makes of it."""

from dataclasses import replace

from tests.reference.builders import (
    ANNOUNCE,
    CHANGE,
    CHECK_QUORUM,
    ELECTION,
    SIX,
    assignment,
    becomes,
    cluster,
    committing,
    endpoint,
    established,
    follower,
    joining,
    key,
    keys,
    leader,
    log_of,
    reassigning,
    receive,
    refused,
    states,
    step,
    stopped,
)
from tests.reference.reassigning import FETCHED, STEP, TARGET, appended, steps
from tests.reference.wire import (
    add_voter,
    add_voter_reply,
    api_versions_reply,
    asked,
    eqe,
    fetch,
    fetch_reply,
    reply,
)

from kraft_reference.changes import ChangeKind
from kraft_reference.events import (
    AdvanceReassignment,
    AlterPartitionReassignments,
    CheckQuorumTimeout,
    Poll,
    RemoveVoter,
    Restart,
)
from kraft_reference.messages import Error
from kraft_reference.outcome import Outcome, Refusal
from kraft_reference.roles import Role
from kraft_reference.state import is_voter

# ---------------------------------------------------------------------------------------------------------
# A removal, the hand-over, the end.
# ---------------------------------------------------------------------------------------------------------


@states("reassign.single-member-steps", "reassign.effective-on-append")
def test_a_removal_is_one_record_that_counts_from_its_append() -> None:
    state = reassigning(1, 2, 3, 4, fetch_offsets=FETCHED, fetchers=frozenset({2, 3}))
    done = step(state, AdvanceReassignment(key(3)), SIX)
    after = appended(state, assignment(4, 1, 2, 4, target=(4, 5, 6)))
    change = committing(ChangeKind.REMOVE, key(3), 2, **STEP)
    assert done == Outcome(after._replace(pending_change=change, fetchers=frozenset({2})), timers=(CHANGE,))
    # 2 of {1,2,4} commit it, and nobody is answered but the fetcher.
    committed = receive(done.state, fetch(4, 1, 4, 3, 4), SIX)
    assert (committed.state.high_watermark, committed.state.pending_change, len(committed.sends)) == (3, None, 1)
    # A sole voter's next set needs nobody else.
    alone = step(reassigning(1, 2, target=(1,)), AdvanceReassignment(key(2)), SIX)
    assert (alone.state.high_watermark, alone.state.pending_change, alone.timers) == (3, None, ())


@states("reassign.effective-on-append")
def test_a_follower_acts_on_a_step_that_it_has_copied() -> None:
    record = assignment(4, 1, 2, 3, 4, target=(4, 5, 6))
    outside = follower(4, 1, 4, log=log_of(4), awaiting=asked(1))
    copied = receive(outside, fetch_reply(1, 4, 4, 1, (record,)), SIX).state
    assert (is_voter(outside), is_voter(copied), copied.high_watermark) == (False, True, -1)
    assert (copied.voters, copied.target) == (keys(1, 2, 3, 4), TARGET)


@states("reassign.truncation-reverts")
def test_a_truncated_assignment_is_undone() -> None:
    """1 has VA{1,2,4}@1 of epoch 1; epoch 2 has something else there."""
    records = (assignment(1, 1, 2, 3, 4, target=(4, 5, 6)), assignment(1, 1, 2, 4, target=(4, 5, 6)))
    state = follower(2, 2, 1, log=log_of(more=records), high_watermark=1, awaiting=asked(2))
    cut = receive(state, fetch_reply(2, 1, 2, 2, diverging=(1, 1)), SIX).state
    assert (cut.voters, cut.target, cut.log.end_offset) == (keys(1, 2, 3, 4), TARGET, 1)
    # And with the record that set it the target is forgotten.
    first = follower(2, 2, 1, log=log_of(more=records[:1]), high_watermark=0, awaiting=asked(2))
    none = receive(first, fetch_reply(2, 1, 2, 2, diverging=(0, 0)), SIX).state
    assert (none.voters, none.target) == (keys(1, 2, 3), None)


@states("reassign.quorum-state-holds-committed-assignment")
def test_voters_and_target_are_read_from_the_log_not_from_the_file() -> None:
    """An assignment that is not committed is in force after a restart, too, until it is truncated."""
    records = (assignment(3, 1, 2, 3, target=(4, 5, 6)), assignment(3, 1, 2, 3, 4, target=(4, 5, 6)))
    down = stopped(3, 4, leader=1, log=log_of(more=records))
    back = step(down, Restart(), SIX).state
    assert (back.role, back.high_watermark) == (Role.FOLLOWER, -1)
    assert (back.voters, back.target, is_voter(back)) == (keys(1, 2, 3, 4), TARGET, True)


@states("reassign.removed-voter-told-by-fetch")
def test_a_removed_voter_is_served_and_learns_of_it_from_the_record() -> None:
    state = appended(reassigning(1, 2, 3, 4), assignment(4, 1, 2, 4, target=(4, 5, 6)))._replace(high_watermark=3)
    answer = receive(state, fetch(3, 1, 4, 2, 4), SIX).sends[0]
    assert answer == fetch_reply(1, 3, 4, 1, (assignment(4, 1, 2, 4, target=(4, 5, 6)),), high_watermark=3)
    removed = follower(4, 1, 3, log=reassigning(1, 2, 3, 4).log, awaiting=asked(1), high_watermark=2)
    told = receive(removed, replace(answer, correlation_id=7), SIX).state
    assert (is_voter(removed), is_voter(told), told.role) == (True, False, Role.FOLLOWER)


@states("reassign.leader-steps-down-before-own-removal")
def test_a_leader_that_is_the_last_to_remove_hands_over() -> None:
    known = {key(4): 2, key(5): 1, key(6): 2}
    state = reassigning(1, 4, 5, 6, fetch_offsets=known)
    done = step(state, AdvanceReassignment(None), SIX)
    preferred = (key(4), key(6), key(5))
    resigned = becomes(
        state,
        Role.RESIGNED,
        4,
        leader_id=1,
        leader_endpoint=endpoint(1),
        voted_key=key(1),
        preferred_candidates=preferred,
    )
    assert done == Outcome(resigned, timers=(ELECTION,))
    assert (is_voter(resigned), resigned.log) == (True, state.log)
    polled = step(resigned, Poll(), SIX)
    assert polled.sends == tuple(replace(eqe(1, one, 4, *preferred), correlation_id=77) for one in (4, 5, 6))


@states("reassign.request-success-after-commit", "reassign.client-retries")
def test_a_leader_that_its_own_removal_ends_answers_once() -> None:
    """A RemoveVoter of the leader itself, and a target while that is not committed: both commit in one step."""
    removing = step(established(4), RemoveVoter(8, key(1)), SIX).state
    named = step(removing, AlterPartitionReassignments(9, (2, 3)), SIX).state
    assert named.log.records[-1] == assignment(4, 2, 3, target=(2, 3))
    half = receive(named, fetch(2, 1, 4, 3, 4), SIX)
    done = receive(half.state, fetch(3, 1, 4, 3, 4), SIX)
    assert (len(half.sends), done.sends[1:]) == (1, (reply(8, 4, 1), reply(9, 4, 1)))
    assert (done.state.role, done.state.target) == (Role.RESIGNED, frozenset((2, 3)))


@states("reassign.leader-steps-down-before-own-removal", "reassign.new-leader-resumes")
def test_a_leader_that_is_elected_again_hands_over_again() -> None:
    again = leader(6, log=log_of(more=(assignment(3, 1, 4, 5, 6, target=(4, 5, 6)),)))
    assert steps(again) == []
    assert steps(again._replace(high_watermark=2)) == [None]
    other = leader(6, 4, log=log_of(more=(assignment(3, 1, 4, 5, 6, target=(4, 5, 6)),)), high_watermark=2)
    assert steps(other) == [1]


@states("reassign.new-leader-resumes")
def test_the_next_leader_reads_the_plan_from_its_log() -> None:
    record = assignment(3, 1, 2, 4, target=(4, 5, 6))
    for own, expected in ((1, [5, 6]), (2, [5, 6]), (4, [5, 6])):
        state = leader(5, own, log=log_of(more=(record,)), fetch_offsets=FETCHED)
        assert steps(state) == []
        assert steps(state._replace(high_watermark=2)) == expected
    # A target that did not get there is forgotten.
    assert steps(established(5, 2, fetch_offsets=FETCHED)) == []


@states("reassign.completion")
def test_the_target_is_cleared_by_a_record_of_its_own() -> None:
    state = reassigning(4, 5, 6, fetch_offsets=FETCHED)._replace(key=key(4))
    assert steps(state) == [None]
    done = step(state, AdvanceReassignment(None), SIX)
    cleared = appended(state, assignment(4, 4, 5, 6, target=None))
    assert done == Outcome(cleared)
    assert (done.state.target, steps(done.state), steps(done.state._replace(high_watermark=3))) == (None, [], [])
    alone = step(reassigning(1, target=(1,)), AdvanceReassignment(None), SIX)
    assert (alone.state.high_watermark, alone.state.target) == (3, None)


@states("reassign.single-member-steps")
def test_a_controller_that_joins_by_itself_waits_and_comes_back() -> None:
    """3 has been removed, and is set up to join: refused while the target stands, and taken on when it is cleared."""
    joins = joining(SIX, 3)
    removed = follower(4, 1, 3, log=reassigning(1, 2, 4).log, fetched=True)
    asks = step(removed, Poll(), joins)
    request = add_voter(3, 1, correlation_id=77)
    assert asks.sends == (request,)
    refusal = receive(reassigning(1, 2, 4), request, joins).sends[0]
    assert refusal == add_voter_reply(1, 3, 4, 1, Error.REASSIGNMENT_IN_PROGRESS, correlation_id=77)
    again = step(receive(asks.state, refusal, joins).state, Poll(), joins)
    assert again.sends == (request,)
    assert receive(reassigning(1, 2, 4, target=None), request, joins).refusal is None


@states("reassign.single-member-steps")
def test_without_the_rule_the_whole_target_is_one_record() -> None:
    state = reassigning(1, 2, 3, fetch_offsets=FETCHED)
    jumped = step(state, AdvanceReassignment(key(4)), SIX, "reassign.single-member-steps")
    assert jumped.state.log.records[-1] == assignment(4, 4, 5, 6, target=(4, 5, 6))


@states("bootstrap.kip642-grow-from-one")
def test_a_quorum_of_one_grows_by_a_target() -> None:
    alone = cluster(1, observers=2)
    state = established(4, log=log_of(voters=keys(1), more=(assignment(3, 1, target=(1, 2, 3)),)))
    state = state._replace(fetch_offsets={key(2): 2, key(3): 2})
    assert steps(state, alone) == [2, 3]
    begun = step(state, AdvanceReassignment(key(2)), alone).state
    asks = step(begun, Poll(), alone)
    grown = receive(asks.state, replace(api_versions_reply(2, 1), correlation_id=77), alone)
    assert grown.state.log.records[-1] == assignment(4, 1, 2, target=(1, 2, 3))
    # A set with others in it needs the timers that a sole voter has not, and both for its majority.
    assert (grown.timers, grown.state.high_watermark) == ((CHECK_QUORUM, ANNOUNCE), 2)


# ---------------------------------------------------------------------------------------------------------
# Turned down.
# ---------------------------------------------------------------------------------------------------------


@states("reassign.zombie-leader")
def test_a_leader_that_nobody_fetches_from_resigns() -> None:
    state = reassigning(1, 4, 5, 6, acknowledged=frozenset(TARGET))
    assert step(state, CheckQuorumTimeout(), SIX).state.role is Role.RESIGNED
    # It has asked nobody for the quorum before.
    assert step(state, Poll(), SIX) == refused(state, Refusal.NOTHING_DUE)


@states("reassign.progress-only-during")
def test_progress_of_observers_is_known_without_a_target() -> None:
    for state in (established(4), reassigning(1, 2, 3), reassigning(1, 2, 3, target=None)):
        end = state.log.end_offset
        assert receive(state, fetch(4, 1, 4, end, 4), SIX).state.fetch_offsets == {key(4): end}
