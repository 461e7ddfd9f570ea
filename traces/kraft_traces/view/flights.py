"""Arrows of the page: for each copy of a message, the lines that sent and consumed it."""

from collections import defaultdict, deque
from collections.abc import Iterator
from typing import Literal, NamedTuple

from msgspec import UNSET

from kraft_traces.effects import TracedSend
from kraft_traces.lines import EventLine
from kraft_traces.message_types import TracedMessage, message_type

Fate = Literal["delivered", "duplicate", "dropped", "unsupported", "in flight"]
"""Outcome of one copy of a message; `duplicate` is the delivery of a copy that the network made."""


class Arrow(NamedTuple):
    """Arrow of one copy of a message."""

    message: str
    sent: int
    """Index of the event that sent it."""
    ended: int | None
    """Index of the event that consumed it; None for a message that was still in flight."""
    source: int | None
    destination: int | None
    fate: Fate


class _Flying(NamedTuple):
    message: TracedMessage
    sent: int
    is_copy: bool


class Flights:
    """Follower of the messages of a trace.

    A message is identified by its id; without ids, by its other fields, the oldest such message first.
    """

    def __init__(self) -> None:
        self._flying: defaultdict[tuple[object, ...], deque[_Flying]] = defaultdict(deque)
        self._keys: dict[str, tuple[object, ...]] = {}
        self._arrows: list[Arrow] = []

    def follow(self, index: int, line: EventLine) -> None:
        """Follow the event with this index."""
        if line.event == "DuplicateMessage":
            self._duplicate(line)
        elif line.event in ("DropMessage", "AnswerUnsupportedVersion"):
            self._land(index, self._key_of_input(line), "dropped" if line.event == "DropMessage" else "unsupported")
        elif line.message is not UNSET:
            self._land(index, self._key(line.message), "delivered")
        if line.answer is not UNSET:
            self._send(index, line.answer)
        for effect in () if line.effects is UNSET else line.effects:
            if isinstance(effect, TracedSend):
                self._send(index, effect.message)

    def arrows(self) -> tuple[Arrow, ...]:
        """Return all arrows so far in the order of sending, including messages in flight."""
        return tuple(sorted((*self._arrows, *self._in_flight()), key=lambda arrow: (arrow.sent, arrow.ended or 0)))

    def _in_flight(self) -> Iterator[Arrow]:
        for waiting in self._flying.values():
            for flying in waiting:
                yield _arrow(flying, None, "in flight")

    def _key(self, message: TracedMessage) -> tuple[object, ...]:
        if message.id is not UNSET:
            return (message.id,)
        identity = (message.source, message.destination, message.correlation_id)
        return (type(message).__name__, *identity)

    def _key_of_input(self, line: EventLine) -> tuple[object, ...]:
        return () if line.input is UNSET else (line.input.message_id,)

    def _send(self, index: int, message: TracedMessage) -> None:
        self._flying[self._key(message)].append(_Flying(message, index, False))

    def _duplicate(self, line: EventLine) -> None:
        waiting = self._flying.get(self._key_of_input(line))
        if waiting:
            waiting.append(waiting[0]._replace(is_copy=True))

    def _land(self, index: int, key: tuple[object, ...], fate: Fate) -> None:
        waiting = self._flying.get(key)
        if waiting:
            flying = waiting.popleft()
            self._arrows.append(_arrow(flying, index, "duplicate" if flying.is_copy and fate == "delivered" else fate))


def _arrow(flying: _Flying, ended: int | None, fate: Fate) -> Arrow:
    message = flying.message
    source = None if message.source is UNSET else message.source
    destination = None if message.destination is UNSET else message.destination
    return Arrow(message_type(message), flying.sent, ended, source, destination, fate)
