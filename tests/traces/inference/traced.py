"""Messages of a run of the reference, as captured when they are sent."""

from collections.abc import Iterable

from msgspec import UNSET

from kraft_traces.deliveries import sends_of
from kraft_traces.inference.captured import CapturedMessage
from kraft_traces.lines import EventLine
from kraft_traces.message_types import is_request


def seen_of(lines: Iterable[EventLine]) -> tuple[CapturedMessage, ...]:
    """Return all messages; the lines must have their effects, with correlation id, source and destination."""
    requests: dict[tuple[object, object, object], int] = {}
    observations: list[CapturedMessage] = []
    sends = ((line, message) for line in lines if line.replica is not UNSET for _, message in sends_of(line))
    for place, (line, message) in enumerate(sends):
        source, destination, request = message.source, message.destination, None
        if is_request(message):
            requests[source, destination, message.correlation_id] = place
        else:
            request = requests.get((destination, source, message.correlation_id))
        time_ms = 0 if line.time_ms is UNSET else line.time_ms
        observations.append(CapturedMessage(place, time_ms, message, request))
    return tuple(observations)
