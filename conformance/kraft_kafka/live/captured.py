"""Decoder of a capture's frames to the quorum's messages, as a trace has them."""

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
from kraft_traces.inference.captured import CapturedMessage, Span
from kraft_traces.message_types import TRACED_MESSAGES, TracedMessage

_BY_CLIENTS = frozenset(("AddRaftVoterRequest", "RemoveRaftVoterRequest", "ApiVersionsRequest"))
"""Requests that clients, or connections themselves, send: replicas do not exchange them."""


class Fault(NamedTuple):
    """A line of a capture that is skipped, or a file that contradicts the messages."""

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
    """Index of the next message."""
    node: int
    name: str
    content: bytes


class Captured(NamedTuple):
    """The messages of a capture."""

    seen: tuple[CapturedMessage, ...]
    left_out: Counter[str]
    """Number of frames that are no messages between replicas, by name."""
    faults: tuple[Fault, ...]
    files: tuple[FileReading, ...]
    spans: Mapping[int, Span]
    """By connection: the indices of the next message when it was opened and closed."""


class _Pending(NamedTuple):
    """A request without its response."""

    correlation_id: int
    frame: Frame | None = None
    place: int | None = None


def messages_of(header: CaptureHeader, lines: Iterable[Line]) -> Captured:
    """Return the messages between the nodes of a capture, in order; their times count from its first line."""
    reading = _Reading({node.id for node in header.nodes})
    messages = tuple(reading.read_all(lines))
    spans = {number: Span(link.opened, link.closed) for number, link in reading.connections.items()}
    return Captured(messages, reading.left_out, tuple(reading.faults), tuple(reading.files), spans)


class _Connection:
    """Both ends of a connection, and its unanswered requests."""

    def __init__(self, node: int, opened: int) -> None:
        self.node = node
        self.peer: int | None = None
        self.pending: deque[_Pending] = deque()
        self.answered: set[int] = set()
        """Correlation ids of the responses."""
        self.opened = opened
        self.closed: int | None = None


class _FrameError(Exception):
    """A frame that is skipped."""

    def __init__(self, detail: str, *, is_violation: bool) -> None:
        super().__init__(detail)
        self.is_violation = is_violation


class _Reading:
    def __init__(self, nodes: set[int]) -> None:
        self._nodes = nodes
        self.connections: dict[int, _Connection] = {}
        self._start_us: int | None = None
        self._places = 0
        self.left_out: Counter[str] = Counter()
        self.faults: list[Fault] = []
        self.files: list[FileReading] = []

    def read_all(self, lines: Iterable[Line]) -> Iterator[CapturedMessage]:
        for number, line in enumerate(lines, 2):
            if self._start_us is None:
                self._start_us = line.time_us
            if isinstance(line, Opened):
                self.connections[line.connection] = _Connection(line.node, self._places)
            elif isinstance(line, Closed):
                if line.connection in self.connections:
                    self.connections[line.connection].closed = self._places
            elif isinstance(line, FileLine):
                self._keep_file(number, line)
            elif (sighting := self._read_frame(number, line)) is not None:
                yield sighting
                self._places += 1

    def _keep_file(self, number: int, line: FileLine) -> None:
        time_ms = (line.time_us - (self._start_us or 0)) // 1000
        try:
            content = bytes.fromhex(line.bytes)
        except ValueError:
            self.faults.append(Fault(number, time_ms, line.node, "the bytes are not hexadecimal", is_violation=False))
            return
        self.files.append(FileReading(number, time_ms, self._places, line.node, line.name, content))

    def _read_frame(self, number: int, line: FrameLine) -> CapturedMessage | None:
        """Return the message of a frame; an unreadable frame only skips its own line."""
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
            read = self._read_request if is_request else self._read_response
            sighting = read(connection, raw, time_ms)
        except _FrameError as error:
            sender = None if connection is None else connection.peer if is_request else connection.node
            self.faults.append(Fault(number, time_ms, sender, str(error), error.is_violation))
            return None
        return None if sighting is None else sighting._replace(connection=line.connection)

    def _read_request(self, connection: _Connection, raw: bytes, time_ms: int) -> CapturedMessage | None:
        correlation_id = int.from_bytes(raw[8:12], "big", signed=True)
        connection.pending.append(_Pending(correlation_id))
        try:
            frame = decode_request(raw, is_lenient=True)
        except WireError as error:
            name = _name_request(raw)
            if name in TRACED_NAMES and name not in _BY_CLIENTS:
                raise _FrameError(f"{name} cannot be read: {error}", is_violation=True) from error
            self.left_out[name] += 1
            return None
        name = frame.message.name
        client_node = _find_client_node(frame) if name == "ApiVersionsRequest" else None
        is_by_client = name not in TRACED_NAMES or (name in _BY_CLIENTS and client_node is None)
        traced = {} if is_by_client else _translate(frame)
        key = traced.get("replica_key")
        source = client_node or traced.get("source", key["id"] if key else connection.peer)
        if is_by_client or source not in self._nodes or source == connection.node:
            sender = "of a node to itself" if source == connection.node else "of others"
            self.left_out[name if is_by_client else f"{name} {sender}"] += 1
            return None
        sighting = CapturedMessage(self._places, time_ms, _to_traced(traced, source, connection.node))
        connection.peer = source
        connection.pending[-1] = _Pending(correlation_id, frame, self._places)
        return sighting

    def _read_response(self, connection: _Connection, raw: bytes, time_ms: int) -> CapturedMessage | None:
        correlation_id = int.from_bytes(raw[4:8], "big", signed=True)
        is_repeated = correlation_id in connection.answered
        connection.answered.add(correlation_id)
        request = _take_pending(connection.pending, correlation_id, is_repeated=is_repeated)
        if request.frame is None or request.place is None:
            return None
        api, version = request.frame.message.api, request.frame.version
        message = message_of(api, Kind.RESPONSE)
        try:
            frame = decode_response(raw, message, version, is_lenient=True)
            traced = _translate(frame)
            if api == "Fetch":
                _, traced["records"] = fetched(frame.body)
        except WireError as error:
            raise _FrameError(f"{message.name} cannot be read: {error}", is_violation=True) from error
        return CapturedMessage(
            self._places, time_ms, _to_traced(traced, connection.node, connection.peer), request.place
        )


def _take_pending(pending: deque[_Pending], correlation_id: int, *, is_repeated: bool) -> _Pending:
    """Remove and return a response's request: a connection answers its requests in order.

    Even if the order is broken, the next response still belongs to the next request.
    """
    oldest = pending[0].correlation_id if pending else None
    if correlation_id == oldest:
        return pending.popleft()
    if correlation_id in [request.correlation_id for request in pending]:
        while pending.popleft().correlation_id != correlation_id:
            pass
    elif pending and not is_repeated:
        pending.popleft()
    expected = "every request of the connection has its response" if oldest is None else f"expected {oldest}"
    raise _FrameError(f"a response with correlation id {correlation_id}: {expected}", is_violation=True)


def _translate(frame: Frame) -> dict[str, Any]:
    """Return the fields of a frame by their names in a trace."""
    try:
        return from_kafka(TRACED_NAMES[frame.message.name], frame.version, frame.document)
    except (LookupError, TypeError, ValueError) as error:
        raise _FrameError(f"{frame.message.name} cannot be read: {error}", is_violation=True) from error


def _find_client_node(frame: Frame) -> int | None:
    """Return the id of the `kraft-spec node` that sent a request; its connections send none of their own."""
    _, client, number = (frame.header.get("clientId") or "").partition(CLIENT)
    return int(number) if client and number.isdecimal() else None


def _to_traced(traced: dict[str, Any], source: int | None, destination: int | None) -> TracedMessage:
    kind = TRACED_MESSAGES[traced["type"]]
    try:
        message: TracedMessage = msgspec.convert({**traced, "source": source, "destination": destination}, kind)
    except msgspec.ValidationError as error:
        raise _FrameError(f"{traced['type']}: {error}", is_violation=True) from error
    return message


def _name_request(raw: bytes) -> str:
    """Return the name of a request outside the quorum's protocol."""
    key = int.from_bytes(raw[4:6], "big", signed=True) if len(raw) >= 6 else -1
    by_key = messages_by_key(Kind.REQUEST)
    return by_key[key].name if key in by_key else f"request with API key {key}"
