"""vote.*: standard Vote requests and their answers."""

from dataclasses import replace

import pytest
from tests.reference.builders import (
    ANNOUNCE,
    BACKOFF,
    CHECK_QUORUM,
    DRAW,
    ELECTION,
    FIVE,
    IN_FIVE,
    OBSERVED,
    THREE,
    becomes,
    candidate,
    cluster,
    follower,
    in_every_role,
    key,
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
from tests.reference.wire import asked, bqe, vote, vote_reply

from kraft_reference.effects import PersistQuorumState, Send
from kraft_reference.events import Crash, ElectionTimeout, Poll, Receive, RequestTimeout, Restart
from kraft_reference.messages import BeginQuorumEpochRequest, Error, VoteRequest
from kraft_reference.outcome import Outcome, Refusal
from kraft_reference.profile import KAFKA_4
from kraft_reference.replica import Replica, Step
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState

EVERY_ROLE = pytest.mark.parametrize("state", in_every_role(4), ids=role_name)


@states("vote.request.contents")
def test_vote_request_contents() -> None:
    state = candidate(5, 3, log=log_of(*[4] * 10))
    polled = step(state, Poll())
    requests = tuple(vote(3, to, 5, (4, 10), correlation_id=77) for to in (1, 2))
    assert polled == Outcome(state._replace(awaiting={1: 77, 2: 77}), requests)
    assert (requests[0].replica_key, requests[0].voter_key, requests[0].pre_vote) == (key(3), key(1), False)
    repeated = step(step(polled.state, RequestTimeout(2)).state, Poll())
    assert repeated.sends == (requests[1],)


@states("vote.request.stale-epoch")
@EVERY_ROLE
def test_vote_request_stale_epoch(state: ReplicaState) -> None:
    answer = vote_reply(1, 3, 4, False, leader=state.leader_id, error=Error.FENCED_LEADER_EPOCH)
    assert receive(state, vote(3, 1, 3, (2, 99))) == Outcome(state, (answer,), (), Refusal.STALE_EPOCH)


@states("vote.request.higher-epoch")
@EVERY_ROLE
def test_vote_request_higher_epoch(state: ReplicaState) -> None:
    longer = state._replace(log=log_of(4, 4, 4))
    refused_vote = receive(longer, vote(3, 1, 5, (4, 2)))
    assert refused_vote.state == becomes(longer, Role.UNATTACHED, 5)
    assert refused_vote.sends == (vote_reply(1, 3, 5, False),)
    granted = receive(longer, vote(3, 1, 5, (4, 3)))
    assert granted == Outcome(
        becomes(longer, Role.UNATTACHED, 5, voted_key=key(3)), (vote_reply(1, 3, 5, True),), (ELECTION,)
    )


@states("vote.decision-order")
@pytest.mark.parametrize("make", [unattached, prospective])
@pytest.mark.parametrize("leader_id", [None, 2])
@pytest.mark.parametrize(
    ("voted", "requester", "expected"),
    [
        (key(3), key(3), True),
        (key(3), key(3, "U3'"), False),
        (key(2), key(3), False),
        (None, key(3), None),
    ],
)
def test_vote_decision_order(
    make: type, leader_id: int | None, voted: object, requester: object, expected: object
) -> None:
    state = make(5, leader=leader_id, voted=voted, log=log_of(4, 4))
    for last, log_is_good in (((4, 2), True), ((4, 1), False)):
        granted = expected if expected is not None else leader_id is None and log_is_good
        outcome = receive(state, vote(3, 1, 5, last, replica_key=requester))
        answer = vote_reply(1, 3, 5, bool(granted), leader=leader_id, leader_endpoint=state.leader_endpoint)
        assert outcome.sends == (answer,)
        assert outcome.state.voted_key == (requester if granted else voted)


@states("vote.once-per-epoch")
def test_vote_once_per_epoch() -> None:
    voted = receive(unattached(5), vote(2, 1, 5)).state
    back = step(step(voted, Crash(0)).state, Restart()).state
    assert receive(back, vote(3, 1, 5)) == Outcome(back, (vote_reply(1, 3, 5, False),))
    for state in in_every_role(5):
        spent = state if state.voted_key else state._replace(voted_key=key(2))
        assert receive(spent, vote(3, 1, 5, (4, 9))).state == spent


@states("vote.repeat-grant")
@pytest.mark.parametrize("make", [unattached, prospective])
def test_vote_repeat_grant(make: type) -> None:
    # Neither the logs nor a leader that was learned since count any more, and nothing is restarted.
    state = make(5, voted=key(2), leader=3, log=log_of(4, 4, 4))
    answer = vote_reply(1, 2, 5, True, leader=3, leader_endpoint=state.leader_endpoint)
    for _ in range(2):
        assert receive(state, vote(2, 1, 5)) == Outcome(state, (answer,))


@states("vote.log-check")
@pytest.mark.parametrize(("last", "granted"), [((3, 99), False), ((4, 11), False), ((4, 12), True), ((5, 1), True)])
def test_vote_log_check(last: tuple[int, int], granted: bool) -> None:
    state = unattached(6, log=log_of(*[4] * 12))
    assert receive(state, vote(3, 1, 6, last)).sends == (vote_reply(1, 3, 6, granted),)


@states("vote.persist-before-reply")
def test_vote_persist_before_reply() -> None:
    replica = Replica(unattached(5), THREE)
    done = replica.step(Receive(vote(2, 1, 5)), DRAW)
    written, answer = PersistQuorumState(5, None, key(2)), Send(vote_reply(1, 2, 5, True))
    assert done == Step(unattached(5, voted=key(2)), (written, answer, ELECTION), None)
    crashed = Replica(unattached(5), THREE)
    assert crashed.crash_during(Receive(vote(2, 1, 5)), DRAW, 1, 0).effects == (written,)
    assert crashed.step(Restart(), DRAW).state.voted_key == key(2)


@states("vote.follower.rejects", "vote.candidate.rejects", "vote.leader.rejects", "vote.resigned.rejects")
@pytest.mark.parametrize(
    "state",
    [follower(5, 2), follower(5, 2, voted=key(3)), candidate(5), leader(5), resigned(5)],
    ids=role_name,
)
def test_vote_rejected_by_role(state: ReplicaState) -> None:
    answer = vote_reply(1, 3, 5, False, leader=state.leader_id)
    assert receive(state, vote(3, 1, 5, (4, 99))) == Outcome(state, (answer,))
    assert receive(state, vote(3, 1, 6, (5, 99))).sends == (vote_reply(1, 3, 6, True),)


@states("vote.known-leader.rejects")
@pytest.mark.parametrize("state", [unattached(5, leader=4), prospective(5, leader=2)], ids=role_name)
def test_vote_known_leader_rejects(state: ReplicaState) -> None:
    answer = vote_reply(1, 3, 5, False, leader=state.leader_id, leader_endpoint=state.leader_endpoint)
    assert receive(state, vote(3, 1, 5), FIVE) == Outcome(state, (answer,))


@states("vote.membership-not-checked")
def test_vote_membership_not_checked() -> None:
    observer = log_of(voters=OBSERVED.voters)
    granted = receive(unattached(5, 4, log=observer), vote(2, 4, 6, (5, 0)), OBSERVED)
    assert granted.sends == (vote_reply(4, 2, 6, True),)
    assert receive(unattached(5, log=observer), vote(4, 1, 6), OBSERVED).sends == (vote_reply(1, 4, 6, True),)
    four = log_of(more=(voters_record(5, 1, 2, 3, 4),))
    state = candidate(6, 2, log=four, awaiting=asked(3, 4))
    for source in (3, 4):
        state = receive(state, vote_reply(source, 2, 6, True), OBSERVED).state
    assert state.role is Role.LEADER


@states("vote.inconsistent-voter-set-gone")
def test_vote_inconsistent_voter_set_gone() -> None:
    assert not any("INCONSISTENT_VOTER_SET" in error for error in Error)
    unknown = cluster(3, observers=6)
    assert receive(unattached(5), vote(9, 1, 6), unknown).sends == (vote_reply(1, 9, 6, True),)
    assert receive(unattached(5), bqe(9, 1, 6), unknown).sends[0].error is Error.NONE  # type: ignore[union-attr]


@states("vote.voter-key")
@pytest.mark.parametrize("profile", ["kip", "kafka-4"])
@pytest.mark.parametrize(
    ("addressed", "accepted"),
    [(None, True), (key(1), True), (key(1)._replace(directory_id=None), True), (key(1, "U1'"), False), (key(2), False)],
)
def test_vote_voter_key(profile: str, addressed: object, accepted: bool) -> None:
    configuration = THREE if profile == "kip" else replace(THREE, profile=KAFKA_4)
    error = Error.NONE if accepted else Error.INVALID_REQUEST if profile == "kip" else Error.INVALID_VOTER_KEY
    outcome = receive(unattached(5), vote(2, 1, 6, voter_key=addressed), configuration)
    assert outcome.sends == (vote_reply(1, 2, 6, accepted, error=error),)
    assert outcome.state == unattached(6, voted=key(2) if accepted else None)
    # The sender does not count an answer with this error, and asks again.
    asking = candidate(6, 2, awaiting=asked(1))
    if not accepted:
        assert receive(asking, outcome.sends[0]) == refused(candidate(6, 2), Refusal.ERROR_RESPONSE)
        assert vote(2, 1, 6, correlation_id=77) in step(candidate(6, 2), Poll()).sends


@states("vote.unsupported-version")
def test_vote_unsupported_version() -> None:
    static = cluster(3, kraft_version=0)
    log = log_of(voters=static.voters)
    granted = receive(unattached(5, log=log), vote(2, 1, 6), static)
    assert granted == Outcome(unattached(6, voted=key(2), log=log), (vote_reply(1, 2, 6, True),), (ELECTION,))


@states("vote.grant.resets-timer")
def test_vote_grant_resets_timer() -> None:
    assert receive(unattached(5), vote(2, 1, 5)).timers == (ELECTION,)
    assert receive(resigned(4), vote(2, 1, 5)).timers == (ELECTION,)
    assert receive(unattached(5, log=log_of(4)), vote(2, 1, 5)).timers == ()
    # An observer votes too, but has no election timer.
    observer = unattached(5, 4, log=log_of(voters=OBSERVED.voters))
    assert receive(observer, vote(2, 4, 5), OBSERVED).timers == ()


@states("vote.response.counting")
def test_vote_response_counting() -> None:
    stranger = cluster(3, observers=6)
    state = candidate(6, 3, awaiting=asked(2, 9))
    assert receive(state, vote_reply(9, 3, 6, True), stranger).state == candidate(6, 3, awaiting=asked(2))
    counted = candidate(6, 3, log=IN_FIVE, granted=frozenset({2, 3}), awaiting=asked(2))
    assert receive(counted, vote_reply(2, 3, 6, True), FIVE).state == counted._replace(awaiting={})
    won = receive(
        candidate(6, 3, log=log_of(more=(voters_record(1, 1, 2, 3),)), awaiting=asked(2)), vote_reply(2, 3, 6, True)
    )
    assert (won.state.role, won.timers) == (Role.LEADER, (CHECK_QUORUM, ANNOUNCE))
    assert receive(won.state, vote_reply(1, 3, 6, False)) == refused(won.state, Refusal.UNCORRELATED_RESPONSE)
    losing = candidate(6, 3, rejected=frozenset({1}), awaiting=asked(2))
    assert receive(losing, vote_reply(2, 3, 6, False)).timers == (BACKOFF,)


@states("vote.response.late")
def test_vote_response_late() -> None:
    state = candidate(5, 3, awaiting=asked(1, 2))
    prospect = step(state, ElectionTimeout()).state
    again = receive(prospect._replace(awaiting=asked(2)), vote_reply(2, 3, 5, True, pre_vote=True)).state
    assert again == candidate(6, 3)
    for late in (vote_reply(1, 3, 5, True), vote_reply(1, 3, 9, False, leader=2)):
        assert receive(again, late) == refused(again, Refusal.UNCORRELATED_RESPONSE)
    stale = receive(again._replace(awaiting=asked(1)), vote_reply(1, 3, 5, True))
    assert stale == refused(again, Refusal.STALE_EPOCH)


@states("vote.request.contents")
def test_vote_requests_are_all_that_a_candidate_sends() -> None:
    sends = step(candidate(5, 3), Poll()).sends
    assert all(isinstance(message, VoteRequest) for message in sends)
    assert not any(isinstance(message, BeginQuorumEpochRequest) for message in sends)
