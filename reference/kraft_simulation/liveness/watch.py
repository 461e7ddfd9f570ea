"""The six properties together: when a cluster owes nothing more, and which it breaks."""

from collections.abc import Callable

from kraft_simulation.liveness.commit_progress import CommitProgress
from kraft_simulation.liveness.eventual_change import EventualChange
from kraft_simulation.liveness.eventual_leader import BOUND_TIMEOUTS as LEADER_TIMEOUTS
from kraft_simulation.liveness.eventual_leader import EventualLeader
from kraft_simulation.liveness.eventually_fetching import EventuallyFetching
from kraft_simulation.liveness.no_ping_pong import NoPingPong
from kraft_simulation.liveness.overdue import Overdue
from kraft_simulation.liveness.remaining import Remaining, remaining_of, running_leaders
from kraft_simulation.liveness.standing import Leadership, Standing
from kraft_simulation.liveness.zombie_bounded import BOUND_TIMEOUTS as ZOMBIE_TIMEOUTS
from kraft_simulation.liveness.zombie_bounded import ZombieBounded
from kraft_simulation.occurrence import Occurrence
from kraft_simulation.violation import Violation
from kraft_simulation.world import World

LIVENESS_PROPERTIES = (
    "ZombieBounded",
    "NoPingPong",
    "CommitProgress",
    "EventuallyFetching",
    "EventualChange",
    "EventualLeader",
)
"""The properties that only a wait can break; the earlier ones say more about the reason than the later ones."""

_LOOKS_PER_TIMEOUT = 4


class LivenessWatch:
    """Follows a cluster from the end of its faults until it owes nothing more.

    That is the case at a moment with one leader and no other, that a majority follows, from whom fetches whoever
    must, with a new record committed everywhere there, and with nobody who waits for a voter change.
    """

    def __init__(self, world: World, remaining: Remaining) -> None:
        """The links of `remaining` are those of the world from now on, and its replicas run."""
        timeouts = world.configuration.timeouts
        self._world = world
        self._remaining = remaining
        self._stopped = frozenset(world.replicas) - remaining.running
        self._healed_ms = world.time_ms
        self._look_ms = world.time_ms
        self._look_wait_ms = timeouts.election_timeout_ms // _LOOKS_PER_TIMEOUT
        self._standing = Standing(world, remaining)
        self._zombie = ZombieBounded(world)
        self._ping_pong = NoPingPong(remaining, timeouts.election_timeout_ms)
        self._fetching = EventuallyFetching(remaining, self._standing, world)
        self._commit = CommitProgress(world, self._standing, self._fetching)
        self._leader = EventualLeader(remaining, self._standing, timeouts.election_timeout_ms)
        self._sets = {replica_id: state.voters for replica_id, state in world.states.items()}
        self._log_ends = {replica_id: state.log.end_offset for replica_id, state in world.states.items()}
        self.change = EventualChange(world, remaining, self._standing, self._fetching)

    @property
    def leadership(self) -> Leadership | None:
        """Who leads with a majority behind it."""
        return self._standing.leadership

    @property
    def limit_ms(self) -> int:
        """How long the wait may last, however often the cluster begins anew.

        Without a leader that anybody is promised only the end of other leaderships is waited for.
        """
        timeout_ms = self._world.configuration.timeouts.election_timeout_ms
        if not self._leader.owed:
            return (ZOMBIE_TIMEOUTS + 1) * timeout_ms
        change_ms = self.change.longest_bound_ms if self.change.is_promised else 0
        return LEADER_TIMEOUTS * timeout_ms + self._fetching.longest_bound_ms + change_ms

    def observe(self, occurrence: Occurrence) -> bool:
        """Take in what happened.  Does the cluster owe nothing more?"""
        state = occurrence.state
        if state is None:
            return False
        self._standing.observe(state)
        self._zombie.observe(occurrence, state)
        self._ping_pong.observe(occurrence)
        self._fetching.observe(occurrence, state)
        self._commit.observe(occurrence, state)
        self.change.observe(occurrence, self._log_ends[state.key.id], state)
        self._log_ends[state.key.id] = state.log.end_offset
        if self._sets[state.key.id] is not state.voters:
            self._sets[state.key.id] = state.voters
            self._remaining = remaining_of(self._world, self._remaining.cuts, self._stopped)
            self._leader.update(self._remaining, occurrence.time_ms)
            self._ping_pong.update(self._remaining)
        # No other leader: one that nobody listens to has its own bound, and the wait lasts until it ends.
        return (
            self._leader.owed
            and self._standing.leadership is not None
            and not self._commit.is_open()
            and not self._fetching.is_open()
            and not self.change.is_open()
            and len(running_leaders(self._world)) == 1
        )

    def overdue(self) -> Violation | None:
        """The property that is broken by now; asked in every moment, it looks in some."""
        now_ms = self._world.time_ms
        if now_ms < self._look_ms:
            return None
        self._look_ms = now_ms + self._look_wait_ms
        return self._first(
            self._zombie.overdue,
            self._ping_pong.overdue,
            self._commit.overdue,
            self._fetching.overdue,
            self.change.overdue,
            self._leader.overdue,
        )

    def missing(self) -> Violation | None:
        """The property that the cluster did not keep until the end of the wait; None if none was owed."""
        if not self._leader.owed:
            return self._first(self._zombie.overdue, self._ping_pong.overdue, _nothing, _nothing, _nothing, _nothing)
        found = self._first(
            self._zombie.overdue,
            self._ping_pong.overdue,
            self._commit.waiting,
            self._fetching.waiting,
            self.change.waiting,
            self._leader.waiting,
        )
        return found or self._violation("EventualLeader", Overdue(None, "a leader that lasts", self.limit_ms))

    def _first(self, *questions: Callable[[int], Overdue | None]) -> Violation | None:
        now_ms = self._world.time_ms
        for name, question in zip(LIVENESS_PROPERTIES, questions, strict=True):
            overdue = question(now_ms)
            if overdue is not None:
                return self._violation(name, overdue)
        return None

    def _violation(self, name: str, overdue: Overdue) -> Violation:
        states = "; ".join(
            f"{state.key} {state.role}({state.epoch}) leader {state.leader_id} "
            f"log end {state.log.end_offset} high watermark {state.high_watermark}"
            for state in self._world.states.values()
        )
        message = (
            f"waited {overdue.waited_ms} ms in vain for {overdue.waited_for}, "
            f"{self._world.time_ms - self._healed_ms} ms after the faults ended; {self._remaining}; {states}"
        )
        return Violation(name, self._world.sequence, overdue.replica_id, message)


def _nothing(_: int) -> None:
    """Not promised here."""
