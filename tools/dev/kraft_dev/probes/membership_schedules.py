"""Short schedules by hand about who is a voter: each ends where one rule decides."""

from collections.abc import Iterator
from dataclasses import replace

from kraft_dev.probes.hand import ByHand, Hand
from kraft_reference.cluster.occurrence import Occurrence
from kraft_reference.effects import StartTimer, Timer
from kraft_reference.events import AddVoter, FetchTimeout, Poll, PollFetch, RemoveVoter, TakeSnapshot
from kraft_reference.identity import ReplicaKey
from kraft_reference.outcome import Refusal
from kraft_reference.scenarios.scenario import cluster


def _observer_that_may_not_join() -> Iterator[Occurrence]:
    """Replica 4 has fetched, knows that it is no voter, and is not configured to join."""
    hand = Hand(cluster(4, voters=(1, 2, 3)))
    yield from hand.elect(1)
    for _ in range(2):
        yield from hand.fetch_from_first(4)
    yield hand.world.happen(4, Poll())


def _removed_and_joins_again() -> Iterator[Occurrence]:
    """Replica 3 joins of its own accord and sees itself removed: it has something to ask for."""
    hand = Hand(cluster(3, joining=(3,)))
    world = hand.world
    yield from hand.elect(1)
    for voter in (2, 3, 2, 3):
        yield from hand.fetch_from_first(voter)
    yield world.happen(1, RemoveVoter(1, ReplicaKey(3, "U3")))
    for voter in (2, 3, 2, 3):
        yield from hand.fetch_from_first(voter)
    yield world.happen(3, Poll())
    # It campaigns no more: an observer only looks for the leader.
    yield world.happen(3, FetchTimeout())


def _removed_leader_has_a_snapshot() -> Iterator[Occurrence]:
    """Replica 4 asks for the snapshot of a leader that is no voter any more by the time it answers."""
    hand = Hand(cluster(4, voters=(1, 2, 3)))
    world = hand.world
    yield from hand.elect(1)
    for voter in (2, 3, 2, 3):
        yield from hand.fetch_from_first(voter)
    yield world.happen(1, TakeSnapshot(world.state(1).high_watermark))
    for _ in range(2):
        yield from hand.fetch_from_first(4)
    yield world.happen(4, PollFetch(1))
    yield world.happen(1, RemoveVoter(1, ReplicaKey(1, "U1")))
    yield from hand.deliver_all()


def _old_software_is_not_added() -> Iterator[Occurrence]:
    """Replica 4 does not support kraft.version 1 and says so, and goes on as an observer."""
    configuration = cluster(4, voters=(1, 2, 3))
    old = replace(configuration.replicas[4], max_version=0)
    hand = Hand(replace(configuration, replicas={**configuration.replicas, 4: old}))
    world = hand.world
    yield from hand.elect(1)
    for fetcher in (2, 4, 2, 4):
        yield from hand.fetch_from_first(fetcher)
    yield world.happen(1, AddVoter(1, ReplicaKey(4, "U4"), "replica-4:9093", 1000))
    yield world.happen(1, Poll())
    yield from hand.deliver_all()
    for _ in range(2):
        yield from hand.fetch_from_first(4)
    yield world.happen(4, FetchTimeout())


ABOUT_MEMBERSHIP: tuple[ByHand, ...] = (
    ByHand(
        "observer-that-may-not-join",
        "a driver polls only where something is due",
        _observer_that_may_not_join,
        (Refusal.STALE_EPOCH, Refusal.NOTHING_DUE),
        "N1 L(1,voted=1) N2 F(1,1,voted=1) N3 F(1,1,voted=1) N4 F(1,1,voted=none)",
    ),
    ByHand(
        "removed-and-joins-again",
        "in the scenarios whoever joins of its own accord is not removed",
        _removed_and_joins_again,
        (),
        "N1 L(1,voted=1) N2 F(1,1,voted=1) N3 F(1,1,voted=1)",
        (StartTimer(Timer.FETCH, 2000),),
    ),
    ByHand(
        "removed-leader-has-a-snapshot",
        "a leader is seldom removed while somebody fetches its snapshot",
        _removed_leader_has_a_snapshot,
        (Refusal.STALE_EPOCH,),
        "N1 L(1,voted=1) N2 F(1,1,voted=1) N3 F(1,1,voted=1) N4 F(1,1,voted=none)",
        (StartTimer(Timer.FETCH, 2000),),
    ),
    ByHand(
        "old-software-is-not-added",
        "in the scenarios and the model's slices every replica supports both levels",
        _old_software_is_not_added,
        (Refusal.STALE_EPOCH,),
        "N1 L(1,voted=1) N2 F(1,1,voted=1) N3 F(1,1,voted=1) N4 F(1,1,voted=none)",
        (StartTimer(Timer.FETCH, 2000),),
    ),
)
"""All of them."""
