"""Inputs of a step, from which it can be replayed: of a replica, or of the partition controllers."""

from types import ModuleType
from typing import Any, NamedTuple

from kraft_partitions.configuration import PartitionConfiguration
from kraft_partitions.events import Event as PartitionEvent
from kraft_partitions.state import ControllerState
from kraft_reference.configuration import Configuration
from kraft_reference.events import Draw, Event
from kraft_reference.state import ReplicaState


class Given(NamedTuple):
    """Inputs of a step of a replica."""

    state: ReplicaState
    """State before the step."""
    configuration: Configuration
    event: Event
    draw: Draw
    crash: tuple[int, int] | None = None
    """Crash within the step: number of completed writes and sends, and how much of the log survived."""


class GivenToControllers(NamedTuple):
    """Inputs of a step of the partition controllers."""

    state: ControllerState
    """State before the step."""
    configuration: PartitionConfiguration
    event: PartitionEvent


AnyGiven = Given | GivenToControllers


def player(inputs: AnyGiven) -> str:
    """Return the name of the reference's module that plays the step."""
    return "kraft_reference.replica" if isinstance(inputs, Given) else "kraft_partitions.occurrence"


def played(module: ModuleType, inputs: Any) -> Any:
    """Play the step on the reference, or on a copy of it: `module` is its `player`, and `inputs` has its types.

    Returns:
        A `Step` of the replica, or a `PartitionOccurrence`.
    """
    if isinstance(inputs, GivenToControllers):
        return module.happen(1, inputs.state, inputs.event, inputs.configuration)
    replica = module.Replica(inputs.state, inputs.configuration)
    if inputs.crash is None:
        return replica.step(inputs.event, inputs.draw)
    return replica.crash_during(inputs.event, inputs.draw, *inputs.crash)
