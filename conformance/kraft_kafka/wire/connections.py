"""Frames over TCP: asyncio streams that carry Kafka's requests and responses.

A `Server` responds to the requests of a connection in order, as Kafka does.  This module does not interpret requests.
"""

import asyncio
import itertools
import struct
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from kraft_kafka.wire.decoding import Document
from kraft_kafka.wire.errors import Reason, WireError
from kraft_kafka.wire.frames import Frame, decode_response, encode_frame
from kraft_kafka.wire.schema import Kind, message_of

FRAME_BYTES_MAX = 16 * 2**20
"""Maximum size of a frame."""
REQUEST_BYTES_MAX = 2**20
"""Maximum size of a request to a `Server`: unlike a response, a request has no batch of up to 8 MiB."""
HELD_BYTES_MAX = 32 * 2**20
"""Maximum size of all unanswered requests and unread responses of one `Server`."""
_CHUNK_BYTES = 2**16

UNANSWERED = (OSError, EOFError, WireError)
"""Exceptions of `Connection` without a response; a timeout is an OSError too."""

Respond = Callable[[bytes], Awaitable[bytes | None]]
"""Maps a whole request frame to a whole response frame; None ends the connection."""


async def read_frame(
    reader: asyncio.StreamReader, bytes_max: int = FRAME_BYTES_MAX, hold: Callable[[int], None] = lambda _: None
) -> bytes:
    """Read the next frame, including its length.

    Args:
        reader: the connection's reader.
        bytes_max: maximum size of the frame.
        hold: is called with the number of bytes read whenever it grows.

    Raises:
        WireError: the length is negative, or more than `bytes_max`.
        EOFError: the connection ended.
    """
    # Reading a frame that has already arrived does not yield, but other connections and timers need their turn.
    await asyncio.sleep(0)
    raw = bytearray(await reader.readexactly(4))
    (size,) = struct.unpack(">i", raw)
    if not 0 <= size <= bytes_max:
        raise WireError(Reason.BAD_LENGTH, "length", f"a length from 0 to {bytes_max}", str(size), 0)
    while (missing := 4 + size - len(raw)) > 0:
        chunk = await reader.read(min(missing, _CHUNK_BYTES))
        if not chunk:
            raise EOFError(f"the connection ended {missing} bytes before the end of a frame")
        raw += chunk
        hold(len(raw))
    return bytes(raw)


class Connection:
    """A connection to a server, opened on demand and reopened after a failure; one request at a time."""

    def __init__(self, host: str, port: int, client_id: str) -> None:
        self.host, self.port, self.client_id = host, port, client_id
        self._correlation_ids = itertools.count(1)
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self._lock = asyncio.Lock()

    @classmethod
    def to(cls, endpoint: str, client_id: str) -> "Connection":
        """Return a connection to an endpoint, host:port, whose host may be in brackets."""
        host, _, port = endpoint.rpartition(":")
        return cls(host.strip("[]"), int(port), client_id)

    async def ask(self, api: str, version: int, body: Document, correlation_id: int | None = None) -> Frame:
        """Send a request and return its response; cancelling the call closes the connection.

        Raises:
            OSError: the server does not listen, or the connection broke.
            EOFError: the connection ended before the response.
            WireError: the request does not fit the version, or the response is damaged.
        """
        number = next(self._correlation_ids) if correlation_id is None else correlation_id
        header = {"correlationId": number, "clientId": self.client_id}
        request, _ = encode_frame(message_of(api, Kind.REQUEST), version, {"header": header, "body": body})
        raw = await self.exchange(request)
        response = decode_response(raw, message_of(api, Kind.RESPONSE), version, is_lenient=True)
        if response.header["correlationId"] != number:
            self.close()
            raise WireError(
                Reason.OUT_OF_RANGE, "header.correlationId", str(number), str(response.header["correlationId"])
            )
        return response

    async def exchange(self, request: bytes) -> bytes:
        """Send a whole request frame and return the whole response frame.

        Raises:
            OSError, EOFError, WireError: as `ask`.
        """
        async with self._lock:
            is_done = False
            try:
                if self._streams is None or self._streams[0].at_eof():
                    self.close()
                    self._streams = await self._open()
                reader, writer = self._streams
                writer.write(request)
                await writer.drain()
                response = await read_frame(reader)
                is_done = True
                return response
            finally:
                # A late response must not be taken for the next request's.
                if not is_done:
                    self.close()

    async def _open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        try:
            return await asyncio.open_connection(self.host, self.port)
        except ValueError as error:
            # A request may name any text as a host, and some texts cannot be looked up.
            raise OSError(f"{self.host!r} is no host name") from error

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


class Server:
    """Listens, and responds to the frames of each connection in order."""

    def __init__(
        self, host: str, port: int, respond: Respond, damaged: Callable[[WireError], None] = lambda _: None
    ) -> None:
        """Prepare the server; `damaged` is called with the error of a damaged frame, before its connection ends."""
        self.host, self.port, self._respond, self._damaged = host, port, respond, damaged
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._held: dict[asyncio.Task[Any], int] = {}
        """Bytes that each connection holds."""

    async def start(self) -> None:
        """Listen; a `port` of 0 is replaced by a free one.

        Raises:
            OSError: the port is taken.
        """
        self._server = await asyncio.start_server(self._serve, self.host, self.port, reuse_address=True)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None, "asyncio serves each connection in a task of its own"
        self._tasks.add(task)
        hold = partial(self._hold, task)
        try:
            while (response := await self._respond(await read_frame(reader, REQUEST_BYTES_MAX, hold))) is not None:
                hold(len(response))
                writer.write(response)
                await writer.drain()
                self._held.pop(task, None)
        except WireError as error:
            self._damaged(error)
        except (EOFError, OSError):
            # The client has disconnected.
            pass
        except asyncio.CancelledError:
            # The server stops, or this connection holds too many bytes: abort does not wait for the client to read.
            writer.transport.abort()
        finally:
            self._tasks.discard(task)
            self._held.pop(task, None)
            writer.close()

    def _hold(self, task: asyncio.Task[Any], size: int) -> None:
        """Count the bytes that a connection holds; end the largest connections while the sum is too large."""
        self._held[task] = size
        while sum(self._held.values()) > HELD_BYTES_MAX:
            largest = max(self._held, key=self._held.__getitem__)
            del self._held[largest]
            largest.cancel()
