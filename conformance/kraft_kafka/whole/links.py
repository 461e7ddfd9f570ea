"""The network between controllers: TCP proxies whose links are cut by sender and receiver.

A connection belongs to the controller in the client id of its first request (`raft-client-2`), or to the operator's
controller.
"""

import asyncio
import struct
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from kraft_kafka.whole.operator import NAME
from kraft_kafka.wire.connections import read_frame
from kraft_kafka.wire.errors import WireError

VOTE, FETCH = 52, 1
"""API keys."""
_CLIENTS = ("raft-client-", NAME, "")
"""Prefixes of the id in a client id; a controller's registration has its id alone."""


class Request(NamedTuple):
    """A request in flight."""

    source: int | None
    """The sending controller, or that of the sending operator; None for another sender."""
    destination: int
    api: int
    """The API key."""
    version: int
    frame: bytes


@dataclass(frozen=True, slots=True, eq=False)
class _Connection:
    source: int | None
    destination: int
    ends: tuple[asyncio.StreamWriter, asyncio.StreamWriter]


class Links:
    """Proxies that listen on the advertised ports and forward to the controllers' own ports."""

    def __init__(self, advertised: Mapping[int, int], own: Mapping[int, int]) -> None:
        """Set the ports by controller; nothing listens yet."""
        self._advertised, self._own = advertised, own
        self._servers: list[asyncio.Server] = []
        self._connections: set[_Connection] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._cut: set[tuple[int, int]] = set()
        self.passes: Callable[[Request], bool] = lambda _: True
        """True if a request reaches its destination; otherwise its connection breaks."""
        self.on_response: Callable[[Request, bytes], None] = lambda _request, _response: None
        """Called once a response has been forwarded."""

    async def open(self) -> None:
        """Listen.

        Raises:
            OSError: a port is taken.
        """
        for controller, port in self._advertised.items():

            async def serve(
                reader: asyncio.StreamReader, writer: asyncio.StreamWriter, destination: int = controller
            ) -> None:
                await self._serve(destination, reader, writer)

            self._servers.append(await asyncio.start_server(serve, "127.0.0.1", port))

    async def close(self) -> None:
        for server in self._servers:
            server.close()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def cut(self, side: Iterable[int], other: Iterable[int]) -> None:
        """Break all connections between two sides, and refuse new ones."""
        self._cut |= {pair for a in side for b in other for pair in ((a, b), (b, a))}
        for connection in self._connections:
            if (connection.source, connection.destination) in self._cut:
                for writer in connection.ends:
                    writer.close()

    def heal(self) -> None:
        self._cut.clear()

    def _is_cut(self, source: int | None, destination: int) -> bool:
        return (source, destination) in self._cut

    async def _serve(self, destination: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None, "asyncio serves each connection in a task of its own"
        self._tasks.add(task)
        with suppress(OSError, EOFError, WireError, asyncio.CancelledError):
            first = await read_frame(reader)
            source = _controller_of(first)
            if not self._is_cut(source, destination):
                there, to_there = await asyncio.open_connection("127.0.0.1", self._own[destination])
                connection = _Connection(source, destination, (writer, to_there))
                self._connections.add(connection)
                try:
                    await self._forward(connection, first, reader, there)
                finally:
                    self._connections.discard(connection)
                    to_there.close()
        writer.close()
        self._tasks.discard(task)

    async def _forward(
        self, connection: _Connection, first: bytes, reader: asyncio.StreamReader, there: asyncio.StreamReader
    ) -> None:
        """Forward both directions, until one of them ends."""
        pending: dict[int, Request] = {}
        both = [
            asyncio.create_task(self._send(connection, first, reader, pending)),
            asyncio.create_task(self._return(connection, there, pending)),
        ]
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in both:
                task.cancel()
            await asyncio.gather(*both, return_exceptions=True)

    async def _send(
        self, connection: _Connection, frame: bytes, reader: asyncio.StreamReader, pending: dict[int, Request]
    ) -> None:
        writer = connection.ends[1]
        while True:
            api, version, correlation_id = struct.unpack_from(">hhi", frame, 4)
            request = Request(connection.source, connection.destination, api, version, frame)
            if self._is_cut(*request[:2]) or not self.passes(request):
                return
            pending[correlation_id] = request
            writer.write(frame)
            await writer.drain()
            frame = await read_frame(reader)

    async def _return(self, connection: _Connection, there: asyncio.StreamReader, pending: dict[int, Request]) -> None:
        writer = connection.ends[0]
        while True:
            frame = await read_frame(there)
            if self._is_cut(connection.source, connection.destination):
                return
            writer.write(frame)
            await writer.drain()
            (correlation_id,) = struct.unpack_from(">i", frame, 4)
            self.on_response(pending.pop(correlation_id), frame)


def _controller_of(frame: bytes) -> int | None:
    """Return the controller in a request's client id."""
    (length,) = struct.unpack_from(">h", frame, 12)
    client = frame[14 : 14 + max(0, length)].decode(errors="replace")
    ids = (client.removeprefix(prefix) for prefix in _CLIENTS if client.startswith(prefix))
    return next((int(text) for text in ids if text.isascii() and text.isdecimal()), None)
