"""The implementation's process: format, start, pause, kill, and read its files."""

import asyncio
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from kraft_conformance.failure import UnavailableError
from kraft_kafka.node.properties import read_properties
from kraft_kafka.wire.decoding import Document
from kraft_kafka.wire.disk_files import LOG, META, PARTITION, QUORUM_STATE
from kraft_kafka.wire.errors import WireError
from kraft_kafka.wire.log_records import Batch, batches_of
from kraft_kafka.wire.quorum_state import decode_quorum_state
from kraft_kafka.wire.schema import NULL_UUID

CLUSTER_ID = "MkU3OEVBNTcwNTJENDM2Qk"
REPLICA = 1
"""The id of the implementation; its peers are 2, 3 and so on."""
DIRECTORIES: Mapping[int, str] = {
    1: "AAAAAAAAAAAAAAAAAAABAQ",
    2: "AAAAAAAAAAAAAAAAAAACAg",
    3: "AAAAAAAAAAAAAAAAAAADAw",
    4: "AAAAAAAAAAAAAAAAAAAEBA",
    5: "AAAAAAAAAAAAAAAAAAAFBQ",
    6: "AAAAAAAAAAAAAAAAAAAGBg",
}
"""Directory ids, by replica."""
PLACEHOLDERS = ("properties", "data", "id", "cluster_id", "voters", "initial")
"""Placeholders in commands, without their braces."""
_IN_BRACES = re.compile(r"\{[a-z_]+\}")
_PORTS = range(20_000, 32_000)
_PORTS_APART = 7_919
"""Distance between the first ports that two processes try, modulo the number of ports: a prime."""
_next_port = count(os.getpid() * _PORTS_APART)
_START_S = 120.0
_FORMAT_S = 120.0
_SHUTDOWN_S = 30.0
_SAID_MAX = 3000


class LaunchError(UnavailableError):
    """The implementation cannot be formatted or started; the message has the end of its output."""


@dataclass(frozen=True, slots=True)
class Commands:
    """Commands of an implementation.

    Placeholders: {properties} (a file in Kafka's format), {data}, {id}, {cluster_id}, {voters} (id@host:port:directory,
    separated by commas).  The word {initial} becomes `--initial-controllers VOTERS`, or `--no-initial-controllers` if
    the replica is no voter.
    """

    start: str
    format: str

    @property
    def unknown(self) -> list[str]:
        """Unknown placeholders of the commands."""
        placeholders = {f"{{{name}}}" for name in PLACEHOLDERS[:-1]}
        words = [word for command in (self.start, self.format) for word in command.split() if word != "{initial}"]
        return [used for word in words for used in _IN_BRACES.findall(word) if used not in placeholders]


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Kafka's timeouts of the quorum, in milliseconds."""

    election: int = 1000
    backoff: int = 200
    fetch: int = 2000
    request: int = 1000

    def properties(self) -> str:
        """Return the timeouts as lines of a properties file."""
        names = {"election.timeout": self.election, "election.backoff.max": self.backoff}
        names |= {"fetch.timeout": self.fetch, "request.timeout": self.request}
        return "".join(f"controller.quorum.{name}.ms={value}\n" for name, value in names.items())


def free_ports(number: int) -> tuple[int, ...]:
    """Return free ports of the loopback interface.

    They are below the ephemeral ports, which connections could take while a process is down.  No port is returned
    twice, because its owner may not listen yet.

    Raises:
        OSError: there are not enough.
    """
    ports: list[int] = []
    for _ in range(len(_PORTS)):
        port = _PORTS[next(_next_port) % len(_PORTS)]
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            ports.append(port)
        if len(ports) == number:
            return tuple(ports)
    raise OSError(f"no {number} free ports between {_PORTS[0]} and {_PORTS[-1]}")


class Process:
    """A replica of an implementation, in a folder of its own."""

    def __init__(
        self,
        commands: Commands,
        home: Path,
        ports: Mapping[int, int],
        voters: Sequence[int],
        more: str = "",
        replica: int = REPLICA,
        port: int | None = None,
        data: Path | None = None,
    ) -> None:
        """Set the advertised `ports` by replica; behind a proxy, this replica listens at `port`.

        `data` is its data folder, by default in its home.
        """
        self.commands, self.home, self.ports, self.voters, self._more = commands, home, ports, tuple(voters), more
        self.id, self.port = replica, port or ports[replica]
        self.data = data or home / "data"
        self._formatted = home / f"formatted-{'-'.join(map(str, self.voters))}"
        self._properties = home / "replica.properties"
        self._child: subprocess.Popen[bytes] | None = None
        home.mkdir(parents=True, exist_ok=True)

    def format(self, timeouts: Timeouts) -> None:
        """Format an empty disk of a replica; later calls copy the first one, so the bytes are the same.

        Raises:
            LaunchError: the command fails.
        """
        self.configure(timeouts)
        shutil.rmtree(self.data, ignore_errors=True)
        if not self._formatted.exists():
            command = self._fill(self.commands.format)
            try:
                done = subprocess.run(command, capture_output=True, timeout=_FORMAT_S, check=False)
            except (OSError, subprocess.TimeoutExpired) as error:
                raise LaunchError(f"{command[0]} does not run: {error}") from error
            if done.returncode != 0:
                output = (done.stdout + done.stderr).decode(errors="replace")[-_SAID_MAX:]
                raise LaunchError(f"formatting ends with {done.returncode}: {output}")
            if not self.data.is_dir():
                raise LaunchError(f"{self.commands.format}: made no folder {self.data}")
            shutil.move(self.data, self._formatted)
        shutil.copytree(self._formatted, self.data)

    def configure(self, timeouts: Timeouts) -> None:
        """Write the properties that the next start reads."""
        bootstrap = ",".join(f"127.0.0.1:{self.ports[id_]}" for id_ in self.voters if id_ in self.ports)
        self._properties.write_text(
            f"process.roles=controller\nnode.id={self.id}\ncontroller.quorum.bootstrap.servers={bootstrap}\n"
            f"listeners=CONTROLLER://127.0.0.1:{self.port}\n"
            f"advertised.listeners=CONTROLLER://127.0.0.1:{self.ports[self.id]}\n"
            "controller.listener.names=CONTROLLER\nlistener.security.protocol.map=CONTROLLER:PLAINTEXT\n"
            f"log.dirs={self.data}\nmetadata.max.idle.interval.ms=0\n{timeouts.properties()}{self._more}",
            encoding="utf-8",
        )

    def _fill(self, command: str) -> list[str]:
        listed = ",".join(f"{id_}@127.0.0.1:{self.ports[id_]}:{DIRECTORIES.get(id_, '')}" for id_ in self.voters)
        initial = ["--initial-controllers", listed] if self.id in self.voters else ["--no-initial-controllers"]
        values = {"properties": self._properties, "data": self.data, "id": self.id}
        values |= {"cluster_id": CLUSTER_ID, "voters": listed}
        words: list[str] = []
        try:
            split = shlex.split(command)
        except ValueError as error:
            raise LaunchError(f"{command}: {error}, expected words as a shell has them") from None
        for word in split:
            for name, value in values.items():
                word = word.replace(f"{{{name}}}", str(value))
            words += initial if word == "{initial}" else [word]
        return words

    async def start(self) -> None:
        """Start the process, and wait until it accepts connections.

        Raises:
            LaunchError: it ends, or accepts none within two minutes.
        """
        with (self.home / "output").open("ab") as output:
            try:
                self._child = subprocess.Popen(
                    self._fill(self.commands.start),
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    start_new_session=True,
                )
            except OSError as error:
                raise LaunchError(f"it does not start: {error}") from error
        end = asyncio.get_running_loop().time() + _START_S
        while asyncio.get_running_loop().time() < end:
            if self._child.poll() is not None:
                ended = f"it ended with {self._child.returncode} as it started"
                raise LaunchError(f"{ended}, expected that it stays in the foreground: {self.said()}")
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", self.port)
            except OSError:
                await asyncio.sleep(0.02)
            else:
                writer.close()
                return
        raise LaunchError(f"it takes no connection in {_START_S:.0f} s: {self.said()}")

    @property
    def is_alive(self) -> bool:
        return self._child is not None and self._child.poll() is None

    @property
    def pid(self) -> int | None:
        """Id of the running process."""
        return None if self._child is None else self._child.pid

    def said(self) -> str:
        """Return the end of its output."""
        path = self.home / "output"
        return path.read_text(encoding="utf-8", errors="replace")[-_SAID_MAX:] if path.exists() else ""

    def kill(self) -> None:
        """Kill -9 the process and its children, which may outlive it."""
        if self._child is None:
            return
        # The process group outlives the process as long as a child lives.
        with suppress(ProcessLookupError):
            os.killpg(self._child.pid, signal.SIGKILL)
        self._child.wait()
        self._child = None

    def terminate(self) -> None:
        """Ask the process to shut down, and wait until it has; kill it if that takes too long."""
        if self._child is None:
            return
        self._signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            self._child.wait(_SHUTDOWN_S)
        self.kill()

    def pause(self) -> None:
        """Pause the process with SIGSTOP."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Resume the process with SIGCONT."""
        self._signal(signal.SIGCONT)

    def _signal(self, number: int) -> None:
        if self._child is not None and self._child.poll() is None:
            os.killpg(self._child.pid, number)

    def quorum_state(self) -> Document:
        """Return the file quorum-state, or Kafka's defaults if there is none yet.

        Raises:
            WireError: the file is no quorum state.
        """
        path = self.data / PARTITION / QUORUM_STATE
        for _ in range(3):
            try:
                return decode_quorum_state(path.read_text(encoding="utf-8"))
            except FileNotFoundError:
                continue
        return {"leaderId": -1, "leaderEpoch": 0, "votedId": -1, "votedDirectoryId": NULL_UUID}

    def directory_id(self) -> str:
        """Return the directory id in meta.properties.

        Raises:
            LaunchError: there is none.
        """
        path = self.data / META
        directory_id = read_properties(path).get("directory.id") if path.exists() else None
        if directory_id is None:
            raise LaunchError(f"{path} has no directory.id")
        return directory_id

    def forget_quorum_state(self) -> None:
        (self.data / PARTITION / QUORUM_STATE).unlink(missing_ok=True)

    def log(self) -> tuple[Batch, ...]:
        """Return the batches of its log on disk, in order.

        Raises:
            WireError: a batch is damaged.
        """
        files = sorted((self.data / PARTITION).glob(f"*{LOG}"))
        return tuple(batch for file in files for batch in batches_of(file.read_bytes()))

    def log_end(self) -> tuple[int, int]:
        """Return the last epoch and the log end offset; (0, 0) for a log that is empty or being written."""
        try:
            batches = self.log()
        except WireError:
            return (0, 0)
        return (batches[-1].epoch, batches[-1].end_offset) if batches else (0, 0)
