"""The leader that stands, whom a majority follows and can talk to, and waits for what a property promises."""

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
    """The leadership of a replica that leads."""
    return Leadership(leader.key.id, leader.epoch)


class Wait(NamedTuple):
    """Something that a property promises and that has not come."""

    replica_id: int | None
    """The replica that owes it; None for the whole cluster."""
    waited_for: str
    waited_ms: int
    bound_ms: int
    """A longer wait violates the property."""

    @property
    def is_overdue(self) -> bool:
        """True if the wait is longer than it may be."""
        return self.waited_ms > self.bound_ms


def follows(state: ReplicaState, leadership: Leadership) -> bool:
    """True if the replica follows that leader in that epoch."""
    return state.role is Role.FOLLOWER and (state.leader_id, state.epoch) == leadership


class Standing:
    """Watches who leads with a majority behind it: voters that follow it and are linked to it, itself included.

    The voters are those of its own newest set; a leader outside of it needs a majority of others.
    """

    def __init__(self, world: World, remaining: Remaining) -> None:
        self._world = world
        self._remaining = remaining
        self._seen: dict[int, tuple[Role, int, int | None, VoterSet]] = {}
        self.leadership: Leadership | None = None
        self.since_ms = world.time_ms
        """When the present leadership began to stand, or when there last was one."""
        self._look()

    def observe(self, state: ReplicaState) -> None:
        """Take in the state of a replica after one of its events."""
        seen = (state.role, state.epoch, state.leader_id, state.voters)
        if self._seen.get(state.key.id) != seen:
            self._seen[state.key.id] = seen
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
