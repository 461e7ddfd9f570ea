"""Runs by hand with voter changes, upgrades and snapshots, for the tests of the checker."""

from collections.abc import Callable

from tests.traces.check.cases import Story

from kraft_reference.events import (
    AddVoter,
    ClientAppend,
    Event,
    Poll,
    PollFetch,
    RemoveVoter,
    RequestTimeout,
    Restart,
    TakeSnapshot,
    UpdateFeatures,
    VoterChangeTimeout,
)
from kraft_reference.identity import ReplicaKey
from kraft_reference.scenarios.scenario import cluster


def key(replica_id: int, directory_id: str | None = None) -> ReplicaKey:
    """The key that `cluster` gives a replica."""
    return ReplicaKey(replica_id, f"U{replica_id}" if directory_id is None else directory_id)


class Run(Story):
    """A story in which replica 1 leads."""

    def happen(self, replica: int, event: Event) -> None:
        """One event, and its line."""
        self.tell(self.world.happen(replica, event))

    def give_up(self, replica: int) -> None:
        """No request of a replica is awaited any longer."""
        for destination in sorted(self.world.state(replica).awaiting):
            self.happen(replica, RequestTimeout(destination))

    def settle(self, rounds: int = 5) -> None:
        """Fetch, poll and deliver until all follow the leader and know what is committed."""
        everybody = sorted(self.configuration.replicas)
        for _ in range(rounds):
            for replica in everybody:
                leader = self.world.state(replica).leader_id or 1
                if leader != replica and leader not in self.world.state(replica).awaiting:
                    self.happen(replica, PollFetch(leader))
            self.deliver_all(to=everybody)
            for replica in everybody:
                self.happen(replica, Poll())
            self.deliver_all(to=everybody)


def added() -> Run:
    """Replica 4 becomes a voter on a client's request; further requests are refused on the way."""
    run = Run(cluster(4, (1, 2, 3)))
    run.elect(1)
    run.settle()
    asked = AddVoter(7, key(4), "replica-4:9093", cluster_id=run.configuration.cluster_id)
    run.happen(2, asked)
    run.happen(1, AddVoter(8, key(4), None))
    run.happen(1, AddVoter(9, key(4), "replica-4:9093", cluster_id="another"))
    run.happen(1, AddVoter(10, ReplicaKey(-5, "X"), "nowhere:1"))
    run.happen(1, asked)
    run.happen(1, RemoveVoter(11, key(3)))
    run.settle()
    run.happen(1, AddVoter(12, key(4), "replica-4:9093"))
    return run


def removed() -> Run:
    """The leader is removed and resigns; before, a request for nobody and one that times out."""
    run = Run(cluster(3))
    run.elect(1)
    run.settle()
    run.happen(1, RemoveVoter(3, key(2, "Z")))
    run.happen(1, AddVoter(4, ReplicaKey(9, "U9"), "replica-9:9093"))
    run.happen(1, VoterChangeTimeout())
    run.happen(1, VoterChangeTimeout())
    run.happen(1, RemoveVoter(5, key(1)))
    run.settle(2)
    return run


def upgraded() -> Run:
    """A cluster of static voters learns who they are and goes to kraft.version 1."""
    run = Run(cluster(3, static=True))
    run.elect(1)
    run.happen(1, UpdateFeatures(1, 1))
    run.settle()
    run.happen(1, UpdateFeatures(2, 2))
    run.happen(2, UpdateFeatures(3, 1))
    run.happen(1, UpdateFeatures(4, 1))
    run.settle()
    run.happen(1, UpdateFeatures(5, 1))
    return run


def snapshots() -> Run:
    """The leader's log begins after what a replica needs, which was away; it fetches the snapshot."""
    run = Run(cluster(3))
    run.elect(1)
    run.settle()
    run.tell(run.world.crash(3))
    for value in range(4):
        run.happen(1, ClientAppend(value))
    for _ in range(3):
        run.happen(2, Poll())
        run.happen(2, PollFetch(1))
        run.deliver_all(to=(1, 2))
    for message_id in list(run.world.in_flight):
        run.tell(run.world.drop(message_id))
    end = run.world.state(1).high_watermark
    run.happen(1, TakeSnapshot(end + 1))
    run.happen(1, TakeSnapshot(end))
    run.happen(1, TakeSnapshot(end))
    run.tell(run.world.replace_disk(3, "New"))
    run.tell(run.world.restart(3))
    run.give_up(1)
    run.happen(3, PollFetch(1))
    run.deliver_all()
    run.settle(3)
    return run


def moved() -> Run:
    """A voter comes back at another endpoint and says so; its leader notes it."""
    run = Run(cluster(3))
    run.elect(1)
    run.settle()
    run.tell(run.world.crash(2))
    run.happen(2, Restart("elsewhere:1"))
    run.settle()
    return run


def joined() -> Run:
    """Replica 4 joins of its own accord, with a new disk a second time; its old entry goes first."""
    run = Run(cluster(4, (1, 2, 3), joining=(4,)))
    run.elect(1)
    run.settle(3)
    run.give_up(4)
    run.settle(4)
    run.tell(run.world.crash(4), run.world.replace_disk(4, "New"), run.world.restart(4))
    for _ in range(3):
        run.settle(3)
        run.give_up(4)
    run.settle(3)
    return run


RUNS: dict[str, Callable[[], Run]] = {one.__name__: one for one in (added, removed, upgraded, snapshots, moved, joined)}
"""By name."""
