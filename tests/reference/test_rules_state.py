"""state.*: roles and how a replica moves between them."""

import pytest
from tests.reference.builders import (
    ANNOUNCE,
    BACKOFF,
    CHECK_QUORUM,
    DRAW,
    ELECTION,
    FETCH,
    FIVE,
    IN_FIVE,
    OBSERVED,
    THREE,
    becomes,
    candidate,
    cluster,
    endpoint,
    follower,
    in_every_role,
    key,
    keys,
    leader,
    log_of,
    prospective,
    receive,
    refused,
    resigned,
    role_name,
    states,
    step,
    unattached,
    voters_record,
)
from tests.reference.wire import asked, bqe, bqe_reply, pre_vote, pre_vote_reply, vote, vote_reply

from kraft_reference.cluster.agenda import Chance
from kraft_reference.cluster.world import World
from kraft_reference.effects import AppendRecords, FlushLog, PersistQuorumState, StartTimer, Timer
from kraft_reference.events import (
    CheckQuorumTimeout,
    Crash,
    Draw,
    ElectionTimeout,
    FetchTimeout,
    Poll,
    Receive,
    Restart,
)
from kraft_reference.log import append, flush
from kraft_reference.messages import Error
from kraft_reference.outcome import Outcome, Refusal
from kraft_reference.records import Record, RecordKind
from kraft_reference.replica import Replica, Step, handle
from kraft_reference.roles import TRANSITIONS, Cause, Role
from kraft_reference.state import ReplicaState

EVERY_ROLE = pytest.mark.parametrize("state", in_every_role(4), ids=role_name)


@states("state.roles")
def test_roles() -> None:
    assert set(Role) == {"Unattached", "Prospective", "Candidate", "Leader", "Follower", "Resigned", "Stopped"}
    world = World(THREE)
    assert [world.state(i) for i in (1, 2, 3)] == [unattached(0, i) for i in (1, 2, 3)]


@states("state.epoch-monotonic")
@EVERY_ROLE
def test_epoch_monotonic(state: ReplicaState) -> None:
    moved = receive(state, vote(3, 1, 7)).state
    assert moved.epoch == 7
    late = receive(moved, bqe(2, 1, 5))
    assert late == Outcome(moved, (bqe_reply(1, 2, 7, None, Error.FENCED_LEADER_EPOCH),), (), Refusal.STALE_EPOCH)


@states("state.learn-higher-epoch.no-leader")
@pytest.mark.parametrize("request_of", [vote, pre_vote])
@EVERY_ROLE
def test_learn_higher_epoch_no_leader(state: ReplicaState, request_of: type) -> None:
    # The log of the requester is too short: the epoch is adopted all the same.
    longer = state._replace(log=log_of(4, 4))
    outcome = receive(longer, request_of(3, 1, 6))
    runs_on = state.role in (Role.UNATTACHED, Role.RESIGNED)
    answer = vote_reply(1, 3, 6, False, pre_vote=request_of is pre_vote)
    assert outcome == Outcome(becomes(longer, Role.UNATTACHED, 6), (answer,), () if runs_on else (ELECTION,))


@states("state.learn-higher-epoch.leader")
@EVERY_ROLE
def test_learn_higher_epoch_leader(state: ReplicaState) -> None:
    after = becomes(state, Role.FOLLOWER, 5, leader_id=3, leader_endpoint=endpoint(3))
    assert receive(state, bqe(3, 1, 5)) == Outcome(after, (bqe_reply(1, 3, 5, 3),), (FETCH,))
    # Without an endpoint in the message and in the voters set only the id is remembered.
    nowhere = receive(state, bqe(4, 1, 5, leader_endpoint=None), OBSERVED)
    assert nowhere.state == becomes(state, Role.UNATTACHED, 5, leader_id=4)


@states("state.same-epoch-preserves")
def test_same_epoch_preserves() -> None:
    granted = receive(unattached(5), vote(2, 1, 5)).state
    following = receive(granted, bqe(3, 1, 5)).state
    assert following == follower(5, 3, voted=key(2))
    electing = step(following, FetchTimeout()).state
    assert electing == prospective(5, leader=3, voted=key(2))
    lost = step(electing, ElectionTimeout()).state
    assert lost == follower(5, 3, voted=key(2))
    for state in (granted, following, electing, lost):
        assert receive(state, vote(4, 1, 5), FIVE).sends[0] == vote_reply(1, 4, 5, False, leader=state.leader_id)
    searching = step(prospective(5, leader=4, leader_endpoint=None, voted=key(2)), ElectionTimeout()).state
    assert searching == unattached(5, leader=4, voted=key(2))


@states("state.candidate-only-from-prospective")
def test_candidate_only_from_prospective() -> None:
    sources = {row.source for row in TRANSITIONS if row.target is Role.CANDIDATE and row.cause is not Cause.RESTART}
    assert sources == {Role.PROSPECTIVE}
    assert step(follower(4, 1, 3), FetchTimeout()).state == prospective(4, 3, leader=1)


@states("state.unattached.election-timeout")
def test_unattached_election_timeout() -> None:
    state = unattached(6, 2, voted=key(3), leader=4, awaiting=asked(1))
    after = prospective(6, 2, voted=key(3), leader=4, leader_endpoint=None)
    assert step(state, ElectionTimeout()) == Outcome(after, (), (ELECTION,))


@states("state.unattached.leader")
def test_unattached_leader() -> None:
    after = follower(6, 3, voted=key(2))
    assert receive(unattached(6, voted=key(2)), bqe(3, 1, 6)) == Outcome(after, (bqe_reply(1, 3, 6, 3),), (FETCH,))
    # It remembered the id already, the endpoint is what was missing.
    assert receive(unattached(6, leader=3, voted=key(2)), bqe(3, 1, 6)).state == after


@states("state.unattached.entry-timer")
def test_unattached_entry_timer() -> None:
    lost = step(prospective(5, 3), ElectionTimeout())
    assert lost == Outcome(unattached(5, 3), (), (ELECTION,))
    # A voter that was Resigned, or Unattached before, goes on with the timer it has.
    for state in (resigned(4), unattached(4)):
        assert receive(state, pre_vote(3, 1, 6)).timers == ()
    observer = follower(4, 2, own=4)
    assert receive(observer, vote(3, 4, 6), OBSERVED) == Outcome(
        unattached(6, 4, voted=key(3)), (vote_reply(4, 3, 6, True),), ()
    )


@states("state.prospective.entry")
def test_prospective_entry() -> None:
    state = follower(4, 1, 3, voted=key(2), fetched=True, awaiting=asked(1))
    assert step(state, FetchTimeout()) == Outcome(prospective(4, 3, leader=1, voted=key(2)), (), (ELECTION,))
    again = step(candidate(4, 3, granted=frozenset({3, 2}), rejected=frozenset({1})), ElectionTimeout())
    assert again.state == prospective(4, 3, voted=key(3))


@states("state.prospective.to-candidate")
def test_prospective_to_candidate() -> None:
    won = receive(prospective(4, 3, awaiting=asked(1, 2)), pre_vote_reply(2, 3, 4, True))
    assert won == Outcome(candidate(5, 3), (), (ELECTION,))
    # The majority is of the voters set in its own log: two of five are not enough.
    of_five = prospective(4, 3, awaiting=asked(2), log=IN_FIVE)
    two = of_five._replace(granted=frozenset({2, 3}), awaiting={})
    assert receive(of_five, pre_vote_reply(2, 3, 4, True), FIVE) == Outcome(two)


@states("state.prospective.lost.no-leader")
def test_prospective_lost_no_leader() -> None:
    state = prospective(5, 3, voted=key(2), rejected=frozenset({1}), awaiting=asked(2))
    rejected = receive(state, pre_vote_reply(2, 3, 5, False))
    assert rejected == Outcome(unattached(5, 3, voted=key(2)), (), (ELECTION,))
    assert step(state, ElectionTimeout()) == Outcome(unattached(5, 3, voted=key(2)), (), (ELECTION,))
    # A leader id without an endpoint is no use, but it is remembered.
    nowhere = prospective(5, 3, leader=4, leader_endpoint=None)
    assert step(nowhere, ElectionTimeout()).state == unattached(5, 3, leader=4)


@states("state.prospective.lost.known-leader")
def test_prospective_lost_known_leader() -> None:
    state = prospective(4, 3, leader=1, voted=key(2), rejected=frozenset({2}), awaiting=asked(1))
    assert step(state, ElectionTimeout()) == Outcome(follower(4, 1, 3, voted=key(2)), (), (FETCH,))
    rejected = receive(state, pre_vote_reply(1, 3, 4, False, leader=1))
    assert rejected == Outcome(follower(4, 1, 3, voted=key(2)), (), (FETCH,))


@states("state.prospective.discovers-leader")
@pytest.mark.parametrize("known", [None, 1])
def test_prospective_discovers_leader(known: int | None) -> None:
    state = prospective(5, 3, leader=known, voted=key(2), awaiting=asked(2))
    announced = receive(state, bqe(1, 3, 5))
    assert announced == Outcome(follower(5, 1, 3, voted=key(2)), (bqe_reply(3, 1, 5, 1),), (FETCH,))
    late = receive(announced.state, pre_vote_reply(2, 3, 5, True))
    assert late == refused(announced.state, Refusal.UNCORRELATED_RESPONSE)
    answered = receive(state, pre_vote_reply(2, 3, 5, False, leader=1)).state
    assert (answered.role is Role.FOLLOWER) == (known is None)


@states("state.prospective.add-vote")
def test_prospective_add_vote() -> None:
    state = prospective(5, 2, granted=frozenset({1, 2}), rejected=frozenset({5}), awaiting=asked(3, 4), log=IN_FIVE)
    after = prospective(5, 2, voted=key(3), log=IN_FIVE)
    assert receive(state, vote(3, 2, 5), FIVE) == Outcome(after, (vote_reply(2, 3, 5, True),), (ELECTION,))


@states("state.candidate.entry")
def test_candidate_entry() -> None:
    state = prospective(4, 3, leader=1, voted=key(2), log=IN_FIVE, granted=frozenset({1, 3}), awaiting=asked(2, 4))
    replica = Replica(state, FIVE)
    won = replica.step(Receive(pre_vote_reply(2, 3, 4, True, leader=1)), DRAW)
    assert won == Step(candidate(5, 3, log=IN_FIVE), (PersistQuorumState(5, None, key(3)), ELECTION), None)
    replica.step(Crash(0), DRAW)
    back = replica.step(Restart(), DRAW).state
    assert receive(back, vote(2, 3, 5), FIVE).sends == (vote_reply(3, 2, 5, False),)


@states("state.candidate.to-leader")
def test_candidate_to_leader() -> None:
    voters = keys(1, 2, 3, 4)
    log = log_of(voters=voters, more=(Record(1, RecordKind.VOTERS, 0, voters),))
    state = candidate(6, 2, log=log, awaiting=asked(3, 4))
    half = receive(state, vote_reply(3, 2, 6, True), FIVE).state
    assert half == candidate(6, 2, log=log, granted=frozenset({2, 3}), awaiting=asked(4))
    replica = Replica(half, FIVE)
    won = replica.step(Receive(vote_reply(4, 2, 6, True)), DRAW)
    change = Record(6, RecordKind.LEADER_CHANGE, 2)
    written = (PersistQuorumState(6, 2, key(2)), AppendRecords(1, (change,)), FlushLog(2))
    assert won == Step(leader(6, 2, log=log), (*written, CHECK_QUORUM, ANNOUNCE), None)


@states("state.candidate.election-timeout")
def test_candidate_election_timeout() -> None:
    state = candidate(5, 3, awaiting=asked(1, 2))
    assert step(state, ElectionTimeout()) == Outcome(prospective(5, 3, voted=key(3)), (), (ELECTION,))
    for _ in range(4):
        state = step(state, ElectionTimeout()).state
    assert state.epoch == 5


@states("state.candidate.lost")
def test_candidate_lost() -> None:
    state = candidate(6, 3, rejected=frozenset({1}), awaiting=asked(2))
    lost = candidate(6, 3, rejected=frozenset({1, 2}))
    assert receive(state, vote_reply(2, 3, 6, False)) == Outcome(lost, (), (BACKOFF,))
    assert step(lost, Poll()) == refused(lost, Refusal.NOTHING_DUE)
    assert receive(lost, vote(1, 3, 6)).sends == (vote_reply(3, 1, 6, False),)
    assert step(lost, ElectionTimeout()) == Outcome(prospective(6, 3, voted=key(3)), (), (ELECTION,))


@states("state.candidate.leader-equal-epoch")
def test_candidate_leader_equal_epoch() -> None:
    after = follower(5, 2, 3, voted=key(3))
    assert receive(candidate(5, 3), bqe(2, 3, 5)) == Outcome(after, (bqe_reply(3, 2, 5, 2),), (FETCH,))
    named = receive(candidate(5, 3, awaiting=asked(1)), vote_reply(1, 3, 5, False, leader=2))
    assert named == Outcome(after, (), (FETCH,))


@states("state.sole-voter")
def test_sole_voter() -> None:
    alone = cluster(1)
    log = log_of(voters=alone.voters)
    records = (
        Record(1, RecordKind.LEADER_CHANGE, 1),
        Record(1, RecordKind.KRAFT_VERSION, 1),
        voters_record(1, 1),
    )
    after = leader(1, log=log, epoch_start_offset=0, high_watermark=3)._replace(log=flush(append(log, records)))
    assert step(unattached(0, log=log), ElectionTimeout(), alone) == Outcome(after)


@states("state.timers.random")
def test_timers_random() -> None:
    later = Draw(1, 1999, 0)
    for state in (unattached(4), candidate(4), leader(4)):
        event = CheckQuorumTimeout() if state.role is Role.LEADER else ElectionTimeout()
        assert handle(state, THREE, event, later).timers == (StartTimer(Timer.ELECTION, 1999),)
    assert handle(unattached(4), THREE, Receive(bqe(2, 1, 4)), later).timers == (FETCH,)
    chance = Chance(1)
    drawn = {chance.draw(1, THREE.timeouts).election_timeout_ms for _ in range(500)}
    assert 1000 <= min(drawn) < 1100 < 1900 < max(drawn) < 2000
