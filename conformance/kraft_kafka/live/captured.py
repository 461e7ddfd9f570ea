"""What the frames of a capture say: the messages of the quorum, as a trace has them."""

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from kraft_kafka.live.capture import CaptureHeader, Closed, FileLine, FrameLine, Line, Opened
from kraft_kafka.node.exchanges import CLIENT, fetched
from kraft_kafka.wire.errors import WireError
from kraft_kafka.wire.frames import Frame, decode_request, decode_response
from kraft_kafka.wire.schema import Kind, message_of, messages_by_key
from kraft_kafka.wire.trace_links import TRACED_NAMES
from kraft_kafka.wire.translation import from_kafka
from kraft_traces.inference.sightings import Sighting, Span
from kraft_traces.message_types import TRACED_MESSAGES, TracedMessage

_BY_CLIENTS = frozenset(("AddRaftVoterRequest", "RemoveRaftVoterRequest", "ApiVersionsRequest"))
"""A client sends them to a controller, or it is a connection's own question: not replicas to each other."""


class Fault(NamedTuple):
    """A line of a capture that is left out, or a file that contradicts the messages."""

    line: int
    """Number of the line in the capture; the header is line 1."""
    time_ms: int
    sender: int | None
    """The node that sent the frame; None if the capture does not say."""
    detail: str
    is_violation: bool
    """True if the sender broke Kafka's protocol, False if the capture is incomplete."""


class FileReading(NamedTuple):
    """A file of a node as it was read."""

    line: int
    time_ms: int
    place: int
    """Place of the first message that passed afterwards."""
    node: int
    name: str
    content: bytes


class Captured(NamedTuple):
    """The messages of a capture."""

    seen: tuple[Sighting, ...]
    left_out: Counter[str]
    """Number of frames that are no messages between replicas, by name."""
    faults: tuple[Fault, ...]
    files: tuple[FileReading, ...]
    spans: Mapping[int, Span]
    """The places before which each connection was opened and closed, by its number."""


class _Asked(NamedTuple):
    """A request that waits for its response."""

    correlation_id: int
    frame: Frame | None = None
    place: int | None = None


def messages_of(header: CaptureHeader, lines: Iterable[Line], start_us: int | None = None) -> Captured:
    """Return the messages between the nodes of a capture, in the order in which they passed.

    Their times count from `start_us` on the clock of the capture; without it, from its first line.
    """
    reading = _Reading({one.id for one in header.nodes}, start_us)
    seen = tuple(reading.all_of(lines))
    spans = {number: Span(one.opened, one.closed) for number, one in reading.connections.items()}
    return Captured(seen, reading.left_out, tuple(reading.faults), tuple(reading.files), spans)


class _Connection:
    """Both ends of a connection, and its unanswered requests."""

    def __init__(self, node: int, opened: int) -> None:
        self.node = node
        self.peer: int | None = None
        self.asked: deque[_Asked] = deque()
        self.answered: set[int] = set()
        """Correlation ids of the responses."""
        self.opened = opened
        self.closed: int | None = None


class _FrameError(Exception):
    """A frame that is left out."""

    def __init__(self, detail: str, *, is_violation: bool) -> None:
        super().__init__(detail)
        self.is_violation = is_violation


class _Reading:
    def __init__(self, nodes: set[int], start_us: int | None) -> None:
        self._nodes = nodes
        self.connections: dict[int, _Connection] = {}
        self._start_us = start_us
        self._places = 0
        self.left_out: Counter[str] = Counter()
        self.faults: list[Fault] = []
        self.files: list[FileReading] = []

    def all_of(self, lines: Iterable[Line]) -> Iterator[Sighting]:
        for number, line in enumerate(lines, 2):
            if self._start_us is None:
                self._start_us = line.time_us
            if isinstance(line, Opened):
                self.connections[line.connection] = _Connection(line.node, self._places)
            elif isinstance(line, Closed):
                if line.connection in self.connections:
                    self.connections[line.connection].closed = self._places
            elif isinstance(line, FileLine):
                self._keep(number, line)
            elif (sighting := self._read(number, line)) is not None:
                yield sighting
                self._places += 1

    def _keep(self, number: int, line: FileLine) -> None:
        time_ms = (line.time_us - (self._start_us or 0)) // 1000
        try:
            content = bytes.fromhex(line.bytes)
        except ValueError:
            self.faults.append(Fault(number, time_ms, line.node, "the bytes are not hexadecimal", is_violation=False))
            return
        self.files.append(FileReading(number, time_ms, self._places, line.node, line.name, content))

    def _read(self, number: int, line: FrameLine) -> Sighting | None:
        """Return the message of a frame; a frame that cannot be read costs its own line and no other."""
        time_ms = (line.time_us - (self._start_us or 0)) // 1000
        connection = self.connections.get(line.connection)
        is_request = line.direction == "request"
        try:
            if connection is None or connection.closed is not None:
                state = "was never opened" if connection is None else "is closed"
                raise _FrameError(f"connection {line.connection} {state}", is_violation=False)
            try:
                raw = bytes.fromhex(line.bytes)
            except ValueError:
                raise _FrameError("the bytes are not hexadecimal", is_violation=False) from None
            read = self._request if is_request else self._response
            sighting = read(connection, raw, time_ms)
        except _FrameError as error:
            sender = None if connection is None else connection.peer if is_request else connection.node
            self.faults.append(Fault(number, time_ms, sender, str(error), error.is_violation))
            return None
        return None if sighting is None else sighting._replace(connection=line.connection)

    def _request(self, connection: _Connection, raw: bytes, time_ms: int) -> Sighting | None:
        correlation_id = int.from_bytes(raw[8:12], "big", signed=True)
        connection.asked.append(_Asked(correlation_id))
        try:
            frame = decode_request(raw, is_lenient=True)
        except WireError as error:
            name = _named(raw)
            if name in TRACED_NAMES and name not in _BY_CLIENTS:
                raise _FrameError(f"{name} cannot be read: {error}", is_violation=True) from error
            self.left_out[name] += 1
            return None
        name = frame.message.name
        asker = _node_that_asks(frame) if name == "ApiVersionsRequest" else None
        is_by_client = name not in TRACED_NAMES or (name in _BY_CLIENTS and asker is None)
        traced = {} if is_by_client else _translated(frame)
        key = traced.get("replica_key")
        source = asker or traced.get("source", key["id"] if key else connection.peer)
        if is_by_client or source not in self._nodes or source == connection.node:
            whose = "of a node to itself" if source == connection.node else "of others"
            self.left_out[name if is_by_client else f"{name} {whose}"] += 1
            return None
        sighting = Sighting(self._places, time_ms, _traced(traced, source, connection.node))
        connection.peer = source
        connection.asked[-1] = _Asked(correlation_id, frame, self._places)
        return sighting

    def _response(self, connection: _Connection, raw: bytes, time_ms: int) -> Sighting | None:
        correlation_id = int.from_bytes(raw[4:8], "big", signed=True)
        is_repeated = correlation_id in connection.answered
        connection.answered.add(correlation_id)
        asked = _answered(connection.asked, correlation_id, is_repeated=is_repeated)
        if asked.frame is None or asked.place is None:
            return None
        api, version = asked.frame.message.api, asked.frame.version
        message = message_of(api, Kind.RESPONSE)
        try:
            frame = decode_response(raw, message, version, is_lenient=True)
            traced = _translated(frame)
            if api == "Fetch":
                _, traced["records"] = fetched(frame.body)
        except WireError as error:
            raise _FrameError(f"{message.name} cannot be read: {error}", is_violation=True) from error
        return Sighting(self._places, time_ms, _traced(traced, connection.node, connection.peer), asked.place)


def _answered(asked: deque[_Asked], correlation_id: int, *, is_repeated: bool) -> _Asked:
    """Remove and return the request that a response answers: a connection answers its requests in order.

    Where the order is broken, the next response belongs to the next request all the same.
    """
    oldest = asked[0].correlation_id if asked else None
    if correlation_id == oldest:
        return asked.popleft()
    if correlation_id in [one.correlation_id for one in asked]:
        while asked.popleft().correlation_id != correlation_id:
            pass
    elif asked and not is_repeated:
        asked.popleft()
    expected = "every request of the connection has its response" if oldest is None else f"expected {oldest}"
    raise _FrameError(f"a response with correlation id {correlation_id}: {expected}", is_violation=True)


def _translated(frame: Frame) -> dict[str, Any]:
    """Return the fields of a frame as a trace names them."""
    try:
        return from_kafka(TRACED_NAMES[frame.message.name], frame.version, frame.document)
    except (LookupError, TypeError, ValueError) as error:
        raise _FrameError(f"{frame.message.name} cannot be read: {error}", is_violation=True) from error


def _node_that_asks(frame: Frame) -> int | None:
    """The id of the node of `kraft-spec node` that asks; its connections ask nothing of their own."""
    _, client, number = (frame.header.get("clientId") or "").partition(CLIENT)
    return int(number) if client and number.isdecimal() else None


def _traced(traced: dict[str, Any], source: int | None, destination: int | None) -> TracedMessage:
    kind = TRACED_MESSAGES[traced["type"]]
    try:
        made: TracedMessage = msgspec.convert({**traced, "source": source, "destination": destination}, kind)
    except msgspec.ValidationError as error:
        raise _FrameError(f"{traced['type']}: {error}", is_violation=True) from error
    return made


def _named(raw: bytes) -> str:
    """What a request is called that is none of the quorum's."""
    key = int.from_bytes(raw[4:6], "big", signed=True) if len(raw) >= 6 else -1
    known = messages_by_key(Kind.REQUEST)
    return known[key].name if key in known else f"request with API key {key}"
