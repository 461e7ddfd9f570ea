"""CommitProgress: with a stable majority, appended records eventually commit.

The majority is stable while the same leader stands (`Standing`).
Owed for the first record that a client appends at that leader after the faults stopped: it must be below the
leader's high watermark, and below that of every replica that must fetch from it (`EventuallyFetching`).
"""

from kraft_reference.events import ClientAppend
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState
from kraft_simulation.liveness.eventually_fetching import EventuallyFetching
from kraft_simulation.liveness.overdue import Overdue, overdue_of
from kraft_simulation.liveness.standing import Leadership, Standing, follows
from kraft_simulation.occurrence import Occurrence
from kraft_simulation.world import World

BOUND_TIMEOUTS = 20
"""In election timeouts T, from the latest of: the leader stands, the record is appended, a replica that misses
the record gets a further part of the log.

A follower that has the record learns in two more Fetches that it is committed.
One Fetch in flight when the leader began costs a request timeout (0.7 T), falling back to Follower costs at most
4 T; a replica that does not yet fetch is what EventuallyFetching is about, and waits for nobody here."""


class CommitProgress:
    """Watches the high watermarks under the leader that stands."""

    def __init__(self, world: World, standing: Standing, fetching: EventuallyFetching) -> None:
        self._world = world
        self._standing = standing
        self._fetching = fetching
        self._bound_ms = BOUND_TIMEOUTS * world.configuration.timeouts.election_timeout_ms
        self._appended: dict[Leadership, tuple[int, int]] = {}
        """The offset of the first record since the faults stopped, and when it was appended."""
        self._log_ends: dict[int, int] = {}
        self._moved_ms = world.time_ms

    def observe(self, occurrence: Occurrence, state: ReplicaState) -> None:
        """Take in an append at a leader, or the log of a follower that catches up."""
        if state.role is Role.LEADER:
            if type(occurrence.event) is ClientAppend:
                leadership = Leadership(state.key.id, state.epoch)
                self._appended.setdefault(leadership, (state.log.end_offset - 1, occurrence.time_ms))
        elif state.role is Role.FOLLOWER:
            end = state.log.end_offset
            before = self._log_ends.get(state.key.id)
            if end != before:
                self._log_ends[state.key.id] = end
                standing = self._standing.leadership
                appended = self._appended.get(standing) if standing is not None and follows(state, standing) else None
                if appended is not None and (before is None or before <= appended[0]):
                    self._moved_ms = occurrence.time_ms

    def _missing(self) -> tuple[int, int, int] | None:
        """Who does not know the record as committed: the leader, or else the lowest id; its offset, and since when."""
        leadership = self._standing.leadership
        appended = None if leadership is None else self._appended.get(leadership)
        if leadership is None or appended is None:
            return None
        offset, appended_ms = appended
        leader_id = leadership.leader_id
        for replica_id in (leader_id, *self._fetching.fetching(leadership)):
            if self._world.state(replica_id).high_watermark <= offset:
                return replica_id, offset, max(appended_ms, self._standing.since_ms, self._moved_ms)
        return None

    def is_open(self) -> bool:
        """Is no record appended yet under the leader that stands, or one not committed everywhere?"""
        leadership = self._standing.leadership
        return leadership is not None and (leadership not in self._appended or self._missing() is not None)

    def waiting(self, now_ms: int) -> Overdue | None:
        """The record that is not committed, at whom, and for how long by now."""
        missing = self._missing()
        if missing is None:
            return None
        replica_id, offset, since_ms = missing
        return Overdue(replica_id, f"a high watermark above offset {offset}, appended by a client", now_ms - since_ms)

    def overdue(self, now_ms: int) -> Overdue | None:
        """Was a record not committed for longer than the bound?"""
        return overdue_of(self.waiting(now_ms), self._bound_ms)
