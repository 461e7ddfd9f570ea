"""The cluster's operator: Kafka's own AdminClient, in one JVM that reads commands line by line."""

import asyncio
import itertools
import re
from collections.abc import Mapping
from importlib.resources import as_file, files
from pathlib import Path
from typing import NamedTuple

from kraft_kafka.jars import Kafka
from kraft_kafka.live.process import LaunchError
from kraft_spec.tlc.jar import find_java

NAME = "operator-at-"
"""Prefix of client ids: the operator is attached to one controller, and cut off with it."""
TIMEOUT_MS = 15_000
_QUORUM = re.compile(r"(\d+) (\d+) (-?\d+) ([\d,]*)")


class Reply(NamedTuple):
    """A reply of the AdminClient."""

    is_acknowledged: bool
    text: str
    """The result, or the exception."""

    def __str__(self) -> str:
        return "acknowledged" if self.is_acknowledged else self.text.partition("(")[0]


class Quorum(NamedTuple):
    """The quorum as DescribeQuorum shows it."""

    leader: int
    epoch: int
    high_watermark: int
    voters: frozenset[int]


class Operator:
    """Sends requests to controllers, any number at a time."""

    def __init__(self, kafka: Kafka, ports: Mapping[int, int], home: Path) -> None:
        """Set the advertised `ports` by controller."""
        self._kafka, self._ports, self._home = kafka, ports, home
        self._tags = itertools.count(1)
        self._waiting: dict[str, asyncio.Future[Reply]] = {}
        self._child: asyncio.subprocess.Process | None = None
        self._reader: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start the JVM.

        Raises:
            JavaMissing: there is no Java.
        """
        class_path = ":".join(map(str, self._kafka.class_path))
        program = files("kraft_kafka.whole") / "Operator.java"
        with as_file(program) as source, (self._home / "operator.output").open("wb") as output:
            self._child = await asyncio.create_subprocess_exec(
                str(find_java().executable),
                *("-Xmx128m", "-XX:TieredStopAtLevel=1", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"),
                *("-cp", class_path, str(source)),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=output,
                start_new_session=True,
            )
        self._reader = asyncio.create_task(self._read())

    async def close(self) -> None:
        if self._child is not None and self._child.returncode is None:
            self._child.kill()
            await self._child.wait()
        if self._reader is not None:
            self._reader.cancel()

    async def _read(self) -> None:
        assert self._child is not None, "it was started"
        assert self._child.stdout is not None, "it was started with a pipe"
        while line := (await self._child.stdout.readline()).decode().rstrip("\n"):
            tag, outcome, *text = line.split(" ", 2)
            if future := self._waiting.pop(tag, None):
                future.set_result(Reply(outcome == "ok", "".join(text)))
        for future in self._waiting.values():
            future.set_exception(LaunchError(f"the AdminClient has ended: see {self._home / 'operator.output'}"))

    async def _ask(self, at: int, command: str, *arguments: object, timeout_ms: int = TIMEOUT_MS) -> Reply:
        assert self._child is not None, "it was started"
        assert self._child.stdin is not None, "it was started with a pipe"
        tag = str(next(self._tags))
        future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._waiting[tag] = future
        words = (tag, command, at, f"127.0.0.1:{self._ports[at]}", timeout_ms, *arguments)
        self._child.stdin.write((" ".join(map(str, words)) + "\n").encode())
        return await future

    async def set_config(self, at: int, name: str, value: int, timeout_ms: int = TIMEOUT_MS) -> Reply:
        """Write one record: a default configuration of all brokers."""
        return await self._ask(at, "set", name, value, timeout_ms=timeout_ms)

    async def write_burst(self, at: int, records: int, timeout_ms: int) -> Reply:
        """Write many records with one request."""
        return await self._ask(at, "burst", records, timeout_ms=timeout_ms)

    async def configs(self, at: int) -> frozenset[str]:
        """Return the default configurations of all brokers, as NAME=VALUE."""
        reply = await self._ask(at, "get")
        return frozenset(reply.text.split()) if reply.is_acknowledged else frozenset()

    async def remove_voter(self, at: int, voter: int, directory: str, timeout_ms: int = TIMEOUT_MS) -> Reply:
        return await self._ask(at, "remove", voter, directory, timeout_ms=timeout_ms)

    async def add_voter(self, at: int, voter: int, directory: str) -> Reply:
        return await self._ask(at, "add", voter, directory, f"127.0.0.1:{self._ports[voter]}")

    async def quorum(self, at: int, timeout_ms: int = 4_000) -> Quorum | None:
        """Describe the quorum through this controller's leader; None if it has none."""
        reply = await self._ask(at, "quorum", timeout_ms=timeout_ms)
        match = _QUORUM.fullmatch(reply.text) if reply.is_acknowledged else None
        if match is None:
            return None
        leader, epoch, high_watermark, voters = match.groups()
        ids = frozenset(int(voter) for voter in voters.split(",") if voter)
        return Quorum(int(leader), int(epoch), int(high_watermark), ids)
