"""Allowed alternatives in the form of a vector."""

from typing import Any

from msgspec import UNSET, Struct, UnsetType

from kraft_reference.effects import Timer
from kraft_traces.message_types import TracedMessage


class Alternative(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Alternative outcome of a step that the rules allow."""

    path: str
    """Path of the value, such as `outputs[0]`, `outputs[0].message.error` or `state.role`."""
    reason: str
    any_of: tuple[Any, ...] | UnsetType = UNSET
    """Other allowed values."""
    absent: bool = False
    """True if the output may be missing."""
    free: bool = False
    """True if any value is allowed."""


class MayStart(Struct, frozen=True, forbid_unknown_fields=True):
    """Timer that an implementation may start in a step, unless it fires at once."""

    timer: Timer
    reason: str
    """Rule that allows the alternative, with the reason."""


class MaySend(Struct, frozen=True, forbid_unknown_fields=True):
    """Request that an implementation may send in a step."""

    message: TracedMessage
    reason: str
    """Rule that allows the alternative, with the reason."""
