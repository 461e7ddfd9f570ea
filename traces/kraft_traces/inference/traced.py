"""What a trace says of the replicas that nobody sees into: the lines of the others, and what passed."""

from collections.abc import Iterable, Iterator, Set

from msgspec import UNSET

from kraft_traces.deliveries import sends_of
from kraft_traces.inference.sightings import OwnLine, Seen, Sighting
from kraft_traces.lines import EventLine
from kraft_traces.message_types import TracedMessage, is_request

_Passed = tuple[EventLine, TracedMessage | None, bool]
"""A line, or a message with the line that shows it and whether it may arrive."""


def seen_of(lines: Iterable[EventLine], opaque: Set[int], *, frames: bool = False) -> tuple[Seen, ...]:
    """The lines of the other replicas, and the messages to and from the opaque ones.

    The lines of opaque replicas count for their messages alone, each of which is seen when it is sent.
    With `frames` they are what passed on the wire: what one of them gets from the others is seen when it passes, and
    does not arrive if it never does.
    The lines show their effects, and of messages the id, the correlation id, the source and the destination.
    """
    order = tuple(_in_order(lines, opaque, frames))
    places = {str(message.id): place for place, (_, message, _) in enumerate(order) if message is not None}
    requests: dict[tuple[object, object, object], int] = {}
    seen: list[Seen] = []
    for place, (line, message, arrives) in enumerate(order):
        if message is None:
            delivers = None if line.message is UNSET else places.get(str(line.message.id))
            seen.append(
                OwnLine(place, line, delivers, tuple([places[str(message.id)] for _, message in sends_of(line)]))
            )
            continue
        asker, asked, request = message.source, message.destination, None
        if is_request(message):
            requests[asker, asked, message.correlation_id] = place
        else:
            request = requests.get((asked, asker, message.correlation_id))
        seen.append(Sighting(place, 0 if line.time_ms is UNSET else line.time_ms, message, request, arrives))
    return tuple(seen)


def _in_order(lines: Iterable[EventLine], opaque: Set[int], frames: bool) -> Iterator[_Passed]:
    under_way: dict[object, tuple[EventLine, TracedMessage]] = {}
    for line in lines:
        if line.replica is UNSET:
            continue
        is_opaque = line.replica in opaque
        if not is_opaque:
            yield line, None, True
        elif frames and line.message is not UNSET and line.message.id in under_way:
            yield line, under_way.pop(line.message.id)[1], True
        for _, message in sends_of(line):
            if frames and not is_opaque and message.destination in opaque:
                under_way[message.id] = (line, message)
            else:
                yield line, message, True
    for line, message in under_way.values():
        yield line, message, False
