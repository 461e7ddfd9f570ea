"""check-quorum.*: leaders without a quorum."""

from dataclasses import replace

from tests.reference.builders import (
    ANNOUNCE,
    CHECK_QUORUM,
    ELECTION,
    FETCH,
    FIVE,
    IN_FIVE,
    OBSERVED,
    THREE,
    cluster,
    established,
    follower,
    key,
    keys,
    leader,
    log_of,
    receive,
    refused,
    states,
    step,
    unattached,
    voters_record,
)
from tests.reference.wire import eqe, fetch, fetch_reply, pre_vote, pre_vote_reply

from kraft_reference.configuration import Timeouts
from kraft_reference.events import (
    AppendVoters,
    CheckQuorumTimeout,
    ElectionTimeout,
    FetchTimeout,
    PollFetch,
)
from kraft_reference.messages import Error
from kraft_reference.outcome import Outcome, Refusal
from kraft_reference.profile import KAFKA_4
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState

KAFKA = replace(THREE, profile=KAFKA_4)


@states("check-quorum.resign")
def test_check_quorum_resign() -> None:
    state = leader(4, log=IN_FIVE)
    once = receive(state, fetch(2, 1, 4, 0, 0), FIVE)
    assert (once.state.fetchers, once.timers) == (frozenset({2}), ())
    again = receive(once.state, fetch(2, 1, 4, 1, 4), FIVE)
    assert (again.state.fetchers, again.timers) == (frozenset({2}), ())
    complete = receive(again.state, fetch(3, 1, 4, 0, 0), FIVE)
    assert (complete.state.fetchers, complete.timers) == (frozenset(), (CHECK_QUORUM,))
    assert step(once.state, CheckQuorumTimeout(), FIVE).state.role is Role.RESIGNED


@states("check-quorum.counts-keys")
def test_check_quorum_counts_keys() -> None:
    four = established(4, log=log_of(voters=keys(1, 2, 3, 4)))
    outside = step(four, AppendVoters(keys(2, 3, 4)), OBSERVED).state
    one = receive(outside, fetch(2, 1, 4, 0, 0), OBSERVED)
    assert (one.state.fetchers, one.timers) == (frozenset({2}), ())
    assert receive(one.state, fetch(3, 1, 4, 0, 0), OBSERVED).timers == (CHECK_QUORUM,)
    for observer in (fetch(4, 1, 4, 0, 0), fetch(3, 1, 4, 0, 0, replica_key=key(3, "U3'"))):
        assert receive(leader(4), observer, OBSERVED).timers == ()
    # A Fetch that diverges shows a live follower; the profile kafka-4 does not count it.
    diverging = fetch(2, 1, 4, 9, 3)
    assert receive(leader(4), diverging).timers == (CHECK_QUORUM,)
    assert receive(leader(4), diverging, KAFKA) == Outcome(leader(4), receive(leader(4), diverging).sends)
    assert receive(leader(4), fetch(2, 1, 3, 0, 0)).timers == ()


@states("check-quorum.period")
def test_check_quorum_period() -> None:
    for fetch_timeout_ms in (10, 2000, 9999):
        assert Timeouts(fetch_timeout_ms=fetch_timeout_ms).check_quorum_period_ms > fetch_timeout_ms


@states("check-quorum.sole-voter")
def test_check_quorum_sole_voter() -> None:
    alone = established(4, log=log_of(voters=keys(1)))
    assert step(alone, CheckQuorumTimeout()) == refused(alone, Refusal.NOT_IN_ROLE)
    other = step(established(4, log=log_of(voters=keys(1, 2))), AppendVoters(keys(2))).state
    assert other.voters == keys(2)
    assert step(other, CheckQuorumTimeout()).state.role is Role.RESIGNED
    # The timers start with the set that has others in it.
    assert step(alone, AppendVoters(keys(1, 2))).timers == (CHECK_QUORUM, ANNOUNCE)
    shrunk = step(established(4), AppendVoters(keys(1, 2)))
    assert (shrunk.state.voters, shrunk.timers) == (keys(1, 2), ())


@states("check-quorum.frees-followers")
def test_check_quorum_frees_followers() -> None:
    # N3 and N4 cannot reach leader N1; N2 can, refuses them, and its leader cannot commit.
    second = follower(4, 1, 2, log=IN_FIVE, fetched=True)
    assert receive(second, pre_vote(3, 2, 4), FIVE).sends == (pre_vote_reply(2, 3, 4, False, leader=1),)
    gone = step(leader(4, log=IN_FIVE), CheckQuorumTimeout(), FIVE).state
    freed = receive(second, eqe(1, 2, 4, *gone.preferred_candidates), FIVE).state
    assert receive(freed, pre_vote(3, 2, 4), FIVE).sends == (pre_vote_reply(2, 3, 4, True, leader=1),)
    # Without the rule the leader stays, and so does the refusal.
    stays = step(leader(4, log=IN_FIVE), CheckQuorumTimeout(), FIVE, "check-quorum.resign")
    assert stays == Outcome(leader(4, log=IN_FIVE), (), (CHECK_QUORUM,), Refusal.CHECK_QUORUM_OFF)


@states("check-quorum.zombie-leader")
def test_check_quorum_zombie_leader() -> None:
    log = log_of(voters=keys(1, 2, 3))
    zombie = step(established(4, log=log), AppendVoters(keys(2, 3))).state
    resigned_one = step(zombie, CheckQuorumTimeout()).state
    searching = step(resigned_one, ElectionTimeout()).state
    assert (searching.role, searching.epoch) == (Role.UNATTACHED, 5)
    asking = step(searching, PollFetch(3), replace(THREE, bootstrap_servers=(2, 3))).state
    answer = fetch_reply(3, 1, 5, 2, error=Error.NOT_LEADER_OR_FOLLOWER, correlation_id=77)
    found = receive(asking, answer)
    assert (found.state.role, found.state.leader_id, found.timers) == (Role.FOLLOWER, 2, (FETCH,))
    assert step(found.state, FetchTimeout()).state.role is Role.FOLLOWER
    assert step(cluster_of_its_own(), ElectionTimeout(), cluster(1)).timers == ()
    assert ELECTION in step(leader(4), CheckQuorumTimeout()).timers
    assert voters_record(4, 2, 3).voters == zombie.voters


def cluster_of_its_own() -> ReplicaState:
    """A sole voter before its first election."""
    return unattached(0, log=log_of(voters=keys(1)))
