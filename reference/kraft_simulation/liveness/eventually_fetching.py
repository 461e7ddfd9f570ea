"""EventuallyFetching: a replica that can reach the leader and a bootstrap server eventually fetches.

The leader is the one that stands (`Standing`).
Owed by every other running replica, voter or observer, that is linked to it and to some bootstrap server.
A replica that is linked to the majority but not to its leader is not required to fetch: followers that fetch refuse
its Pre-Votes, and it waits for a leader that it can reach.
Nor is a replica outside of the leader's voters set with a larger epoch than the leader's: it learned it from a
candidate that is lost by now, or was one before it was removed; the
leader refuses its Fetches and learns nothing from them, and the rules have no way back for it.
Nor, where its fetch timer means nothing to an observer (`observer_refusal` = timer-unused), is one that follows a
leader which it cannot reach: it asks nobody else.
"""

from kraft_reference.events import Receive
from kraft_reference.messages import Error, FetchResponse
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState, is_voter
from kraft_simulation.liveness.overdue import Overdue
from kraft_simulation.liveness.remaining import Remaining, belongs_to
from kraft_simulation.liveness.standing import Leadership, Standing, follows
from kraft_simulation.occurrence import Occurrence
from kraft_simulation.world import World

BOUND_TIMEOUTS_PER_SERVER = 16
"""In election timeouts T, for each bootstrap server that the replica may ask.

A voter hears from the leader every T while it does not fetch, and ends an attempt at an election within 2 T.
An observer asks one of n servers at random; one that does not answer costs it 1.1 T with the wait before the next.
If only one of them helps, 14 n questions in a row miss it with a chance of 1 in a million."""


class EventuallyFetching:
    """Watches which replicas get answers with data from the leader that stands."""

    def __init__(self, remaining: Remaining, standing: Standing, world: World) -> None:
        self._remaining = remaining
        self._standing = standing
        self._world = world
        configuration = world.configuration
        self._searching = frozenset(
            replica_id
            for replica_id in remaining.running
            if any(remaining.linked(replica_id, server) for server in configuration.bootstrap_server_ids(replica_id))
        )
        """The replicas that can reach a bootstrap server."""
        self._bounds_ms = {
            replica_id: len(configuration.bootstrap_server_ids(replica_id))
            * BOUND_TIMEOUTS_PER_SERVER
            * configuration.timeouts.election_timeout_ms
            for replica_id in remaining.running
        }
        self._fetches_from: dict[int, Leadership] = {}
        self._stopped_fetching_ms: dict[int, int] = {}

    def observe(self, occurrence: Occurrence, state: ReplicaState) -> None:
        """Take in an answer to a Fetch, or that a replica no longer follows whom it fetched from."""
        replica_id = state.key.id
        leadership = self._fetches_from.get(replica_id)
        if leadership is not None and not follows(state, leadership):
            del self._fetches_from[replica_id]
            self._stopped_fetching_ms[replica_id] = occurrence.time_ms
        event = occurrence.event
        if type(event) is not Receive or type(event.message) is not FetchResponse or occurrence.refusal is not None:
            return
        answer = event.message
        answered = Leadership(answer.source, answer.epoch)
        if answer.error is Error.NONE and follows(state, answered):
            self._fetches_from[replica_id] = answered

    @property
    def longest_bound_ms(self) -> int:
        """The bound of the replica that has the longest time."""
        return max(self._bounds_ms.values(), default=0)

    def owing(self, leadership: Leadership) -> list[int]:
        """The replicas that owe their Fetches to a leader that stands, by ascending id."""
        leader_id = leadership.leader_id
        state_of = self._world.state
        voters = state_of(leader_id).voters
        return [
            replica_id
            for replica_id in sorted(self._searching - {leader_id})
            if self._remaining.linked(replica_id, leader_id)
            and (state_of(replica_id).epoch <= leadership.epoch or belongs_to(state_of(replica_id), voters))
            and not self._asks_in_vain(state_of(replica_id))
        ]

    def _asks_in_vain(self, state: ReplicaState) -> bool:
        if state.role is not Role.FOLLOWER or is_voter(state) or state.leader_id is None:
            return False
        is_unused = self._world.configuration.profile.observer_refusal == "timer-unused"
        return is_unused and not self._remaining.linked(state.key.id, state.leader_id)

    def late(self, leadership: Leadership) -> list[int]:
        """Those of them that do not fetch."""
        return [replica_id for replica_id in self.owing(leadership) if self._fetches_from.get(replica_id) != leadership]

    def fetching(self, leadership: Leadership) -> list[int]:
        """Those of them that do."""
        return [replica_id for replica_id in self.owing(leadership) if self._fetches_from.get(replica_id) == leadership]

    def is_open(self) -> bool:
        """Does somebody who owes it not fetch now?"""
        leadership = self._standing.leadership
        return leadership is not None and bool(self.late(leadership))

    def _waits(self, now_ms: int) -> list[Overdue]:
        leadership = self._standing.leadership
        if leadership is None:
            return []
        waited_for = f"a Fetch from leader {leadership.leader_id} of epoch {leadership.epoch} with a good answer"
        return [
            Overdue(
                replica_id,
                waited_for,
                now_ms - max(self._standing.since_ms, self._stopped_fetching_ms.get(replica_id, 0)),
            )
            for replica_id in self.late(leadership)
        ]

    def waiting(self, now_ms: int) -> Overdue | None:
        """Who has not fetched for the longest time."""
        return max(self._waits(now_ms), key=lambda wait: wait.waited_ms, default=None)

    def overdue(self, now_ms: int) -> Overdue | None:
        """Has a replica not fetched for longer than its bound?"""
        for wait in self._waits(now_ms):
            if wait.replica_id is not None and wait.waited_ms > self._bounds_ms[wait.replica_id]:
                return wait
        return None
