"""The moves of a run as it makes them: each is noted for a replay, and may end in a crash or in a defect."""

from kraft_reference.events import Crash, Draw, Event, Receive
from kraft_reference.messages import Message
from kraft_simulation.agenda import Chance
from kraft_simulation.occurrence import CrashPoint, CutLink, NetworkEvent, Occurrence
from kraft_simulation.schedule import DEFECTS, Move, defect_in, disks_during, possible_end
from kraft_simulation.violation import Violation
from kraft_simulation.world import World


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
        return self._made(replica_id, event, None)

    def deliver(self, identifier: str, message: Message) -> Occurrence | None:
        """Deliver one copy of a message; None after a defect."""
        return self._made(message.destination, Receive(message), identifier)

    def _made(self, replica_id: int, event: Event, identifier: str | None) -> Occurrence | None:
        """Make a move of a replica; `identifier` is that of the message that arrives in it."""
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
        """Let an event of the network happen."""
        if self.schedule is not None:
            self.schedule.append(Move(self.world.sequence + 1, self.world.time_ms, None, event))
        return self.world.network(event)

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
