"""How a vector says what a step leaves open."""

from typing import Any

from msgspec import UNSET, Struct, UnsetType

from kraft_reference.effects import Timer
from kraft_traces.message_types import TracedMessage


class Latitude(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What an implementation may do otherwise in a step, and still be right."""

    path: str
    """`outputs[0]`, `outputs[0].message.error`, `state.role`."""
    reason: str
    any_of: tuple[Any, ...] | UnsetType = UNSET
    """The values that are right as well."""
    absent: bool = False
    """Whether the output may be missing."""
    free: bool = False
    """Whether every value is right."""


class MayStart(Struct, frozen=True, forbid_unknown_fields=True):
    """A timer that an implementation may start in a step, and need not; not one that fires at once."""

    timer: Timer
    reason: str
    """The rule that leaves it open, and what it says of it."""


class MaySend(Struct, frozen=True, forbid_unknown_fields=True):
    """A request that an implementation may send in a step, and need not."""

    message: TracedMessage
    reason: str
    """The rule that leaves it open, and what it says of it."""
