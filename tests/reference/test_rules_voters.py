"""voters.*: the voters set is replicated state, changed by one voter at a time."""

from dataclasses import replace

import pytest
from tests.reference.builders import (
    CHECK_QUORUM,
    FIVE,
    OBSERVED,
    candidate,
    checkpoint,
    cluster,
    committing,
    data,
    details,
    endpoint,
    established,
    follower,
    key,
    keys,
    leader,
    log_of,
    messages,
    receive,
    refused,
    states,
    step,
    stopped,
    unattached,
    voters_record,
)
from tests.reference.wire import (
    asked,
    bqe,
    fetch,
    fetch_reply,
    pre_vote_reply,
    reply,
    vote_reply,
)

from kraft_reference.changes import ChangeKind
from kraft_reference.events import (
    AddVoter,
    AppendVoters,
    Crash,
    Event,
    FetchTimeout,
    Poll,
    RemoveVoter,
    Restart,
    UpdateFeatures,
)
from kraft_reference.identity import ReplicaKey, VoterDetails, VoterSet
from kraft_reference.log import VotersEntry, append, flush, log_on, rebased, snapshot_at, truncate
from kraft_reference.messages import Error
from kraft_reference.outcome import Outcome, Refusal
from kraft_reference.records import Record, RecordKind
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState, is_voter

# ---------------------------------------------------------------------------------------------------------
# Where the set comes from.
# ---------------------------------------------------------------------------------------------------------


@states("voters.set-from-snapshot-and-log")
def test_the_set_is_read_from_snapshot_and_log_alone() -> None:
    log = append(log_on(checkpoint(keys(1, 2, 3), 100, 3)), (*data(*[4] * 20), voters_record(4, 1, 2, 3, 4)))
    down = stopped(4, 2, log=flush(log))
    # No property overrides it: the configuration speaks of {1,2,3}, of {1} or of nothing.
    for configured in (keys(1, 2, 3), keys(1)):
        back = step(down, Restart(), replace(OBSERVED, voters=configured)).state
        assert (back.voters, back.log.end_offset, back.log) == (keys(1, 2, 3, 4), 121, down.log)


@states("voters.effective-on-append")
def test_a_set_acts_from_its_append_on() -> None:
    state = established(4, fetch_offsets={key(2): 1, key(3): 1})
    grown = step(state, AppendVoters(keys(1, 2, 3, 4)), OBSERVED).state
    assert (grown.voters, grown.high_watermark) == (keys(1, 2, 3, 4), 1)
    one = receive(grown, fetch(2, 1, 4, 2, 4), OBSERVED).state
    assert one.high_watermark == 1  # 2 of {1,2,3}, and so not committed: it takes 3 of 4
    assert receive(one, fetch(4, 1, 4, 2, 4), OBSERVED).state.high_watermark == 2
    # The follower that has copied it needs 3 of 4 too, whatever the high watermark.
    second = follower(4, 1, 2, log=grown.log)
    electing = step(second, FetchTimeout(), OBSERVED).state
    heard = receive(electing._replace(awaiting=asked(3, 4)), pre_vote_reply(3, 2, 4, True), OBSERVED).state
    assert (second.high_watermark, heard.role) == (-1, Role.PROSPECTIVE)
    assert receive(heard, pre_vote_reply(4, 2, 4, True), OBSERVED).state.role is Role.CANDIDATE


@states("voters.record-replaces-set")
def test_a_record_is_the_whole_set() -> None:
    moved = Record(4, RecordKind.VOTERS, 0, keys(1, 2), (VoterDetails(1, "a:1", 1, 1), VoterDetails(2, "b:2", 0, 1)))
    log = append(log_of(voters=keys(1, 2, 3)), [moved])
    assert log.voters == (
        VotersEntry(-1, keys(1, 2, 3), details(1, 2, 3)),
        VotersEntry(0, keys(1, 2), moved.details),
    )


@states("voters.truncation-reverts")
def test_a_truncated_set_is_forgotten_at_once() -> None:
    # Scenario S13: an ex-leader goes back to {1,2,3,4} and so needs 3 votes again.
    log = log_of(*[3] * 10, voters=keys(1, 2, 3, 4), more=(voters_record(3, 1, 2, 3),))
    state = follower(5, 2, log=log, awaiting=asked(2))
    cut = receive(state, fetch_reply(2, 1, 5, 2, diverging=(3, 10)), OBSERVED).state
    assert cut == follower(5, 2, log=log_of(*[3] * 10, voters=keys(1, 2, 3, 4)), fetched=True)
    electing = step(cut, FetchTimeout(), OBSERVED).state._replace(awaiting=asked(2, 3))
    one = receive(electing, pre_vote_reply(2, 1, 5, True), OBSERVED).state
    assert one.role is Role.PROSPECTIVE
    assert receive(one, pre_vote_reply(3, 1, 5, True), OBSERVED).state.role is Role.CANDIDATE


@states("voters.history-kept-from-snapshot-to-leo")
def test_every_set_from_the_snapshot_on_is_kept() -> None:
    sets = (voters_record(1, 1), voters_record(1, 1, 2), voters_record(1, 1, 2, 3))
    more = (*data(1, 1), sets[0], *data(1), sets[1], *data(1), sets[2])
    log = log_of(voters=keys(9), more=more)
    assert [entry.offset for entry in log.voters] == [-1, 2, 4, 6]
    assert truncate(log, 6).voters[-1] == VotersEntry(4, keys(1, 2), details(1, 2))
    assert snapshot_at(log, 5).voters == keys(1, 2)
    assert snapshot_at(log, 4).voters == keys(1)
    # After the snapshot the set in force there, in its last place, and the later ones.
    taken = rebased(log, snapshot_at(log, 6))
    assert [(entry.offset, entry.voters) for entry in taken.voters] == [(5, keys(1, 2)), (6, keys(1, 2, 3))]


@states("voters.static-set-at-version-0")
def test_at_version_0_the_property_is_the_set() -> None:
    static = cluster(3, observers=1, kraft_version=0)
    state = established(4, log=log_of(voters=static.voters))
    assert state.voters == frozenset({ReplicaKey(1), ReplicaKey(2), ReplicaKey(3)})
    answer = reply(9, 4, 1, Error.UNSUPPORTED_VERSION)
    for event in (AddVoter(9, key(4), endpoint(4)), RemoveVoter(9, key(3))):
        assert step(state, event, static) == Outcome(state, (answer,), (), Refusal.REQUEST_REFUSED)
    assert step(state, AppendVoters(keys(1, 2, 3)), static) == refused(state, Refusal.CHANGE_NOT_ALLOWED)
    other = replace(static, voters=frozenset({ReplicaKey(1), ReplicaKey(2), ReplicaKey(4)}))
    with pytest.raises(ValueError, match="other static voters"):
        step(stopped(4, log=state.log), Restart(), other)


@states("voters.endpoints-are-part-of-the-set", "voters.network-client-follows-set")
def test_endpoints_are_read_from_the_newest_set() -> None:
    moved = Record(4, RecordKind.VOTERS, 0, keys(1, 2, 3), (*details(1, 2), VoterDetails(3, "host-b:1", 0, 1)))
    log = log_of(3, more=(moved,))
    # An announcement of old software has no endpoint: the set knows it.
    told = receive(unattached(4, 2, log=log), bqe(3, 2, 4, leader_endpoint=None)).state
    assert told == follower(4, 3, 2, log=log, leader_endpoint="host-b:1")
    # Truncated, the set forgets it again.
    before = truncate(log, 1)
    assert receive(unattached(4, 2, log=before), bqe(3, 2, 4, leader_endpoint=None)).state == follower(
        4, 3, 2, log=before
    )
    # A replica that the set does not have cannot be reached by it.
    stranger = receive(unattached(4, 2, log=log), bqe(4, 2, 4, leader_endpoint=None), OBSERVED).state
    assert stranger == unattached(4, 2, leader=4, log=log)
    added = flush(append(log, [voters_record(4, 1, 2, 3, 4)]))
    reached = receive(unattached(4, 2, log=added), bqe(4, 2, 4, leader_endpoint=None), OBSERVED).state
    assert reached == follower(4, 4, 2, log=added)


# ---------------------------------------------------------------------------------------------------------
# Majorities.
# ---------------------------------------------------------------------------------------------------------


@states("voters.candidate-uses-own-set")
def test_a_candidate_asks_and_counts_its_own_set() -> None:
    four = log_of(3, more=(voters_record(3, 1, 2, 3, 4),))
    state = candidate(5, 2, log=four)
    polled = step(state, Poll(), OBSERVED)
    assert [sent.destination for sent in messages(polled)] == [1, 3, 4]
    one = receive(polled.state, vote_reply(3, 2, 5, True, correlation_id=77), OBSERVED).state
    assert (one.role, one.granted) == (Role.CANDIDATE, frozenset({2, 3}))
    assert receive(one, vote_reply(4, 2, 5, True, correlation_id=77), OBSERVED).state.role is Role.LEADER
    # A grant of somebody outside the set is not counted.
    three = candidate(5, 2, awaiting=asked(4))
    assert receive(three, vote_reply(4, 2, 5, True), OBSERVED) == Outcome(candidate(5, 2))


@states("voters.commit-by-new-set")
def test_a_voters_record_commits_by_the_set_in_it() -> None:
    ten = log_of(*[3] * 9)
    state = established(4, log=ten, fetch_offsets={key(2): 10, key(3): 10, key(4): 10})
    grown = step(state, AppendVoters(keys(1, 2, 3, 4)), OBSERVED).state
    both = receive(grown, fetch(2, 1, 4, 11, 4), OBSERVED).state
    assert (both.high_watermark, receive(both, fetch(3, 1, 4, 11, 4), OBSERVED).state.high_watermark) == (10, 11)
    # Of {1,2,3} less 3 it takes both of {1,2}: 3 does not count any more.
    shrunk = step(state, AppendVoters(keys(1, 2)), OBSERVED).state
    assert receive(shrunk, fetch(3, 1, 4, 11, 4), OBSERVED).state.high_watermark == 10
    assert receive(shrunk, fetch(2, 1, 4, 11, 4), OBSERVED).state.high_watermark == 11


@states("voters.leader-removed-not-counted")
def test_a_leader_outside_the_set_counts_neither_its_log_nor_itself() -> None:
    # Scenario S7b: {2,3,4} needs two of 2, 3 and 4.
    state = established(4, log=log_of(voters=keys(1, 2, 3, 4)))
    outside = step(state, AppendVoters(keys(2, 3, 4)), OBSERVED).state
    one = receive(outside, fetch(2, 1, 4, 2, 4), OBSERVED)
    assert (one.state.high_watermark, one.state.fetchers, one.timers) == (1, frozenset({2}), ())
    again = receive(one.state, fetch(2, 1, 4, 2, 4), OBSERVED)
    assert (again.state.high_watermark, again.timers) == (1, ())
    two = receive(one.state, fetch(3, 1, 4, 1, 4), OBSERVED)
    assert (two.state.high_watermark, two.state.fetchers, two.timers) == (1, frozenset(), (CHECK_QUORUM,))
    # Without the rule the record of one voter is announced as committed.
    assert receive(outside, fetch(2, 1, 4, 2, 4), OBSERVED, "hw.leader-excluded").state.high_watermark == 2


# ---------------------------------------------------------------------------------------------------------
# One change at a time.
# ---------------------------------------------------------------------------------------------------------


@states("voters.at-most-one-difference")
@pytest.mark.parametrize(
    ("after", "allowed"),
    [
        (keys(1, 2, 3), True),
        (keys(1, 2, 3, 4), True),
        (keys(1, 2), True),
        (keys(2, 3), True),
        (keys(1, 2, 4), False),
        (keys(1), False),
        (keys(1, 2, 3, 4, 5), False),
        (frozenset({key(1), key(2), key(3, "U3'")}), False),
    ],
)
def test_consecutive_sets_differ_by_one_voter(after: VoterSet, allowed: bool) -> None:
    state = established(4)
    done = step(state, AppendVoters(after), FIVE)
    if allowed:
        assert (done.state.voters, done.refusal) == (after, None)
    else:
        assert done == refused(state, Refusal.CHANGE_NOT_ALLOWED)
        assert step(state, AppendVoters(after), FIVE, "voters.at-most-one-difference").state.voters == after


CHANGES: list[Event] = [
    AddVoter(5, key(5), endpoint(5)),
    RemoveVoter(5, key(3)),
    UpdateFeatures(5, 1),
]


@states("voters.one-change-at-a-time")
@pytest.mark.parametrize("event", CHANGES, ids=lambda event: type(event).__name__)
def test_no_change_while_one_is_uncommitted(event: Event) -> None:
    # Scenario S11: 4 is pending, and 5 must wait, or 3 be kept.
    state = step(established(4), RemoveVoter(9, key(2)), FIVE).state
    assert state.pending_change == committing(ChangeKind.REMOVE, key(2), 1)
    answer = reply(5, 4, 1, Error.REQUEST_TIMED_OUT)
    assert step(state, event, FIVE) == Outcome(state, (answer,), (), Refusal.REQUEST_REFUSED)
    # Nor while only the record is left: its requester was told that its time is over, or nobody asked.
    forgotten = state._replace(pending_change=None)
    assert step(forgotten, event, FIVE) == Outcome(forgotten, (answer,), (), Refusal.REQUEST_REFUSED)
    for waiting in (state, forgotten):
        assert step(waiting, AppendVoters(keys(1, 3, 4)), FIVE) == refused(waiting, Refusal.CHANGE_NOT_ALLOWED)
    # Its commit opens the way.
    committed = receive(state, fetch(3, 1, 4, 2, 4), FIVE).state
    assert (committed.pending_change, committed.high_watermark) == (None, 2)
    assert step(committed, event, FIVE).refusal is None
    # Switched off, both are pending.
    assert step(state, event, FIVE, "voters.one-change-at-a-time").refusal is None


@states("voters.epoch-committed-before-change")
@pytest.mark.parametrize("event", CHANGES, ids=lambda event: type(event).__name__)
def test_no_change_before_the_own_epoch_is_committed(event: Event) -> None:
    # Scenario S10: the set that an earlier leader appended may still come back.
    log = log_of(*[1] * 11)
    for high_watermark in (-1, 5, 11):
        state = leader(4, log=log, high_watermark=high_watermark)
        answer = reply(5, 4, 1, Error.REQUEST_TIMED_OUT)
        assert step(state, event, FIVE) == Outcome(state, (answer,), (), Refusal.REQUEST_REFUSED)
        assert step(state, AppendVoters(keys(1, 2)), FIVE) == refused(state, Refusal.CHANGE_NOT_ALLOWED)
        assert step(state, event, FIVE, "voters.epoch-committed-before-change").refusal is None
    assert step(leader(4, log=log, high_watermark=12), event, FIVE).refusal is None


@states("voters.never-empty")
def test_the_last_voter_stays() -> None:
    alone = established(4, log=log_of(voters=keys(1)))
    answer = reply(9, 4, 1, Error.VOTER_NOT_FOUND)
    assert step(alone, RemoveVoter(9, key(1))) == Outcome(alone, (answer,), (), Refusal.REQUEST_REFUSED)
    with pytest.raises(ValueError, match="at least one"):
        AppendVoters(frozenset())


@states("voters.truncation-reverts")
def test_a_crash_that_loses_the_record_loses_the_set() -> None:
    log = append(log_of(3), [voters_record(4, 1, 2)])
    state: ReplicaState = follower(4, 1, 3, log=log)
    assert not is_voter(state)
    back = step(step(state, Crash(1)).state, Restart()).state
    assert (is_voter(back), back.log) == (True, log_of(3))
