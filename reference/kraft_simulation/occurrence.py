"""Occurrences: one value for each event of a run, in order.

A trace is a file of these values (`kraft_traces`).
"""

from dataclasses import dataclass
from typing import NamedTuple, get_args

from kraft_reference.effects import Effect
from kraft_reference.events import Event
from kraft_reference.messages import ChangeResponse, Message
from kraft_reference.outcome import Refusal
from kraft_reference.state import ReplicaState


@dataclass(frozen=True, slots=True)
class DropMessage:
    """The network drops a copy of a message."""

    message_id: str


@dataclass(frozen=True, slots=True)
class DuplicateMessage:
    """The network duplicates an in-flight message."""

    message_id: str


@dataclass(frozen=True, slots=True)
class AnswerUnsupportedVersion:
    """The sender's network layer responds to a Pre-Vote that the receiver's software could not decode.

    The request is not sent; the sender receives a response with UNSUPPORTED_VERSION.
    Rule: prevote.unsupported-version.
    """

    message_id: str


@dataclass(frozen=True, slots=True)
class CutLink:
    """From now on nothing is delivered from `source` to `destination`."""

    source: int
    destination: int


@dataclass(frozen=True, slots=True)
class HealLink:
    """The link from `source` to `destination` works again."""

    source: int
    destination: int


NetworkEvent = DropMessage | DuplicateMessage | AnswerUnsupportedVersion | CutLink | HealLink
"""Event of a message or a link, not of a replica."""


@dataclass(frozen=True, slots=True)
class CrashPoint:
    """Point in a step at which the replica crashes."""

    completed: int
    """Number of the step's completed durable effects and sends."""
    log_end_offset: int
    """End of the log that survives."""


class Occurrence(NamedTuple):
    """An event of a run.  Its `sequence` counts from 1 without gaps, and is the correlation id of its requests."""

    sequence: int
    time_ms: int
    """Virtual time, which never decreases."""
    event: Event | NetworkEvent
    replica_id: int | None
    """None for an event of the network."""
    message_id: str | None = None
    """Id of the message of a `Receive`."""
    effects: tuple[Effect, ...] = ()
    """Effects in order; before a crash point only the completed ones."""
    refusal: Refusal | None = None
    crash: CrashPoint | None = None
    state: ReplicaState | None = None
    """State of the replica after the event; None for an event of the network."""
    answer: Message | None = None
    """Response of `AnswerUnsupportedVersion`."""


def message_id(sequence: int, message: Message) -> str:
    """Return the id of a message: the sequence number of its occurrence, and its receiver.

    An occurrence sends at most one message to each receiver, and at most one response to a pending voter change, whose
    id ends in `.change`.
    """
    kind = ".change" if type(message) in _CHANGE_RESPONSES else ""
    return f"{sequence}.{message.destination}{kind}"


_CHANGE_RESPONSES = frozenset(get_args(ChangeResponse))
