"""Moves of a run: `Moves` makes and records them, `replay` repeats a recorded schedule deterministically.

A move names messages by the sequence number of their sender's move in the recorded run.  So moves can be removed:
impossible ones are skipped, and the messages of the remaining ones keep their names.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from kraft_reference import durability
from kraft_reference.effects import StartTimer
from kraft_reference.events import Crash, Draw, Event, Receive
from kraft_reference.log import Log, last_batch_end
from kraft_reference.messages import Message
from kraft_reference.outcome import Refusal
from kraft_reference.roles import IllegalTransitionError
from kraft_reference.state import ReplicaState
from kraft_simulation.event_queue import Chance
from kraft_simulation.occurrence import (
    AnswerUnsupportedVersion,
    CrashPoint,
    CutLink,
    DropMessage,
    DuplicateMessage,
    HealLink,
    NetworkEvent,
    Occurrence,
)
from kraft_simulation.violation import Violation
from kraft_simulation.world import ImpossibleMoveError, World


class Move(NamedTuple):
    """A decision from outside the replicas: a delivery, an event at a replica, or an event of the network."""

    sequence: int
    """Sequence number of the occurrence in the recorded run."""
    time_ms: int
    replica_id: int | None = None
    event: Event | NetworkEvent | None = None
    """None for a delivery."""
    message_id: str | None = None
    """The delivered message, as named in the recorded run."""
    election_timeout_ms: int = 0
    election_backoff_ms: int = 0
    crash: CrashPoint | None = None
    lasts: bool = False
    """True for a cut or a crash that lasts when the faults stop."""


Schedule = tuple[Move, ...]

DEFECTS = (AssertionError, IllegalTransitionError)
"""Exceptions of a replica that contradicts itself."""


def defect_in(world: World, defect: Exception, replica_id: int | None = None) -> Violation:
    """Return the violation for one of `DEFECTS` in the next move."""
    return Violation("Assertion", world.sequence + 1, replica_id, f"{type(defect).__name__}: {defect}")


class Moves:
    """Makes moves in a `World` with random draws."""

    def __init__(self, world: World, chance: Chance, keeps_schedule: bool) -> None:
        self.world = world
        self.chance = chance
        self.schedule: list[Move] | None = [] if keeps_schedule else None
        self.defect: Violation | None = None
        """Violation by an exception of a replica."""
        self.doomed: set[int] = set()
        """Replicas that crash during their next step with effects."""
        self._timeouts = world.configuration.timeouts

    def draw(self) -> Draw:
        """Return the draw for the next move."""
        return self.chance.draw(self.world.sequence + 1, self._timeouts)

    def happen(self, replica_id: int, event: Event) -> Occurrence | None:
        """Make an event happen at a replica; None after a defect."""
        return self._made(replica_id, event, None)

    def deliver(self, identifier: str, message: Message) -> Occurrence | None:
        """Deliver one copy of a message; None after a defect."""
        return self._made(message.destination, Receive(message), identifier)

    def _made(self, replica_id: int, event: Event, identifier: str | None) -> Occurrence | None:
        """Make a move of a replica; `identifier` is the id of the received message."""
        world, draw = self.world, self.draw()
        crash = self._crash_point(replica_id, event, draw) if replica_id in self.doomed else None
        if self.schedule is not None:
            noted = event if identifier is None else None
            chance = (draw.election_timeout_ms, draw.election_backoff_ms)
            self.schedule.append(Move(world.sequence + 1, world.time_ms, replica_id, noted, identifier, *chance, crash))
        try:
            if identifier is not None:
                return world.deliver(identifier, draw, crash)
            return world.happen(replica_id, event, draw, crash)
        except DEFECTS as defect:
            self.defect = defect_in(world, defect, replica_id)
            return None

    def network(self, event: NetworkEvent) -> Occurrence:
        """Make an event of the network happen."""
        if self.schedule is not None:
            self.schedule.append(Move(self.world.sequence + 1, self.world.time_ms, None, event))
        return self.world.network(event)

    def note_lasting(self, replica_id: int | None, event: CutLink | Crash, made: bool) -> None:
        """Record that a cut or crash lasts: the last move, or one whose effect exists already."""
        if self.schedule is None:
            return
        if made:
            self.schedule[-1] = self.schedule[-1]._replace(lasts=True)
        else:
            self.schedule.append(Move(self.world.sequence + 1, self.world.time_ms, replica_id, event, lasts=True))

    def _crash_point(self, replica_id: int, event: Event, draw: Draw) -> CrashPoint | None:
        """Return a random crash point in the step, if it has effects."""
        try:
            on_disk = disks_during(self.world, replica_id, event, draw)
        except DEFECTS:
            return None
        if len(on_disk) == 1 or not self.world.replicas[replica_id].may_die_during(event):
            return None
        self.doomed.discard(replica_id)
        completed = self.chance.between(0, len(on_disk) - 1)
        log = on_disk[completed].log
        return CrashPoint(completed, possible_end(log, self.chance.between(log.flushed, log.end_offset)))


_DOES_NOT_APPLY = (Refusal.NOT_IN_ROLE, Refusal.NOTHING_DUE, Refusal.NOT_RUNNING, Refusal.RUNNING)


def replay(world: World, schedule: Iterable[Move]) -> Iterator[tuple[Move, Occurrence]]:
    """Make the possible moves in order on a new world, and skip the others.

    The same schedule gives the same occurrences.
    """
    renamed: dict[str, int] = {}
    for move in schedule:
        world.time_ms = max(world.time_ms, move.time_ms)
        try:
            occurrence = _perform(world, move, renamed)
        except ImpossibleMoveError:
            continue
        if occurrence is not None:
            renamed[str(move.sequence)] = occurrence.sequence
            yield move, occurrence


def _perform(world: World, move: Move, renamed: dict[str, int]) -> Occurrence | None:
    """Make a move; None if it is impossible."""

    def here(identifier: str) -> str:
        sequence, _, destination = identifier.partition(".")
        return f"{renamed.get(sequence, 0)}.{destination}"

    match move.event:
        case DropMessage() | DuplicateMessage() | AnswerUnsupportedVersion() as event:
            return world.network(replace(event, message_id=here(event.message_id)))
        case CutLink() | HealLink() as event:
            return world.network(event)
        case None:
            assert move.message_id is not None, "a delivery names its message"
            return _deliver(world, move, here(move.message_id))
        case event:
            return _happen(world, move, event)


def _deliver(world: World, move: Move, identifier: str) -> Occurrence | None:
    flight = world.in_flight.get(identifier)
    if flight is None:
        return None
    draw = world.draw(move.election_timeout_ms, move.election_backoff_ms)
    event = Receive(flight.message)
    destination = flight.message.destination
    if not _applies(world, destination, event, draw):
        return None
    return world.deliver(identifier, draw, _crash_in(world, move, destination, event, draw))


def _happen(world: World, move: Move, event: Event) -> Occurrence | None:
    assert move.replica_id is not None, "an event of a replica names it"
    draw = world.draw(move.election_timeout_ms, move.election_backoff_ms)
    state = world.state(move.replica_id)
    if isinstance(event, Crash):
        event = Crash(possible_end(state.log, event.log_end_offset))
    if not _applies(world, move.replica_id, event, draw):
        return None
    return world.happen(move.replica_id, event, draw, _crash_in(world, move, move.replica_id, event, draw))


def _applies(world: World, replica_id: int, event: Event, draw: Draw) -> bool:
    return world.replicas[replica_id].outcome(event, draw).refusal not in _DOES_NOT_APPLY


def disks_during(world: World, replica_id: int, event: Event, draw: Draw) -> list[ReplicaState]:
    """Return the disk of a replica after each number of completed effects of an event, from none to all."""
    before = world.state(replica_id)
    effects = durability.effects_of(before, world.replicas[replica_id].outcome(event, draw))
    on_disk = [before]
    for effect in effects:
        if not isinstance(effect, StartTimer):
            on_disk.append(durability.apply_durable(on_disk[-1], (effect,)))
    return on_disk


def _crash_in(world: World, move: Move, replica_id: int, event: Event, draw: Draw) -> CrashPoint | None:
    """Return the possible crash point nearest to that of the move."""
    wanted = move.crash
    if wanted is None or not world.replicas[replica_id].may_die_during(event):
        return None
    on_disk = disks_during(world, replica_id, event, draw)
    completed = min(wanted.completed, len(on_disk) - 1)
    return CrashPoint(completed, possible_end(on_disk[completed].log, wanted.log_end_offset))


def possible_end(log: Log, wanted: int) -> int:
    """Return the largest log end up to the wanted one that a crash can leave."""
    within = min(max(wanted, log.flushed), log.end_offset)
    return max(last_batch_end(log, within), log.flushed)
