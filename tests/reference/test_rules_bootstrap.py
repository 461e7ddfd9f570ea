"""bootstrap.*: what a disk is formatted with, and the first leader."""

from dataclasses import replace

import pytest
from tests.reference.builders import (
    ELECTION,
    OBSERVED,
    THREE,
    cluster,
    details,
    endpoint,
    established,
    key,
    keys,
    log_of,
    receive,
    refused,
    states,
    step,
    unattached,
    voters_record,
)
from tests.reference.wire import add_voter, asked, fetch, pre_vote_reply, reply, vote_reply

from kraft_reference.cluster.world import World
from kraft_reference.configuration import Configuration
from kraft_reference.events import AddVoter, ElectionTimeout, Poll, PollFetch, RemoveVoter, Restart
from kraft_reference.identity import ReplicaKey, VoterSet
from kraft_reference.log import Snapshot, append, flush, log_on
from kraft_reference.messages import Error
from kraft_reference.outcome import Outcome, Refusal
from kraft_reference.records import Record, RecordKind
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState, is_voter, new_replica


def formatted(configuration: Configuration, **initial_voters: VoterSet) -> Configuration:
    """The cluster in which replica n was formatted with the voters `r<n>`."""
    replicas = dict(configuration.replicas)
    for name, voters in initial_voters.items():
        replica_id = int(name[1:])
        replicas[replica_id] = replace(replicas[replica_id], initial_voters=voters)
    return replace(configuration, replicas=replicas)


def started(configuration: Configuration, replica_id: int) -> ReplicaState:
    """A replica on its formatted disk."""
    fresh = new_replica(configuration.replicas[replica_id].key, configuration.checkpoint(replica_id))
    return step(fresh, Restart(), configuration).state


@states("bootstrap.standalone", "bootstrap.single-voter-elects-itself")
def test_a_standalone_node_is_the_only_voter_and_elects_itself() -> None:
    alone = formatted(cluster(1), r1=keys(1))
    assert alone.checkpoint(1) == Snapshot(0, 0, 1, keys(1), details(1))
    won = step(started(alone, 1), ElectionTimeout(), alone)
    batch = (Record(1, RecordKind.LEADER_CHANGE, 1), Record(1, RecordKind.KRAFT_VERSION, 1), voters_record(1, 1))
    assert (won.state.role, won.state.epoch, won.state.log.records) == (Role.LEADER, 1, batch)
    assert (won.state.high_watermark, won.timers) == (3, ())


@states("bootstrap.multi-voter")
def test_a_list_of_voters_is_the_same_checkpoint_on_each() -> None:
    three = formatted(THREE, r1=keys(1, 2, 3), r2=keys(1, 2, 3), r3=keys(1, 2, 3))
    expected = Snapshot(0, 0, 1, keys(1, 2, 3), details(1, 2, 3))
    assert [three.checkpoint(replica_id) for replica_id in (1, 2, 3)] == [expected] * 3
    # A directory id that the list leaves out is not known: the id alone matches.
    partial = keys(1) | {ReplicaKey(2)}
    assert is_voter(started(formatted(THREE, r2=partial), 2))


@states("bootstrap.sets-must-be-equal")
def test_different_lists_make_two_leaders_in_one_epoch() -> None:
    # Scenario S2b: nothing verifies the operator's obligation.
    five = cluster(5)
    left, right = keys(1, 2, 3), keys(3, 4, 5)
    split = formatted(five, r1=left, r2=left, r4=right, r5=right)
    leaders = []
    for own, other in ((1, 2), (4, 5)):
        electing = step(started(split, own), ElectionTimeout(), split).state._replace(awaiting=asked(other))
        asking = receive(electing, pre_vote_reply(other, own, 0, True), split).state
        won = receive(asking._replace(awaiting=asked(other)), vote_reply(other, own, 1, True), split).state
        leaders.append((won.key.id, won.role, won.epoch))
    assert leaders == [(1, Role.LEADER, 1), (4, Role.LEADER, 1)]


@states("bootstrap.no-list-means-observer")
def test_without_a_list_a_controller_observes() -> None:
    configuration = formatted(replace(OBSERVED, bootstrap_servers=(2,)), r4=frozenset())
    assert configuration.checkpoint(4) == Snapshot(0, 0, 0, frozenset())
    state = started(configuration, 4)
    assert state == unattached(0, 4, log=log_on(configuration.checkpoint(4)), quorum_state_version=0)
    assert step(state, ElectionTimeout(), configuration) == refused(state, Refusal.NOT_IN_ROLE)
    assert step(state, Poll(), configuration) == refused(state, Refusal.NOTHING_DUE)
    assert step(state, PollFetch(2), configuration).sends == (fetch(4, 2, 0, 0, 0, correlation_id=77),)
    # So is a replaced disk: a list would bring back an old set.
    assert THREE.empty_checkpoint() == Snapshot(0, 0, 0, frozenset())


@states("bootstrap.first-leader-writes-records")
def test_the_first_leader_writes_the_bootstrap_set() -> None:
    state = started(THREE, 1)
    electing = step(state, ElectionTimeout()).state._replace(awaiting=asked(2))
    asking = receive(electing, pre_vote_reply(2, 1, 0, True)).state._replace(awaiting=asked(2))
    won = receive(asking, vote_reply(2, 1, 1, True)).state
    batch = (Record(1, RecordKind.LEADER_CHANGE, 1), Record(1, RecordKind.KRAFT_VERSION, 1), voters_record(1, 1, 2, 3))
    assert won.log == flush(append(state.log, batch))
    # Whose log has a record, or who stands on a snapshot, does not.
    for log in (
        log_of(more=(voters_record(1, 1, 2, 3),)),
        log_on(Snapshot(7, 1, 1, keys(1, 2, 3), details(1, 2, 3))),
    ):
        later = unattached(1, log=log)
        electing = step(later, ElectionTimeout()).state._replace(awaiting=asked(2))
        asking = receive(electing, pre_vote_reply(2, 1, 1, True)).state._replace(awaiting=asked(2))
        won = receive(asking, vote_reply(2, 1, 2, True)).state
        assert won.log == flush(append(log, [Record(2, RecordKind.LEADER_CHANGE, 1)]))


@states("bootstrap.static-quorum")
def test_a_static_quorum_is_at_level_0_on_every_node() -> None:
    static = cluster(3, observers=1, kraft_version=0)
    ids = frozenset({ReplicaKey(1), ReplicaKey(2), ReplicaKey(3)})
    expected = Snapshot(0, 0, 0, ids, details(1, 2, 3, versions=(0, 0)))
    assert [static.checkpoint(replica_id) for replica_id in (1, 2, 3, 4)] == [expected] * 4
    assert static.empty_checkpoint() == expected
    world = World(static)
    assert [(state.voters, state.quorum_state_version) for state in map(world.state, (1, 2, 3, 4))] == [(ids, 0)] * 4
    fresh = new_replica(key(1), static.checkpoint(1))
    with pytest.raises(ValueError, match="other static voters"):
        step(fresh, Restart(), replace(static, voters=frozenset({ReplicaKey(1), ReplicaKey(2)})))


@states("bootstrap.same-cluster-id")
def test_a_request_of_another_cluster_is_refused() -> None:
    state = established(4)
    for event in (AddVoter(9, key(4), endpoint(4), cluster_id="X"), RemoveVoter(9, key(3), cluster_id="X")):
        answer = reply(9, 4, 1, Error.INCONSISTENT_CLUSTER_ID)
        assert step(state, event, OBSERVED) == Outcome(state, (answer,), (), Refusal.FOREIGN_CLUSTER)
    assert receive(state, add_voter(4, 1, cluster_id="X"), OBSERVED).refusal is Refusal.FOREIGN_CLUSTER
    # One that names no cluster passes.
    assert receive(state, add_voter(4, 1, cluster_id=None), OBSERVED).refusal is None
    assert started(THREE, 1) == unattached(0)
    assert step(unattached(0), ElectionTimeout()).timers == (ELECTION,)
