"""Nodes of the search for hidden events: a possible state of a replica, with the events that led to it."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple, Self

from kraft_spec.tlc.jvm import JavaObject
from kraft_spec.tlc.values import Function
from kraft_traces.inference.timing import Clock
from kraft_traces.lines import EventLine


class Event(NamedTuple):
    """Event of the replica, linked to the one before it."""

    before: "Event | None"
    line: EventLine
    """Line of the event; `sequence` counts the events of this replica, and message ids have places of messages."""
    place: int
    """Place of the captured message before which it happened."""
    sends: tuple[int, ...] = ()
    """Receivers of its messages, in order; empty if it also has durable effects."""
    matched: tuple[tuple[int, int], ...] = ()
    """Captured messages that are matched with sends so far: place of the message, and number of the sending event."""


class Unseen(NamedTuple):
    """Message that the model has sent and that is not captured yet."""

    event: int
    """Number of the event that sent it."""
    message: Function
    after_ms: float = 0
    """Earliest time at which it was sent."""


class Node(NamedTuple):
    """Possible state of a replica."""

    state: JavaObject
    requests: tuple[int, ...] = ()
    """Places of received requests that are not handled, in the order of capture."""
    responses: tuple[int, ...] = ()
    owed: tuple[int, ...] = ()
    """Places of handled Fetches that still need a response."""
    unseen: tuple[Unseen, ...] = ()
    own_requests: Mapping[int, int] = {}
    """Correlation ids in the model of its own open requests, by place."""
    own_requests_ms: Mapping[int, float] = {}
    """Earliest times at which they were sent, by place."""
    clock: Clock = Clock()
    last: Event | None = None
    events: int = 0
    cost: float = 0.0

    def received(self, place: int, *, is_request: bool) -> Self:
        """Return the node after the replica received a message."""
        if is_request:
            return self._replace(requests=(*self.requests, place)[-PENDING_MAX:])
        return self._replace(responses=(*self.responses, place)[-PENDING_MAX:])

    def without(self, *places: int) -> Self:
        """Return the node without these received messages."""
        return self._replace(
            requests=tuple([place for place in self.requests if place not in places]),
            responses=tuple([place for place in self.responses if place not in places]),
        )

    def history(self) -> Iterator[Event]:
        """Yield its events, the newest first."""
        event = self.last
        while event is not None:
            yield event
            event = event.before


PENDING_MAX = 20
"""Maximum number of unhandled messages of each kind; older ones count as lost."""
