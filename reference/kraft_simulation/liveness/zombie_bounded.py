"""ZombieBounded: a Leader without a majority fetching from it stops being Leader.

It holds for every leader, whatever links are cut.
A majority fetches from a leader if more than half of the voters of its own set, including itself if it is a voter,
send it Fetches of its epoch; whether its responses arrive does not matter.
"""

from collections.abc import Iterator

from kraft_reference.events import Receive
from kraft_reference.identity import ReplicaKey, VoterSet
from kraft_reference.messages import FetchRequest, FetchSnapshotRequest
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState
from kraft_simulation.liveness.remaining import running_leaders
from kraft_simulation.liveness.standing import Leadership, Wait, leadership_of
from kraft_simulation.membership import is_member, stands_for
from kraft_simulation.occurrence import Occurrence
from kraft_simulation.world import World

BOUND_TIMEOUTS = 7
"""Bound in election timeouts T.

A check-quorum period is 3 T and restarts when a majority has fetched in it.  The first of the majority may have fetched
at its beginning and the last at its end, so the last moment at which each of a majority had fetched can be two periods
before the leader resigns; 1 T is spare."""


class ZombieBounded:
    """Watches the Fetches to each leader."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._bound_ms = BOUND_TIMEOUTS * world.configuration.timeouts.election_timeout_ms
        self._began: dict[Leadership, tuple[VoterSet, int]] = {}
        """Newest voter set of each leader, and the time since which it leads with this set.

        If the faults stopped later, their end counts, because new voters need time to fetch."""
        self._asked_ms: dict[tuple[Leadership, ReplicaKey], int] = {}
        """Time of each other voter's last Fetch from a leader, by its entry."""
        for leader in running_leaders(world):
            self._began[leadership_of(leader)] = leader.voters, world.time_ms

    def observe(self, occurrence: Occurrence, state: ReplicaState) -> None:
        """Follow a leadership, or a Fetch to a leader."""
        if state.role is not Role.LEADER:
            return
        leadership = leadership_of(state)
        if leadership not in self._began or self._began[leadership][0] != state.voters:
            self._began[leadership] = state.voters, occurrence.time_ms
        event = occurrence.event
        if type(event) is not Receive or not isinstance(event.message, FetchRequest | FetchSnapshotRequest):
            return
        request = event.message
        entry = next((voter for voter in state.voters if stands_for(voter, request.replica_key)), None)
        if request.epoch == state.epoch and entry is not None:
            self._asked_ms[leadership, entry] = occurrence.time_ms

    def _without_majority_since_ms(self, leader: ReplicaState, now_ms: int) -> int:
        """Return the last moment at which each of a majority had fetched from this leader."""
        needed = len(leader.voters) // 2 + 1 - is_member(leader.key, leader.voters)
        if needed == 0:
            return now_ms
        leadership = leadership_of(leader)
        asked_ms = sorted((self._asked_ms.get((leadership, voter), 0) for voter in leader.voters), reverse=True)
        return max(self._began[leadership][1], *asked_ms[needed - 1 : needed])

    def waits(self, now_ms: int) -> Iterator[Wait]:
        """Return the wait for the end of the leadership that has been without a majority for the longest time."""
        waits = [
            Wait(
                leader.key.id,
                f"the end of its leadership of epoch {leader.epoch}, with no majority fetching from it",
                now_ms - self._without_majority_since_ms(leader, now_ms),
                self._bound_ms,
            )
            for leader in running_leaders(self._world)
        ]
        if waits:
            yield max(waits, key=lambda wait: wait.waited_ms)
