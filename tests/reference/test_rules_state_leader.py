"""state.*: Leader, Resigned, Follower, and the voters set."""

import pytest
from tests.reference.builders import (
    ELECTION,
    FETCH,
    OBSERVED,
    becomes,
    candidate,
    cluster,
    data,
    endpoint,
    established,
    follower,
    key,
    keys,
    leader,
    log_of,
    prospective,
    receive,
    refused,
    resigned,
    states,
    step,
    unattached,
    voters_record,
)
from tests.reference.wire import (
    asked,
    bqe,
    bqe_reply,
    eqe_reply,
    fetch,
    fetch_reply,
    pre_vote,
    pre_vote_reply,
    vote,
    vote_reply,
)

from kraft_reference.events import (
    AppendVoters,
    CheckQuorumTimeout,
    ClientAppend,
    ElectionTimeout,
    FetchTimeout,
    Shutdown,
)
from kraft_reference.identity import ReplicaKey
from kraft_reference.log import append, flush
from kraft_reference.messages import Error
from kraft_reference.outcome import Outcome, Refusal
from kraft_reference.polling import due_election_requests
from kraft_reference.records import Record, RecordKind
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState, voter_entry


@states("state.leader.higher-epoch")
def test_leader_higher_epoch() -> None:
    state = leader(
        4, fetchers=frozenset({2}), acknowledged=frozenset({3}), fetch_offsets={key(2): 1}, awaiting=asked(2)
    )
    unled = becomes(state, Role.UNATTACHED, 5)
    judged = vote_reply(1, 3, 5, True, pre_vote=True)
    assert receive(state, pre_vote(3, 1, 5, (4, 1))) == Outcome(unled, (judged,), (ELECTION,))
    led = becomes(state, Role.FOLLOWER, 6, leader_id=3, leader_endpoint=endpoint(3))
    assert receive(state, bqe_reply(2, 1, 6, 3, Error.FENCED_LEADER_EPOCH)) == Outcome(led, (), (FETCH,))
    assert receive(state, bqe_reply(2, 1, 6, None, Error.FENCED_LEADER_EPOCH)).state == becomes(
        state, Role.UNATTACHED, 6
    )
    # A Fetch of a larger epoch is the one request that does not move it (fetch.leader-only).
    assert receive(state, fetch(3, 1, 6, 0, 0)).state == state


@states("state.leader.resigns")
@pytest.mark.parametrize("event", [Shutdown(), CheckQuorumTimeout()])
def test_leader_resigns(event: Shutdown | CheckQuorumTimeout) -> None:
    state = leader(4, fetchers=frozenset({2}), acknowledged=frozenset({3}), fetch_offsets={key(3): 1})
    after = resigned(4, log=state.log, preferred_candidates=(key(3), key(2)))
    assert step(state, event) == Outcome(after, (), (ELECTION,))
    assert step(after, ClientAppend(1)) == refused(after, Refusal.NOT_IN_ROLE)
    answer = fetch_reply(1, 2, 4, 1, error=Error.NOT_LEADER_OR_FOLLOWER)
    assert receive(after, fetch(2, 1, 4, 0, 0)) == Outcome(after, (answer,), (), Refusal.NOT_LEADER)
    assert receive(after, vote(3, 1, 4, (3, 9))) == Outcome(after, (vote_reply(1, 3, 4, False, leader=1),))


@states("state.leader.start-of-epoch")
def test_leader_start_of_epoch() -> None:
    log = log_of(1, 1, 1, 1, 1, 1, 1, 1, 1, more=(voters_record(1, 1, 2, 3),))
    state = candidate(6, 2, log=log, awaiting=asked(1))
    won = receive(state, vote_reply(1, 2, 6, True)).state
    assert won == leader(6, 2, log=log, epoch_start_offset=10)
    assert won.log.records[10:] == (Record(6, RecordKind.LEADER_CHANGE, 2),)


@states("state.leader.first-leader")
@pytest.mark.parametrize("kraft_version", [0, 1])
def test_leader_first_leader(kraft_version: int) -> None:
    alone = cluster(1, kraft_version=kraft_version)
    won = step(unattached(0, log=log_of(voters=alone.voters)), ElectionTimeout(), alone).state
    copied = (Record(1, RecordKind.KRAFT_VERSION, 1), voters_record(1, 1)) if kraft_version else ()
    assert won.log.records == (Record(1, RecordKind.LEADER_CHANGE, 1), *copied)
    assert [entry.offset for entry in won.log.voters] == ([-1, 2] if kraft_version else [-1])
    # The second leader finds the VotersRecord, committed or not.
    again = step(step(step(won, Shutdown(), alone).state, ElectionTimeout(), alone).state, ElectionTimeout(), alone)
    assert again.state.log.records == (*won.log.records, Record(3, RecordKind.LEADER_CHANGE, 1))


def _removed() -> ReplicaState:
    """L(4) of {1,2,3} with Voters{2,3} at offset 20 of its log, which ends at 21."""
    state = established(4, log=log_of(*[3] * 19))
    return step(state, AppendVoters(keys(2, 3))).state


@states("state.leader.outside-voters-set")
def test_leader_outside_voters_set() -> None:
    state = _removed()
    assert (state.role, state.voters, state.log.end_offset) == (Role.LEADER, keys(2, 3), 21)
    one = receive(state, fetch(2, 1, 4, 21, 4))
    assert one.state == state._replace(fetch_offsets={key(2): 21}, fetchers=frozenset({2}))
    assert one.state.high_watermark <= 20
    both = receive(one.state, fetch(3, 1, 4, 21, 4))
    assert both.state.role is Role.RESIGNED
    assert both.sends == (fetch_reply(1, 3, 4, 1, high_watermark=21),)


@states("state.leader.resigns-on-own-removal")
def test_leader_resigns_on_own_removal() -> None:
    state = _removed()._replace(fetch_offsets={key(2): 21})
    served = receive(state, fetch(3, 1, 4, 20, 4))
    assert (served.state.role, served.state.high_watermark) == (Role.LEADER, 20)
    committed = receive(served.state, fetch(3, 1, 4, 21, 4))
    after = resigned(4, log=state.log, high_watermark=21, preferred_candidates=(key(2), key(3)))
    assert committed == Outcome(after, (fetch_reply(1, 3, 4, 1, high_watermark=21),), (ELECTION,))
    assert due_election_requests(after) == [key(2), key(3)]


@states("state.resigned.timeout", "state.resigned.timer-handover")
def test_resigned_timeout() -> None:
    fired = step(resigned(5), ElectionTimeout())
    assert fired.state == unattached(6)
    assert [timer.duration_ms for timer in fired.timers] == [0]
    assert step(fired.state, ElectionTimeout()) == Outcome(prospective(6), (), (ELECTION,))
    # A removed leader leaves its epoch the same way, but an observer has no election timer.
    log = log_of(more=(voters_record(4, 2, 3),))
    observer = step(resigned(5, log=log), ElectionTimeout())
    assert observer == Outcome(unattached(6, log=log))
    assert step(observer.state, ElectionTimeout()) == refused(observer.state, Refusal.NOT_IN_ROLE)


@states("state.resigned.higher-epoch")
def test_resigned_higher_epoch() -> None:
    state = resigned(5, awaiting=asked(2))
    # A stale answer that names this very replica as the leader of its epoch is legal and teaches nothing.
    stale = receive(state, eqe_reply(2, 1, 5, 1, Error.INVALID_REQUEST))
    assert stale == refused(resigned(5), Refusal.ERROR_RESPONSE)
    assert receive(state, bqe(2, 1, 6)).state == follower(6, 2)
    assert receive(state, vote(2, 1, 6, (4, 9))).state.role is Role.UNATTACHED
    second = receive(state, bqe(2, 1, 5))
    assert second == Outcome(state, (bqe_reply(1, 2, 5, 1, Error.INVALID_REQUEST),), (), Refusal.SECOND_LEADER_IN_EPOCH)


@states("state.follower.fetch-timeout")
def test_follower_fetch_timeout() -> None:
    state = follower(4, 1, 3, voted=key(2), fetched=True, awaiting=asked(1))
    assert step(state, FetchTimeout()) == Outcome(prospective(4, 3, leader=1, voted=key(2)), (), (ELECTION,))


@states("state.follower.larger-epoch-leader")
def test_follower_larger_epoch_leader() -> None:
    state = follower(5, 2)
    refusal = (bqe_reply(1, 3, 5, 2, Error.INVALID_REQUEST),)
    assert receive(state, bqe(3, 1, 5)) == Outcome(state, refusal, (), Refusal.SECOND_LEADER_IN_EPOCH)
    assert receive(state, bqe(3, 1, 6)).state == follower(6, 3)
    # The same in answers: nothing is learned, nothing is counted, and the refusal is the flag.
    fetching = follower(5, 2, awaiting=asked(2))
    assert receive(fetching, fetch_reply(2, 1, 5, 3, data(5))) == refused(state, Refusal.SECOND_LEADER_IN_EPOCH)
    asking = prospective(5, leader=2, awaiting=asked(3))
    named = receive(asking, pre_vote_reply(3, 1, 5, True, leader=3))
    assert named == refused(prospective(5, leader=2), Refusal.SECOND_LEADER_IN_EPOCH)
    leading = leader(5, awaiting=asked(3))
    assert receive(leading, bqe_reply(3, 1, 5, 2)) == refused(leader(5), Refusal.SECOND_LEADER_IN_EPOCH)


@states("state.voters-set.applied-uncommitted")
def test_voters_set_applied_uncommitted() -> None:
    record = voters_record(4, 1, 2, 3, 4)
    appended = step(established(4), AppendVoters(record.voters), OBSERVED).state
    assert (appended.log.records[-1], appended.voters, appended.high_watermark) == (record, keys(1, 2, 3, 4), 1)
    copied = receive(follower(4, 1, 2, awaiting=asked(1)), fetch_reply(1, 2, 4, 1, (record,)), OBSERVED).state
    assert (copied.voters, copied.high_watermark) == (keys(1, 2, 3, 4), -1)


@states("state.voters-set.own-majority")
def test_voters_set_own_majority() -> None:
    four = log_of(more=(voters_record(1, 1, 2, 3, 4),))
    of_four = candidate(5, 2, log=four, granted=frozenset({1, 2}), awaiting=asked(3))
    assert receive(of_four, vote_reply(3, 2, 5, True), OBSERVED).state.role is Role.LEADER
    of_four = candidate(5, 2, log=four, awaiting=asked(3))
    assert receive(of_four, vote_reply(3, 2, 5, True), OBSERVED).state.role is Role.CANDIDATE
    of_three = candidate(5, 3, awaiting=asked(2))
    assert receive(of_three, vote_reply(2, 3, 5, True), OBSERVED).state.role is Role.LEADER
    assert due_election_requests(candidate(5, 2, log=four)) == [key(1), key(3), key(4)]
    assert due_election_requests(candidate(5, 3)) == [key(1), key(2)]
    # A voter is its id and its directory id.
    assert voter_entry(of_three, key(2, "U2'")) is None


@states("state.voters-set.fallback-static")
def test_voters_set_fallback_static() -> None:
    static = cluster(3, kraft_version=0)
    state = leader(5, log=log_of(voters=static.voters))
    assert state.voters == frozenset({ReplicaKey(1), ReplicaKey(2), ReplicaKey(3)})
    assert voter_entry(state, key(3, "U3'")) == ReplicaKey(3)
    fetched = receive(state, fetch(3, 1, 5, 1, 5, replica_key=key(3, "U3'")), static).state
    assert (fetched.fetch_offsets, fetched.high_watermark) == ({ReplicaKey(3): 1}, 1)
    # The newest VotersRecord takes over as soon as there is one.
    recorded = flush(append(state.log, [voters_record(5, 1, 2)]))
    assert state._replace(log=recorded).voters == keys(1, 2)
