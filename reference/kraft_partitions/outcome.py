"""Outcome of one event."""

from enum import StrEnum
from typing import NamedTuple

from kraft_partitions.effects import Effect
from kraft_partitions.state import ControllerState


class Refusal(StrEnum):
    """Reason why an event changed nothing; the codes are stable and language neutral."""

    REQUEST_REFUSED = "REQUEST_REFUSED"
    """The answer says why."""
    NOTHING_DUE = "NOTHING_DUE"
    """No reassignment of this partition may complete now."""
    ALREADY_SO = "ALREADY_SO"
    """The broker is dead or alive already, the node controller, the topic being deleted."""
    UNKNOWN_ID = "UNKNOWN_ID"
    """There is no such broker, node or topic."""
    ZNODE_NOT_EMPTY = "ZNODE_NOT_EMPTY"
    """Rule: partition-reassign.legacy-znode."""


class Outcome(NamedTuple):
    """The state after an event, and what is done, in this order."""

    state: ControllerState
    effects: tuple[Effect, ...] = ()
    refusal: Refusal | None = None
