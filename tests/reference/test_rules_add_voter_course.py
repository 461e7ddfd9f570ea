"""add-voter.*: from the catch-up to the answer."""

from tests.reference.builders import (
    ANNOUNCE,
    CHANGE,
    CHECK_QUORUM,
    ELECTION,
    FIVE,
    OBSERVED,
    adding,
    data,
    details,
    endpoint,
    established,
    follower,
    key,
    keys,
    log_of,
    receive,
    refused,
    resigned,
    states,
    step,
    unattached,
    voters_record,
)
from tests.reference.wire import (
    add_voter,
    add_voter_reply,
    api_versions_reply,
    asked,
    bqe,
    fetch,
    fetch_reply,
    reply,
    update_voter,
    update_voter_reply,
    vote,
    vote_reply,
)

from kraft_reference.changes import ChangePhase
from kraft_reference.effects import StartTimer, Timer
from kraft_reference.events import (
    AddVoter,
    CheckQuorumTimeout,
    ClientAppend,
    Crash,
    Poll,
    RemoveVoter,
    VoterChangeTimeout,
)
from kraft_reference.log import append, flush
from kraft_reference.messages import Error
from kraft_reference.outcome import Outcome, Refusal
from kraft_reference.records import Record, RecordKind
from kraft_reference.state import ReplicaState

GROWN = voters_record(4, 1, 2, 3, 4)
QUIET = frozenset({2, 3})
"""Voters that have answered the announcement, so that the leader owes them nothing."""


def caught_up_and_added() -> ReplicaState:
    """L(4) of {1,2,3} with Voters{1,2,3,4} at offset 1, asked for by a client; 4 has fetched up to there."""
    state = established(4, pending_change=adding(ChangePhase.CATCH_UP), acknowledged=QUIET)
    return receive(state, fetch(4, 1, 4, 1, 4), OBSERVED).state


@states("add-voter.catch-up-first")
def test_the_new_voter_catches_up_first() -> None:
    # Scenario S8: 4 is at 100 of 200.
    asking = adding(ChangePhase.LEARN_VERSIONS)
    state = established(4, log=log_of(*[3] * 199), pending_change=asking, awaiting=asked(4))
    waiting = receive(state, api_versions_reply(4, 1), OBSERVED).state
    assert waiting.pending_change == adding(ChangePhase.CATCH_UP, offset=200)
    half = receive(waiting, fetch(4, 1, 4, 100, 3), OBSERVED)
    assert half.state == waiting._replace(fetch_offsets={key(4): 100})
    # One round is enough: what clients append in the meantime does not move the mark.
    longer = step(half.state, ClientAppend(1), OBSERVED).state
    almost = receive(longer, fetch(4, 1, 4, 199, 3), OBSERVED).state
    assert almost == longer._replace(fetch_offsets={key(4): 199})
    whole = receive(almost, fetch(4, 1, 4, 200, 4), OBSERVED)
    assert whole.state.log.records[-1] == GROWN
    assert whole.sends == (fetch_reply(1, 4, 4, 1, (longer.log.record(200),), high_watermark=200),)
    # One that has fetched everything before is added with the answer to ApiVersions.
    ahead = established(4, pending_change=adding(ChangePhase.LEARN_VERSIONS), awaiting=asked(4))
    fetched = ahead._replace(fetch_offsets={key(4): 1})
    assert receive(fetched, api_versions_reply(4, 1), OBSERVED).state.voters == keys(1, 2, 3, 4)
    assert receive(ahead, api_versions_reply(4, 1), OBSERVED, "add-voter.catch-up-first").state.voters == keys(
        1, 2, 3, 4
    )


@states("add-voter.append-and-apply")
def test_the_enlarged_set_acts_at_once() -> None:
    state = established(4, pending_change=adding(ChangePhase.CATCH_UP), acknowledged=QUIET, fetchers=frozenset({2}))
    done = receive(state, fetch(4, 1, 4, 1, 4), OBSERVED)
    after = state._replace(
        log=flush(append(state.log, [GROWN])),
        fetch_offsets={key(4): 1},
        pending_change=adding(ChangePhase.COMMIT, offset=1),
    )
    assert done == Outcome(after, (fetch_reply(1, 4, 4, 1, high_watermark=1),))
    # It is told, counted for check quorum, and counted for commitment.
    assert step(after, Poll(), OBSERVED).sends == (bqe(1, 4, 4, correlation_id=77),)
    assert receive(after, fetch(4, 1, 4, 1, 4), OBSERVED).timers == (CHECK_QUORUM,)
    two = receive(receive(after, fetch(4, 1, 4, 2, 4), OBSERVED).state, fetch(2, 1, 4, 2, 4), OBSERVED)
    assert two.state.high_watermark == 2


@states("add-voter.conditions-hold-at-append")
def test_nothing_comes_between_the_tests_and_the_append() -> None:
    waiting = established(4, pending_change=adding(ChangePhase.CATCH_UP))
    answer = update_voter_reply(1, 3, 4, 1, Error.REQUEST_TIMED_OUT)
    report = update_voter(3, 1, 4, endpoint="elsewhere:1")
    assert receive(waiting, report, OBSERVED) == Outcome(waiting, (answer,), (), Refusal.REQUEST_REFUSED)
    for event in (AddVoter(5, key(4), endpoint(4)), RemoveVoter(5, key(3))):
        refusal = reply(5, 4, 1, Error.REQUEST_TIMED_OUT)
        assert step(waiting, event, OBSERVED) == Outcome(waiting, (refusal,), (), Refusal.REQUEST_REFUSED)
    # Who has lost the epoch appends nothing.
    deposed = receive(waiting, vote(2, 1, 5, (4, 9)), OBSERVED).state
    assert (deposed.pending_change, deposed.log) == (None, waiting.log)


@states("add-voter.reply-after-commit")
def test_success_is_told_after_the_commit() -> None:
    state = caught_up_and_added()
    one = receive(state, fetch(2, 1, 4, 2, 4), OBSERVED)
    assert one.sends == (fetch_reply(1, 2, 4, 1, high_watermark=1),)
    two = receive(one.state, fetch(4, 1, 4, 2, 4), OBSERVED)
    assert (two.state.pending_change, two.state.high_watermark) == (None, 2)
    assert two.sends == (fetch_reply(1, 4, 4, 1, high_watermark=2), reply(9, 4, 1))
    # A controller's own request is answered the same way.
    asked_by_four = adding(ChangePhase.COMMIT, offset=1, requester=4, request=7)
    three = receive(one.state._replace(pending_change=asked_by_four), fetch(3, 1, 4, 2, 4), OBSERVED)
    assert three.sends == (fetch_reply(1, 3, 4, 1, high_watermark=2), add_voter_reply(1, 4, 4, 1))


@states("add-voter.reply-after-commit")
def test_who_joins_by_itself_is_answered_at_the_append() -> None:
    accepted = receive(established(4), add_voter(4, 1), OBSERVED)
    change = adding(ChangePhase.LEARN_VERSIONS, requester=4, request=7, when_committed=False)
    assert accepted == Outcome(established(4, pending_change=change), (), (CHANGE,))
    waiting = established(4, pending_change=change._replace(phase=ChangePhase.CATCH_UP, min_version=0, max_version=1))
    done = receive(waiting, fetch(4, 1, 4, 1, 4), OBSERVED)
    assert done.sends == (fetch_reply(1, 4, 4, 1, high_watermark=1), add_voter_reply(1, 4, 4, 1))
    assert (done.state.pending_change, done.state.log.records[-1]) == (None, GROWN)
    # It commits all the same, in silence.
    two = receive(receive(done.state, fetch(2, 1, 4, 2, 4), OBSERVED).state, fetch(4, 1, 4, 2, 4), OBSERVED)
    assert (two.state.high_watermark, two.sends) == (2, (fetch_reply(1, 4, 4, 1, high_watermark=2),))


@states("add-voter.timeout")
def test_the_time_of_the_request_bounds_all_of_it() -> None:
    brief = step(established(4), AddVoter(9, key(4), endpoint(4), timeout_ms=123), OBSERVED)
    assert brief.timers == (StartTimer(Timer.VOTER_CHANGE, 123),)
    answer = reply(9, 4, 1, Error.REQUEST_TIMED_OUT)
    for phase in (ChangePhase.LEARN_VERSIONS, ChangePhase.CATCH_UP):
        waiting = established(4, pending_change=adding(phase))
        assert step(waiting, VoterChangeTimeout(), OBSERVED) == Outcome(established(4), (answer,))
    # After the append the record stays, and commits.
    state = caught_up_and_added()
    late = step(state, VoterChangeTimeout(), OBSERVED)
    assert late == Outcome(state._replace(pending_change=None), (answer,))
    two = receive(receive(late.state, fetch(4, 1, 4, 2, 4), OBSERVED).state, fetch(2, 1, 4, 2, 4), OBSERVED)
    assert (two.state.high_watermark, two.sends) == (2, (fetch_reply(1, 2, 4, 1, high_watermark=2),))
    for other in (established(4), follower(4, 2)):
        assert step(other, VoterChangeTimeout()) == refused(other, Refusal.NOT_IN_ROLE)


@states("add-voter.leader-change-leaves-outcome-open")
def test_a_leader_that_loses_its_epoch_says_so() -> None:
    state = caught_up_and_added()
    lost = reply(9, 5, None, Error.NOT_LEADER_OR_FOLLOWER)
    deposed = receive(state, vote(2, 1, 5, (4, 9)), OBSERVED)
    assert deposed.sends == (vote_reply(1, 2, 5, True), lost)
    assert deposed.state == unattached(5, log=state.log, high_watermark=1, voted=key(2))
    # The leader that it learns of is named; a replica is answered by a message.
    by_four = state._replace(pending_change=adding(ChangePhase.COMMIT, offset=1, requester=4, request=7))
    told = receive(by_four, bqe(2, 1, 5), OBSERVED)
    assert told.sends[1:] == (add_voter_reply(1, 4, 5, 2, Error.NOT_LEADER_OR_FOLLOWER),)
    silent = step(state, CheckQuorumTimeout(), OBSERVED)
    ordered = (key(4), key(2), key(3))
    after = resigned(4, log=state.log, high_watermark=1, preferred_candidates=ordered)
    assert silent == Outcome(after, (reply(9, 4, 1, Error.NOT_LEADER_OR_FOLLOWER),), (ELECTION,))
    # A crash answers nobody, and the record is what the disk has.
    crashed = step(state, Crash(state.log.flushed), OBSERVED)
    assert (crashed.sends, crashed.state.log, crashed.state.pending_change) == ((), state.log, None)


@states("add-voter.leader-change-leaves-outcome-open")
def test_the_next_leader_keeps_or_cuts_the_record() -> None:
    state = caught_up_and_added()
    deposed = receive(state, bqe(2, 1, 5), OBSERVED).state._replace(awaiting=asked(2))
    kept = receive(deposed, fetch_reply(2, 1, 5, 2, data(5)), OBSERVED).state
    assert kept.voters == keys(1, 2, 3, 4)
    cut = receive(deposed, fetch_reply(2, 1, 5, 2, diverging=(4, 1)), OBSERVED).state
    assert (cut.voters, cut.log.end_offset) == (keys(1, 2, 3), 1)


@states("add-voter.append-and-apply")
def test_a_sole_voter_gets_the_timers_of_a_leader_with_others() -> None:
    alone = established(4, log=log_of(voters=keys(1)), pending_change=adding(ChangePhase.CATCH_UP, 2))
    grown = receive(alone, fetch(2, 1, 4, 1, 4), FIVE)
    assert grown.timers == (CHECK_QUORUM, ANNOUNCE)
    assert grown.state.pending_change == adding(ChangePhase.COMMIT, 2, offset=1)
    done = receive(grown.state, fetch(2, 1, 4, 2, 4), FIVE)
    assert done.sends[1:] == (reply(9, 4, 1),)
    record = Record(4, RecordKind.VOTERS, 0, keys(1, 2), details(1, 2))
    assert done.state.log.records[-1] == record
