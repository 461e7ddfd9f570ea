"""prevote.*: what a Pre-Vote carries, who gets it, and how it is answered."""

from dataclasses import replace

import pytest
from tests.reference.builders import (
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
    voters_record,
)
from tests.reference.wire import asked, fetch_reply, pre_vote, pre_vote_reply, vote, vote_reply

from kraft_reference.events import FetchTimeout, Poll, RequestTimeout
from kraft_reference.identity import ReplicaKey
from kraft_reference.messages import Error
from kraft_reference.outcome import Outcome, Refusal
from kraft_reference.profile import KAFKA_4
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState

EVERY_ROLE = pytest.mark.parametrize("state", in_every_role(4), ids=role_name)
LONG = log_of(4, 4)


@states("prevote.request.contents")
def test_prevote_request_contents() -> None:
    state = prospective(4, 3, log=log_of(*[4] * 10))
    request = pre_vote(3, 1, 4, (4, 10), correlation_id=77)
    assert step(state, Poll()).sends[0] == request
    assert (request.replica_key, request.voter_key, request.pre_vote) == (key(3), key(1), True)


@states("prevote.request.recipients")
def test_prevote_request_recipients() -> None:
    state = prospective(4, 3, log=log_of(voters=OBSERVED.voters))
    polled = step(state, Poll(), OBSERVED)
    sent = (pre_vote(3, 1, 4, correlation_id=77), pre_vote(3, 2, 4, correlation_id=77))
    assert polled == Outcome(state._replace(awaiting={1: 77, 2: 77}), sent)
    assert step(polled.state, Poll(), OBSERVED) == refused(polled.state, Refusal.NOTHING_DUE)
    refused_by_2 = receive(polled.state, pre_vote_reply(2, 3, 4, False, correlation_id=77), OBSERVED).state
    given_up = step(refused_by_2, RequestTimeout(1), OBSERVED).state
    assert [request.destination for request in messages(step(given_up, Poll(), OBSERVED))] == [1]


@states("prevote.request.check-order")
@pytest.mark.parametrize(
    ("changes", "error", "epoch", "reason"),
    [
        ({"cluster_id": "X", "last_epoch": 9, "epoch": 1}, Error.INCONSISTENT_CLUSTER_ID, 5, Refusal.FOREIGN_CLUSTER),
        ({"last_epoch": 9, "epoch": 1}, Error.INVALID_REQUEST, 5, Refusal.MALFORMED_REQUEST),
        ({"end_offset": -1, "epoch": 1}, Error.INVALID_REQUEST, 5, Refusal.MALFORMED_REQUEST),
        ({"last_epoch": -1, "epoch": 1}, Error.INVALID_REQUEST, 5, Refusal.MALFORMED_REQUEST),
        ({"epoch": 4, "voter_key": key(1, "Uold")}, Error.FENCED_LEADER_EPOCH, 5, Refusal.STALE_EPOCH),
        ({"epoch": 7, "voter_key": key(1, "Uold")}, Error.INVALID_REQUEST, 7, None),
        ({"epoch": 5, "voter_key": key(1, "Uold"), "last_epoch": 5, "end_offset": 9}, Error.INVALID_REQUEST, 5, None),
        ({"epoch": 5}, Error.NONE, 5, None),
    ],
)
@pytest.mark.parametrize("request_of", [vote, pre_vote])
def test_prevote_request_check_order(
    request_of: type, changes: dict[str, object], error: Error, epoch: int, reason: Refusal | None
) -> None:
    state = unattached(5, log=LONG)
    request = replace(request_of(3, 1, 5), **changes)
    if not request.pre_vote and request.last_epoch == request.epoch:
        request = replace(request, last_epoch=4)
    answer = vote_reply(1, 3, epoch, False, error=error, pre_vote=request.pre_vote)
    assert receive(state, request) == Outcome(unattached(epoch, log=LONG), (answer,), (), reason)


@states("prevote.request.stale-epoch")
@EVERY_ROLE
def test_prevote_request_stale_epoch(state: ReplicaState) -> None:
    answer = pre_vote_reply(1, 3, 4, False, leader=state.leader_id, error=Error.FENCED_LEADER_EPOCH)
    assert receive(state, pre_vote(3, 1, 3)) == Outcome(state, (answer,), (), Refusal.STALE_EPOCH)


@states("prevote.request.higher-epoch")
@EVERY_ROLE
def test_prevote_request_higher_epoch(state: ReplicaState) -> None:
    fetching = state._replace(fetched=state.role is Role.FOLLOWER)
    outcome = receive(fetching, pre_vote(3, 1, 5, (4, 9)))
    assert outcome.state == becomes(state, Role.UNATTACHED, 5)
    assert outcome.sends == (pre_vote_reply(1, 3, 5, True),)


@states("prevote.request.log-check")
@pytest.mark.parametrize(
    ("last", "granted"), [((5, 8), True), ((4, 12), True), ((4, 13), True), ((4, 11), False), ((3, 20), False)]
)
def test_prevote_request_log_check(last: tuple[int, int], granted: bool) -> None:
    state = unattached(5, log=log_of(*[4] * 12), high_watermark=3)
    assert receive(state, pre_vote(3, 1, 5, last)) == Outcome(state, (pre_vote_reply(1, 3, 5, granted),))


@states("prevote.request.last-epoch-bound")
@pytest.mark.parametrize(("last_epoch", "valid"), [(3, (True, True)), (4, (True, False)), (5, (False, False))])
def test_prevote_request_last_epoch_bound(last_epoch: int, valid: tuple[bool, bool]) -> None:
    for request, is_valid in zip(
        (pre_vote(3, 2, 4, (last_epoch, 9)), vote(3, 2, 4, (last_epoch, 9))), valid, strict=True
    ):
        outcome = receive(unattached(4, 2), request)
        if is_valid:
            assert outcome.sends[0] == vote_reply(2, 3, 4, True, pre_vote=request.pre_vote)
        else:
            answer = vote_reply(2, 3, 4, False, error=Error.INVALID_REQUEST, pre_vote=request.pre_vote)
            assert outcome == Outcome(unattached(4, 2), (answer,), (), Refusal.MALFORMED_REQUEST)


@states("prevote.grant.no-side-effects")
@EVERY_ROLE
def test_prevote_grant_no_side_effects(state: ReplicaState) -> None:
    for last in ((4, 9), (0, 0)):
        outcome = receive(state, pre_vote(3, 1, 4, last))
        assert (outcome.state, outcome.timers, len(outcome.sends)) == (state, (), 1)
    granting = receive(unattached(5, 2), pre_vote(3, 2, 5)).state
    assert receive(granting, vote(1, 2, 5)).sends == (vote_reply(2, 1, 5, True),)


@states("prevote.grant.multiple")
def test_prevote_grant_multiple() -> None:
    state = unattached(5, voted=key(2), log=IN_FIVE)
    for source in (3, 4, 3):
        assert receive(state, pre_vote(source, 1, 5), FIVE) == Outcome(state, (pre_vote_reply(1, source, 5, True),))


@states("prevote.leader.rejects")
def test_prevote_leader_rejects() -> None:
    state = leader(4)
    assert receive(state, pre_vote(3, 1, 4, (4, 9))) == Outcome(state, (pre_vote_reply(1, 3, 4, False, leader=1),))


@states(
    "prevote.unattached.grants", "prevote.prospective.grants", "prevote.candidate.grants", "prevote.resigned.grants"
)
@pytest.mark.parametrize(
    "state",
    [
        unattached(5, log=LONG),
        unattached(5, voted=key(2), log=LONG),
        unattached(5, leader=2, log=LONG),
        prospective(5, leader=2, log=LONG),
        prospective(5, voted=key(2), log=LONG),
        candidate(5, log=LONG),
        resigned(5, log=LONG),
    ],
    ids=role_name,
)
def test_prevote_grants_on_the_log_check_alone(state: ReplicaState) -> None:
    where = state.leader_endpoint
    for last, granted in (((4, 2), True), ((4, 1), False)):
        answer = pre_vote_reply(1, 3, 5, granted, leader=state.leader_id, leader_endpoint=where)
        assert receive(state, pre_vote(3, 1, 5, last)) == Outcome(state, (answer,))


@states("prevote.resigned.grants")
def test_prevote_resigned_grant_counts() -> None:
    state = prospective(4, 2, leader=1, awaiting=asked(1))
    assert receive(state, pre_vote_reply(1, 2, 4, True, leader=1)).state == candidate(5, 2)


@states("prevote.follower.rejects-after-fetch", "prevote.follower.grants-before-fetch")
@pytest.mark.parametrize("fetched", [True, False])
def test_prevote_follower(fetched: bool) -> None:
    state = follower(4, 1, 3, log=log_of(4), fetched=fetched)
    equal, longer = pre_vote(2, 3, 4, (4, 1)), pre_vote(2, 3, 4, (4, 7))
    for request in (equal, longer):
        answer = pre_vote_reply(3, 2, 4, not fetched, leader=1)
        assert receive(state, request) == Outcome(state, (answer,))
    assert receive(state, pre_vote(2, 3, 4, (3, 7))).sends == (pre_vote_reply(3, 2, 4, False, leader=1),)


@states("prevote.follower.refusal-expires")
@pytest.mark.parametrize(("profile", "grants"), [("kip", True), ("kafka-4", False)])
def test_prevote_follower_refusal_expires(profile: str, grants: bool) -> None:
    configuration = OBSERVED if profile == "kip" else replace(OBSERVED, profile=KAFKA_4)
    log = log_of(voters=OBSERVED.voters)
    state = follower(4, 1, 4, log=log, fetched=True)
    assert receive(state, pre_vote(2, 4, 4), configuration).sends == (pre_vote_reply(4, 2, 4, False, leader=1),)
    fired = step(state, FetchTimeout(), configuration)
    assert fired == Outcome(state._replace(searching=True, fetched=not grants), (), (FETCH,))
    assert receive(fired.state, pre_vote(2, 4, 4), configuration).sends == (pre_vote_reply(4, 2, 4, grants, leader=1),)
    again = receive(fired.state._replace(awaiting=asked(1)), fetch_reply(1, 4, 4, 1), configuration).state
    assert again == follower(4, 1, 4, log=log, fetched=True)
    # A voter leaves Follower at that moment.
    assert step(follower(4, 1, 3, fetched=True), FetchTimeout()).state.role is Role.PROSPECTIVE


@states("prevote.observer.answers")
def test_prevote_observer_answers() -> None:
    state = unattached(5, 4)
    assert receive(state, pre_vote(2, 4, 5), OBSERVED).sends == (pre_vote_reply(4, 2, 5, True),)
    stranger = pre_vote(4, 1, 5, replica_key=ReplicaKey(4, "U4"))
    assert receive(unattached(5), stranger, OBSERVED).sends == (pre_vote_reply(1, 4, 5, True),)


@states("prevote.reply.contents")
def test_prevote_reply_contents() -> None:
    state = follower(4, 1, 2, fetched=True)
    answer = receive(state, pre_vote(3, 2, 4)).sends[0]
    assert answer == pre_vote_reply(2, 3, 4, False, leader=1, leader_endpoint=endpoint(1))
    old = receive(state, pre_vote(3, 2, 4), old_software(THREE, 2)).sends[0]
    assert old == pre_vote_reply(2, 3, 4, False, leader=1, leader_endpoint=None)
    ignorant = cluster(3, pre_vote={2: "ignored"})
    assert receive(state, pre_vote(3, 2, 4), ignorant).sends[0] == vote_reply(2, 3, 4, False, leader=1)
    assert receive(unattached(4, 2), pre_vote(3, 2, 4)).sends[0] == pre_vote_reply(2, 3, 4, True)


@states("prevote.not-gated-by-kraft-version")
@pytest.mark.parametrize("kraft_version", [0, 1])
def test_prevote_not_gated_by_kraft_version(kraft_version: int) -> None:
    configuration = cluster(3, kraft_version=kraft_version)
    state = follower(4, 1, 3, log=log_of(voters=configuration.voters))
    electing = step(state, FetchTimeout(), configuration)
    assert electing == Outcome(prospective(4, 3, leader=1, log=state.log), (), (ELECTION,))
    asked_for = [getattr(request, "pre_vote", None) for request in step(electing.state, Poll(), configuration).sends]
    assert asked_for == [True, True]


@states("prevote.follower.refusal-expires")
def test_prevote_refusal_of_a_voter_without_the_record() -> None:
    # {1,2}+3: only N2 has the record that adds N3; N3 still is an observer and its fetch timer fired.
    log = log_of(voters=frozenset({key(1), key(2)}))
    added = log_of(voters=frozenset({key(1), key(2)}), more=(voters_record(4, 1, 2, 3),))
    third = step(follower(4, 1, 3, log=log, fetched=True), FetchTimeout()).state
    asking = prospective(4, 2, leader=1, log=added, awaiting=asked(3))
    answer = messages(receive(third, pre_vote(2, 3, 4, (4, 1))))[0]
    assert receive(asking, answer).state == candidate(5, 2, log=added)
