"""Observations of opaque replicas from a trace: the lines of the other replicas, and the messages."""

from collections.abc import Iterable, Iterator, Set

from msgspec import UNSET

from kraft_traces.deliveries import sends_of
from kraft_traces.inference.captured import CapturedMessage, OwnLine, Seen
from kraft_traces.lines import EventLine
from kraft_traces.message_types import TracedMessage, is_request

_Passed = tuple[EventLine, TracedMessage | None, bool]
"""A line, or a message with its line, and True if the message may be delivered."""


def seen_of(lines: Iterable[EventLine], opaque: Set[int], *, frames: bool = False) -> tuple[Seen, ...]:
    """Return the lines of the other replicas, and the messages from and to the opaque ones.

    Of the lines of opaque replicas only the messages are used, each captured when it is sent.
    With `frames`, messages to opaque replicas are captured when they are delivered, and are lost if they never are.
    The lines must have their effects, with id, correlation id, source and destination of each message.
    """
    order = tuple(_in_order(lines, opaque, frames))
    places = {str(message.id): place for place, (_, message, _) in enumerate(order) if message is not None}
    requests: dict[tuple[object, object, object], int] = {}
    observations: list[Seen] = []
    for place, (line, message, arrives) in enumerate(order):
        if message is None:
            delivers = None if line.message is UNSET else places.get(str(line.message.id))
            observations.append(
                OwnLine(place, line, delivers, tuple([places[str(message.id)] for _, message in sends_of(line)]))
            )
            continue
        source, destination, request = message.source, message.destination, None
        if is_request(message):
            requests[source, destination, message.correlation_id] = place
        else:
            request = requests.get((destination, source, message.correlation_id))
        observations.append(
            CapturedMessage(place, 0 if line.time_ms is UNSET else line.time_ms, message, request, arrives)
        )
    return tuple(observations)


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
