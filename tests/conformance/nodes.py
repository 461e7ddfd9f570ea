"""Nodes as processes for tests, on free ports of the loopback interface, ended with the test."""

import asyncio
import signal
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from kraft_cli.cli import main
from kraft_kafka.live.process import CLUSTER_ID, DIRECTORIES, Timeouts, free_ports
from kraft_kafka.wire.connections import UNANSWERED, Connection
from kraft_kafka.wire.decoding import Document
from kraft_kafka.wire.other_requests import OtherRequest, decode_other_response, encode_other_request
from kraft_kafka.wire.trace_links import metadata_topics

_QUICK = Timeouts(election=300, backoff=100, fetch=800, request=350)


class Nodes:
    """Nodes of a cluster: voters first, brokers last."""

    def __init__(
        self,
        folder: Path,
        voters: int,
        others: int = 0,
        snapshot_bytes: int = 2**20,
        brokers: int = 0,
        bootstrap_host: str = "127.0.0.1",
    ) -> None:
        self.folder, self.snapshot_bytes, self.bootstrap_host = folder, snapshot_bytes, bootstrap_host
        self.ports = dict(enumerate(free_ports(voters + others + brokers), start=1))
        self.voters = range(1, voters + 1)
        self.brokers = range(voters + others + 1, voters + others + brokers + 1)
        self.processes: dict[int, subprocess.Popen[bytes]] = {}
        for number in self.ports:
            self.format(number)

    def __enter__(self) -> "Nodes":
        return self

    def __exit__(self, *_: object) -> None:
        for number in tuple(self.processes):
            self.kill(number)

    def data(self, number: int) -> Path:
        """Return the data folder of a node."""
        return self.folder / f"node-{number}"

    def properties(self, number: int) -> Path:
        """Write the properties of a node."""
        servers = ",".join(f"{self.bootstrap_host}:{self.ports[voter]}" for voter in self.voters)
        lines = {
            "node.id": number,
            "process.roles": "broker" if number in self.brokers else "controller",
            "listeners": f"CONTROLLER://127.0.0.1:{self.ports[number]}",
            "controller.quorum.bootstrap.servers": servers,
            "log.dirs": self.data(number),
            "metadata.log.max.record.bytes.between.snapshots": self.snapshot_bytes,
        }
        path = self.folder / f"{number}.properties"
        path.write_text("".join(f"{name}={value}\n" for name, value in lines.items()) + _QUICK.properties())
        return path

    def format(self, number: int) -> None:
        """Format the data folder of a node."""
        listed = ",".join(f"{voter}@127.0.0.1:{self.ports[voter]}:{DIRECTORIES[voter]}" for voter in self.voters)
        how = ["-I", listed] if number in self.voters else ["-N", "--directory-id", DIRECTORIES[number]]
        assert main(["node", "format", "-t", CLUSTER_ID, "-c", str(self.properties(number)), *how]) == 0

    def kafka_properties(self, number: int) -> Path:
        """Write the properties of a node for Apache Kafka."""
        path = self.properties(number)
        more = "controller.listener.names=CONTROLLER\nlistener.security.protocol.map=CONTROLLER:PLAINTEXT\n"
        path.write_text(path.read_text() + more)
        return path

    def start(self, *numbers: int, address_space_kib: int | None = None) -> None:
        """Start nodes, if need be with a limited address space."""
        limited = ["sh", "-c", 'ulimit -v "$0"; exec "$@"', str(address_space_kib)] if address_space_kib else []
        for number in numbers:
            config = str(self.properties(number))
            words = [*limited, sys.executable, "-m", "kraft_cli.cli", "node", "run", "-c", config]
            self.start_command(number, words)

    def start_command(self, number: int, command: list[str]) -> None:
        """Start a process instead of a node; its output is kept in a log."""
        with (self.folder / f"{number}.log").open("ab") as log:
            self.processes[number] = subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder)

    def kill(self, number: int, how: signal.Signals = signal.SIGKILL) -> None:
        """End a node; its output is kept in a log."""
        process = self.processes.pop(number)
        process.send_signal(how)
        process.wait(20)

    def ask(self, number: int, api: str, version: int, body: Document, seconds: float = 20) -> Document:
        """Return the body of a node's response to an operator."""

        async def asked() -> Document:
            with closing(Connection("127.0.0.1", self.ports[number], "operator")) as connection:
                return (await asyncio.wait_for(connection.ask(api, version, body), seconds)).body

        return asyncio.run(asked())

    def ask_other(self, number: int, key: int, version: int, body: Document, seconds: float = 20) -> Any:
        """Return the body of a node's response to a request outside of the quorum's messages, by kio's names."""
        request = OtherRequest(key, version, 7, body)

        async def asked() -> bytes:
            with closing(Connection("127.0.0.1", self.ports[number], "operator")) as connection:
                return await asyncio.wait_for(connection.exchange(encode_other_request(request, "operator")), seconds)

        return decode_other_response(request, asyncio.run(asked()))

    def describe(self, number: int) -> Document:
        """Return a node's description of the quorum's partition."""
        answer = self.ask(number, "DescribeQuorum", 2, {"topics": metadata_topics({})})
        described: Document = answer["topics"][0]["partitions"][0]
        return described

    def leader(self, seconds: float = 120, other_than: int = 0) -> int:
        """Wait for a leader with a high watermark in its epoch."""
        return int(self.wait_for(lambda second: second["leaderId"] != other_than, seconds)["leaderId"])

    def wait_for(self, wanted: Any, seconds: float = 120) -> Document:
        """Wait for a leader that describes the quorum as wanted."""
        end = time.monotonic() + seconds
        last: object = None
        while time.monotonic() < end:
            for number in tuple(self.processes):
                try:
                    last = text = self.describe(number)
                except UNANSWERED:
                    continue
                if text["errorCode"] == 0 and text["highWatermark"] > 0 and wanted(text):
                    return text
            time.sleep(0.05)
        logs = "\n".join(path.read_text() for path in sorted(self.folder.glob("*.log")))
        raise AssertionError(f"not reached in {seconds} s; the last said {last}\n{logs}")

    def wait_until_it_follows(self, number: int, seconds: float = 120) -> None:
        """Wait until a node knows the leader."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with suppress(*UNANSWERED):
                if self.describe(number)["leaderId"] >= 0:
                    return
            time.sleep(0.05)
        raise AssertionError(f"node {number} knows no leader after {seconds} s")

    def wait_for_log(self, number: int, text: str, times: int = 1, seconds: float = 120) -> None:
        """Wait until the log of a node has a text so many times."""
        end, log = time.monotonic() + seconds, self.folder / f"{number}.log"
        while log.read_text().replace("\n", " ").count(text.replace("\n", " ")) < times:
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.05)

    def traces(self) -> list[str]:
        """Return the files of all traces."""
        files = (self.data(number) / "trace.jsonl" for number in self.ports)
        return [str(file) for file in files if file.exists()]

    def merged(self) -> Path:
        """Return the merged trace, which the model must accept."""
        output = self.folder / "merged.jsonl"
        assert main(["trace", "merge", *self.traces(), "-o", str(output)]) == 0
        assert main(["validate", str(output), "--require", "complete"]) == 0
        return output
