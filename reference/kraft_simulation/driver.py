"""Timers, message delivery and due requests of the replicas.

The driver makes moves in the `World` when they are due in the `EventQueue`, and adds the events that follow.
Clients, operators and faults (`clients`, `faults`) use the same moves.
"""

from collections.abc import Callable

from kraft_reference.configuration import Timeouts
from kraft_reference.effects import TIMERS, Answer, Send, StartTimer, Timer
from kraft_reference.events import (
    AdvanceReassignment,
    Crash,
    Event,
    Poll,
    PollFetch,
    Receive,
    RequestTimeout,
)
from kraft_reference.messages import (
    REQUESTS,
    ChangeResponse,
    FetchRequest,
    FetchResponse,
    FetchSnapshotResponse,
    Message,
    Reply,
)
from kraft_reference.outcome import entry_timers
from kraft_reference.polling import due_change_request, due_election_requests, due_fetch_targets
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState, is_voter, other_voters
from kraft_reference.timers import TIMER_EVENTS
from kraft_simulation.event_queue import Chance, EventQueue
from kraft_simulation.occurrence import (
    AnswerUnsupportedVersion,
    DropMessage,
    DuplicateMessage,
    Occurrence,
    message_id,
)
from kraft_simulation.schedule import Moves, possible_end
from kraft_simulation.workload import Faults
from kraft_simulation.world import World

_FETCHING = (Role.FOLLOWER, Role.UNATTACHED)
_POLL = Poll()
_NEXT_POLL, _NEXT_FETCH, _NEXT_STEP = "next poll", "next fetch", "next step"

_RETRY_BACKOFF_MS = 100
"""Delay before a replica repeats requests after a response that it could not use."""
_CHANGE_BACKOFF_MS = 500
"""Minimum delay between two requests of a follower about voters; it also fetches in between."""
_STEP_WAIT_MS_MAX = 100
"""Maximum delay of a possible reassignment step."""
_WRITE_MS_MAX = 20
"""Maximum time to write and sync fetched records; a crash in between loses some of them."""


class Driver:
    """Schedules the events that each replica waits for, and makes the due moves."""

    def __init__(self, world: World, chance: Chance, faults: Faults, keeps_schedule: bool) -> None:
        self.world = world
        self.chance = chance
        self.faults = faults
        """Current faults."""
        self.queue = EventQueue(chance)
        self.moves = Moves(world, chance, keeps_schedule)
        self.ambushed: set[int] = set()
        """Replicas that crash as soon as they have unsynced records."""
        self.after_crash: Callable[[int], None] = lambda _: None
        """Is called with the id of a replica that has just stopped."""
        self.after_answer: Callable[[int, Reply], None] = lambda *_: None
        """Is called with the id of a replica and its reply to a client."""
        self._timeouts = world.configuration.timeouts
        self._before = {replica_id: world.state(replica_id) for replica_id in sorted(world.replicas)}
        self._has_fetched: set[int] = set()
        """Replicas that have fetched since their last request about voters."""
        self._asks_from_ms: dict[int, int] = {}
        """Earliest time of each replica's next request about voters."""

    def start(self) -> None:
        """Schedule the timers of each replica's role, and the delivery of in-flight messages."""
        for replica_id in self._before:
            state = self._before[replica_id] = self.world.state(replica_id)
            stopped = state._replace(role=Role.STOPPED)
            for timer in entry_timers(stopped, state, self.moves.draw(), self._timeouts):
                self._start_timer(replica_id, timer)
            if state.pending_change is not None:
                self._start_timer(replica_id, StartTimer(Timer.VOTER_CHANGE, self._timeouts.voter_change_timeout_ms))
            for destination, correlation_id in sorted(state.awaiting.items()):
                self._await_answer(replica_id, destination, correlation_id)
            self._plan_requests(state, 0, 0)
            self._plan_step(replica_id)
        for identifier, flight in tuple(self.world.in_flight.items()):
            for _ in range(flight.copies):
                self._plan_arrival(identifier, flight.message)

    def advance(self) -> Occurrence | None:
        """Make the next due move; return None if it has become unnecessary.

        Raises:
            IndexError: the queue is empty.
        """
        event = self.queue.pop()
        self.world.time_ms = self.queue.now_ms
        return None if event is None else event.action(*event.arguments)

    # -----------------------------------------------------------------------------------------------------
    # Moves.
    # -----------------------------------------------------------------------------------------------------

    def happen(self, replica_id: int, event: Event) -> Occurrence | None:
        """Make an event happen at a replica, and schedule what follows; None after a defect."""
        occurrence = self.moves.happen(replica_id, event)
        if occurrence is not None:
            self._follow_up(replica_id, occurrence)
        return occurrence

    def die(self, replica_id: int) -> Occurrence | None:
        """Crash a replica between two steps; any part of the unsynced records survives."""
        state = self.world.state(replica_id)
        if state.role is Role.STOPPED:
            return None
        kept = self.chance.between(state.log.flushed, state.log.end_offset)
        return self.happen(replica_id, Crash(possible_end(state.log, kept)))

    def _deliver(self, identifier: str, message: Message) -> Occurrence | None:
        """Deliver a message, unless its link is cut, its receiver is stopped, or it cannot be encoded."""
        world = self.world
        replica_id = message.destination
        if (message.source, replica_id) in world.cuts or world.replicas[replica_id].state.role is Role.STOPPED:
            return self.moves.network(DropMessage(identifier))
        if world.cannot_be_encoded(message):
            refused = self.moves.network(AnswerUnsupportedVersion(identifier))
            assert refused.answer is not None, "the sender gets an answer"
            self._plan_arrival(message_id(refused.sequence, refused.answer), refused.answer)
            return refused
        occurrence = self.moves.deliver(identifier, message)
        if occurrence is not None:
            self._follow_up(replica_id, occurrence)
        return occurrence

    def _arrive(self, identifier: str, message: Message) -> Occurrence | None:
        """Deliver, drop or duplicate a due message."""
        faults = self.faults
        if faults.drop_chance or faults.duplicate_chance:
            fate = self.chance.random()
            if fate < faults.drop_chance:
                return self.moves.network(DropMessage(identifier))
            if fate < faults.drop_chance + faults.duplicate_chance:
                self.queue.after(0, self._deliver, identifier, message)
                self.queue.after(self._delay_ms(), self._deliver, identifier, message)
                return self.moves.network(DuplicateMessage(identifier))
        return self._deliver(identifier, message)

    # -----------------------------------------------------------------------------------------------------
    # What follows from a move.
    # -----------------------------------------------------------------------------------------------------

    def _follow_up(self, replica_id: int, occurrence: Occurrence) -> None:
        """Schedule the delivery of sent messages, the started timers, and the due requests."""
        state = occurrence.state
        assert state is not None, "an event of a replica leaves a state"
        before = self._before[replica_id]
        self._before[replica_id] = state
        if state.role is not before.role:
            allowed = () if state.role is Role.UNATTACHED and not is_voter(state) else TIMERS[state.role]
            self.queue.cancel(*((replica_id, timer) for timer in Timer if timer not in allowed))
        for effect in occurrence.effects:
            if isinstance(effect, Send):
                message = effect.message
                self._plan_arrival(message_id(occurrence.sequence, message), message)
                if type(message) in REQUESTS:
                    self._await_answer(replica_id, message.destination, message.correlation_id)
            elif isinstance(effect, StartTimer):
                self._start_timer(replica_id, effect)
            elif isinstance(effect, Answer):
                self.after_answer(replica_id, effect.reply)
        if state.role is Role.STOPPED:
            self.queue.cancel(*((replica_id, name) for name in (*Timer, _NEXT_POLL, _NEXT_FETCH, _NEXT_STEP)))
            self._has_fetched.discard(replica_id)
            self._asks_from_ms.pop(replica_id, None)
            self.moves.doomed.discard(replica_id)
            self.ambushed.discard(replica_id)
            if before.role is not Role.STOPPED or occurrence.crash is not None:
                self.after_crash(replica_id)
            return
        if replica_id in self.ambushed and state.log.flushed < state.log.end_offset:
            self.queue.after(0, self.die, replica_id)
        if state.role is Role.LEADER:
            self._stop_idle_timers(state)
            if _leaves_a_fetch_unanswered(occurrence):
                self.queue.after(self._timeouts.request_timeout_ms // 2, self._end_wait, replica_id)
        poll_wait_ms = 0 if occurrence.refusal is None else _RETRY_BACKOFF_MS
        self._plan_requests(state, poll_wait_ms, _fetch_wait_ms(before, occurrence, self.chance, self._timeouts))
        if state.target is not None and not self.queue.is_pending((replica_id, _NEXT_STEP)):
            self._plan_step(replica_id)

    def _stop_idle_timers(self, leader: ReplicaState) -> None:
        """Cancel the timers of a Leader that have nothing to wait for.

        Rules: check-quorum.sole-voter, add-voter.timeout.
        """
        replica_id = leader.key.id
        if leader.pending_change is None:
            self.queue.cancel((replica_id, Timer.VOTER_CHANGE))
        if not other_voters(leader):
            self.queue.cancel((replica_id, Timer.CHECK_QUORUM), (replica_id, Timer.BEGIN_QUORUM_EPOCH))

    def _plan_requests(self, state: ReplicaState, poll_wait_ms: int, fetch_wait_ms: int) -> None:
        """Schedule the next Fetch or poll, or bring it forward."""
        replica_id = state.key.id
        if state.role in _FETCHING:
            if state.awaiting:
                return
            self.queue.at_latest(fetch_wait_ms, self._fetch, (replica_id, _NEXT_FETCH))
            if replica_id in self._has_fetched and self._asks_about_voters(state):
                wait_ms = max(self._asks_from_ms.get(replica_id, 0) - self.queue.now_ms, 0)
                self.queue.at_latest(wait_ms, self._poll, (replica_id, _NEXT_POLL))
        elif due_election_requests(state, self.world.configuration) or self._asks_about_voters(state):
            self.queue.at_latest(poll_wait_ms, self._poll, (replica_id, _NEXT_POLL))

    def _plan_step(self, replica_id: int) -> None:
        if self.world.replicas[replica_id].next_steps():
            self.queue.at_latest(self.chance.between(0, _STEP_WAIT_MS_MAX), self._step, (replica_id, _NEXT_STEP))

    def _asks_about_voters(self, state: ReplicaState) -> bool:
        return due_change_request(state, self.world.configuration, 0) is not None

    def _plan_arrival(self, identifier: str, message: Message) -> None:
        self.queue.after(self._delay_ms(), self._arrive, identifier, message)

    def _delay_ms(self) -> int:
        faults = self.faults
        if faults.slow_chance and self.chance.random() < faults.slow_chance:
            return self.chance.between(faults.delay_ms_max, faults.slow_ms_max)
        return self.chance.between(1, faults.delay_ms_max)

    # -----------------------------------------------------------------------------------------------------
    # What falls due at a replica.
    # -----------------------------------------------------------------------------------------------------

    def running_timers(self, replica_id: int) -> list[Timer]:
        """Return the running timers of a replica."""
        return [timer for timer in sorted(Timer) if self.queue.is_pending((replica_id, timer))]

    def fire(self, replica_id: int, timer: Timer) -> Occurrence | None:
        """Fire a timer, at its time or before."""
        self.queue.cancel((replica_id, timer))
        return self.happen(replica_id, TIMER_EVENTS[timer])

    def _start_timer(self, replica_id: int, start: StartTimer) -> None:
        self.queue.after(start.duration_ms, self.fire, replica_id, start.timer, slot=(replica_id, start.timer))

    def _await_answer(self, replica_id: int, destination: int, correlation_id: int) -> None:
        wait_ms = self._timeouts.request_timeout_ms
        self.queue.after(wait_ms, self._request_due, replica_id, destination, correlation_id)

    def _request_due(self, replica_id: int, destination: int, correlation_id: int) -> Occurrence | None:
        if self._before[replica_id].awaiting.get(destination) != correlation_id:
            return None
        return self.happen(replica_id, RequestTimeout(destination))

    def _poll(self, replica_id: int) -> Occurrence | None:
        state = self._before[replica_id]
        if not due_election_requests(state, self.world.configuration) and not self._asks_about_voters(state):
            return None
        if state.role in _FETCHING:
            self._has_fetched.discard(replica_id)
            self._asks_from_ms[replica_id] = self.queue.now_ms + _CHANGE_BACKOFF_MS
        return self.happen(replica_id, _POLL)

    def _end_wait(self, replica_id: int) -> Occurrence | None:
        """Poll a leader that has not responded to a Fetch within its wait."""
        return None if self._before[replica_id].role is Role.STOPPED else self.happen(replica_id, _POLL)

    def _step(self, replica_id: int) -> Occurrence | None:
        """Make a Leader take the next step of a reassignment, with a caught-up replica or sometimes with any.

        Rules: reassign.catch-up-before-add, reassign.add-or-remove-choice.
        """
        state = self._before[replica_id]
        steps = sorted(self.world.replicas[replica_id].next_steps(), key=lambda key: key or state.key)
        if not steps:
            return None
        reached = max([state.fetch_offsets.get(key, 0) for key in steps if key is not None], default=0)
        furthest = [key for key in steps if key is None or state.fetch_offsets.get(key, 0) == reached]
        chosen = self.chance.pick(steps if self.chance.random() < 0.25 else furthest)
        crash_chance = self.faults.crash_in_change_chance
        if crash_chance and self.chance.random() < crash_chance:
            self.moves.doomed.add(replica_id)
        return self.happen(replica_id, AdvanceReassignment(chosen))

    def _fetch(self, replica_id: int) -> Occurrence | None:
        targets = due_fetch_targets(self._before[replica_id], self.world.configuration)
        if not targets:
            return None
        self._has_fetched.add(replica_id)
        return self.happen(replica_id, PollFetch(targets[0] if len(targets) == 1 else self.chance.pick(targets)))


def _fetch_wait_ms(before: ReplicaState, occurrence: Occurrence, chance: Chance, timeouts: Timeouts) -> int:
    """Return the wait before the next Fetch, such as 0 for a new Follower, or the time to write fetched records."""
    event, state = occurrence.event, occurrence.state
    assert state is not None, "an event of a replica leaves a state"
    if isinstance(event, Receive):
        if isinstance(event.message, (FetchResponse, FetchSnapshotResponse)):
            if state.log is not before.log:
                return chance.between(0, _WRITE_MS_MAX)
            # Rules: fetch.response.common, snapshot.load-resets-history.
            if state.wanted_snapshot is not None and before.wanted_snapshot != state.wanted_snapshot:
                return 0
        # The connection had another request in flight, but a Follower depends on its Fetch.
        elif isinstance(event.message, ChangeResponse):
            return 0
    follows_anew = state.role is Role.FOLLOWER and (
        before.role is not Role.FOLLOWER or before.epoch != state.epoch or before.leader_id != state.leader_id
    )
    return 0 if follows_anew else timeouts.fetch_interval_ms


def _leaves_a_fetch_unanswered(occurrence: Occurrence) -> bool:
    """True if a Fetch has no response yet; the reference always responds at once, but other software may wait."""
    event = occurrence.event
    if not isinstance(event, Receive) or not isinstance(event.message, FetchRequest):
        return False
    asker = event.message.source
    return not any(isinstance(effect, Send) and effect.message.destination == asker for effect in occurrence.effects)
