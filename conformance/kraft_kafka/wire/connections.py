"""Frames over TCP: asyncio streams that carry Kafka's requests and responses.

Kafka answers the requests of a connection in their order, and so does a `Server` here.
Nothing of this knows what a request means.
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
"""Longest frame that is read."""
REQUEST_BYTES_MAX = 2**20
"""Longest request that a `Server` reads: a response may carry a batch of 8 MiB, a request carries none."""
HELD_BYTES_MAX = 32 * 2**20
"""Most bytes of requests without a response and of responses that clients have not read, of one `Server`."""
_CHUNK_BYTES = 2**16

UNANSWERED = (OSError, EOFError, WireError)
"""What `Connection` raises in place of a response; a time that is over is an OSError too."""

Respond = Callable[[bytes], Awaitable[bytes | None]]
"""Gives the whole response frame to a whole request frame; None ends the connection."""


async def read_frame(
    reader: asyncio.StreamReader, bytes_max: int = FRAME_BYTES_MAX, hold: Callable[[int], None] = lambda _: None
) -> bytes:
    """The next frame, with its length in front.

    Args:
        reader: of the connection.
        bytes_max: longest frame that is read.
        hold: receives the number of bytes in hand whenever it grows.

    Raises:
        WireError: the length is negative, or more than `bytes_max`.
        EOFError: the connection ended.
    """
    # Frames that have arrived already are read without waiting, and other connections and timers need their turn.
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
    """A connection to one server, opened when it is needed and again after it broke; one request at a time."""

    def __init__(self, host: str, port: int, client_id: str) -> None:
        self.host, self.port, self.client_id = host, port, client_id
        self._correlation_ids = itertools.count(1)
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self._lock = asyncio.Lock()

    @classmethod
    def to(cls, endpoint: str, client_id: str) -> "Connection":
        """One to an endpoint, host:port, whose host may stand in brackets."""
        host, _, port = endpoint.rpartition(":")
        return cls(host.strip("[]"), int(port), client_id)

    async def ask(self, api: str, version: int, body: Document, correlation_id: int | None = None) -> Frame:
        """The response to a request; whoever gives up waiting cancels it, and with that the connection closes.

        Raises:
            OSError: nobody listens, or the connection broke.
            EOFError: it ended before the response.
            WireError: the request is none of that version, or the response is damaged.
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
        """The whole response frame to a whole request frame.

        Raises:
            OSError, EOFError, WireError: as `ask`.
        """
        async with self._lock:
            is_done = False
            try:
                if self._streams is None or self._streams[0].at_eof():
                    self.close()
                    self._streams = await self._opened()
                reader, writer = self._streams
                writer.write(request)
                await writer.drain()
                response = await read_frame(reader)
                is_done = True
                return response
            finally:
                # A response that comes late must not be taken for that to the next request.
                if not is_done:
                    self.close()

    async def _opened(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        try:
            return await asyncio.open_connection(self.host, self.port)
        except ValueError as error:
            # A request may name any text as a host, and some are no name that can be looked up.
            raise OSError(f"{self.host!r} is no host name") from error

    def close(self) -> None:
        """Close it, if it is open."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


class Server:
    """Listens, and answers the frames of each connection in their order."""

    def __init__(
        self, host: str, port: int, respond: Respond, damaged: Callable[[WireError], None] = lambda _: None
    ) -> None:
        """Listen for nothing yet; `damaged` is told of what is no frame, before its connection ends."""
        self.host, self.port, self._respond, self._damaged = host, port, respond, damaged
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._held: dict[asyncio.Task[Any], int] = {}
        """Bytes that each connection holds."""

    async def start(self) -> None:
        """Listen; a `port` of 0 becomes one that was free.

        Raises:
            OSError: the port is taken.
        """
        self._server = await asyncio.start_server(self._serve, self.host, self.port, reuse_address=True)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Stop listening, and end all connections."""
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
            # The client went away.
            pass
        except asyncio.CancelledError:
            # The server stops, or this connection holds too much: a client that does not read must not keep it.
            writer.transport.abort()
        finally:
            self._tasks.discard(task)
            self._held.pop(task, None)
            writer.close()

    def _hold(self, task: asyncio.Task[Any], size: int) -> None:
        """Count what a connection holds; while all hold too much, end the connection that holds most."""
        self._held[task] = size
        while sum(self._held.values()) > HELD_BYTES_MAX:
            most = max(self._held, key=self._held.__getitem__)
            del self._held[most]
            most.cancel()
