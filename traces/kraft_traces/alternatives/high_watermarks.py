"""A high watermark of 0 in place of an unknown one: neither means that a record is committed."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from msgspec import UNSET
from msgspec.structs import replace

from kraft_reference.messages import Error
from kraft_reference.state import UNKNOWN_HIGH_WATERMARK, ReplicaState
from kraft_traces.checkpoint_types import CheckpointLine
from kraft_traces.effects import TracedEffect, TracedSend
from kraft_traces.lines import EventLine
from kraft_traces.message_types import TracedFetchResponse, TracedMessage
from kraft_traces.state_types import TracedState

_Traced = TypeVar("_Traced", TracedMessage, TracedState)


def as_unknown(traced: _Traced) -> _Traced:
    """Return a state or a delivered message with -1 for a high watermark of 0."""
    is_zero = isinstance(traced, TracedState | TracedFetchResponse) and traced.high_watermark == 0
    return replace(traced, high_watermark=UNKNOWN_HIGH_WATERMARK) if is_zero else traced


def checkpoint_as_unknown(line: CheckpointLine) -> CheckpointLine:
    """Return a checkpoint with -1 for each high watermark of 0."""
    replicas = tuple([replace(replica, state=as_unknown(replica.state)) for replica in line.replicas])
    network = tuple([replace(flight, message=as_unknown(flight.message)) for flight in line.network])
    return replace(line, replicas=replicas, network=network)


def published_as_unknown(effects: Sequence[TracedEffect], is_first: Callable[[], bool]) -> tuple[TracedEffect, ...]:
    """Return the effects with -1 for a sent high watermark of 0, if it comes with an error or nothing can be committed.

    A leader with records of earlier epochs must send -1, because followers may know a higher one, which must not fall.
    Receivers ignore a high watermark that comes with an error.
    Rules: hw.own-epoch, hw.monotonic.

    Args:
        effects: effects of an implementation.
        is_first: called if a 0 is sent without an error; True if the sender's log has no records of earlier epochs.
    """

    def read(effect: TracedEffect) -> TracedEffect:
        if not isinstance(effect, TracedSend):
            return effect
        message = as_unknown(effect.message)
        is_unknown = message is not effect.message and (has_error(message) or is_first())
        return TracedSend(message) if is_unknown else effect

    return tuple([read(effect) for effect in effects])


def line_as_unknown(line: EventLine, is_first: Callable[[], bool]) -> EventLine:
    """Return a line with -1 for each high watermark of 0 that means unknown.

    `is_first` is as for `published_as_unknown`.
    """
    changed: dict[str, Any] = {}
    if line.state is not UNSET:
        changed["state"] = as_unknown(line.state)
    if line.message is not UNSET:
        changed["message"] = as_unknown(line.message)
    if line.effects:
        changed["effects"] = published_as_unknown(line.effects, is_first)
    return replace(line, **changed) if changed else line


def has_error(message: TracedMessage) -> bool:
    """True if a response has an error."""
    return getattr(message, "error", UNSET) not in (UNSET, Error.NONE)


def is_first_of_all(state: ReplicaState) -> bool:
    """True if the log of a replica has no records of epochs before the one that it leads."""
    return state.epoch_start_offset == 0 and state.log.start_offset == 0
