"""Replay of a trace on the reference, a second judge of altered traces that the model accepts."""

from collections.abc import Iterable

from msgspec import UNSET

from kraft_reference.configuration import Configuration
from kraft_reference.events import Receive
from kraft_simulation.occurrence import NetworkEvent, Occurrence
from kraft_simulation.world import ImpossibleMoveError, World
from kraft_traces.encode import event_line
from kraft_traces.lines import EventLine
from kraft_traces.restore import crash_point_of, draw_of, event_of


def is_a_run(configuration: Configuration, lines: Iterable[EventLine]) -> bool:
    """True if the reference produces exactly these lines from their events."""
    world = World(configuration)
    for line in lines:
        assert isinstance(line.time_ms, int), "the lines are complete"
        world.time_ms = line.time_ms
        try:
            occurrence = _repeated(world, line)
        except ImpossibleMoveError:
            return False
        if event_line(occurrence) != line:
            return False
    return True


def _repeated(world: World, line: EventLine) -> Occurrence:
    event = event_of(line)
    if isinstance(event, NetworkEvent):
        return world.network(event)
    crash, draw = crash_point_of(line), draw_of(line)
    if isinstance(event, Receive):
        assert line.message is not UNSET, "a message arrives"
        return world.deliver(str(line.message.id), draw, crash)
    assert isinstance(line.replica, int), "an event of a replica"
    return world.happen(line.replica, event, draw, crash)
