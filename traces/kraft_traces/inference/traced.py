"""What the traces of some replicas say of the others, which nobody sees into."""

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field

from msgspec import UNSET

from kraft_traces.effects import TracedSend
from kraft_traces.inference.sightings import OwnLine, Seen, Sighting
from kraft_traces.lines import EventLine
from kraft_traces.message_types import TracedMessage


def seen_of(lines: Iterable[EventLine], opaque: Set[int], *, wire: bool = False) -> tuple[Seen, ...]:
    """The lines of the other replicas, and their messages to and from the opaque ones.

    A message of an opaque replica is seen when it arrives; with `wire`, for a trace that has lines of all replicas,
    when it is sent, also to another opaque one.
    The lines show their effects, and of messages the id, the correlation id, the source and the destination.
    """
    reading = _Reading(opaque, wire)
    return tuple([one for line in lines if line.replica is not UNSET for one in reading.line(line, line.replica)])


@dataclass(slots=True)
class _Reading:
    opaque: Set[int]
    wire: bool
    number: int = 0
    places: dict[str, int] = field(default_factory=dict)
    requests: dict[tuple[int, int, int], int] = field(default_factory=dict)

    def line(self, line: EventLine, replica: int) -> Iterator[Seen]:
        sends = [one.message for one in line.effects or () if isinstance(one, TracedSend)]
        if replica in self.opaque:
            yield from self._sightings(line, sends if self.wire else [])
            return
        delivers, message = None, line.message
        if message is not UNSET:
            if not self.wire and message.source in self.opaque:
                yield from self._sightings(line, [message])
            delivers = self.places.get(str(message.id))
        first = self.number + 1
        yield OwnLine(self.number, line, delivers, tuple(range(first, first + len(sends))))
        self.number = first
        yield from self._sightings(line, sends)

    def _sightings(self, line: EventLine, messages: Iterable[TracedMessage]) -> Iterator[Seen]:
        for message in messages:
            yield self._sighting(0 if line.time_ms is UNSET else line.time_ms, message)
            self.places[str(message.id)] = self.number
            self.number += 1

    def _sighting(self, time_ms: int, message: TracedMessage) -> Sighting:
        asker, asked, request = message.source, message.destination, None
        assert asker is not UNSET
        assert asked is not UNSET
        assert message.correlation_id is not UNSET
        if str(type(message).__struct_config__.tag).endswith("Response"):
            request = self.requests.get((asked, asker, message.correlation_id))
        else:
            self.requests[asker, asked, message.correlation_id] = self.number
        return Sighting(self.number, time_ms, message, request)


def merged(one: Sequence[Seen], other: Sequence[Seen]) -> tuple[Seen, ...]:
    """Both by time, each in its own order; at the same time the first comes first.  Both are of the same clock."""
    order: list[tuple[int, int, int]] = []
    for source, seen in enumerate((one, other)):
        newest = 0
        for place, each in enumerate(seen):
            newest = max(newest, _time(each) or newest)
            order.append((newest, source, place))
    order.sort()
    places = {(source, place): number for number, (_, source, place) in enumerate(order)}

    def moved(source: int, each: Seen) -> Seen:
        number = places[source, each.number]
        if isinstance(each, Sighting):
            return each._replace(number=number, request=None if each.request is None else places[source, each.request])
        delivers = None if each.delivers is None else places[source, each.delivers]
        return each._replace(
            number=number, delivers=delivers, sends=tuple([places[source, place] for place in each.sends])
        )

    return tuple([moved(source, (one, other)[source][place]) for _, source, place in order])


def between(seen: Iterable[Seen], opaque: Set[int]) -> tuple[Seen, ...]:
    """The messages from one opaque replica to another, in places of their own."""
    kept = [one for one in seen if isinstance(one, Sighting) and {one.source, one.destination} <= opaque]
    places = {one.number: place for place, one in enumerate(kept)}
    return tuple(
        [
            one._replace(number=places[one.number], request=None if one.request is None else places.get(one.request))
            for one in kept
        ]
    )


def _time(one: Seen) -> int:
    if isinstance(one, Sighting):
        return one.time_ms
    return 0 if one.line.time_ms is UNSET else one.line.time_ms
