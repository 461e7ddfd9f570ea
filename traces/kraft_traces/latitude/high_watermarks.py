"""A high watermark of 0 in place of one that is unknown: neither says that a record is committed."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from msgspec import UNSET
from msgspec.structs import replace

from kraft_reference.messages import Error
from kraft_reference.state import UNKNOWN_HIGH_WATERMARK, ReplicaState
from kraft_traces.checkpoint_types import CheckpointLine
from kraft_traces.effects import TracedEffect, TracedSend
from kraft_traces.message_types import TracedFetchResponse, TracedMessage
from kraft_traces.state_types import TracedState

_Shown = TypeVar("_Shown", TracedMessage, TracedState)


def as_unknown(shown: _Shown) -> _Shown:
    """A state or a message that arrives, with -1 for a high watermark of 0."""
    is_zero = isinstance(shown, TracedState | TracedFetchResponse) and shown.high_watermark == 0
    return replace(shown, high_watermark=UNKNOWN_HIGH_WATERMARK) if is_zero else shown


def checkpoint_as_unknown(line: CheckpointLine) -> CheckpointLine:
    """A checkpoint with -1 for each high watermark of 0."""
    replicas = tuple([replace(one, state=as_unknown(one.state)) for one in line.replicas])
    network = tuple([replace(one, message=as_unknown(one.message)) for one in line.network])
    return replace(line, replicas=replicas, network=network)


def published_as_unknown(effects: Sequence[TracedEffect], is_first: Callable[[], bool]) -> tuple[TracedEffect, ...]:
    """The effects with -1 for a high watermark of 0 that is sent beside an error, or if nothing can be committed yet.

    A leader that has records of earlier epochs publishes -1: followers may know a higher one, which must not fall.
    Nobody reads a high watermark beside an error.
    Rules: hw.own-epoch, hw.monotonic.

    Args:
        effects: as an implementation shows them.
        is_first: asked where a 0 is sent without an error; true if the log of the sender has no records of earlier
            epochs.
    """

    def read(effect: TracedEffect) -> TracedEffect:
        if not isinstance(effect, TracedSend):
            return effect
        message = as_unknown(effect.message)
        is_unknown = message is not effect.message and (has_error(message) or is_first())
        return TracedSend(message) if is_unknown else effect

    return tuple([read(effect) for effect in effects])


def has_error(message: TracedMessage) -> bool:
    """True if a response shows an error."""
    return getattr(message, "error", UNSET) not in (UNSET, Error.NONE)


def is_first_of_all(state: ReplicaState) -> bool:
    """True if the log of a replica has no records of epochs before the one that it leads."""
    return state.epoch_start_offset == 0 and state.log.start_offset == 0
