"""A trace as somebody sees it who cannot look into some of its replicas."""

from collections.abc import Iterable, Iterator, Set

from msgspec import UNSET

from kraft_traces.effects import TracedSend
from kraft_traces.inference.sightings import OwnLine, Seen, Sighting
from kraft_traces.lines import EventLine
from kraft_traces.message_types import TracedMessage


def seen_of(lines: Iterable[EventLine], opaque: Set[int]) -> Iterator[Seen]:
    """The lines of the other replicas, and every message from or to an opaque one as it is sent.

    The lines show their effects, and of messages the id, the correlation id, the source and the destination.
    """
    places: dict[str, int] = {}
    requests: dict[tuple[int, int, int], int] = {}
    number = 0
    for line in lines:
        if line.replica is UNSET:
            continue
        sends = [one.message for one in line.effects or () if isinstance(one, TracedSend)]
        first = number if line.replica in opaque else number + 1
        if line.replica not in opaque:
            delivers = None if line.message is UNSET else places.get(str(line.message.id))
            yield OwnLine(number, line, delivers, tuple(range(first, first + len(sends))))
        number = first
        for message in sends:
            time_ms = 0 if line.time_ms is UNSET else line.time_ms
            yield _sighting(number, time_ms, message, requests)
            places[str(message.id)] = number
            number += 1


def _sighting(number: int, time_ms: int, message: TracedMessage, requests: dict[tuple[int, int, int], int]) -> Sighting:
    asker, asked = message.source, message.destination
    request = None
    if str(type(message).__struct_config__.tag).endswith("Response"):
        request = requests.get((asked, asker, message.correlation_id))
    else:
        requests[asker, asked, message.correlation_id] = number
    return Sighting(number, time_ms, message, request)
