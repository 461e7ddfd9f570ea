"""What the frames of a capture say: the messages of the quorum, as a trace has them."""

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from kraft_conformance.live.capture import CaptureHeader, Closed, FrameLine, Line, Opened
from kraft_conformance.node.exchanges import CLIENT, fetched
from kraft_conformance.wire.errors import WireError
from kraft_conformance.wire.frames import Frame, decode_request, decode_response
from kraft_conformance.wire.schema import Kind, message_of, messages
from kraft_conformance.wire.trace_links import TRACED_NAMES
from kraft_conformance.wire.translation import from_kafka
from kraft_traces.inference.sightings import Seen, Sighting
from kraft_traces.message_types import TRACED_MESSAGES, TracedMessage

_BY_CLIENTS = frozenset(("AddRaftVoterRequest", "RemoveRaftVoterRequest", "ApiVersionsRequest"))
"""A client sends them to a controller, or it is a connection's own question: not replicas to each other."""


class Captured(NamedTuple):
    """The messages of a capture."""

    seen: tuple[Seen, ...]
    left_out: Counter[str]
    """Frames that are no messages between replicas, by what they are."""


class _Asked(NamedTuple):
    """A request that waits for its response."""

    frame: Frame | None
    place: int | None


def messages_of(header: CaptureHeader, lines: Iterable[Line], start_us: int | None = None) -> Captured:
    """The messages between the nodes of a capture, in the order in which they passed.

    Their times count from `start_us` on the clock of the capture; without it, from its first line.
    """
    reading = _Reading({one.id for one in header.nodes}, start_us)
    seen = tuple(reading.all_of(lines))
    return Captured(seen, reading.left_out)


class _Connection:
    """Who talks to whom, and what is not answered yet."""

    def __init__(self, node: int) -> None:
        self.node = node
        self.peer: int | None = None
        self.asked: deque[_Asked] = deque()


class _Reading:
    def __init__(self, nodes: set[int], start_us: int | None) -> None:
        self._nodes = nodes
        self._connections: dict[int, _Connection] = {}
        self._start_us = start_us
        self._places = 0
        self.left_out: Counter[str] = Counter()
        """What is no message between replicas, by what it is."""

    def all_of(self, lines: Iterable[Line]) -> Iterator[Seen]:
        for line in lines:
            if self._start_us is None:
                self._start_us = line.time_us
            if isinstance(line, Opened):
                self._connections[line.connection] = _Connection(line.node)
            elif isinstance(line, Closed):
                self._connections.pop(line.connection, None)
            elif isinstance(line, FrameLine):
                found = self._frame(line, bytes.fromhex(line.bytes))
                if found is not None:
                    yield found
                    self._places += 1

    def _frame(self, line: FrameLine, raw: bytes) -> Sighting | None:
        connection = self._connections[line.connection]
        time_ms = (line.time_us - (self._start_us or 0)) // 1000
        if line.direction == "request":
            return self._request(connection, raw, time_ms)
        return self._response(connection, raw, time_ms)

    def _request(self, connection: _Connection, raw: bytes, time_ms: int) -> Sighting | None:
        try:
            frame = decode_request(raw, is_lenient=True)
        except WireError:
            self.left_out[_named(raw)] += 1
            connection.asked.append(_Asked(None, None))
            return None
        name = frame.message.name
        asker = _node_that_asks(frame) if name == "ApiVersionsRequest" else None
        is_by_client = name not in TRACED_NAMES or (name in _BY_CLIENTS and asker is None)
        traced = {} if is_by_client else from_kafka(TRACED_NAMES[name], frame.version, frame.document)
        key = traced.get("replica_key")
        source = asker or traced.get("source", key["id"] if key else connection.peer)
        if is_by_client or source not in self._nodes or source == connection.node:
            whose = "of a node to itself" if source == connection.node else "of others"
            self.left_out[name if is_by_client else f"{name} {whose}"] += 1
            connection.asked.append(_Asked(None, None))
            return None
        connection.peer = source
        place = self._places
        connection.asked.append(_Asked(frame, place))
        return Sighting(place, time_ms, _traced(traced, source, connection.node))

    def _response(self, connection: _Connection, raw: bytes, time_ms: int) -> Sighting | None:
        if not connection.asked:
            self.left_out["a response to nothing"] += 1
            return None
        asked = connection.asked.popleft()
        if asked.frame is None or asked.place is None:
            return None
        api, version = asked.frame.message.api, asked.frame.version
        frame = decode_response(raw, message_of(api, Kind.RESPONSE), version, is_lenient=True)
        traced = from_kafka(TRACED_NAMES[frame.message.name], version, frame.document)
        if api == "Fetch":
            _, traced["records"] = fetched(frame.body)
        message = _traced(traced, connection.node, connection.peer)
        return Sighting(self._places, time_ms, message, asked.place)


def _node_that_asks(frame: Frame) -> int | None:
    """The id of the node of `kraft-spec node` that asks; its connections ask nothing of their own."""
    _, client, number = (frame.header.get("clientId") or "").partition(CLIENT)
    return int(number) if client and number.isdecimal() else None


def _traced(traced: dict[str, Any], source: int | None, destination: int | None) -> TracedMessage:
    kind = TRACED_MESSAGES[traced["type"]]
    made: TracedMessage = msgspec.convert({**traced, "source": source, "destination": destination}, kind)
    return made


def _named(raw: bytes) -> str:
    """What a request is called that is none of the quorum's."""
    key = int.from_bytes(raw[4:6], "big", signed=True) if len(raw) >= 6 else -1
    known = {one.key: one.name for one in messages().values() if one.kind is Kind.REQUEST}
    return known.get(key, f"request with API key {key}")
