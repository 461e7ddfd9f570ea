"""What a cluster yields: one value for everything that happened, in the order in which it happened.

A trace is these values written down (`kraft_traces`); the cluster itself writes nothing.
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
    """The network loses one copy of a message."""

    message_id: str


@dataclass(frozen=True, slots=True)
class DuplicateMessage:
    """The network makes one more copy of a message that is on its way."""

    message_id: str


@dataclass(frozen=True, slots=True)
class AnswerUnsupportedVersion:
    """The sender's network layer answers a Pre-Vote that the receiver's software could not decode.

    The request does not leave; its sender gets a response with UNSUPPORTED_VERSION.
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
"""What happens to a message or a link, and so at no replica."""


@dataclass(frozen=True, slots=True)
class CrashPoint:
    """Where in a step the replica died."""

    completed: int
    """How many of the step's durable effects and sends happened, in their order."""
    log_end_offset: int
    """How much of the log survived."""


class Occurrence(NamedTuple):
    """One event of a run.  Its `sequence` counts from 1 without gaps and is the correlation id of what it sends."""

    sequence: int
    time_ms: int
    """Virtual time, never smaller than that of the occurrence before."""
    event: Event | NetworkEvent
    replica_id: int | None
    """None for an event of the network."""
    message_id: str | None = None
    """The id of the message that a `Receive` delivers."""
    effects: tuple[Effect, ...] = ()
    """What the replica did, in order; after a crash point only what it completed."""
    refusal: Refusal | None = None
    crash: CrashPoint | None = None
    state: ReplicaState | None = None
    """The replica's state after; None for an event of the network."""
    answer: Message | None = None
    """The response that `AnswerUnsupportedVersion` makes."""


def message_id(sequence: int, message: Message) -> str:
    """The id of a message: the sequence of the occurrence that sent it and its receiver.

    One occurrence sends at most one message to each receiver, and beside it at most one answer to a voter change, which
    may have waited for what the occurrence brings; that one's id ends in `.change`.
    """
    kind = ".change" if type(message) in _CHANGE_RESPONSES else ""
    return f"{sequence}.{message.destination}{kind}"


_CHANGE_RESPONSES = frozenset(get_args(ChangeResponse))
