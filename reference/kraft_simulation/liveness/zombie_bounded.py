"""ZombieBounded: a Leader without a majority fetching from it stops being Leader.

Owed by every leader, whatever links are cut.
A majority fetches from a leader while, itself included if it is a voter, more than half of the voters of its own set
ask it for records of its epoch; whether its answers arrive is not part of the property.
"""

from dataclasses import dataclass, field

from kraft_reference.events import Receive
from kraft_reference.identity import ReplicaKey, VoterSet
from kraft_reference.messages import FetchRequest, FetchSnapshotRequest
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState
from kraft_simulation.liveness.overdue import Overdue, overdue_of
from kraft_simulation.liveness.remaining import running_leaders, votes
from kraft_simulation.liveness.standing import Leadership
from kraft_simulation.membership import stands_for
from kraft_simulation.occurrence import Occurrence
from kraft_simulation.world import World

BOUND_TIMEOUTS = 7
"""In election timeouts T.

A check-quorum period is 3 T and starts anew when a majority is complete in it.
The first of the majority may have asked when it began and the last when it ended, so the last moment at which each
of a majority had asked can be two periods back when a leader resigns; 1 T is to spare."""


@dataclass(slots=True)
class _Term:
    """One leader in one epoch."""

    began_ms: int
    """Or when the faults stopped, or its voters set changed, if that is later."""
    voters: VoterSet
    """The leader's set, which the majority is of."""
    asked_ms: dict[ReplicaKey, int] = field(default_factory=dict)
    """When each other voter, by its entry, last asked for records."""


class ZombieBounded:
    """Watches who asks each leader for records."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._bound_ms = BOUND_TIMEOUTS * world.configuration.timeouts.election_timeout_ms
        self._terms = {
            Leadership(state.key.id, state.epoch): _Term(world.time_ms, state.voters)
            for state in running_leaders(world)
        }

    def observe(self, occurrence: Occurrence, state: ReplicaState) -> None:
        """Take in that somebody leads, or is asked for records."""
        if state.role is not Role.LEADER:
            return
        term = self._terms.setdefault(Leadership(state.key.id, state.epoch), _Term(occurrence.time_ms, state.voters))
        if term.voters != state.voters:
            # A majority of another set: whoever is new in it has had no time to ask.
            term.voters, term.began_ms = state.voters, occurrence.time_ms
        event = occurrence.event
        if type(event) is not Receive or not isinstance(event.message, FetchRequest | FetchSnapshotRequest):
            return
        request = event.message
        entry = next((voter for voter in state.voters if stands_for(voter, request.replica_key)), None)
        if request.epoch == state.epoch and entry is not None:
            term.asked_ms[entry] = occurrence.time_ms

    def _without_majority_ms(self, state: ReplicaState, now_ms: int) -> int:
        """For how long by now not each of a majority has asked this leader."""
        needed = len(state.voters) // 2 + 1 - votes(state)
        if needed == 0:
            return 0
        term = self._terms[Leadership(state.key.id, state.epoch)]
        latest = sorted((ms for voter, ms in term.asked_ms.items() if voter in state.voters), reverse=True)
        complete_ms = latest[needed - 1] if len(latest) >= needed else term.began_ms
        return now_ms - max(complete_ms, term.began_ms)

    def waiting(self, now_ms: int) -> Overdue | None:
        """The leader that is without a majority for the longest time."""
        waited = [(self._without_majority_ms(state, now_ms), state) for state in running_leaders(self._world)]
        if not waited:
            return None
        waited_ms, leader = max(waited, key=lambda one: one[0])
        waited_for = f"the end of its leadership of epoch {leader.epoch}, with no majority fetching from it"
        return Overdue(leader.key.id, waited_for, waited_ms)

    def overdue(self, now_ms: int) -> Overdue | None:
        """Has a leader gone on without a majority for longer than the bound?"""
        return overdue_of(self.waiting(now_ms), self._bound_ms)
