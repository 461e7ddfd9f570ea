"""A recording proxy: it records each message between processes, then forwards it.

It only knows the length of a frame: it neither decodes nor changes frames.
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

from kraft_kafka.live.capture import CaptureWriter, Closed, FileLine, FrameLine, Line, Opened
from kraft_kafka.wire.connections import read_frame
from kraft_kafka.wire.disk_files import is_of_the_log
from kraft_kafka.wire.errors import WireError


class Route(NamedTuple):
    """A node's recorded and actual addresses: the recorder listens at the first and connects to the second."""

    node: int
    listen: tuple[str, int]
    forward: tuple[str, int]


_CLIENT_HELLO = 0x1603
"""First two bytes of a TLS connection, as the upper half of a frame's length, which is then impossible."""
_POLL_S = 0.1
"""Interval between reads of the file quorum-state."""


class Recorder:
    """Listens for each node and records until it is stopped."""

    def __init__(
        self,
        routes: tuple[Route, ...],
        writer: CaptureWriter,
        folders: Mapping[int, Path],
        passes: Callable[[int, bytes], bool] = lambda _node, _frame: True,
        on_failure: Callable[[OSError], None] = lambda _error: None,
        on_encrypted: Callable[[int], None] = lambda _node: None,
    ) -> None:
        """Prepare the recorder; it does not listen yet.

        Args:
            routes: the routes of all nodes.
            writer: the capture's writer.
            folders: readable folders of the metadata log, by node.
            passes: True if a request frame reaches a node; otherwise its connection ends.
            on_failure: is called once, if the capture cannot be written.
            on_encrypted: is called once for each node to which a client speaks TLS, which is not forwarded.
        """
        self._routes = routes
        self._writer = writer
        self._folders = folders
        self._passes = passes
        self._on_failure, self._on_encrypted = on_failure, on_encrypted
        self.encrypted: set[int] = set()
        """Nodes to which a client spoke TLS."""
        self.failure: OSError | None = None
        """Error that ended the capture; frames are still forwarded."""
        self._servers: list[asyncio.Server] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self.connections = 0
        """Number of connections."""
        self._read: dict[tuple[int, str], bytes] = {}
        self.frames = 0
        """Number of forwarded frames."""

    async def start(self) -> None:
        """Read the existing files, and listen.

        Raises:
            OSError: a port is taken.
        """
        self.read_files()
        for route in self._routes:

            async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, route: Route = route) -> None:
                await self._serve(route, reader, writer)

            self._servers.append(await asyncio.start_server(serve, *route.listen))
        self._tasks.add(asyncio.create_task(self._watch()))

    async def stop(self) -> None:
        for server in self._servers:
            server.close()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def end(self) -> None:
        """Read the files again, and write the end of the capture."""
        self.read_files()
        self._try(self._writer.end)

    def read_files(self, pattern: str = "*") -> None:
        """Record the quorum's files that have changed since they were last read."""
        for node, folder in sorted(self._folders.items()):
            for path in sorted(folder.glob(pattern)):
                if not is_of_the_log(path.name):
                    continue
                with suppress(OSError):
                    content = path.read_bytes()
                    if self._read.get((node, path.name)) != content:
                        self._read[node, path.name] = content
                        self._write(FileLine(self._now(), node, path.name, content.hex()))

    def _write(self, line: Line) -> None:
        self._try(partial(self._writer.write, line))

    def _try(self, write: Callable[[], None]) -> None:
        """Write to the capture, unless an earlier write failed: lines after a missing one prove nothing."""
        if self.failure is not None:
            return
        try:
            write()
        except OSError as error:
            self.failure = error
            self._on_failure(error)

    def _now(self) -> int:
        return time.monotonic_ns() // 1000

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(_POLL_S)
            self.read_files("quorum-state")

    async def _serve(self, route: Route, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None, "asyncio serves each connection in a task of its own"
        self._tasks.add(task)
        self.connections += 1
        number = self.connections
        self._write(Opened(self._now(), number, route.node))
        reached = False
        with suppress(asyncio.CancelledError):
            try:
                there, to_there = await asyncio.open_connection(*route.forward)
                reached = True
                try:
                    await self._forward(number, route.node, (reader, to_there), (there, writer))
                finally:
                    to_there.close()
            except OSError:
                pass
        self._write(Closed(self._now(), number, reached))
        writer.close()
        self._tasks.discard(task)

    async def _forward(
        self,
        number: int,
        node: int,
        requests: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        responses: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    ) -> None:
        """Forward both directions, until one of them ends."""
        both = [
            asyncio.create_task(self._forward_requests(number, node, *requests)),
            asyncio.create_task(self._forward_one_way(number, "response", *responses, lambda _: True)),
        ]
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in both:
                task.cancel()
            await asyncio.gather(*both, return_exceptions=True)

    async def _forward_requests(
        self, number: int, node: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        try:
            await self._forward_one_way(number, "request", reader, writer, partial(self._passes, node))
        except WireError as error:
            is_tls = error.actual.isdecimal() and int(error.actual) >> 16 == _CLIENT_HELLO
            if is_tls and node not in self.encrypted:
                self.encrypted.add(node)
                self._on_encrypted(node)

    async def _forward_one_way(
        self,
        number: int,
        direction: Literal["request", "response"],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        passes: Callable[[bytes], bool],
    ) -> None:
        """Forward one direction until it ends.

        Raises:
            WireError: its bytes are no frame.
        """
        with suppress(EOFError, OSError):
            while passes(frame := await read_frame(reader)):
                self._write(FrameLine(self._now(), number, direction, frame.hex()))
                self.frames += 1
                writer.write(frame)
                await writer.drain()
