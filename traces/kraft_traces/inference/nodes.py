"""What a search for hidden events goes over: where a replica may be, and the events that led there."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple, Self

from kraft_spec.tlc.jvm import JavaObject
from kraft_spec.tlc.values import Function
from kraft_traces.inference.timing import Clock
from kraft_traces.lines import EventLine


class Event(NamedTuple):
    """An event of the replica, with the one before it."""

    before: "Event | None"
    line: EventLine
    """Its `sequence` counts the events of this replica; ids of messages are made of places among the sightings."""
    place: int
    """Before which sighting it happened."""
    sends: tuple[int, ...] = ()
    """To whom it sends messages, in order; nothing if it writes something beside them."""
    seen: tuple[tuple[int, int], ...] = ()
    """Sightings that it turned out to have sent earlier: the place of each, and the number of the event."""


class Unseen(NamedTuple):
    """A message that was sent as far as the model knows, and that has not been seen yet."""

    event: int
    """Number of the event that sent it."""
    message: Function
    after_ms: float = 0
    """When it was sent at the earliest."""


class Node(NamedTuple):
    """Where a replica may be."""

    state: JavaObject
    requests: tuple[int, ...] = ()
    """Places of the requests that have come and are not handled, in the order in which they were seen."""
    responses: tuple[int, ...] = ()
    owed: tuple[int, ...] = ()
    """Fetches that are handled and not answered."""
    unseen: tuple[Unseen, ...] = ()
    asked: Mapping[int, int] = {}
    """Of its own requests that may be answered: the correlation id in the model, by place."""
    asked_ms: Mapping[int, float] = {}
    """When each of them was sent at the earliest, by place."""
    clock: Clock = Clock()
    last: Event | None = None
    events: int = 0
    cost: float = 0.0

    def received(self, place: int, *, is_request: bool) -> Self:
        """The same after a message has come."""
        if is_request:
            return self._replace(requests=(*self.requests, place)[-PENDING_MAX:])
        return self._replace(responses=(*self.responses, place)[-PENDING_MAX:])

    def without(self, *places: int) -> Self:
        """The same without these messages that had come."""
        return self._replace(
            requests=tuple([one for one in self.requests if one not in places]),
            responses=tuple([one for one in self.responses if one not in places]),
        )

    def history(self) -> Iterator[Event]:
        """Its events, the newest first."""
        event = self.last
        while event is not None:
            yield event
            event = event.before


PENDING_MAX = 20
"""So many messages of each kind wait for being handled; older ones are taken for lost."""
