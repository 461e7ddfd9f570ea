"""ZombieBounded: a Leader without a majority fetching from it stops being Leader.

Owed by every leader, whatever links are cut.
A majority fetches from a leader while, itself included if it is a voter, more than half of the voters of its own set
ask it for records of its epoch; whether its answers arrive is not part of the property.
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
"""In election timeouts T.

A check-quorum period is 3 T and starts anew when a majority is complete in it.
The first of the majority may have asked when it began and the last when it ended, so the last moment at which each
of a majority had asked can be two periods back when a leader resigns; 1 T is to spare."""


class ZombieBounded:
    """Watches who asks each leader for records."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._bound_ms = BOUND_TIMEOUTS * world.configuration.timeouts.election_timeout_ms
        self._began: dict[Leadership, tuple[VoterSet, int]] = {}
        """The newest set of each leader, which the majority is of, and when it began to lead with this set.

        If the faults stopped later, that time counts: whoever is new in the set has had no time to ask."""
        self._asked_ms: dict[tuple[Leadership, ReplicaKey], int] = {}
        """When each other voter, by its entry, last asked a leader for records."""
        for leader in running_leaders(world):
            self._began[leadership_of(leader)] = leader.voters, world.time_ms

    def observe(self, occurrence: Occurrence, state: ReplicaState) -> None:
        """Take in that somebody leads, or is asked for records."""
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
        """The last moment at which each of a majority had asked this leader."""
        needed = len(leader.voters) // 2 + 1 - is_member(leader.key, leader.voters)
        if needed == 0:
            return now_ms
        leadership = leadership_of(leader)
        asked_ms = sorted((self._asked_ms.get((leadership, voter), 0) for voter in leader.voters), reverse=True)
        return max(self._began[leadership][1], *asked_ms[needed - 1 : needed])

    def waits(self, now_ms: int) -> Iterator[Wait]:
        """The wait for the end of the leadership that is without a majority for the longest time."""
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
