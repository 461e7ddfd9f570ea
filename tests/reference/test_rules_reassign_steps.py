"""reassign.*: which step towards a target is next, and an addition from its beginning to its record."""

from dataclasses import replace

import pytest
from tests.reference.builders import (
    CHANGE,
    SIX,
    adding,
    assignment,
    endpoint,
    established,
    in_every_role,
    key,
    keys,
    leader,
    log_of,
    reassigning,
    receive,
    refused,
    states,
    step,
)
from tests.reference.reassigning import FETCHED, STEP, TARGET, appended, steps
from tests.reference.wire import (
    api_versions,
    api_versions_reply,
    asked,
    bqe,
    fetch,
)

from kraft_reference.changes import ChangeKind, ChangePhase, PendingChange
from kraft_reference.events import (
    AdvanceReassignment,
    Poll,
    Shutdown,
    VoterChangeTimeout,
)
from kraft_reference.identity import ReplicaKey
from kraft_reference.outcome import Outcome, Refusal
from kraft_reference.quorum_reassignment import ReassignmentSets, adds_next, next_steps, reassignment_sets
from kraft_reference.roles import Role
from kraft_spec.experiments import replicas_without

# ---------------------------------------------------------------------------------------------------------
# Which step is next.
# ---------------------------------------------------------------------------------------------------------


@states("reassign.three-sets")
def test_the_three_sets() -> None:
    found = reassignment_sets(keys(1, 2, 4), TARGET)
    assert found == ReassignmentSets(frozenset((1, 2)), frozenset((4,)), frozenset((5, 6)))
    same = reassignment_sets(keys(1, 2), frozenset((1, 2)))
    assert same == ReassignmentSets(frozenset(), frozenset((1, 2)), frozenset())
    # They are of ids: another disk of a voter that stays is none of them.
    other_disk = frozenset((key(1, "U1'"), key(2)))
    assert reassignment_sets(other_disk, frozenset((1, 2))) == same


@states("reassign.add-or-remove-choice")
@pytest.mark.parametrize(
    ("current", "expected"),
    [
        ((1, 2, 3), [4, 5, 6]),
        ((1, 2, 3, 4), [2, 3]),
        ((1, 2, 4), [5, 6]),
        ((1, 2, 4, 5), [2]),
        ((1, 4, 5), [6]),
        ((1, 4, 5, 6), [None]),
        ((1, 5), [4, 6]),
        ((1, 2, 3, 4, 5), [2, 3]),
    ],
)
def test_add_while_additions_are_not_fewer_than_removals(current: tuple[int, ...], expected: list[int]) -> None:
    assert steps(reassigning(*current, fetch_offsets=FETCHED)) == expected


@states("reassign.add-or-remove-choice", "reassign.completion")
def test_the_end_is_seen_before_the_sizes_are_compared() -> None:
    """With nobody to add and nobody to remove, none is not fewer than none."""
    nobody: frozenset[int] = frozenset()
    assert not adds_next(ReassignmentSets(nobody, frozenset((1,)), nobody))
    assert adds_next(ReassignmentSets(frozenset((1,)), nobody, frozenset((2,))))
    assert steps(reassigning(1, 2, 3, target=(1, 2, 3))) == [None]


@states("reassign.promotion-by-leader")
def test_nobody_is_added_before_it_has_fetched() -> None:
    assert steps(reassigning(1, 2, 3)) == []
    assert next_steps(reassigning(1, 2, 3, fetch_offsets={key(5): 0, key(2): 2})) == {key(5)}
    # An old Fetch without a directory id tells of no key that could become a voter.
    assert steps(reassigning(1, 2, 3, fetch_offsets={ReplicaKey(5): 2})) == []


@states("reassign.promotion-by-leader")
def test_each_disk_of_an_id_may_be_the_one_to_add() -> None:
    disks = {key(5): 1, key(5, "U5'"): 2, ReplicaKey(5): 2}
    state = reassigning(1, 2, 3, fetch_offsets=disks)
    assert next_steps(state) == {key(5), key(5, "U5'")}
    begun = step(state, AdvanceReassignment(key(5, "U5'")), SIX).state
    assert begun.pending_change is not None
    assert begun.pending_change.voter == key(5, "U5'")
    # A lost disk of a voter that stays is no business of a target of ids.
    lost = reassigning(1, 2, 3, target=(1, 2, 3), fetch_offsets={key(3, "U3'"): 2})
    assert next_steps(lost) == {None}


@states("reassign.leader-removed-last")
def test_the_leader_is_not_among_those_to_remove() -> None:
    assert steps(reassigning(1, 2, 3, target=(3,))) == [2]
    assert steps(reassigning(1, 2, 3, target=(2,))) == [3]
    assert steps(reassigning(1, 2, target=(2,))) == [None]
    # It makes no difference to an addition.
    assert steps(reassigning(1, 2, target=(2, 4), fetch_offsets=FETCHED)) == [4]


@states("reassign.commit-before-next-step")
def test_no_step_before_the_commit_of_assignment_and_epoch() -> None:
    ready = reassigning(1, 2, 3, fetch_offsets=FETCHED)
    assert steps(ready) == [4, 5, 6]
    fresh = leader(4, log=log_of(more=(assignment(3, 1, 2, 3, target=(4, 5, 6)),)), fetch_offsets=FETCHED)
    assert steps(fresh) == steps(fresh._replace(high_watermark=1)) == []
    target_pending = appended(ready, assignment(4, 1, 2, 3, target=(1,)))
    assert steps(target_pending) == []
    assert steps(target_pending._replace(high_watermark=3)) == [2, 3]
    step_pending = appended(ready, assignment(4, 1, 2, 3, 4, target=(4, 5, 6)))
    assert steps(step_pending) == []
    # KIP-642 does without the commit of the epoch.
    loose = replicas_without(("voters.epoch-committed-before-change",))
    assert loose(fresh._replace(high_watermark=1), SIX).next_steps() == {key(4), key(5), key(6)}


@states("reassign.commit-before-next-step")
@pytest.mark.parametrize("phase", list(ChangePhase))
def test_no_step_while_another_change_is_pending(phase: ChangePhase) -> None:
    assert steps(reassigning(1, 2, 3, fetch_offsets=FETCHED, pending_change=adding(phase))) == []


@states("reassign.commit-before-next-step", "reassign.single-member-steps")
def test_a_step_that_is_not_due_is_none() -> None:
    ready = reassigning(1, 2, 3, fetch_offsets=FETCHED)
    for chosen in (None, key(1), key(3), key(4, "U9"), key(9)):
        assert step(ready, AdvanceReassignment(chosen), SIX) == refused(ready, Refusal.NOTHING_DUE)
    idle = established(4, fetch_offsets=FETCHED)
    for chosen in (None, key(3), key(4)):
        assert step(idle, AdvanceReassignment(chosen), SIX) == refused(idle, Refusal.NOTHING_DUE)
    for state in in_every_role(4):
        if state.role is not Role.LEADER:
            assert step(state, AdvanceReassignment(None), SIX) == refused(state, Refusal.NOT_IN_ROLE)
            assert next_steps(state) == frozenset()


# ---------------------------------------------------------------------------------------------------------
# An addition.
# ---------------------------------------------------------------------------------------------------------


@states("reassign.catch-up-before-add", "reassign.promotion-by-leader")
def test_an_addition_learns_versions_and_waits_until_it_has_caught_up() -> None:
    state = reassigning(1, 2, 3, acknowledged=frozenset({2, 3}), fetch_offsets={key(4): 1})
    begun = step(state, AdvanceReassignment(key(4)), SIX)
    change = PendingChange(ChangeKind.ADD, ChangePhase.LEARN_VERSIONS, key(4), endpoint(4), -1, -1, -1, **STEP)
    assert begun == Outcome(state._replace(pending_change=change), timers=(CHANGE,))
    polled = step(begun.state, Poll(), SIX)
    assert polled.sends == (api_versions(1, 4, correlation_id=77),)
    learned = receive(polled.state, replace(api_versions_reply(4, 1), correlation_id=77), SIX)
    waits = change._replace(phase=ChangePhase.CATCH_UP, min_version=0, max_version=1, offset=2)
    assert learned == Outcome(state._replace(pending_change=waits))
    # It fetches from the end of the log as that was: its own addition, with the target.
    done = receive(learned.state, fetch(4, 1, 4, 2, 4), SIX)
    assert done.state.log.records[-1] == assignment(4, 1, 2, 3, 4, target=(4, 5, 6))
    assert done.state.pending_change == waits._replace(phase=ChangePhase.COMMIT, offset=2)
    assert len(done.sends) == 1
    assert steps(done.state) == []


@states("reassign.catch-up-before-add")
def test_who_has_caught_up_already_does_not_wait() -> None:
    change = adding(ChangePhase.LEARN_VERSIONS, **STEP)
    state = reassigning(1, 2, 3, fetch_offsets=FETCHED, pending_change=change, awaiting=asked(4))
    after = receive(state, api_versions_reply(4, 1), SIX).state
    assert after.log.records[-1] == assignment(4, 1, 2, 3, 4, target=(4, 5, 6))


@states("reassign.begin-epoch-to-new-voter")
def test_a_voter_that_is_added_is_told_who_leads() -> None:
    change = adding(ChangePhase.CATCH_UP, offset=2, **STEP)
    state = reassigning(1, 2, 3, acknowledged=frozenset({2, 3}), pending_change=change)
    added = receive(state, fetch(4, 1, 4, 2, 4), SIX).state
    polled = step(added, Poll(), SIX)
    assert polled.sends == (replace(bqe(1, 4, 4), correlation_id=77),)


@states("reassign.promotion-by-leader")
def test_an_addition_that_runs_out_of_time_is_nobodys_loss() -> None:
    ready = reassigning(1, 2, 3, fetch_offsets=FETCHED)
    for phase in (ChangePhase.LEARN_VERSIONS, ChangePhase.CATCH_UP):
        waiting = ready._replace(pending_change=adding(phase, **STEP))
        assert step(waiting, VoterChangeTimeout(), SIX) == Outcome(ready)
        assert steps(ready) == [4, 5, 6]
    # In the log it stays, and the next step waits for its commit all the same.
    written = appended(ready, assignment(4, 1, 2, 3, 4, target=(4, 5, 6)))
    committing_ = written._replace(pending_change=adding(ChangePhase.COMMIT, offset=2, **STEP))
    assert step(committing_, VoterChangeTimeout(), SIX) == Outcome(written)
    assert steps(written) == []
    # A level that the new voter does not have ends it too; the Leader may try the next one.
    learning = ready._replace(pending_change=adding(ChangePhase.LEARN_VERSIONS, **STEP), awaiting=asked(4))
    assert receive(learning, api_versions_reply(4, 1, (0, 0)), SIX) == Outcome(ready)


@states("reassign.client-retries")
def test_a_step_of_a_leader_that_is_deposed_answers_nobody() -> None:
    waiting = reassigning(1, 2, 3, pending_change=adding(ChangePhase.CATCH_UP, **STEP))
    assert step(waiting, Shutdown(), SIX).sends == ()
