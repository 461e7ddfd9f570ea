"""The moves of a run as it makes them: each is noted for a replay, and may end in a crash or in a defect."""

from kraft_reference.cluster.agenda import Chance
from kraft_reference.cluster.occurrence import (
    AnswerUnsupportedVersion,
    CrashPoint,
    CutLink,
    DropMessage,
    DuplicateMessage,
    HealLink,
    NetworkEvent,
    Occurrence,
)
from kraft_reference.cluster.schedule import DEFECTS, Move, disks_during, possible_end
from kraft_reference.cluster.violation import Violation
from kraft_reference.cluster.world import World
from kraft_reference.events import Crash, Draw, Event, Receive
from kraft_reference.messages import Message


class Moves:
    """Makes moves in a `World`, with what chance contributes to each."""

    def __init__(self, world: World, chance: Chance, keeps_schedule: bool) -> None:
        self.world = world
        self.chance = chance
        self.schedule: list[Move] | None = [] if keeps_schedule else None
        self.defect: Violation | None = None
        """A replica raised an exception."""
        self.doomed: set[int] = set()
        """Replicas that die in the middle of their next step that has effects."""
        self._timeouts = world.configuration.timeouts

    def draw(self) -> Draw:
        """The draw for the next move."""
        return self.chance.draw(self.world.sequence + 1, self._timeouts)

    def happen(self, replica_id: int, event: Event) -> Occurrence | None:
        """Let an event happen at a replica; None after a defect."""
        world = self.world
        draw = self.draw()
        crash = self._crash_point(replica_id, event, draw) if replica_id in self.doomed else None
        if self.schedule is not None:
            self._note(replica_id, event, None, draw, crash)
        try:
            if crash is None:
                return world.happen(replica_id, event, draw)
            return world.happen_and_crash(replica_id, event, crash.completed, crash.log_end_offset, draw)
        except DEFECTS as defect:
            self._note_defect(replica_id, defect)
            return None

    def deliver(self, identifier: str, message: Message) -> Occurrence | None:
        """Deliver one copy of a message; None after a defect."""
        replica_id = message.destination
        draw = self.draw()
        crash = self._crash_point(replica_id, Receive(message), draw) if replica_id in self.doomed else None
        if self.schedule is not None:
            self._note(replica_id, None, identifier, draw, crash)
        try:
            return self.world.deliver(identifier, draw, crash)
        except DEFECTS as defect:
            self._note_defect(replica_id, defect)
            return None

    def network(self, event: NetworkEvent) -> Occurrence:
        """Let an event of the network happen."""
        if self.schedule is not None:
            self.schedule.append(Move(self.world.sequence + 1, self.world.time_ms, None, event))
        match event:
            case DropMessage(identifier):
                return self.world.drop(identifier)
            case DuplicateMessage(identifier):
                return self.world.duplicate(identifier)
            case AnswerUnsupportedVersion(identifier):
                return self.world.answer_unsupported_version(identifier)
            case CutLink(source, destination):
                return self.world.cut(source, destination)
            case HealLink(source, destination):
                return self.world.heal(source, destination)

    def note_lasting(self, replica_id: int | None, event: CutLink | Crash, made: bool) -> None:
        """Note that a cut or a crash lasts: the move just made, or one that has nothing left to do."""
        if self.schedule is None:
            return
        if made:
            self.schedule[-1] = self.schedule[-1]._replace(lasts=True)
        else:
            self.schedule.append(Move(self.world.sequence + 1, self.world.time_ms, replica_id, event, lasts=True))

    def _crash_point(self, replica_id: int, event: Event, draw: Draw) -> CrashPoint | None:
        """Somewhere in the step, if it has effects to be in the middle of."""
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

    def _note(
        self, replica_id: int, event: Event | None, identifier: str | None, draw: Draw, crash: CrashPoint | None
    ) -> None:
        assert self.schedule is not None, "only a run that keeps its schedule comes here"
        timeout_ms, backoff_ms = draw.election_timeout_ms, draw.election_backoff_ms
        self.schedule.append(
            Move(
                self.world.sequence + 1,
                self.world.time_ms,
                replica_id,
                event,
                identifier,
                timeout_ms,
                backoff_ms,
                crash,
            )
        )

    def _note_defect(self, replica_id: int, defect: Exception) -> None:
        message = f"{type(defect).__name__}: {defect}"
        self.defect = Violation("Assertion", self.world.sequence + 1, replica_id, message)
