"""Nodes and Apache Kafka: its own tools on a quorum of nodes, and its controller as a voter among them."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.conformance.acted_brokers import CONFIGS, ActedBrokers
from tests.conformance.adapter_builds import skipped_if_missing
from tests.conformance.commands import VERSION
from tests.conformance.nodes import Nodes

from kraft_cli.cli import main
from kraft_kafka.controllers import controller
from kraft_kafka.live.process import CLUSTER_ID, DIRECTORIES
from kraft_spec.tlc.jar import find_java

_ELECTIONS = 6
"""Number of elections that Kafka may win."""


@pytest.fixture(scope="module")
def java() -> list[str]:
    return classes_of(VERSION)


def classes_of(version: str) -> list[str]:
    """The command that runs a class of a release, or a skip that nobody takes for green."""
    with skipped_if_missing():
        path = ":".join(map(str, controller(version).class_path))
    quick = ["-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"]
    return [str(find_java().executable), *quick, "-cp", path]


def said(java: list[str], name: str, *words: str) -> str:
    """Return the output of a tool, and check its exit code 0."""
    done = subprocess.run([*java, name, *words], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_kafkas_tools_on_nodes(java: list[str], tmp_path: Path) -> None:
    """Rules: cli.describe-status, cli.describe-replication, cli.add-controller, cli.remove-controller, cli.features."""
    quorum = "org.apache.kafka.tools.MetadataQuorumCommand"
    with Nodes(tmp_path, voters=3, others=1) as nodes:
        nodes.start(1, 2, 3, 4)
        leader = nodes.leader()
        nodes.wait_for(lambda quorum: len(quorum["observers"]) == 1)
        where = ["--bootstrap-controller", ",".join(f"127.0.0.1:{nodes.ports[voter]}" for voter in nodes.voters)]
        status = said(java, quorum, *where, "describe", "--status")
        assert f"LeaderId:               {leader}" in status
        assert f'CurrentObservers:       [{{"id": 4, "directoryId": "{DIRECTORIES[4]}"}}]' in status
        rows = said(java, quorum, *where, "describe", "--replication").splitlines()
        assert [row.split()[-1] for row in rows[1:]] == ["Leader", "Follower", "Follower", "Observer"]
        added = said(java, quorum, "--command-config", str(nodes.kafka_properties(4)), *where, "add-controller")
        assert f"Added controller 4 with directory id {DIRECTORIES[4]}" in added
        other = next(voter for voter in nodes.voters if voter != leader)
        removed = ("--controller-id", str(other), "--controller-directory-id", DIRECTORIES[other])
        assert f"controller {other}" in said(java, quorum, *where, "remove-controller", *removed)
        features = said(java, "org.apache.kafka.tools.FeatureCommand", *where, "describe")
        assert (
            "kraft.version	SupportedMinVersion: 0	SupportedMaxVersion: 1	FinalizedVersionLevel: 1" in features
        )
        log = next((nodes.data(leader) / "__cluster_metadata-0").glob("*.log"))
        dumped = said(java, "kafka.tools.DumpLogSegments", "--cluster-metadata-decoder", "--files", str(log))
        assert "KRaftVoters" in dumped
        assert '"name":"metadata.version"' in dumped
    nodes.merged()


_THROTTLED = {"leader": "0:11,0:12", "follower": "0:13"}
"""Senders and receivers in the plan below."""


def throttles(acted: ActedBrokers, *resources: tuple[int, str]) -> list[dict[str, str]]:
    """Return the settings of topics (2) and brokers (4)."""
    requested = [{"resource_type": kind, "resource_name": name, "configuration_keys": None} for kind, name in resources]
    results = acted.ask(CONFIGS, resources=requested, include_synonyms=False, include_documentation=False).results
    return [{config.name: config.value for config in result.configs} for result in results]


@pytest.mark.parametrize(
    ("version", "dump"),
    [
        pytest.param(VERSION, "kafka.tools.DumpLogSegments", marks=pytest.mark.nightly),
        ("4.3.1", "org.apache.kafka.tools.DumpLogSegments"),
    ],
)
def test_kafka_reassigns_partitions_of_nodes(version: str, dump: str, tmp_path: Path) -> None:
    """Rules: partition-reassign.start, partition-reassign.cancel, cli.admin-routing."""
    java = classes_of(version)
    plan = tmp_path / "plan.json"
    plan.write_text('{"version": 1, "partitions": [{"topic": "A", "partition": 0, "replicas": [13, 12]}]}')
    with Nodes(tmp_path, voters=1, brokers=1) as nodes:
        nodes.start(1, 2)
        acted = ActedBrokers(nodes, nodes.leader(), 2)
        acted.start(11, 12, 13)
        brokers, controllers = (f"127.0.0.1:{nodes.ports[replica_id]}" for replica_id in (2, 1))

        def reassign(*words: str, where: tuple[str, str] = ("--bootstrap-server", brokers)) -> str:
            return said(java, "org.apache.kafka.tools.reassign.ReassignPartitionsCommand", *where, *words)

        topics = ("org.apache.kafka.tools.TopicCommand", "--bootstrap-server", brokers)
        created = said(java, *topics, "--create", "--topic", "A", "--replica-assignment", "11:12,12:13")
        assert "Created topic A." in created
        at_controller = ("--bootstrap-controller", controllers)
        file = ("--reassignment-json-file", str(plan))
        assert "Successfully started" in reassign("--execute", *file, "--throttle", "5000")
        rates = {f"{item}.replication.throttled.rate": "5000" for item in _THROTTLED}
        listed = {
            "leader.replication.throttled.replicas": "0:11,0:12",
            "follower.replication.throttled.replicas": "0:13",
        }
        assert throttles(acted, (4, "13"), (2, "A")) == [rates, listed]
        assert "A-0: replicas: 11,13,12. adding: 13. removing: 11." in reassign("--list", where=at_controller)
        assert "Reassignment of partition A-0 is still in progress." in reassign("--verify", *file)
        assert acted.in_sync("A", 11, 12, 13).error_code == 0
        verified = reassign("--verify", *file)
        assert "Reassignment of partition A-0 is completed." in verified
        assert throttles(acted, (4, "13"), (2, "A")) == [{}, {}]
        plan.write_text(plan.read_text().replace("13", "11"))
        assert "Successfully started" in reassign("--execute", *file)
        assert "Successfully cancelled partition reassignment" in reassign("--cancel", *file, where=at_controller)
        assert "No partition reassignments found." in reassign("--list")
        log = next((nodes.data(1) / "__cluster_metadata-0").glob("*.log"))
        dumped = said(java, dump, "--cluster-metadata-decoder", "--files", str(log))
        assert '"type":"PARTITION_CHANGE_RECORD","version":2' in dumped


def test_kafkas_controller_is_a_voter_among_nodes(java: list[str], tmp_path: Path) -> None:
    with Nodes(tmp_path, voters=3) as nodes:
        listed = ",".join(f"{voter}@127.0.0.1:{nodes.ports[voter]}:{DIRECTORIES[voter]}" for voter in nodes.voters)
        shutil.rmtree(nodes.data(1))
        properties = str(nodes.kafka_properties(1))
        how = ("-t", CLUSTER_ID, "-c", properties, "--initial-controllers", listed)
        said(java, "kafka.tools.StorageTool", "format", *how)
        nodes.start(2, 3)
        first = nodes.leader()
        acted = ActedBrokers(nodes, first, first)
        acted.start(11, 12, 13)
        assert (acted.create("A", [11, 12]), acted.reassign(("A", 0, [13, 12]))) == (0, [0])
        reassigned = acted.listed()
        nodes.start_command(1, [*java, "kafka.Kafka", properties])
        following(nodes)
        nodes.kill(first)
        # Now Kafka's vote decides, or it leads itself.
        leader = nodes.leader(other_than=first)
        assert leader in (1, 5 - first)
        nodes.start(first)
        nodes.wait_until_it_follows(first)
        # Until it is Kafka that lists what a node has stored; who wins an election is up to their timers.
        for _ in range(_ELECTIONS):
            if leader == 1:
                break
            following(nodes)
            nodes.kill(leader)
            removed, leader = leader, nodes.leader(other_than=leader)
            nodes.start(removed)
        assert acted.listed(leader) == reassigned


def following(nodes: Nodes) -> None:
    """Wait until every voter has all records."""
    nodes.wait_for(
        lambda quorum: min(voter["logEndOffset"] for voter in quorum["currentVoters"]) == quorum["highWatermark"]
    )


@pytest.mark.nightly
@pytest.mark.usefixtures("java")
def test_a_mixed_quorum_under_fault_is_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Kafka is killed and begins again, with the correlation ids that it began with.

    It may lose its newest lines.
    """
    words = ["--nodes", "2", "--kafka", VERSION, "--seconds", "8", "--seed", "9", "--faults", "kill", "--json"]
    code = main(["live", "quorum", *words, "-o", str(tmp_path / "kept")])
    printed = json.loads(capsys.readouterr().out)
    assert (code, printed["verdict"]["kind"]) in ((0, "accepted"), (2, "inconclusive")), printed
    assert {"kill 3 (Kafka)", "3 (Kafka) is back"} <= {item["what"] for item in printed["done"]}
    assert printed["of_kafka"] > 20
