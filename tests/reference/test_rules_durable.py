"""durable.*: what is on disk and what a restart does."""

from dataclasses import replace

import pytest
from tests.reference.builders import (
    DRAW,
    ELECTION,
    EMPTY,
    FETCH,
    OBSERVED,
    THREE,
    candidate,
    cluster,
    data,
    endpoint,
    follower,
    key,
    leader,
    log_of,
    prospective,
    receive,
    resigned,
    states,
    step,
    stopped,
    unattached,
    version_record,
    voters_record,
)
from tests.reference.wire import asked, bqe, bqe_reply, fetch, fetch_reply, pre_vote, pre_vote_reply, vote, vote_reply

from kraft_reference.durability import apply_durable, as_read_from_disk
from kraft_reference.effects import AppendRecords, FlushLog, PersistQuorumState, Send, StartTimer, Timer
from kraft_reference.events import CheckQuorumTimeout, Crash, ElectionTimeout, FetchTimeout, PollFetch, Receive, Restart
from kraft_reference.identity import ReplicaKey
from kraft_reference.log import append, truncate
from kraft_reference.outcome import Outcome
from kraft_reference.profile import KAFKA_4, KIP
from kraft_reference.replica import Replica, Step
from kraft_reference.roles import Role

STATIC = cluster(3, kraft_version=0)
STATIC_LOG = log_of(voters=STATIC.voters)


@states("durable.fields-v1")
def test_durable_fields_v1() -> None:
    assert PersistQuorumState.__slots__ == ("epoch", "leader_id", "voted_key", "version")
    replica = Replica(unattached(5, voted=key(3)), THREE)
    assert replica.step(Receive(bqe(2, 1, 5)), DRAW).effects[0] == PersistQuorumState(5, 2, key(3), version=1)
    assert as_read_from_disk(stopped(5, leader=2, voted=key(3)), KIP) == stopped(5, leader=2, voted=key(3))


@states("durable.fields-v0", "durable.version-by-kraft")
def test_durable_fields_v0() -> None:
    written = stopped(5, voted=key(3), log=STATIC_LOG)
    # Version 0 has no directory id, version 1 has; which one is written follows kraft.version.
    assert as_read_from_disk(written, KIP) == stopped(5, voted=ReplicaKey(3), log=STATIC_LOG)
    assert as_read_from_disk(written._replace(quorum_state_version=1), KIP).voted_key == key(3)
    told = Replica(unattached(5, log=STATIC_LOG), STATIC).step(Receive(bqe(2, 1, 5)), DRAW)
    assert told.effects[0] == PersistQuorumState(5, 2, None, version=0)
    raised = append(STATIC_LOG, [version_record(5), voters_record(5, 1, 2, 3)])
    upgraded = Replica(unattached(5, log=raised, quorum_state_version=0), STATIC)
    assert upgraded.step(Receive(vote(3, 1, 6, (5, 9))), DRAW).effects[0] == PersistQuorumState(6, None, key(3), 1)
    assert upgraded.state == unattached(6, voted=key(3), log=raised, quorum_state_version=1)
    other = replace(STATIC, voters=frozenset({ReplicaKey(1), ReplicaKey(2), ReplicaKey(4)}))
    with pytest.raises(ValueError, match="other static voters"):
        step(written, Restart(), other)
    assert step(stopped(5), Restart(), replace(THREE, voters=other.voters)).state.role is Role.UNATTACHED


@states("durable.vote.v0-uuid-in-memory")
def test_durable_vote_v0_uuid_in_memory() -> None:
    voted = receive(unattached(5, log=STATIC_LOG), vote(3, 1, 5), STATIC).state
    assert voted.voted_key == key(3)
    other_disk = vote(3, 1, 5, replica_key=key(3, "U3'"))
    assert receive(voted, other_disk, STATIC).sends == (vote_reply(1, 3, 5, False),)
    back = step(step(voted, Crash(0), STATIC).state, Restart(), STATIC).state
    assert receive(back, other_disk, STATIC).sends == (vote_reply(1, 3, 5, True),)
    assert receive(back, vote(2, 1, 5), STATIC).sends == (vote_reply(1, 2, 5, False),)
    # At kraft.version 1 the disk remembers it.
    kept = step(stopped(5, voted=key(3)), Restart()).state
    assert receive(kept, other_disk).sends == (vote_reply(1, 3, 5, False),)


@states("durable.write-before-act")
def test_durable_write_before_act() -> None:
    replica = Replica(unattached(5), THREE)
    refused_vote = replica.crash_during(Receive(vote(2, 1, 7, (0, 0), voter_key=key(3))), DRAW, 2, 0)
    assert [type(effect) for effect in refused_vote.effects] == [PersistQuorumState, Send]
    assert replica.step(Restart(), DRAW).state.epoch == 7
    won = Replica(candidate(5, awaiting=asked(2)), THREE).step(Receive(vote_reply(2, 1, 5, True)), DRAW)
    kinds = [type(effect) for effect in won.effects]
    assert kinds == [PersistQuorumState, AppendRecords, FlushLog, StartTimer, StartTimer]


@states("durable.soft-transitions")
def test_durable_soft_transitions() -> None:
    electing = Replica(follower(4, 1, 3), THREE)
    assert electing.step(FetchTimeout(), DRAW).effects == (ELECTION,)
    electing.step(Crash(0), DRAW)
    assert electing.step(Restart(), DRAW).state == follower(4, 1, 3)
    assert Replica(leader(4), THREE).step(CheckQuorumTimeout(), DRAW).effects == (ELECTION,)
    granted = Replica(unattached(4), THREE).step(Receive(pre_vote(3, 1, 4)), DRAW)
    assert granted.effects == (Send(pre_vote_reply(1, 3, 4, True)),)
    left = Replica(resigned(4), THREE).step(ElectionTimeout(), DRAW)
    assert left.effects == (PersistQuorumState(5, None, None), StartTimer(Timer.ELECTION, 0))


@states("durable.restart.was-leader")
def test_durable_restart_was_leader() -> None:
    log = append(leader(5).log, data(5, 5))
    state = leader(5, log=EMPTY)._replace(log=log, fetch_offsets={key(2): 3}, high_watermark=1)
    crashed = step(state, Crash(1)).state
    assert crashed == stopped(5, leader=1, voted=key(1), log=leader(5).log)
    back = step(crashed, Restart())
    assert back == Outcome(resigned(5, log=leader(5).log), (), (ELECTION,))
    assert receive(back.state, vote(3, 1, 5, (4, 9))).sends == (vote_reply(1, 3, 5, False, leader=1),)
    assert step(back.state, ElectionTimeout()).state == unattached(6, log=leader(5).log)


@states("durable.restart.voted-self")
def test_durable_restart_voted_self() -> None:
    back = step(stopped(5, 3, voted=key(3)), Restart())
    assert back == Outcome(candidate(5, 3), (), (ELECTION,))
    assert receive(back.state, vote(2, 3, 5)).sends == (vote_reply(3, 2, 5, False),)
    # A known leader first, unless the profile says own vote first.
    lost = stopped(5, 3, voted=key(3), leader=2)
    assert step(lost, Restart()).state == follower(5, 2, 3, voted=key(3))
    own_vote_first = Replica(lost, replace(THREE, profile=KAFKA_4)).step(Restart(), DRAW)
    assert own_vote_first == Step(candidate(5, 3), (PersistQuorumState(5, None, key(3)), ELECTION), None)
    # An observer is no Candidate, and keeps its vote.
    log = log_of(more=(voters_record(5, 1, 2),))
    assert step(stopped(5, 3, voted=key(3), log=log), Restart()) == Outcome(unattached(5, 3, voted=key(3), log=log))


@states("durable.restart.known-leader")
def test_durable_restart_known_leader() -> None:
    back = step(stopped(5, 2, leader=1, voted=key(3)), Restart())
    assert back == Outcome(follower(5, 1, 2, voted=key(3)), (), (FETCH,))
    assert receive(back.state, pre_vote(3, 2, 5)).sends == (pre_vote_reply(2, 3, 5, True, leader=1),)
    nowhere = step(stopped(5, 2, leader=4, voted=key(3)), Restart(), OBSERVED)
    assert nowhere == Outcome(unattached(5, 2, leader=4, voted=key(3)), (), (ELECTION,))


@states("durable.restart.log-epoch")
@pytest.mark.parametrize("file", [{}, {"leader": 1}, {"leader": 2, "voted": key(2)}])
def test_durable_restart_log_epoch(file: dict[str, object]) -> None:
    log = log_of(4, 5)
    back = step(stopped(0 if not file else 4, log=log, **file), Restart())  # type: ignore[arg-type]
    assert back == Outcome(unattached(5, voted=key(1), log=log), (), (ELECTION,))
    assert receive(back.state, vote(3, 1, 5, (4, 9))).sends == (vote_reply(1, 3, 5, False),)
    assert receive(back.state, vote(3, 1, 6, (5, 9))).sends == (vote_reply(1, 3, 6, True),)


@states("durable.flush-before-fetch")
def test_durable_flush_before_fetch() -> None:
    replica = Replica(follower(4, 1, 2, awaiting=asked(1)), THREE)
    appended = replica.step(Receive(fetch_reply(1, 2, 4, 1, data(4, 4))), DRAW)
    assert appended.effects == (AppendRecords(0, data(4, 4)), FETCH)
    assert appended.state.log.flushed == 0
    next_fetch = replica.step(PollFetch(1), DRAW)
    assert next_fetch.effects == (FlushLog(2), Send(fetch(2, 1, 4, 2, 4, correlation_id=77)))
    with pytest.raises(ValueError, match="keeps between 2 and 2"):
        replica.step(Crash(1), DRAW)
    # An observer that can become a voter syncs too.
    log = append(log_of(voters=OBSERVED.voters), data(4))
    observer = Replica(follower(4, 1, 4, log=log), OBSERVED).step(PollFetch(1), DRAW)
    assert observer.effects[0] == FlushLog(1)


@states("durable.write-before-act")
def test_durable_effects_rebuild_the_disk() -> None:
    before = follower(4, 1, 2, log=log_of(3, 3, 3), awaiting=asked(1))
    replica = Replica(before, THREE)
    cut = replica.step(Receive(fetch_reply(1, 2, 4, 1, diverging=(3, 1))), DRAW)
    assert apply_durable(before, cut.effects).log == truncate(before.log, 1) == cut.state.log
    learned = Replica(before, THREE).step(Receive(bqe(3, 2, 5)), DRAW)
    on_disk = apply_durable(before, learned.effects)
    assert (on_disk.epoch, on_disk.leader_id, on_disk.voted_key) == (5, 3, None)
    assert learned.effects[1:] == (Send(bqe_reply(2, 3, 5, 3)), FETCH)
    assert learned.state.leader_endpoint == endpoint(3)
    assert prospective(4).leader_endpoint is None
