"""Mock peers: other replicas that listen, send requests, and respond as a case says."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from kraft_kafka.live.wire_log import Event, Way, WireLog
from kraft_kafka.wire.connections import UNANSWERED, Connection, Server
from kraft_kafka.wire.decoding import Document
from kraft_kafka.wire.errors import Reason, WireError
from kraft_kafka.wire.frames import api_of, decode_request, encode_frame, unsupported_api_versions
from kraft_kafka.wire.schema import Kind, message_of

Answer = Callable[[Event], Document | Awaitable[Document | None] | None]
"""Returns the body of a response; None for no response."""

OFFERED: Mapping[str, tuple[int, int]] = {
    "Vote": (0, 2),
    "BeginQuorumEpoch": (0, 1),
    "EndQuorumEpoch": (0, 1),
    "Fetch": (4, 17),
    "FetchSnapshot": (0, 1),
    "ApiVersions": (0, 4),
    "DescribeQuorum": (0, 2),
    "AddRaftVoter": (0, 1),
    "RemoveRaftVoter": (0, 0),
    "UpdateRaftVoter": (0, 0),
}
"""Versions that a peer supports."""
_UNKNOWN = (Reason.UNKNOWN_API, Reason.UNKNOWN_VERSION)
"""Errors of requests of other parts of Kafka, which a peer does not answer."""
ASK_S = 20.0
"""Time limit for a response: no rule has a limit, and a machine may be busy."""


def api_keys(offered: Mapping[str, tuple[int, int]]) -> list[Document]:
    """Return the supported versions in the form of ApiVersions."""
    return [
        {"apiKey": message_of(api, Kind.REQUEST).key, "minVersion": low, "maxVersion": high}
        for api, (low, high) in offered.items()
    ]


class NoAnswerError(Exception):
    """The implementation did not respond, or closed the connection."""


class Peer:
    """A mock peer, or, with id 0, a client of the quorum."""

    def __init__(self, log: WireLog, id_: int, port: int, target: tuple[str, int]) -> None:
        self.log, self.id = log, id_
        self.answers: dict[str, Answer] = {}
        self.offered = dict(OFFERED)
        self.kraft_versions = (0, 1)
        self._server = Server("127.0.0.1", port, self._respond, self._damaged)
        self._held: set[asyncio.Future[None]] = set()
        self._out = Connection(*target, f"kraft-spec-peer-{id_}")

    @property
    def port(self) -> int:
        return self._server.port

    async def listen(self) -> None:
        """Accept connections.

        Raises:
            OSError: the port is taken.
        """
        await self._server.start()

    async def cut(self) -> None:
        """Close all connections, and stop listening."""
        await self._server.stop()
        self._out.close()

    async def _stay_silent(self) -> None:
        held: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._held.add(held)
        try:
            await held
        finally:
            self._held.discard(held)

    def end_silence(self) -> None:
        """Close the connections with unanswered requests, which block further requests."""
        for held in self._held:
            if not held.done():
                held.set_exception(ConnectionAbortedError())

    def hang_up(self) -> None:
        """Close the connection for its own requests."""
        self._out.close()

    async def ask(self, api: str, version: int, body: Document) -> Event:
        """Send a request of this peer and return the implementation's response.

        Raises:
            NoAnswerError: there is no response in time.
        """
        self.log.add(self.id, Way.ASK, api, version, body)
        try:
            # Not `wait_for`, which in Python 3.11 loses a cancellation if the response has just arrived.
            async with asyncio.timeout(ASK_S):
                response = await self._out.ask(api, version, body)
        except WireError as error:
            response_name = f"the response to {api} version {version} of replica {self.id}"
            self.log.add_damage(self.id, response_name, api, error)
            raise NoAnswerError(f"{response_name} cannot be read: {error}") from error
        except UNANSWERED as error:
            self.log.add(self.id, Way.NOTE, f"no answer: {error!r}")
            raise NoAnswerError(f"{api} version {version} of replica {self.id} got no answer: {error!r}") from error
        return self.log.add(self.id, Way.ANSWER, api, version, response.body)

    async def ask_and_hang_up(self, api: str, version: int, body: Document) -> None:
        """Send a request, and close the connection before reading the response."""
        self.log.add(self.id, Way.ASK, api, version, body)
        document = {"header": {"correlationId": 0, "clientId": "kraft-spec-peer"}, "body": body}
        _, writer = await asyncio.open_connection(self._out.host, self._out.port)
        writer.write(encode_frame(message_of(api, Kind.REQUEST), version, document)[0])
        await writer.drain()
        writer.close()

    def _damaged(self, error: WireError) -> None:
        self.log.add_damage(self.id, f"what is sent to replica {self.id}", "", error)

    async def _respond(self, raw: bytes) -> bytes | None:
        try:
            frame = decode_request(raw, is_lenient=True)
        except WireError as error:
            offered = unsupported_api_versions(raw, api_keys(self.offered))
            if offered is None and error.reason not in _UNKNOWN:
                self.log.add_damage(self.id, f"a request to replica {self.id}", api_of(raw), error)
            return offered
        api, number = frame.message.api, frame.header["correlationId"]
        event = self.log.add(self.id, Way.ASKED, api, frame.version, frame.body)
        body: Any = self.api_versions(frame.version) if api == "ApiVersions" else None
        if (answer := self.answers.get(api)) is not None:
            body = answer(event)
            if asyncio.iscoroutine(body):
                body = await body
        if body is None:
            await self._stay_silent()
        self.log.add(self.id, Way.ANSWERED, api, frame.version, body)
        document = {"header": {"correlationId": number}, "body": body}
        return encode_frame(message_of(api, Kind.RESPONSE), frame.version, document)[0]

    def api_versions(self, version: int) -> Document:
        body: Document = {"errorCode": 0, "apiKeys": api_keys(self.offered)}
        if version >= 1:
            body["throttleTimeMs"] = 0
        if version >= 3:
            low, high = self.kraft_versions
            body["supportedFeatures"] = [{"name": "kraft.version", "minVersion": low, "maxVersion": high}]
        return body
