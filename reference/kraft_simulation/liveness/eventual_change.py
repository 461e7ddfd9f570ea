"""EventualChange: in a healed cluster a voter change that is asked for comes about, and who joins by itself joins.

Owed for a request that an operator makes at the leader that stands (`Standing`), after the faults stopped, and that
asks for something that can be: a replica that is linked to the leader and supports the level is added, a voter is
removed without whom a connected majority remains, the level is raised where every voter runs and is linked to the
leader.
It ends with NONE; a refusal that only asks for patience (REQUEST_TIMED_OUT, or INVALID_UPDATE_VERSION before all voters
have told of themselves) is answered with the next request.
Owed too by every running replica that joins the voters by itself, if it owes its Fetches (`EventuallyFetching`), and
for a target that the leader has, if everybody in it runs and is linked to the leader: it is reached and cleared.
"""

from collections.abc import Iterator

from kraft_reference.effects import Answer
from kraft_reference.events import AddVoter, AlterPartitionReassignments, RemoveVoter, UpdateFeatures
from kraft_reference.identity import Target, VoterSet
from kraft_reference.messages import Error
from kraft_reference.state import ReplicaState
from kraft_simulation.liveness.progress import EventuallyFetching
from kraft_simulation.liveness.remaining import Remaining
from kraft_simulation.liveness.standing import Leadership, Standing, Wait, leadership_of
from kraft_simulation.membership import is_member
from kraft_simulation.occurrence import Occurrence
from kraft_simulation.world import World

BOUND_TIMEOUTS = 30
"""In election timeouts T, from the latest of: the request is made, the leader stands, a replica outside of the voters
set gets a further part of the log.

A change needs an answer to ApiVersions and two or three Fetches; each may meet a connection in use (0.7 T), and a
change that was in progress before goes first, with as much."""
BOUND_TIMEOUTS_JOIN = 60
"""The same for a replica that joins by itself: it asks again and again, once for its lost predecessor and once for
itself, and all that join do it at once, while the leader takes one change at a time."""


_REQUESTS = (AddVoter, RemoveVoter, UpdateFeatures, AlterPartitionReassignments)


class EventualChange:
    """Watches the requests of operators, and the replicas that join by themselves."""

    def __init__(self, world: World, remaining: Remaining, standing: Standing, fetching: EventuallyFetching) -> None:
        timeout_ms = world.configuration.timeouts.election_timeout_ms
        self._world = world
        self._standing = standing
        self._fetching = fetching
        self._bound_ms = BOUND_TIMEOUTS * timeout_ms
        self._join_bound_ms = BOUND_TIMEOUTS_JOIN * timeout_ms
        self._joiners = [
            replica_id for replica_id in sorted(remaining.running) if world.configuration.replicas[replica_id].auto_join
        ]
        self._asked: dict[Leadership, int] = {}
        """When the first request was made at each leader."""
        self._requests: set[int] = set()
        self._moved_ms = world.time_ms
        self._remaining = remaining
        self._stepped: tuple[VoterSet, Target, int] = (frozenset(), None, world.time_ms)
        """The newest assignment of the standing leader, and since when."""
        self.reassigns = False
        """Does an operator name targets?"""
        self.expected = False
        """Will an operator ask, or has one asked?"""
        self.is_done = False
        """Has a request ended with NONE?"""

    def observe(self, occurrence: Occurrence, before_end: int | None, state: ReplicaState) -> None:
        """Take in a request, its answer, or that a replica outside of the set gets more of the log."""
        event = occurrence.event
        leadership = leadership_of(state)
        if isinstance(event, _REQUESTS) and leadership == self._standing.leadership:
            self._asked.setdefault(leadership, occurrence.time_ms)
            self._requests.add(event.request)
        for effect in occurrence.effects:
            if isinstance(effect, Answer) and effect.reply.request in self._requests:
                self.is_done = self.is_done or effect.reply.error is Error.NONE
        standing = self._standing.leadership
        if leadership == standing and (state.voters, state.target) != self._stepped[:2]:
            self._stepped = (state.voters, state.target, occurrence.time_ms)
        if standing is not None and before_end is not None and state.log.end_offset > before_end:
            leader = self._world.state(standing.leader_id)
            # Only who is far behind is waited for: a leader that appends makes everybody move.
            if not is_member(state.key, leader.voters) and before_end < leader.epoch_start_offset:
                self._moved_ms = occurrence.time_ms

    def _joining(self, leader: ReplicaState) -> list[int]:
        """The replicas that have yet to join by themselves."""
        if leader.log.kraft_version == 0:
            return []
        fetching = self._fetching.owing(leadership_of(leader))
        return [
            replica_id
            for replica_id in self._joiners
            if not is_member(self._world.state(replica_id).key, leader.voters) and replica_id in fetching
        ]

    def is_open(self) -> bool:
        """True if an operator has yet to get its change, or the standing leader has a step or a replica to wait for."""
        standing = self._standing.leadership
        if standing is None or (self.expected and not self.is_done):
            return self.expected and not self.is_done
        leader = self._world.state(standing.leader_id)
        return self._can_reach_target(leader) or bool(self._joining(leader))

    def _can_reach_target(self, leader: ReplicaState) -> bool:
        """True if there is a target, and all replicas in it and all voters run and are linked to each other."""
        if leader.target is None:
            return False
        needed = leader.target | {voter.id for voter in leader.voters}
        linked = all(self._remaining.linked(one, other) for one in needed for other in needed if one != other)
        return needed <= self._remaining.running and linked

    def waits(self, now_ms: int) -> Iterator[Wait]:
        """The waits for a request, for the next step of a reassignment, and for the replicas that join."""
        leadership = self._standing.leadership
        if leadership is None:
            return
        leader = self._world.state(leadership.leader_id)
        since_ms = max(self._standing.since_ms, self._moved_ms)
        if not self.is_done and leadership in self._asked:
            waited_for = "a voter change that was asked for to end with NONE"
            waited_ms = now_ms - max(since_ms, self._asked[leadership])
            yield Wait(leader.key.id, waited_for, waited_ms, self._bound_ms)
        if self._can_reach_target(leader):
            waited_ms = now_ms - max(since_ms, self._stepped[2])
            yield Wait(leader.key.id, "the next step towards its target", waited_ms, self._bound_ms)
        for replica_id in self._joining(leader):
            yield Wait(replica_id, "becoming a voter by itself", now_ms - since_ms, self._join_bound_ms)

    @property
    def is_promised(self) -> bool:
        """True if the property promises anything in this run."""
        return self.expected or self.is_done or bool(self._joiners) or bool(self._asked)

    @property
    def longest_bound_ms(self) -> int:
        """Time that the property adds to the whole wait."""
        steps = 2 * len(self._world.replicas) if self.reassigns else 2
        return steps * self._bound_ms + (self._join_bound_ms if self._joiners else 0)
