"""All liveness properties: the time at which they are satisfied, or the violated one."""

from collections.abc import Iterator

from kraft_simulation.liveness.eventual_change import EventualChange
from kraft_simulation.liveness.progress import LEADER_TIMEOUTS, CommitProgress, EventualLeader, EventuallyFetching
from kraft_simulation.liveness.remaining import Remaining, remaining_of, running_leaders
from kraft_simulation.liveness.standing import Leadership, Standing, Wait
from kraft_simulation.liveness.zombie_bounded import BOUND_TIMEOUTS as ZOMBIE_TIMEOUTS
from kraft_simulation.liveness.zombie_bounded import ZombieBounded
from kraft_simulation.occurrence import Occurrence
from kraft_simulation.violation import Violation
from kraft_simulation.world import World

LIVENESS_PROPERTIES = ("ZombieBounded", "CommitProgress", "EventuallyFetching", "EventualChange", "EventualLeader")
"""Properties that a wait can violate, most informative first."""

_LOOKS_PER_TIMEOUT = 4


class LivenessWatch:
    """Follows a cluster from the end of its faults until all properties are satisfied.

    That is a moment with exactly one leader, which a majority follows and from which all required replicas fetch, with
    a new record committed on all of them, and without a pending voter change.
    """

    def __init__(self, world: World, remaining: Remaining) -> None:
        """From now on the world has the links of `remaining`, and its replicas run."""
        timeouts = world.configuration.timeouts
        self._world = world
        self._remaining = remaining
        self._stopped = frozenset(world.replicas) - remaining.running
        self._healed_ms = world.time_ms
        self._look_ms = world.time_ms
        self._look_wait_ms = timeouts.election_timeout_ms // _LOOKS_PER_TIMEOUT
        self._standing = Standing(world, remaining)
        self._zombie = ZombieBounded(world)
        self._fetching = EventuallyFetching(remaining, self._standing, world)
        self._commit = CommitProgress(world, self._standing, self._fetching)
        self._leader = EventualLeader(remaining, self._standing, timeouts.election_timeout_ms)
        self._sets = {replica_id: state.voters for replica_id, state in world.states.items()}
        self._log_ends = {replica_id: state.log.end_offset for replica_id, state in world.states.items()}
        self.change = EventualChange(world, remaining, self._standing, self._fetching)

    @property
    def leadership(self) -> Leadership | None:
        """Leader that a majority follows, and its epoch."""
        return self._standing.leadership

    @property
    def limit_ms(self) -> int:
        """Maximum time of the wait, however often a wait begins anew.

        If no leader is guaranteed, the wait is only for the end of other leaderships.
        """
        timeout_ms = self._world.configuration.timeouts.election_timeout_ms
        if not self._leader.owed:
            return (ZOMBIE_TIMEOUTS + 1) * timeout_ms
        change_ms = self.change.longest_bound_ms if self.change.is_promised else 0
        return LEADER_TIMEOUTS * timeout_ms + self._fetching.longest_bound_ms + change_ms

    def observe(self, occurrence: Occurrence) -> bool:
        """Follow an occurrence; return True if all properties are satisfied."""
        state = occurrence.state
        if state is None:
            return False
        self._standing.observe(state)
        self._zombie.observe(occurrence, state)
        self._fetching.observe(occurrence, state)
        self._commit.observe(occurrence, state)
        self.change.observe(occurrence, self._log_ends[state.key.id], state)
        self._log_ends[state.key.id] = state.log.end_offset
        if self._sets[state.key.id] is not state.voters:
            self._sets[state.key.id] = state.voters
            self._remaining = remaining_of(self._world, self._remaining.cuts, self._stopped)
            self._leader.update(self._remaining, occurrence.time_ms)
        # A leader without followers has its own bound, and the wait lasts until it resigns.
        return (
            self._leader.owed
            and self._commit.has_record()
            and not any(self._commit.waits(occurrence.time_ms))
            and not any(self._fetching.waits(occurrence.time_ms))
            and not self.change.is_open()
            and len(running_leaders(self._world)) == 1
        )

    def overdue(self) -> Violation | None:
        """Return the property that is violated now; only some calls check."""
        now_ms = self._world.time_ms
        if now_ms < self._look_ms:
            return None
        self._look_ms = now_ms + self._look_wait_ms
        return next((self._violation(name, wait) for name, wait in self._waits() if wait.is_overdue), None)

    def missing(self) -> Violation | None:
        """Return the property that was not satisfied at the end of the wait; None if there was none."""
        for name, wait in self._waits():
            if wait.is_overdue if name == "ZombieBounded" else self._leader.owed:
                return self._violation(name, wait)
        if not self._leader.owed:
            return None
        return self._violation("EventualLeader", Wait(None, "a leader that lasts", self.limit_ms, self.limit_ms))

    def _waits(self) -> Iterator[tuple[str, Wait]]:
        now_ms = self._world.time_ms
        waits = (
            self._zombie.waits(now_ms),
            self._commit.waits(now_ms),
            self._fetching.waits(now_ms),
            self.change.waits(now_ms),
            self._leader.waits(now_ms),
        )
        return (
            (name, wait) for name, of_property in zip(LIVENESS_PROPERTIES, waits, strict=True) for wait in of_property
        )

    def _violation(self, name: str, wait: Wait) -> Violation:
        states = "; ".join(
            f"{state.key} {state.role}({state.epoch}) leader {state.leader_id} "
            f"log end {state.log.end_offset} high watermark {state.high_watermark}"
            for state in self._world.states.values()
        )
        message = (
            f"waited {wait.waited_ms} ms in vain for {wait.waited_for}, "
            f"{self._world.time_ms - self._healed_ms} ms after the faults ended; {self._remaining}; {states}"
        )
        return Violation(name, self._world.sequence, wait.replica_id, message)
