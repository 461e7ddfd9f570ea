"""begin-quorum.*, end-quorum.*: announcement and hand-over."""

from dataclasses import replace

import pytest
from tests.reference.builders import (
    ANNOUNCE,
    FETCH,
    FIVE,
    IN_FIVE,
    OBSERVED,
    THREE,
    becomes,
    candidate,
    endpoint,
    established,
    follower,
    in_every_role,
    key,
    keys,
    leader,
    log_of,
    messages,
    old_software,
    prospective,
    receive,
    refused,
    resigned,
    role_name,
    states,
    step,
    unattached,
)
from tests.reference.wire import asked, bqe, bqe_reply, eqe, eqe_reply, fetch_reply, pre_vote, pre_vote_reply

from kraft_reference.effects import StartTimer, Timer
from kraft_reference.events import (
    AppendVoters,
    BeginQuorumEpochTimeout,
    ElectionTimeout,
    Poll,
    RequestTimeout,
    Shutdown,
)
from kraft_reference.messages import Error
from kraft_reference.outcome import Outcome, Refusal
from kraft_reference.polling import due_election_requests
from kraft_reference.profile import KAFKA_4
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState

EVERY_ROLE = pytest.mark.parametrize("state", in_every_role(4), ids=role_name)
KAFKA = replace(THREE, profile=KAFKA_4)


# ---------------------------------------------------------------------------------------------------------
# BeginQuorumEpoch.
# ---------------------------------------------------------------------------------------------------------


@states("begin-quorum.on-election")
def test_begin_quorum_on_election() -> None:
    state = leader(6, 2, log=log_of(voters=OBSERVED.voters))
    announced = step(state, Poll(), OBSERVED)
    requests = (bqe(2, 1, 6, correlation_id=77), bqe(2, 3, 6, correlation_id=77))
    assert announced == Outcome(state._replace(awaiting={1: 77, 3: 77}), requests)
    assert (requests[0].voter_key, requests[0].leader_endpoint) == (key(1), endpoint(2))


@states("begin-quorum.resend")
def test_begin_quorum_resend() -> None:
    state = established(4, fetchers=frozenset({2}), acknowledged=frozenset({3}))
    assert due_election_requests(state) == []
    due = step(state, BeginQuorumEpochTimeout())
    assert due == Outcome(established(4, fetchers=frozenset({2})), (), (ANNOUNCE,))
    assert due_election_requests(due.state) == [key(3)]
    lost = step(step(due.state, Poll()).state, RequestTimeout(3)).state
    assert step(lost, Poll()).sends == (bqe(1, 3, 4, correlation_id=77),)
    added = step(state, AppendVoters(keys(1, 2, 3, 4)), OBSERVED).state
    assert due_election_requests(added) == [key(4)]
    assert THREE.timeouts.begin_quorum_epoch_interval_ms <= THREE.timeouts.check_quorum_period_ms
    assert step(follower(4, 1, 2), BeginQuorumEpochTimeout()).refusal is Refusal.NOT_IN_ROLE


@states("begin-quorum.accept")
@pytest.mark.parametrize("announced", [4, 6])
@pytest.mark.parametrize(
    "state",
    [unattached(4, voted=key(3)), prospective(4, voted=key(3)), prospective(4, leader=2), candidate(4)],
    ids=role_name,
)
def test_begin_quorum_accept(state: ReplicaState, announced: int) -> None:
    voted = state.voted_key if announced == 4 else None
    after = follower(announced, 2, voted=voted)
    assert receive(state, bqe(2, 1, announced)) == Outcome(after, (bqe_reply(1, 2, announced, 2),), (FETCH,))


@states("begin-quorum.accept")
def test_begin_quorum_accept_again() -> None:
    for state in (follower(4, 2, fetched=True, awaiting=asked(2)), follower(4, 2, 4)):
        answer = bqe_reply(state.key.id, 2, 4, 2)
        assert receive(state, bqe(2, state.key.id, 4), OBSERVED) == Outcome(state, (answer,))
    # The profile kafka-4 leaves a Prospective alone that knows this leader.
    electing = prospective(4, leader=2)
    assert receive(electing, bqe(2, 1, 4), KAFKA) == Outcome(electing, (bqe_reply(1, 2, 4, 2),))
    for state in in_every_role(4):
        assert receive(state, bqe(3, 1, 9)).state == becomes(
            state, Role.FOLLOWER, 9, leader_id=3, leader_endpoint=endpoint(3)
        )


@states("begin-quorum.stale")
@EVERY_ROLE
def test_begin_quorum_stale(state: ReplicaState) -> None:
    answer = bqe_reply(1, 3, 4, state.leader_id, Error.FENCED_LEADER_EPOCH)
    assert receive(state, bqe(3, 1, 3)) == Outcome(state, (answer,), (), Refusal.STALE_EPOCH)
    old = leader(3, 3, awaiting=asked(1))
    assert receive(old, answer).state.epoch == 4


@states("begin-quorum.membership-not-checked")
def test_begin_quorum_membership_not_checked() -> None:
    log = log_of(voters=OBSERVED.voters)
    # Neither an observer that does not know that it was added, nor a leader that is not in the own set.
    assert receive(unattached(4, 4, log=log), bqe(1, 4, 4), OBSERVED).state == follower(4, 1, 4, log=log)
    assert receive(unattached(4, log=log), bqe(4, 1, 4), OBSERVED).state == follower(4, 4, log=log)
    assert not {"NOT_VOTER", "INCONSISTENT_VOTER_SET"} & set(Error.__members__)


@states("begin-quorum.voter-key")
def test_begin_quorum_voter_key() -> None:
    state = unattached(4, 3)._replace(key=key(3, "U3'"))
    for configuration, error in ((THREE, Error.INVALID_REQUEST), (KAFKA, Error.INVALID_VOTER_KEY)):
        learned = receive(state, bqe(1, 3, 4), configuration)
        after = follower(4, 1, 3)._replace(key=key(3, "U3'"))
        assert learned == Outcome(after, (bqe_reply(3, 1, 4, 1, error),), (FETCH,))
        # For the sender it is no acknowledgement.
        sender = receive(leader(4, awaiting=asked(3)), messages(learned)[0], configuration)
        assert sender == refused(leader(4), Refusal.ERROR_RESPONSE)
    assert receive(state, bqe(1, 3, 4, voter_key=key(3)._replace(directory_id=None))).sends == (bqe_reply(3, 1, 4, 1),)


@states("begin-quorum.endpoint")
def test_begin_quorum_endpoint() -> None:
    log = log_of(voters=OBSERVED.voters)
    moved = receive(unattached(4, 3, log=log), bqe(4, 3, 4, leader_endpoint="elsewhere:1"), OBSERVED).state
    assert moved == follower(4, 4, 3, log=log, leader_endpoint="elsewhere:1")
    version_0 = step(leader(4), Poll(), old_software(THREE, 1)).sends[0]
    assert version_0 == bqe(1, 2, 4, leader_endpoint=None, correlation_id=77)
    assert receive(unattached(4, 2), version_0).state == follower(4, 1, 2)
    nowhere = receive(unattached(4, 3, log=log), bqe(4, 3, 4, leader_endpoint=None), OBSERVED)
    assert nowhere == Outcome(unattached(4, 3, leader=4, log=log), (bqe_reply(3, 4, 4, 4, leader_endpoint=None),))
    # What is known of a leader is not forgotten over an announcement without an endpoint.
    knowing = prospective(4, 3, leader=4, log=log)
    assert receive(knowing, bqe(4, 3, 4, leader_endpoint=None), OBSERVED).state == follower(4, 4, 3, log=log)


@states("begin-quorum.no-fetch-credit")
def test_begin_quorum_no_fetch_credit() -> None:
    state = follower(4, 1, 3)
    for _ in range(3):
        state = receive(state, bqe(1, 3, 4)).state
    assert not state.fetched
    assert receive(state, pre_vote(2, 3, 4)).sends == (pre_vote_reply(3, 2, 4, True, leader=1),)


@states("begin-quorum.response")
def test_begin_quorum_response() -> None:
    state = leader(4, awaiting=asked(2))
    answered = leader(4)
    after = becomes(state, Role.FOLLOWER, 6, leader_id=2, leader_endpoint=endpoint(2))
    assert receive(state, bqe_reply(2, 1, 6, 2, Error.FENCED_LEADER_EPOCH)) == Outcome(after, (), (FETCH,))
    assert receive(state, bqe_reply(2, 1, 4, 1)) == Outcome(leader(4, acknowledged=frozenset({2})))
    assert receive(state, bqe_reply(2, 1, 3, None)) == refused(answered, Refusal.STALE_EPOCH)
    for other in (resigned(4), follower(5, 2), unattached(5)):
        assert receive(other, bqe_reply(2, 1, 9, 2)) == refused(other, Refusal.UNCORRELATED_RESPONSE)


# ---------------------------------------------------------------------------------------------------------
# EndQuorumEpoch.
# ---------------------------------------------------------------------------------------------------------


@states("end-quorum.send")
def test_end_quorum_send() -> None:
    state = leader(4, log=IN_FIVE, fetch_offsets={key(3): 9, key(4): 9, key(5): 4})
    state = step(state, Shutdown(), FIVE).state
    order = (key(3), key(4), key(5), key(2))
    assert state.preferred_candidates == order
    polled = step(state, Poll(), FIVE)
    assert polled.sends == tuple(eqe(1, to, 4, *order, correlation_id=77) for to in (2, 3, 4, 5))
    acknowledged = receive(polled.state, eqe_reply(2, 1, 4, 1, correlation_id=77), FIVE).state
    silent = step(acknowledged, RequestTimeout(3), FIVE).state
    assert [request.destination for request in messages(step(silent, Poll(), FIVE))] == [3]
    left = step(silent, ElectionTimeout(), FIVE).state
    assert step(left, Poll(), FIVE).refusal is Refusal.NOTHING_DUE


@states("end-quorum.handle")
@pytest.mark.parametrize(
    ("place", "delay_ms"), [(0, 0), (1, 125), (2, 250), (3, 500), (4, 1000), (5, 1000), (None, 1000)]
)
def test_end_quorum_handle(place: int | None, delay_ms: int) -> None:
    others = [key(i) for i in (11, 12, 13, 14, 15)]
    preferred = others if place is None else [*others[:place], key(2), *others[place:]]
    state = follower(4, 1, 2, fetched=True, awaiting=asked(1))
    after = follower(4, 1, 2, awaiting=asked(1))
    hurried = receive(state, eqe(1, 2, 4, *preferred))
    assert hurried == Outcome(after, (eqe_reply(2, 1, 4, 1),), (StartTimer(Timer.FETCH, delay_ms),))


@states("end-quorum.handle")
def test_end_quorum_handle_in_other_roles() -> None:
    # An unknown leader, or a larger epoch, is adopted first; no endpoint in it, so the voters set must have one.
    for epoch, before in ((4, unattached(4, 2)), (4, prospective(4, 2)), (4, candidate(4, 2)), (5, leader(4, 2))):
        learned = receive(before, eqe(1, 2, epoch, key(2)))
        after = becomes(
            before,
            Role.FOLLOWER,
            epoch,
            leader_id=1,
            leader_endpoint=endpoint(1),
            voted_key=before.voted_key if epoch == 4 else None,
        )
        assert learned == Outcome(after, (eqe_reply(2, 1, epoch, 1),), (StartTimer(Timer.FETCH, 0),))
    nowhere = receive(unattached(4, 2), eqe(4, 2, 4), OBSERVED)
    assert nowhere.state == unattached(4, 2, leader=4)
    # A Prospective that knows the leader goes on, and membership does not matter.
    electing = prospective(4, 2, leader=1)
    assert receive(electing, eqe(1, 2, 4, key(2))) == Outcome(electing, (eqe_reply(2, 1, 4, 1),))
    observer = follower(4, 1, 4, log=log_of(voters=OBSERVED.voters))
    assert receive(observer, eqe(1, 4, 4), OBSERVED).timers == (StartTimer(Timer.FETCH, 1000),)


@states("end-quorum.candidate-key")
def test_end_quorum_candidate_key() -> None:
    def delay_ms(own: ReplicaState, *preferred: object) -> int:
        return receive(own, eqe(1, 3, 4, *preferred)).timers[0].duration_ms  # type: ignore[arg-type]

    state = follower(4, 1, 3)
    assert delay_ms(state, key(3), key(2)) == 0
    assert delay_ms(state._replace(key=key(3, "U3'")), key(3), key(2)) == 1000
    assert delay_ms(state._replace(key=key(3, "U3'")), key(3)._replace(directory_id=None), key(2)) == 0


@states("end-quorum.frees-followers")
@pytest.mark.parametrize(("configuration", "grants"), [(THREE, True), (KAFKA, False)])
def test_end_quorum_frees_followers(configuration: object, grants: bool) -> None:
    assert configuration in (THREE, KAFKA)
    profile = THREE if grants else KAFKA
    freed = receive(follower(4, 1, 3, fetched=True), eqe(1, 3, 4, key(2)), profile).state
    assert freed == follower(4, 1, 3, fetched=not grants)
    assert receive(freed, pre_vote(2, 3, 4), profile).sends == (pre_vote_reply(3, 2, 4, grants, leader=1),)
    again = receive(freed._replace(awaiting=asked(1)), fetch_reply(1, 3, 4, 1), profile).state
    assert again.fetched


@states("end-quorum.stale")
@EVERY_ROLE
def test_end_quorum_stale(state: ReplicaState) -> None:
    answer = eqe_reply(1, 3, 4, state.leader_id, Error.FENCED_LEADER_EPOCH)
    assert receive(state, eqe(3, 1, 3, key(1))) == Outcome(state, (answer,), (), Refusal.STALE_EPOCH)
    second = eqe_reply(1, 3, 4, state.leader_id, Error.INVALID_REQUEST)
    if state.leader_id is not None:
        other = receive(state, eqe(3, 1, 4, key(1)))
        assert other == Outcome(state, (second,), (), Refusal.SECOND_LEADER_IN_EPOCH)
    sender = resigned(3, 3, awaiting=asked(1))
    assert receive(sender, answer).state.epoch == 4
    informed = receive(resigned(4, 3, awaiting=asked(1)), eqe_reply(1, 3, 4, 3)).state
    assert informed == resigned(4, 3, acknowledged=frozenset({1}))
