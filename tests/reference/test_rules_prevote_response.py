"""prevote.*: how a Prospective takes the answers, and software that does not know Pre-Votes."""

from dataclasses import replace

import pytest
from tests.reference.builders import (
    DRAW,
    ELECTION,
    FETCH,
    FIVE,
    IN_FIVE,
    candidate,
    cluster,
    follower,
    in_every_role,
    key,
    leader,
    log_of,
    messages,
    prospective,
    receive,
    refused,
    role_name,
    states,
    step,
    unattached,
)
from tests.reference.wire import asked, pre_vote, pre_vote_reply, vote, vote_reply

from kraft_reference.cluster.world import World
from kraft_reference.events import Crash, ElectionTimeout, FetchTimeout, Poll, Restart
from kraft_reference.messages import Error, VoteResponse
from kraft_reference.outcome import Outcome, Refusal
from kraft_reference.state import ReplicaState

UNSUPPORTED = vote_reply(2, 3, 0, False, error=Error.UNSUPPORTED_VERSION)


@states("prevote.response.correlate")
def test_prevote_response_correlate() -> None:
    electing = step(candidate(5, 3), ElectionTimeout()).state
    asking = step(electing, Poll()).state
    grant = pre_vote_reply(2, 3, 5, True, correlation_id=DRAW.correlation_id)
    back = step(step(asking, Crash(0)).state, Restart()).state
    assert back == candidate(5, 3)
    assert receive(back, grant) == refused(back, Refusal.UNCORRELATED_RESPONSE)
    assert receive(asking, replace(grant, correlation_id=76)) == refused(asking, Refusal.UNCORRELATED_RESPONSE)
    assert receive(asking, grant).state == candidate(6, 3)


@states("prevote.response.epoch-first")
@pytest.mark.parametrize("state", [prospective(4, 3), candidate(4, 3)], ids=role_name)
def test_prevote_response_epoch_first(state: ReplicaState) -> None:
    asking, asked_once = state._replace(awaiting=asked(2)), state._replace(awaiting={})
    pre = bool(state.voted_key is None)
    ahead = vote_reply(2, 3, 6, True, leader=2, pre_vote=pre)
    assert receive(asking, ahead) == Outcome(follower(6, 2, 3), (), (FETCH,))
    assert receive(asking, replace(ahead, leader_id=None)) == Outcome(unattached(6, 3), (), (ELECTION,))
    assert receive(asking, replace(ahead, epoch=3)) == refused(asked_once, Refusal.STALE_EPOCH)
    named = receive(asking, replace(ahead, epoch=4))
    assert named == Outcome(follower(4, 2, 3, voted=state.voted_key), (), (FETCH,))
    # The leader comes before the flag: no Candidate of a Prospective that has just found a leader.
    assert receive(asking, replace(ahead, epoch=4, pre_vote=False)) == named
    # An error answer teaches epoch and leader, and is not counted.
    fenced = vote_reply(2, 3, 4, False, error=Error.INVALID_REQUEST, pre_vote=pre)
    assert receive(asking, fenced) == refused(asked_once, Refusal.ERROR_RESPONSE)


@states("prevote.response.leader-wins-over-grant")
def test_prevote_response_leader_wins_over_grant() -> None:
    grant = pre_vote_reply(3, 2, 4, True, leader=1)
    found = receive(prospective(4, 2, awaiting=asked(3)), grant)
    assert found == Outcome(follower(4, 1, 2), (), (FETCH,))
    again = step(found.state, FetchTimeout()).state._replace(awaiting=asked(3))
    assert receive(again, grant) == Outcome(candidate(5, 2), (), (ELECTION,))


@states("prevote.response.ignored-when-candidate")
def test_prevote_response_ignored_when_candidate() -> None:
    state = prospective(4, 3, log=IN_FIVE, granted=frozenset({1, 3}), awaiting=asked(2, 4, 5))
    won = receive(state, pre_vote_reply(2, 3, 4, True), FIVE).state
    assert won == candidate(5, 3, log=IN_FIVE)
    for late in (4, 5):
        assert receive(won, pre_vote_reply(late, 3, 4, True), FIVE) == refused(won, Refusal.UNCORRELATED_RESPONSE)
    for other in in_every_role(4, own=3):
        grant = pre_vote_reply(2, 3, 4, True)
        assert receive(other, grant) == refused(other, Refusal.UNCORRELATED_RESPONSE)


@states("prevote.response.majority")
def test_prevote_response_majority() -> None:
    state = prospective(4, 3, log=IN_FIVE, awaiting=asked(2))
    counted = receive(state, pre_vote_reply(2, 3, 4, True), FIVE).state
    assert counted == prospective(4, 3, log=IN_FIVE, granted=frozenset({2, 3}))
    # A duplicate finds no outstanding request, and a second answer would count once all the same.
    assert receive(counted, pre_vote_reply(2, 3, 4, True), FIVE).state == counted
    twice = receive(counted._replace(awaiting=asked(2)), pre_vote_reply(2, 3, 4, False), FIVE).state
    assert twice == counted
    assert [request.destination for request in messages(step(counted, Poll(), FIVE))] == [1, 4, 5]
    stranger = cluster(5, observers=4)
    assert receive(state._replace(awaiting=asked(9)), pre_vote_reply(9, 3, 4, True), stranger).state.granted == {3}


@states("prevote.response.rejected")
def test_prevote_response_rejected() -> None:
    once = receive(prospective(4, 3, leader=1, awaiting=asked(2)), pre_vote_reply(2, 3, 4, False, leader=1))
    assert once == Outcome(prospective(4, 3, leader=1, rejected=frozenset({2})))
    asking = once.state._replace(awaiting=asked(1))
    assert receive(asking, pre_vote_reply(1, 3, 4, False, leader=1)) == Outcome(follower(4, 1, 3), (), (FETCH,))
    assert step(asking, ElectionTimeout()).state == follower(4, 1, 3)


@states("prevote.response.flag-false")
@pytest.mark.parametrize("granted", [True, False])
def test_prevote_response_flag_false(granted: bool) -> None:
    state = prospective(4, 3, leader=1, voted=key(2), awaiting=asked(1, 2))
    bumped = receive(state, vote_reply(2, 3, 4, granted))
    assert bumped == Outcome(candidate(5, 3), (), (ELECTION,))
    assert receive(bumped.state, vote_reply(1, 3, 4, granted)) == refused(bumped.state, Refusal.UNCORRELATED_RESPONSE)
    # In a Candidate the answer to a standard vote is that, whatever the flag.
    standard = candidate(5, 3, log=IN_FIVE, awaiting=asked(2))
    assert receive(standard, vote_reply(2, 3, 5, True), FIVE).state.epoch == 5


@states("prevote.response.flag-false")
def test_prevote_handled_as_a_standard_vote() -> None:
    ignorant = cluster(3, pre_vote={2: "ignored"})
    asked_for = receive(unattached(4, 2), pre_vote(3, 2, 4, (3, 1)), ignorant)
    assert asked_for == Outcome(unattached(4, 2, voted=key(3)), (vote_reply(2, 3, 4, True),), (ELECTION,))


@states("prevote.unsupported-version")
def test_prevote_unsupported_version() -> None:
    world = World(cluster(3, pre_vote={2: "unsupported"}))
    third = world.replicas[3]
    third.state = prospective(4, 3)
    world.happen(3, Poll())
    (identifier,) = [identifier for identifier, _ in world.messages(destination=2)]
    answered = world.answer_unsupported_version(identifier)
    assert isinstance(answered.answer, VoteResponse)
    after = world.deliver(f"{answered.sequence}.3", DRAW).state
    assert after == candidate(5, 3)
    sent = world.happen(3, Poll(), DRAW).effects
    assert [effect.message for effect in sent if hasattr(effect, "message")] == [
        vote(3, 1, 5, correlation_id=77),
        vote(3, 2, 5, correlation_id=77),
    ]


@states("prevote.unsupported-version")
def test_prevote_unsupported_version_own_software() -> None:
    # Software below Vote version 2 sends no Pre-Votes: its timer makes it a Candidate.
    configuration = cluster(3, pre_vote={3: "unsupported"})
    for event, state in ((FetchTimeout(), follower(4, 1, 3)), (ElectionTimeout(), unattached(4, 3))):
        assert step(state, event, configuration) == Outcome(candidate(5, 3), (), (ELECTION,))


@states("prevote.unsupported-version.after-majority")
def test_prevote_unsupported_version_after_majority() -> None:
    won = receive(prospective(4, 3, awaiting=asked(1, 2)), pre_vote_reply(1, 3, 4, True)).state
    assert won == candidate(5, 3)
    assert receive(won, UNSUPPORTED) == refused(won, Refusal.UNCORRELATED_RESPONSE)
    # Not even an outstanding standard Vote makes anything of it.
    assert receive(won._replace(awaiting=asked(2)), UNSUPPORTED) == refused(won, Refusal.NO_PRE_VOTE_ROUND)


@states("wire.common-errors")
def test_wire_common_errors_teach_nothing() -> None:
    foreign = pre_vote_reply(2, 3, 99, False, leader=2, error=Error.INCONSISTENT_CLUSTER_ID)
    state = prospective(4, 3, awaiting=asked(2))
    assert receive(state, foreign) == refused(prospective(4, 3), Refusal.ERROR_RESPONSE)
    for own in in_every_role(4):
        answer = vote_reply(1, 3, 4, False, leader=own.leader_id, error=Error.INCONSISTENT_CLUSTER_ID)
        stranger = vote(3, 1, 99, cluster_id="X")
        assert receive(own, stranger) == Outcome(own, (answer,), (), Refusal.FOREIGN_CLUSTER)
        assert receive(own, replace(stranger, cluster_id=None)).state.epoch == 99


@states("prevote.response.correlate")
def test_prevote_grant_never_elects() -> None:
    state = candidate(5, 3, log=log_of(4))
    assert receive(state, pre_vote_reply(2, 3, 5, True)).state == state
    assert receive(leader(5, 3), pre_vote_reply(2, 3, 5, True)).state == leader(5, 3)
