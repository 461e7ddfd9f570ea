"""What a step was given, so that it can be played again: of a replica, or of the controllers of partitions."""

from types import ModuleType
from typing import Any, NamedTuple

from kraft_partitions.configuration import PartitionConfiguration
from kraft_partitions.events import Event as PartitionEvent
from kraft_partitions.state import ControllerState
from kraft_reference.configuration import Configuration
from kraft_reference.events import Draw, Event
from kraft_reference.state import ReplicaState


class Given(NamedTuple):
    """What a step of a replica was given."""

    state: ReplicaState
    """Before it."""
    configuration: Configuration
    event: Event
    draw: Draw
    crash: tuple[int, int] | None = None
    """If the replica died in it: after how many writes and sends, and how much of its log survived."""


class GivenToControllers(NamedTuple):
    """What a step of the controllers of partitions was given."""

    state: ControllerState
    """Before it."""
    configuration: PartitionConfiguration
    event: PartitionEvent


AnyGiven = Given | GivenToControllers


def player(given: AnyGiven) -> str:
    """The module of the reference that lets the step happen."""
    return "kraft_reference.replica" if isinstance(given, Given) else "kraft_partitions.occurrence"


def played(module: ModuleType, given: Any) -> Any:
    """What the reference does, or a copy of it: `module` is its `player`, and `given` in its types.

    Returns:
        A `Step` of the replica, or a `PartitionOccurrence`.
    """
    if isinstance(given, GivenToControllers):
        return module.happen(1, given.state, given.event, given.configuration)
    standing = module.Replica(given.state, given.configuration)
    if given.crash is None:
        return standing.step(given.event, given.draw)
    return standing.crash_during(given.event, given.draw, *given.crash)
