"""One thing that happened to the controllers: a line of a trace."""

from typing import NamedTuple

from kraft_partitions.configuration import PartitionConfiguration
from kraft_partitions.controller import REFERENCE, Controllers
from kraft_partitions.effects import Effect
from kraft_partitions.events import Event
from kraft_partitions.outcome import Refusal
from kraft_partitions.state import ControllerState


class PartitionOccurrence(NamedTuple):
    """An event and what came of it."""

    sequence: int
    """From 1, without gaps."""
    event: Event
    effects: tuple[Effect, ...]
    refusal: Refusal | None
    state: ControllerState
    """The state after."""


def happen(
    sequence: int,
    state: ControllerState,
    event: Event,
    configuration: PartitionConfiguration,
    controllers: Controllers = REFERENCE,
) -> PartitionOccurrence:
    """Let an event happen in a state, with such controllers."""
    outcome = controllers.handle(state, event, configuration)
    return PartitionOccurrence(sequence, event, outcome.effects, outcome.refusal, outcome.state)
