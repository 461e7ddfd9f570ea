"""A cluster of whole controllers: their processes and disks, the network between them, and the operator."""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

from kraft_kafka.jars import Kafka
from kraft_kafka.live.kafka import commands_of
from kraft_kafka.live.process import Process, Timeouts, free_ports
from kraft_kafka.whole.links import Links
from kraft_kafka.whole.operator import Operator, Quorum, Reply
from kraft_kafka.wire.disk_files import PARTITION, snapshot_id

TIMEOUTS = Timeouts(election=3000, backoff=1000, fetch=6000, request=2000)
"""Longer than Kafka's defaults, for a busy machine."""
_PROPERTIES = "metadata.max.idle.interval.ms=500\n"
"""Kafka's default: two no-op records a second."""
_POLL_S = 0.1
_LOG_LEVELS = {"defaultLogLevel": "info", "log.org.apache.kafka.common.config": "error", "showDateTime": "true"}
_LOG_LEVELS |= {"log.kafka.server.KafkaConfig": "error", "dateTimeFormat": "yyyy-MM-dd'T'HH:mm:ss.SSS"}
_VOTERS_READ = re.compile(r"Latest set of voters is .*at offset (\d+)")
_VOTER = re.compile(r"ReplicaKey\(id=(\d+)")

Say = Callable[[str], None]
_Value = TypeVar("_Value")


class NotReachedError(Exception):
    """The schedule did not reach the point that it waits for."""


class WholeCluster:
    """Controllers of one Kafka, by id, with their network and operator."""

    def __init__(
        self,
        kafka: Kafka,
        home: Path,
        voters: Sequence[int],
        joining: Sequence[int],
        more: str,
        say: Say,
        options: Sequence[str] = (),
    ) -> None:
        """Prepare a cluster; nothing runs yet.

        Args:
            kafka: the Kafka of each controller.
            home: a folder for all files.
            voters: ids of the first voter set.
            joining: ids of controllers that are formatted without a voter set.
            more: further lines of each properties file.
            say: is called with each step.
            options: further options of each controller's Java.
        """
        ids = (*voters, *joining)
        ports = free_ports(2 * len(ids))
        advertised, own = dict(zip(ids, ports, strict=False)), dict(zip(ids, ports[len(ids) :], strict=True))
        levels = {f"org.slf4j.simpleLogger.{name}": text for name, text in _LOG_LEVELS.items()}
        commands = commands_of(kafka, levels, options)
        self.home = home
        self.processes = {
            id_: Process(commands, home / f"controller-{id_}", advertised, voters, _PROPERTIES + more, id_, own[id_])
            for id_ in ids
        }
        self.links = Links(advertised, own)
        self.operator = Operator(kafka, advertised, home)
        self._say, self._began = say, time.monotonic()

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        """Format all disks and open the network; on exit kill all processes.

        Raises:
            LaunchError: a disk cannot be formatted.
            OSError: a port is taken.
        """
        self.note(f"formatting {len(self.processes)} disks")
        for process in self.processes.values():
            await asyncio.to_thread(process.format, TIMEOUTS)
        try:
            await self.links.open()
            await self.operator.start()
            yield
        finally:
            for process in self.processes.values():
                process.kill()
            await self.operator.close()
            await self.links.close()

    def note(self, text: str) -> None:
        """Report a step, with the seconds since the beginning."""
        self._say(f"{time.monotonic() - self._began:6.1f} s  {text}")

    async def start(self, *ids: int) -> None:
        """Start controllers, and wait until they accept connections.

        Raises:
            LaunchError: a controller ends, or accepts none.
        """
        self.note(f"start {_join(ids)}")
        await asyncio.gather(*(self.processes[id_].start() for id_ in ids))

    def kill(self, id_: int) -> None:
        self.processes[id_].kill()
        self.note(f"kill -9 {id_}")

    async def shut_down(self) -> None:
        """Shut all controllers down at the same time."""
        self.note("shut down")
        await asyncio.gather(*(asyncio.to_thread(process.terminate) for process in self.processes.values()))

    def cut(self, side: Sequence[int], other: Sequence[int]) -> None:
        self.links.cut(side, other)
        self.note(f"cut the links between {_join(side)} and {_join(other)}")

    def heal(self) -> None:
        self.links.heal()
        self.note("heal all links")

    # Observation of controllers.

    def logged(self, id_: int, since: int = 0) -> str:
        """Return a controller's log from a character on."""
        path = self.processes[id_].home / "output"
        return path.read_text(encoding="utf-8", errors="replace")[since:] if path.exists() else ""

    def mark(self, id_: int) -> int:
        """Return the length of a controller's log, for `logged`."""
        return len(self.logged(id_))

    async def wait_for_line(self, id_: int, pattern: str, since: int = 0, seconds: float = 60) -> str:
        """Wait for a line with a pattern in a controller's log, and return it.

        Raises:
            NotReachedError: there is none in this time.
        """

        def line() -> str | None:
            return next((line for line in self.logged(id_, since).splitlines() if re.search(pattern, line)), None)

        return await self.wait_for(line, f"controller {id_} has not logged {pattern!r}", seconds)

    async def wait_for(self, look: Callable[[], _Value | None], otherwise: str, seconds: float) -> _Value:
        """Poll a function, and return its first truthy value.

        Raises:
            NotReachedError: there is none in this time; the message is `otherwise`.
        """
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if value := look():
                return value
            await asyncio.sleep(_POLL_S)
        raise NotReachedError(f"{otherwise} in {seconds:.0f} s")

    def voters_read(self, id_: int, since: int = 0) -> dict[int, frozenset[int]]:
        """Return the voter sets that a controller has read since, by the offset of the record, from its log."""
        lines = self.logged(id_, since).splitlines()
        matches = ((line, match) for line in lines if (match := _VOTERS_READ.search(line)))
        return {int(match[1]): frozenset(map(int, _VOTER.findall(line))) for line, match in matches}

    def checkpoints(self, id_: int) -> list[Path]:
        """Return a controller's snapshots, the oldest first, without that of its formatting."""
        folder = self.processes[id_].data / PARTITION
        return sorted(path for path in folder.iterdir() if snapshot_id(path.name) not in (None, (0, 0)))

    def has_first_checkpoint(self, id_: int) -> bool:
        """True if a controller has the checkpoint 0-0, which formatting writes."""
        return any(snapshot_id(path.name) == (0, 0) for path in (self.processes[id_].data / PARTITION).iterdir())

    # Requests of the operator.

    async def leader(self, at: int, among: Sequence[int], seconds: float = 90) -> Quorum:
        """Wait until one of these controllers leads with a high watermark, and return the quorum as `at` sees it.

        Raises:
            NotReachedError: none leads in this time.
        """
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            quorum = await self.operator.quorum(at)
            if quorum is not None and quorum.leader in among and quorum.high_watermark >= 0:
                self.note(f"{quorum.leader} leads epoch {quorum.epoch}, as {at} sees it, voters {_join(quorum.voters)}")
                return quorum
            await asyncio.sleep(_POLL_S)
        raise NotReachedError(f"none of {_join(among)} leads, as {at} sees it, in {seconds:.0f} s")

    async def remove_voter(self, at: int, voter: int) -> Reply:
        """Make the operator remove a controller from the voter set."""
        reply = await self.operator.remove_voter(at, voter, self.processes[voter].directory_id())
        self.note(f"the operator at {at} removes {voter} from the voter set: {reply}")
        return reply

    async def add_voter(self, at: int, voter: int) -> Reply:
        """Make the operator add a controller to the voter set."""
        reply = await self.operator.add_voter(at, voter, self.processes[voter].directory_id())
        self.note(f"the operator at {at} adds {voter} to the voter set: {reply}")
        return reply


def _join(ids: Sequence[int] | frozenset[int]) -> str:
    return " and ".join(map(str, sorted(ids)))
