"""discovery.*, observer.*, metric.*: finding the leader, replicas outside the voters set, and the gauges."""

from dataclasses import replace

import pytest
from tests.reference.builders import (
    FETCH,
    OBSERVED,
    THREE,
    candidate,
    cluster,
    data,
    endpoint,
    follower,
    in_every_role,
    key,
    keys,
    leader,
    log_of,
    messages,
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
from tests.reference.wire import asked, bqe, fetch, fetch_reply, pre_vote, pre_vote_reply, vote, vote_reply

from kraft_reference.events import ElectionTimeout, FetchTimeout, Poll, PollFetch
from kraft_reference.messages import Error
from kraft_reference.metrics import (
    current_state,
    number_of_observers,
    number_of_offline_voters,
    number_of_voters,
)
from kraft_reference.outcome import Outcome, Refusal
from kraft_reference.profile import KAFKA_4
from kraft_reference.replication import fetch_targets
from kraft_reference.roles import TRANSITIONS, Role
from kraft_reference.state import ReplicaState, is_voter
from kraft_reference.transitions import endpoint_of

OUTSIDE = log_of(voters=OBSERVED.voters)
"""The log of replica 4, which is in no voters set."""


@states("discovery.bootstrap")
def test_discovery_bootstrap() -> None:
    configuration = replace(OBSERVED, bootstrap_servers=(2,))
    asking = step(unattached(0, 4, log=OUTSIDE), PollFetch(2), configuration)
    assert asking.sends == (fetch(4, 2, 0, 0, 0, correlation_id=77),)
    answer = fetch_reply(2, 4, 4, 1, error=Error.FENCED_LEADER_EPOCH, correlation_id=77)
    assert receive(asking.state, answer, configuration) == Outcome(follower(4, 1, 4, log=OUTSIDE), (), (FETCH,))
    # Unattached voters search as well, also one that remembers an id without an endpoint; nobody asks itself.
    assert fetch_targets(unattached(5, 3, leader=4), replace(OBSERVED, bootstrap_servers=(3, 2))) == (2,)


@states("discovery.bootstrap-fallback")
def test_discovery_bootstrap_fallback() -> None:
    assert fetch_targets(unattached(0, 4, log=OUTSIDE), OBSERVED) == (1, 2, 3)
    assert fetch_targets(unattached(0, 4, log=OUTSIDE), replace(OBSERVED, bootstrap_servers=(2,))) == (2,)


@states("discovery.leader-endpoint-known")
def test_discovery_leader_endpoint_known() -> None:
    asking = candidate(4, 3, awaiting=asked(2))
    found = receive(asking, vote_reply(2, 3, 4, False, leader=1, leader_endpoint="E1:1")).state
    assert (found.leader_id, found.leader_endpoint, fetch_targets(found, THREE)) == (1, "E1:1", (1,))
    fetching = unattached(4, 4, log=OUTSIDE, awaiting=asked(2))
    answer = fetch_reply(2, 4, 4, 1, error=Error.NOT_LEADER_OR_FOLLOWER, leader_endpoint="E1:1")
    assert receive(fetching, answer, OBSERVED).state.leader_endpoint == "E1:1"
    # Whoever knows it says so.
    assert receive(found, fetch(4, 3, 4, 0, 0), OBSERVED).sends[0] == fetch_reply(
        3, 4, 4, 1, error=Error.NOT_LEADER_OR_FOLLOWER, leader_endpoint="E1:1"
    )


@states("discovery.endpoint-lookup")
def test_discovery_endpoint_lookup() -> None:
    state = candidate(4, 3, awaiting=asked(2))
    known = receive(state, vote_reply(2, 3, 5, False, leader=1, leader_endpoint=None)).state
    assert known == follower(5, 1, 3)
    unknown = receive(state, vote_reply(2, 3, 5, False, leader=4, leader_endpoint=None), OBSERVED).state
    assert unknown == unattached(5, 3, leader=4)
    assert fetch_targets(unknown, OBSERVED) == (1, 2)
    assert receive(unknown, bqe(4, 3, 5), OBSERVED).state == follower(5, 4, 3)


@states("discovery.election-endpoints")
def test_discovery_election_endpoints() -> None:
    newer = log_of(more=(voters_record(4, 2, 3, 4),))
    for state in (prospective(4, 2, log=newer), candidate(4, 2, log=newer), leader(4, 2, log=newer)):
        assert [request.destination for request in messages(step(state, Poll(), OBSERVED))] == [3, 4]
    assert endpoint_of(prospective(4, 2, log=newer), OBSERVED, 4, None) == endpoint(4)
    assert endpoint_of(prospective(4, 2, log=newer), OBSERVED, 1, None) is None


# ---------------------------------------------------------------------------------------------------------
# Observers.
# ---------------------------------------------------------------------------------------------------------


@states("observer.never-nominates")
def test_observer_never_nominates() -> None:
    following = follower(4, 1, 4, log=OUTSIDE)
    assert step(following, FetchTimeout(), OBSERVED) == Outcome(following._replace(searching=True), (), (FETCH,))
    idle = unattached(4, 4, log=OUTSIDE)
    assert step(idle, ElectionTimeout(), OBSERVED) == refused(idle, Refusal.NOT_IN_ROLE)
    # The same id on another disk is another replica.
    replaced = follower(4, 1, 3)._replace(key=key(3, "U3'"))
    assert step(replaced, FetchTimeout()).state.role is Role.FOLLOWER


@states("observer.states")
def test_observer_states() -> None:
    log = log_of(more=(voters_record(5, 2, 3),))
    removed = resigned(5, log=log)
    assert not is_voter(removed)
    left = step(removed, ElectionTimeout())
    assert left == Outcome(unattached(6, log=log))
    assert step(left.state, ElectionTimeout()) == refused(left.state, Refusal.NOT_IN_ROLE)
    assert receive(left.state, vote(2, 1, 7)).timers == ()
    assert receive(left.state, bqe(2, 1, 6)).state == follower(6, 2, log=log)


@states("observer.fetch-timeout")
def test_observer_fetch_timeout() -> None:
    configuration = replace(OBSERVED, bootstrap_servers=(2,))
    state = follower(4, 1, 4, log=OUTSIDE, fetched=True)
    assert fetch_targets(state, configuration) == (1,)
    searching = step(state, FetchTimeout(), configuration).state
    assert fetch_targets(searching, configuration) == (1, 2)
    answer = fetch_reply(2, 4, 5, 3, error=Error.FENCED_LEADER_EPOCH)
    asking = searching._replace(awaiting=asked(1, 2))
    assert receive(asking, answer, configuration).state == follower(5, 3, 4, log=OUTSIDE)
    served = receive(asking, fetch_reply(1, 4, 4, 1), configuration).state
    assert fetch_targets(served, configuration) == (1,)


@states("observer.becomes-voter")
def test_observer_becomes_voter() -> None:
    state = follower(4, 1, 4, log=OUTSIDE, awaiting=asked(1))
    read = receive(state, fetch_reply(1, 4, 4, 1, (voters_record(4, 1, 2, 3, 4),)), OBSERVED).state
    assert (read.role, is_voter(read)) == (Role.FOLLOWER, True)
    assert step(read, FetchTimeout(), OBSERVED).state == prospective(4, 4, leader=1, log=read.log)


@states("observer.becomes-non-voter")
def test_observer_becomes_non_voter() -> None:
    state = follower(4, 1, 3)
    electing = step(state, FetchTimeout()).state
    assert electing.role is Role.PROSPECTIVE
    second = follower(4, 1, 2, fetched=True)
    assert receive(second, pre_vote(3, 2, 4)).sends == (pre_vote_reply(2, 3, 4, False, leader=1),)
    back = step(electing, ElectionTimeout()).state._replace(awaiting=asked(1))
    read = receive(back, fetch_reply(1, 3, 4, 1, (*data(4), voters_record(4, 1, 2)))).state
    assert (read.role, is_voter(read)) == (Role.FOLLOWER, False)
    assert step(read, FetchTimeout()).state.role is Role.FOLLOWER


@states("observer.never-nominates", "observer.states")
def test_observer_rows_of_the_table() -> None:
    nominations = {row.source for row in TRANSITIONS if row.target is Role.PROSPECTIVE}
    assert nominations == {Role.UNATTACHED, Role.CANDIDATE, Role.FOLLOWER, Role.PROSPECTIVE, Role.STOPPED}


# ---------------------------------------------------------------------------------------------------------
# Metrics.
# ---------------------------------------------------------------------------------------------------------


@states("metric.current-state", "metric.voted-renamed")
@pytest.mark.parametrize(
    ("state", "value"),
    [
        (unattached(5), "unattached"),
        (unattached(5, voted=key(2)), "unattached-voted"),
        (prospective(5), "prospective"),
        (prospective(5, voted=key(2)), "prospective-voted"),
        (candidate(5), "candidate"),
        (leader(5), "leader"),
        (follower(5, 2), "follower"),
        (follower(5, 2, voted=key(3)), "follower"),
        (resigned(5), "resigned"),
        (follower(5, 2, 4, log=OUTSIDE), "observer"),
        (unattached(5, 4, log=OUTSIDE, voted=key(2)), "observer"),
        (leader(5, log=log_of(more=(voters_record(4, 2, 3),))), "leader"),
    ],
)
def test_metric_current_state(state: ReplicaState, value: str) -> None:
    assert current_state(state, OBSERVED) == value


@states("metric.current-state")
def test_metric_current_state_follows_the_role() -> None:
    voted = receive(prospective(5, 2), vote(3, 2, 5)).state
    assert current_state(voted, THREE) == "prospective-voted"
    assert current_state(resigned(5), replace(THREE, profile=KAFKA_4)) == "unattached"
    values = {current_state(state, THREE) for state in in_every_role(5)}
    assert values == {role_name(state).lower() for state in in_every_role(5)}
    assert "voted" not in values


@states("metric.voters-observers")
def test_metric_voters_observers() -> None:
    configuration = cluster(3, observers=3)
    state = leader(5, log=log_of(voters=configuration.voters))
    assert (number_of_voters(state), number_of_observers(state)) == (3, 0)
    for source, own in ((2, key(2)), (4, key(4)), (3, key(3, "U3'")), (5, key(5)._replace(directory_id=None))):
        state = receive(state, fetch(source, 1, 5, 0, 0, replica_key=own), configuration).state
    assert (number_of_voters(state), number_of_observers(state)) == (3, 2)
    last_fetch_ms = {key(2): 9_000, key(3): 7_999}
    assert number_of_offline_voters(state, last_fetch_ms, 10_000, 2_000) == 1
    assert number_of_offline_voters(state, {**last_fetch_ms, key(3): 8_000}, 10_000, 2_000) == 0
    assert number_of_offline_voters(state, {}, 10_000, 2_000) == 2
    # The leader never counts as offline, and is itself by its key, not by its id.
    other_disk = state._replace(key=key(1, "U1'"))
    assert number_of_offline_voters(other_disk, {key(2): 9_000, key(3): 9_000}, 10_000, 2_000) == 1
    assert keys(1, 2, 3) == state.voters
