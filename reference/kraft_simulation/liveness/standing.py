"""The established leader, which a majority follows and can communicate with, and the waits of properties."""

from typing import NamedTuple

from kraft_reference.identity import VoterSet
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState
from kraft_simulation.liveness.remaining import Remaining, running_leaders
from kraft_simulation.membership import is_member
from kraft_simulation.world import World


class Leadership(NamedTuple):
    """A leader and its epoch."""

    leader_id: int
    epoch: int


def leadership_of(leader: ReplicaState) -> Leadership:
    """Return the leadership of a leader."""
    return Leadership(leader.key.id, leader.epoch)


class Wait(NamedTuple):
    """Pending wait of a property."""

    replica_id: int | None
    """Replica that causes the wait; None for the whole cluster."""
    waited_for: str
    waited_ms: int
    bound_ms: int
    """Bound; a longer wait violates the property."""

    @property
    def is_overdue(self) -> bool:
        """True if the wait exceeds its bound."""
        return self.waited_ms > self.bound_ms


def follows(state: ReplicaState, leadership: Leadership) -> bool:
    """True if the replica follows that leader in that epoch."""
    return state.role is Role.FOLLOWER and (state.leader_id, state.epoch) == leadership


class Standing:
    """Watches the leader that a majority follows: voters that follow it and are linked to it, including itself.

    The voters are those of its own newest set; a leader outside of it needs a majority of others.
    """

    def __init__(self, world: World, remaining: Remaining) -> None:
        self._world = world
        self._remaining = remaining
        self._seen: dict[int, tuple[Role, int, int | None, VoterSet]] = {}
        self.leadership: Leadership | None = None
        self.since_ms = world.time_ms
        """Time since which the leader is established, or at which the last one ended."""
        self._look()

    def observe(self, state: ReplicaState) -> None:
        """Follow the state of a replica after one of its events."""
        observed = (state.role, state.epoch, state.leader_id, state.voters)
        if self._seen.get(state.key.id) != observed:
            self._seen[state.key.id] = observed
            self._look()

    def _look(self) -> None:
        leaderships = map(leadership_of, running_leaders(self._world))
        standing = next((leadership for leadership in leaderships if self._has_majority(leadership)), None)
        if standing != self.leadership:
            self.leadership = standing
            self.since_ms = self._world.time_ms

    def _has_majority(self, leadership: Leadership) -> bool:
        leader_id = leadership.leader_id
        voters = self._world.state(leader_id).voters
        behind = sum(
            is_member(replica.state.key, voters)
            and (
                replica_id == leader_id
                or (self._remaining.linked(replica_id, leader_id) and follows(replica.state, leadership))
            )
            for replica_id, replica in self._world.replicas.items()
        )
        return 2 * behind > len(voters)
