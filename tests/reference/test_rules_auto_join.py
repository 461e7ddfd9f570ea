"""auto-join.*: a controller that adds itself."""

import pytest
from tests.reference.builders import (
    OBSERVED,
    THREE,
    adding,
    cluster,
    established,
    follower,
    joining,
    key,
    keys,
    log_of,
    prospective,
    receive,
    refused,
    states,
    step,
    unattached,
    voters_record,
)
from tests.reference.wire import (
    add_voter,
    add_voter_reply,
    asked,
    fetch_reply,
    remove_voter,
    remove_voter_reply,
)

from kraft_reference.changes import ChangePhase
from kraft_reference.configuration import Configuration
from kraft_reference.events import Poll, PollFetch
from kraft_reference.identity import ReplicaKey
from kraft_reference.messages import Error
from kraft_reference.outcome import Outcome, Refusal
from kraft_reference.state import ReplicaState

JOINING = joining(OBSERVED, 3, 4)
FETCHED = follower(4, 1, 4, log=log_of(3), fetched=True)
"""The observer 4 that follows the leader 1 of {1,2,3}."""


@states("auto-join.enabled-by-config")
@pytest.mark.parametrize(
    ("state", "configuration"),
    [
        (FETCHED, OBSERVED),
        (follower(4, 1, 4, log=log_of(3, voters=cluster(3, kraft_version=0).voters), fetched=True), JOINING),
        (FETCHED._replace(fetched=False), JOINING),
        (FETCHED._replace(searching=True), JOINING),
        (FETCHED._replace(awaiting=asked(1)), JOINING),
        (FETCHED._replace(log=log_of(3, voters=frozenset())), JOINING),
        (FETCHED._replace(key=ReplicaKey(4)), JOINING),
        (unattached(4, 4, log=log_of(3)), JOINING),
        (prospective(4, 3, log=log_of(3)), JOINING),
        (follower(4, 1, 3, log=log_of(3), fetched=True), JOINING),
    ],
    ids=[
        "not enabled",
        "level 0",
        "has not fetched",
        "searches",
        "connection in use",
        "no set",
        "no directory",
        "no leader",
        "election",
        "voter",
    ],
)
def test_who_does_not_join(state: ReplicaState, configuration: Configuration) -> None:
    done = step(state, Poll(), configuration)
    assert not [sent for sent in done.sends if type(sent).__name__ in ("AddVoterRequest", "RemoveVoterRequest")]
    if state.role == "Follower":
        assert done == refused(state, Refusal.NOTHING_DUE)


@states("auto-join.add-self")
def test_an_observer_adds_itself_until_it_sees_itself() -> None:
    done = step(FETCHED, Poll(), JOINING)
    assert done == Outcome(FETCHED._replace(awaiting={1: 77}), (add_voter(4, 1, correlation_id=77),))
    assert (add_voter(4, 1).timeout_ms, add_voter(4, 1).when_committed) == (30_000, False)
    # Neither a success nor a refusal ends it: the set in its own log does.
    for error, refusal in ((Error.NONE, None), (Error.REQUEST_TIMED_OUT, Refusal.ERROR_RESPONSE)):
        told = receive(done.state, add_voter_reply(1, 4, 4, 1, error, correlation_id=77), JOINING)
        assert told == Outcome(FETCHED, (), (), refusal)
        assert step(told.state, Poll(), JOINING).sends == done.sends
    read = receive(
        FETCHED._replace(awaiting=asked(1)), fetch_reply(1, 4, 4, 1, (voters_record(4, 1, 2, 3, 4),)), JOINING
    ).state
    assert step(read, Poll(), JOINING) == refused(read, Refusal.NOTHING_DUE)
    # It listens where its process listens.
    moved = step(FETCHED._replace(moved_to="elsewhere:1"), Poll(), JOINING).sends
    assert moved == (add_voter(4, 1, endpoint="elsewhere:1", correlation_id=77),)


@states("auto-join.add-self")
def test_the_connection_is_free_for_fetches_in_between() -> None:
    told = receive(step(FETCHED, Poll(), JOINING).state, add_voter_reply(1, 4, 4, 1, correlation_id=77), JOINING)
    assert [type(sent).__name__ for sent in step(told.state, PollFetch(1), JOINING).sends] == ["FetchRequest"]


@states("auto-join.remove-stale-self-first")
def test_the_old_disk_of_the_same_id_goes_first() -> None:
    third = follower(4, 1, 3, log=log_of(3), fetched=True)._replace(key=key(3, "U3'"))
    done = step(third, Poll(), JOINING)
    assert done == Outcome(third._replace(awaiting={1: 77}), (remove_voter(3, 1, key(3), correlation_id=77),))
    failed = remove_voter_reply(1, 3, 4, 1, Error.REQUEST_TIMED_OUT, correlation_id=77)
    again = receive(done.state, failed, JOINING)
    assert again == refused(third, Refusal.ERROR_RESPONSE)
    assert step(again.state, Poll(), JOINING).sends == done.sends
    # Then it adds itself.
    gone = third._replace(log=log_of(3, more=(voters_record(4, 1, 2),)))
    assert step(gone, Poll(), JOINING).sends == (add_voter(3, 1, voter=key(3, "U3'"), correlation_id=77),)


@states("auto-join.uses-the-ordinary-rpcs")
def test_joining_replicas_are_taken_one_by_one() -> None:
    # 2 and 3 join {1} at once.
    state = established(4, log=log_of(voters=keys(1)))
    first = receive(state, add_voter(2, 1))
    change = adding(ChangePhase.LEARN_VERSIONS, 2, requester=2, request=7, when_committed=False)
    assert first.state == state._replace(pending_change=change)
    second = receive(first.state, add_voter(3, 1))
    answer = add_voter_reply(1, 3, 4, 1, Error.REQUEST_TIMED_OUT)
    assert second == Outcome(first.state, (answer,), (), Refusal.REQUEST_REFUSED)
    duplicate = receive(established(4), add_voter(3, 1, voter=key(3, "U3'")))
    refusal = add_voter_reply(1, 3, 4, 1, Error.DUPLICATE_VOTER)
    assert duplicate == Outcome(established(4), (refusal,), (), Refusal.REQUEST_REFUSED)


@states("auto-join.stop-before-removal")
def test_a_removed_replica_that_joins_comes_back() -> None:
    # The operator's obligation: it sees itself missing, whoever removed it.
    third = follower(4, 1, 3, log=log_of(3), awaiting=asked(1))
    read = receive(third, fetch_reply(1, 3, 4, 1, (voters_record(4, 1, 2),)), JOINING).state
    assert step(read, Poll(), JOINING).sends == (add_voter(3, 1, correlation_id=77),)
    assert step(read, Poll(), THREE) == refused(read, Refusal.NOTHING_DUE)
