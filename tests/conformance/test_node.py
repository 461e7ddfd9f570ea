"""The reference as processes over TCP: their merged traces are those of the model."""

import asyncio
import gzip
import json
import random
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conformance.commands import Captured, assert_said
from tests.conformance.fuzzing import damaged_frame, targets, valid_frame
from tests.conformance.nodes import Nodes

from kraft_cli.cli import main
from kraft_conformance.exit_codes import ExitCode
from kraft_dev.wire.generate import read_files
from kraft_kafka.live.process import CLUSTER_ID, DIRECTORIES
from kraft_kafka.node.exchanges import fetch_wait_ms
from kraft_kafka.wire.other_requests import OtherRequest, encode_other_request
from kraft_kafka.wire.schema import Kind
from kraft_reference.configuration import Timeouts


def test_a_quorum_survives_a_killed_leader_and_changes_its_voters(tmp_path: Path, capsys: Captured) -> None:
    with Nodes(tmp_path, voters=3, others=1) as nodes:
        nodes.start(1, 2, 3, 4)
        first = nodes.leader()
        nodes.kill(first)
        second = nodes.leader(other_than=first)
        nodes.start(first)
        nodes.wait_until_it_follows(first)
        listener = {"name": "CONTROLLER", "host": "127.0.0.1", "port": nodes.ports[4]}
        body = {"clusterId": CLUSTER_ID, "timeoutMs": 20_000, "voterId": 4, "voterDirectoryId": DIRECTORIES[4]}
        nodes.wait_for(lambda printed: [observer["replicaId"] for observer in printed["observers"]] == [4])
        assert nodes.ask(second, "AddRaftVoter", 0, body | {"listeners": [listener]})["errorCode"] == 0
        duplicate = nodes.ask(second, "AddRaftVoter", 0, body | {"listeners": [listener]})
        assert (duplicate["errorCode"], duplicate["errorMessage"]) == (126, "The reference answers DUPLICATE_VOTER.")
        removed = {"clusterId": CLUSTER_ID, "voterId": first, "voterDirectoryId": DIRECTORIES[first]}
        assert nodes.ask(second, "RemoveRaftVoter", 0, removed)["errorCode"] == 0
        printed = nodes.wait_for(lambda printed: len(printed["currentVoters"]) == 3)
        assert first not in [voter["replicaId"] for voter in printed["currentVoters"]]
        nodes.kill(second, signal.SIGTERM)
        nodes.leader(other_than=second)
        nodes.kill(4)
    output = nodes.merged()
    lines = output.read_text().splitlines()
    events = [json.loads(line).get("event") for line in lines]
    assert {"Crash", "Restart", "Shutdown", "AddVoter", "RemoveVoter", "HandleApiVersionsRequest"} <= set(events)
    changed = [line.replace('"granted":true', '"granted":false', 1) for line in lines]
    output.write_text("\n".join(changed) + "\n")
    assert main(["validate", str(output)]) == ExitCode.VIOLATION
    assert "granted" in capsys.readouterr().out


def test_bootstrap_servers_may_have_other_names_than_the_voters(tmp_path: Path) -> None:
    """Rule: discovery.bootstrap.  A bootstrap server may have a name that no voter has, as a load balancer does."""
    with Nodes(tmp_path, voters=2, others=1, bootstrap_host="localhost") as nodes:
        nodes.start(3)
        waits = f"waits for a bootstrap server to answer: localhost:{nodes.ports[1]}, localhost:{nodes.ports[2]}\n"
        nodes.wait_for_log(3, f"node 3 {waits}")
        nodes.start(1, 2)
        nodes.leader()
        nodes.wait_for(lambda quorum: [observer["replicaId"] for observer in quorum["observers"]] == [3])
        # With voters on its disk it needs no answer.
        for number in (1, 2, 3):
            nodes.kill(number)
        nodes.start(3)
        nodes.wait_for_log(3, "node 3 listens at", 2)
    nodes.merged()


@pytest.mark.nightly
def test_a_new_node_fetches_a_snapshot_and_five_vote(tmp_path: Path) -> None:
    with Nodes(tmp_path, voters=5, others=1, snapshot_bytes=1) as nodes:
        nodes.start(1, 2, 3, 4, 5)
        nodes.leader()
        nodes.start(6)
        nodes.wait_for(
            lambda quorum: (
                [observer["logEndOffset"] == quorum["highWatermark"] for observer in quorum["observers"]] == [True]
            )
        )
        assert len(list((nodes.data(6) / "__cluster_metadata-0").glob("*.checkpoint"))) >= 1
    lines = nodes.merged().read_text().splitlines()
    events = {(line["event"], line["replica"]) for line in map(json.loads, lines) if line["kind"] == "event"}
    assert ("HandleFetchSnapshotResponse", 6) in events


def frames() -> list[bytes]:
    """Requests: those of the wire's pairs, random ones of every API, and some that the node carries out."""
    broker = {"broker_id": 11, "broker_epoch": 3}
    registration = {"cluster_id": CLUSTER_ID, "incarnation_id": UUID(int=1), "rack": None, "log_dirs": [UUID(int=9)]}
    registration |= {"listeners": [{"name": "A", "host": "a", "port": 1, "security_protocol": 0}], "features": []}
    heartbeat = {"current_metadata_offset": 99, "want_fence": False, "want_shut_down": False}
    topic = {"name": "A", "num_partitions": 2, "replication_factor": 1, "assignments": [], "configs": []}
    in_sync = {"partition_index": 0, "leader_epoch": 0, "new_isr_with_epochs": [], "partition_epoch": 0}
    config = {"name": "a", "config_operation": 0, "value": "1"}
    resource = {"resource_type": 2, "resource_name": "A", "configs": [config]}
    target = {"name": "A", "partitions": [{"partition_index": 0, "replicas": [11]}]}
    bodies: dict[tuple[int, int], dict[str, Any]] = {
        (19, 7): {"topics": [topic], "timeout": timedelta()},
        (44, 1): {"resources": [resource], "validate_only": False},
        (45, 0): {"topics": [target], "timeout": timedelta()},
        (46, 0): {"topics": None, "timeout": timedelta()},
        (56, 3): broker | {"topics": [{"topic_id": UUID(int=2), "partitions": [in_sync]}]},
        (62, 4): broker | registration,
        (63, 1): broker | heartbeat,
    }
    remaining = [encode_other_request(OtherRequest(*api, 1, body), "operator") for api, body in bodies.items()]
    pairs = [pair for file in read_files() for pair in file.pairs if pair.kind == "request"]
    made = [valid_frame(target, random.Random(1)) for target in targets() if target.message.kind is Kind.REQUEST]
    return [bytes.fromhex(str(pair.hex)) for pair in pairs] + made + remaining * 3


async def attack(port: int, chance: random.Random, count: int) -> None:
    """Send damaged frames, each on a connection of its own and to the end of that."""
    requests, at_once = frames(), asyncio.Semaphore(40)

    async def send(number: int, raw: bytes) -> None:
        async with at_once:
            # From many addresses, since each has only so many ports a minute.
            where = (f"127.0.0.{number % 200 + 1}", 0)
            reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=where)
            writer.write(raw)
            writer.write_eof()
            with suppress(ConnectionError):
                await reader.read()
            writer.close()

    def changed() -> bytes:
        if chance.random() < 0.5:
            return damaged_frame(chance.choice(requests), chance)
        # The length and the order of fields stay in more of these.
        raw = bytearray(chance.choice(requests))
        for _ in range(chance.choice((1, 1, 4))):
            raw[chance.randrange(len(raw))] = chance.randrange(256)
        return bytes(raw)

    for start in range(0, count, 1000):
        batch = range(start, min(start + 1000, count))
        await asyncio.gather(*(send(number, changed()) for number in batch))


@pytest.mark.parametrize("count", [600, pytest.param(100_000, marks=pytest.mark.nightly)])
def test_a_node_that_is_attacked_goes_on(tmp_path: Path, count: int) -> None:
    with Nodes(tmp_path, voters=1) as nodes:
        nodes.start(1, address_space_kib=2**20)
        nodes.leader()
        before = {path.relative_to(tmp_path) for path in tmp_path.rglob("*")}
        asyncio.run(attack(nodes.ports[1], random.Random(1), count))
        assert nodes.describe(1)["errorCode"] == 0
        assert {path.relative_to(tmp_path) for path in tmp_path.rglob("*")} == before
        assert "Traceback" not in (tmp_path / "1.log").read_text()


@pytest.mark.nightly
def test_a_node_with_a_thousand_connections_answers(tmp_path: Path) -> None:
    with Nodes(tmp_path, voters=1) as nodes, ExitStack() as opened:
        nodes.start(1)
        nodes.leader()
        for _ in range(500):
            for content in (b"", b"\0\0\x40\0half"):
                connection = opened.enter_context(socket.create_connection(("127.0.0.1", nodes.ports[1])))
                connection.sendall(content)
        assert nodes.describe(1)["errorCode"] == 0
        assert "Traceback" not in (tmp_path / "1.log").read_text()


def run(nodes: Nodes, number: int = 1) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "kraft_cli.cli", "node", "run", "-c", str(nodes.properties(number))]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_what_keeps_a_node_from_running_is_said(tmp_path: Path, capsys: Captured) -> None:
    nodes = Nodes(tmp_path, voters=1)
    with nodes:
        nodes.start(1)
        nodes.leader()
        assert "is in use by another process" in run(nodes).stderr
    trace = Path(nodes.traces()[0])
    before = trace.read_bytes()
    with socket.create_server(("127.0.0.1", nodes.ports[1])):
        busy = run(nodes)
    assert trace.read_bytes() == before
    printed = f"{nodes.properties(1)}: listeners: 127.0.0.1:{nodes.ports[1]}: address already in use\n"
    assert (busy.returncode, busy.stderr) == (ExitCode.CANNOT_WRITE, printed)
    log = next((nodes.data(1) / "__cluster_metadata-0").glob("*.log"))
    content = bytearray(log.read_bytes())
    content[30] ^= 1
    log.write_bytes(bytes(content))
    damaged = run(nodes)
    assert (damaged.returncode, str(log) in damaged.stderr, "CRC" in damaged.stderr) == (ExitCode.BAD_INPUT, True, True)
    (nodes.data(1) / "meta.properties").unlink()
    assert "is not formatted" in run(nodes).stderr


def test_formatting_twice_is_refused(tmp_path: Path, capsys: Captured) -> None:
    nodes = Nodes(tmp_path, voters=1)
    words: tuple[Any, ...] = ("node", "format", "-t", CLUSTER_ID, "-c", str(nodes.properties(1)))
    assert_said(capsys, ExitCode.VIOLATION, "is formatted already", *words, "-s")
    assert_said(capsys, ExitCode.USAGE, "expected just one of --standalone", *words)


def test_ids_that_are_no_uuids_are_refused(tmp_path: Path, capsys: Captured) -> None:
    nodes = Nodes(tmp_path, voters=1)
    words: tuple[Any, ...] = ("node", "format", "-c", str(nodes.properties(1)), "-t")
    listed = ("-I", f"1@127.0.0.1:{nodes.ports[1]}:A")
    for option, how in (
        ("--cluster-id", ("short", "-s")),
        ("--cluster-id", (CLUSTER_ID[:-1] + "!", "-s")),
        ("--directory-id", (CLUSTER_ID, "-N", "--directory-id", "A")),
        ("--initial-controllers, node 1", (CLUSTER_ID, *listed)),
    ):
        assert_said(capsys, ExitCode.USAGE, f"{option}: expected a uuid", *words, *how)


def test_traces_that_do_not_belong_together_are_refused(tmp_path: Path, capsys: Captured) -> None:
    with Nodes(tmp_path, voters=3) as nodes:
        nodes.start(1, 2, 3)
        leader = nodes.leader()
        for number in nodes.voters:
            nodes.wait_until_it_follows(number)
    traces = dict(enumerate(nodes.traces(), start=1))
    output = str(tmp_path / "merged.jsonl")
    merge = ("trace", "merge", *traces.values(), "-o", output)
    assert_said(capsys, ExitCode.BAD_INPUT, "has events of replica 1", *merge, traces[1])
    packed = {number: gzip.compress(Path(path).read_bytes()) for number, path in traces.items()}
    for number, content in packed.items():
        (tmp_path / f"{number}.jsonl.gz").write_bytes(content)
    merged = tmp_path / "of-packed.jsonl"
    assert (
        main(["trace", "merge", *(str(tmp_path / f"{number}.jsonl.gz") for number in packed), "-o", str(merged)]) == 0
    )
    assert main(["validate", str(merged)]) == ExitCode.CONFORMANT
    # A vote that the leader has received and that no line sends.
    events = [json.loads(line) for line in Path(traces[leader]).read_text().splitlines()]
    vote = next(event["message"] for event in events if event.get("event") == "HandleVoteResponse")
    voter = Path(traces[vote["source"]])
    lines = [json.loads(line) for line in voter.read_text().splitlines()]
    for line in lines:
        if sends(line, vote):
            line["effects"] = [effect for effect in line["effects"] if effect["kind"] != "Send"]
    voter.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    assert_said(capsys, ExitCode.BAD_INPUT, "was never sent", *merge)
    assert not Path(output).exists()


def sends(line: dict[str, Any], message: dict[str, Any]) -> bool:
    """True if an event sends this message."""
    names = ("type", "destination", "correlation_id")
    sent = [effect["message"] for effect in line.get("effects", ()) if effect["kind"] == "Send"]
    return any(all(item[name] == message[name] for name in names) for item in sent)


@given(st.integers(1, 10_000), st.integers(1, 10_000))
def test_a_fetch_is_answered_before_it_is_given_up(request_ms: int, fetch_ms: int) -> None:
    timeouts = Timeouts(request_timeout_ms=request_ms, fetch_timeout_ms=fetch_ms)
    assert 0 <= fetch_wait_ms(timeouts) < min(request_ms, fetch_ms)
