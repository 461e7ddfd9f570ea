"""EventualChange: in a healed cluster, requested voter changes and auto joins succeed.

It covers a possible request of an operator to the established leader (`Standing`) after the faults stopped: to add a
replica that is linked to the leader and supports the level, to remove a voter without which a connected majority
remains, or to raise the level if every voter runs and is linked to the leader.
The request must end with NONE; after a temporary refusal (REQUEST_TIMED_OUT, or INVALID_UPDATE_VERSION before all
voters have sent UpdateVoter) the operator requests again.
It also covers every running replica with auto join that must fetch (`EventuallyFetching`), and a target of the leader
if all of its replicas run and are linked to the leader: the target is reached and cleared.
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
"""Bound in election timeouts T, from the latest of: the request is made, the leader is established, a replica outside
of the voter set gets a further part of the log.

A change needs an ApiVersions response and two or three Fetches; each may wait for a connection in use (0.7 T), and an
earlier pending change takes the same time first."""
BOUND_TIMEOUTS_JOIN = 60
"""Bound for a replica with auto join: it repeats its requests, one for its lost predecessor and one for itself, and
all joining replicas do so at once, while the leader takes one change at a time."""


_REQUESTS = (AddVoter, RemoveVoter, UpdateFeatures, AlterPartitionReassignments)


class EventualChange:
    """Watches the requests of operators, and the replicas with auto join."""

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
        """Time of the first request at each leader."""
        self._requests: set[int] = set()
        self._moved_ms = world.time_ms
        self._remaining = remaining
        self._stepped: tuple[VoterSet, Target, int] = (frozenset(), None, world.time_ms)
        """Newest target of the established leader, and since when."""
        self.reassigns = False
        """True if an operator requests reassignments."""
        self.expected = False
        """True if an operator has made or will make a request."""
        self.is_done = False
        """True if a request has ended with NONE."""

    def observe(self, occurrence: Occurrence, before_end: int | None, state: ReplicaState) -> None:
        """Follow a request, its reply, or progress of a replica outside of the set."""
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
            # Only replicas that are far behind extend the wait, because every append of the leader moves all replicas.
            if not is_member(state.key, leader.voters) and before_end < leader.epoch_start_offset:
                self._moved_ms = occurrence.time_ms

    def _joining(self, leader: ReplicaState) -> list[int]:
        """Return the replicas with auto join that have not joined yet."""
        if leader.log.kraft_version == 0:
            return []
        fetching = self._fetching.owing(leadership_of(leader))
        return [
            replica_id
            for replica_id in self._joiners
            if not is_member(self._world.state(replica_id).key, leader.voters) and replica_id in fetching
        ]

    def is_open(self) -> bool:
        """True if a request, a reassignment step or an auto join is pending."""
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
        linked = all(self._remaining.linked(first, other) for first in needed for other in needed if first != other)
        return needed <= self._remaining.running and linked

    def waits(self, now_ms: int) -> Iterator[Wait]:
        """Return the waits for a request, for the next reassignment step, and for joining replicas."""
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
        """True if the premise of the property can hold in this run."""
        return self.expected or self.is_done or bool(self._joiners) or bool(self._asked)

    @property
    def longest_bound_ms(self) -> int:
        """Time that the property adds to the maximum wait."""
        steps = 2 * len(self._world.replicas) if self.reassigns else 2
        return steps * self._bound_ms + (self._join_bound_ms if self._joiners else 0)
