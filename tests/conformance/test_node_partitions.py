"""KIP-455 served by nodes over TCP, asked with the project's own client."""

import signal
import time
from pathlib import Path

import pytest
from tests.conformance.acted_brokers import (
    CONFIGS,
    INVALID_ASSIGNMENT,
    NOT_CONTROLLER,
    NOTHING_IN_PROGRESS,
    SET,
    UNKNOWN_TOPIC,
    ActedBrokers,
)
from tests.conformance.kafka_python import kafka_module
from tests.conformance.nodes import Nodes

from kraft_kafka.node.image import BEGIN, END


def test_a_reassignment_from_its_start_to_its_end(tmp_path: Path) -> None:
    """Rules: partition-reassign.start, partition-reassign.complete-in-one-step, partition-reassign.list."""
    with Nodes(tmp_path, voters=1, brokers=1) as nodes:
        nodes.start(1, 2)
        acted = ActedBrokers(nodes, nodes.leader(), 2)
        acted.start(11, 12, 13, 14)
        # The node of role broker is one too.
        assert acted.create("Z", [2]) == 0
        assert acted.create("A", [11, 12], [12, 13]) == 0
        assert acted.listed() == {}
        assert acted.reassign(("A", 0, [13, 12])) == [0]
        assert acted.listed() == {"A-0": ((11, 13, 12), (13,), (11,))}
        assert acted.in_sync("A", 11, 12).error_code == 0
        assert acted.listed() == {"A-0": ((11, 13, 12), (13,), (11,))}
        assert acted.in_sync("A", 11, 12, 13).isr == (11, 13, 12)
        assert acted.listed() == {}
        _, partition = acted.partition("A")
        assert (partition.replica_nodes, set(partition.isr_nodes), partition.leader_id) == ((13, 12), {12, 13}, 13)
        nodes.kill(2, signal.SIGTERM)
        assert acted.create("B", [2]) == INVALID_ASSIGNMENT
        nodes.kill(1)
    nodes.merged()


def test_it_is_cancelled_and_what_is_wrong_is_said(tmp_path: Path) -> None:
    """Rules: partition-reassign.cancel, partition-reassign.error-order, partition-reassign.controller-only."""
    with Nodes(tmp_path, voters=3, brokers=1) as nodes:
        nodes.start(1, 2, 3, 4)
        leader = nodes.leader()
        acted = ActedBrokers(nodes, leader, 4)
        acted.start(11, 12, 13)
        assert acted.create("A", [11, 12]) == 0
        assert acted.create("A", [11, 12]) == 36
        assert acted.reassign(("A", 0, [13])) == [0]
        assert acted.reassign(("A", 0, None)) == [0]
        _, partition = acted.partition("A")
        assert (acted.listed(), partition.replica_nodes) == ({}, (11, 12))
        assert acted.reassign(("A", 0, None), ("A", 7, [11]), ("B", 0, [11])) == [
            NOTHING_IN_PROGRESS,
            UNKNOWN_TOPIC,
            UNKNOWN_TOPIC,
        ]
        for wrong in ([], [11, 11], [11, 99], [-1]):
            assert acted.reassign(("A", 0, wrong)) == [INVALID_ASSIGNMENT]
        follower = next(voter for voter in nodes.voters if voter != leader)
        assert acted.reassign(("A", 0, [13]), number=follower) == [NOT_CONTROLLER]
        # A broker hands it on to the leader.
        assert acted.reassign(("A", 0, [13]), number=4) == [0]
        assert acted.listed(4) == {"A-0": ((11, 12, 13), (13,), (11, 12))}


@pytest.mark.nightly
def test_another_leader_and_a_restart_know_of_it(tmp_path: Path) -> None:
    """Rule: partition-reassign.persisted."""
    with Nodes(tmp_path, voters=3, brokers=1, snapshot_bytes=500) as nodes:
        nodes.start(1, 2, 3, 4)
        first = nodes.leader()
        nodes.wait_until_it_follows(4)
        acted = ActedBrokers(nodes, first, 4)
        acted.start(11, 12, 13)
        assert acted.create("A", [11, 12]) == 0
        assert acted.reassign(("A", 0, [13, 12])) == [0]
        result = acted.listed()
        nodes.kill(first)
        acted.leader = nodes.leader(other_than=first)
        assert acted.listed() == result
        for number in tuple(nodes.processes):
            nodes.kill(number)
        nodes.start(1, 2, 3, 4)
        acted.leader = nodes.leader()
        nodes.wait_until_it_follows(4)
        assert acted.listed() == result
        assert acted.beat(11, want_fence=True) == (0, True)
        _, partition = acted.partition("A")
        assert (partition.leader_id, partition.isr_nodes, partition.offline_replicas) == (12, (12,), (11,))
        assert acted.in_sync("A", 12, 11).error_code == 107
        assert acted.in_sync("A", 12, 13).error_code == 0
        assert acted.listed() == {}
        snapshots = [*(nodes.data(acted.leader) / "__cluster_metadata-0").glob("*.checkpoint")]
        assert len(snapshots) > 1
        # Kafka expects no marks of transactions there; before a value of 4 bytes stands its length.
        assert not any(b"\x08" + mark in path.read_bytes() for path in snapshots for mark in (BEGIN, END))


@pytest.mark.nightly
def test_configurations_are_kept(tmp_path: Path) -> None:
    with Nodes(tmp_path, voters=1, brokers=1) as nodes:
        nodes.start(1, 2)
        acted = ActedBrokers(nodes, nodes.leader(), 2)
        acted.start(11)
        rate = {"name": "leader.replication.throttled.rate", "config_operation": 0, "value": "1000"}
        removed = rate | {"config_operation": 1, "value": None}
        appended = rate | {"config_operation": 2}

        def altered(kind: int, name: str, *configs: object) -> int:
            resource = {"resource_type": kind, "resource_name": name, "configs": list(configs)}
            return int(acted.ask(SET, 2, resources=[resource], validate_only=False).responses[0].error_code)

        def described() -> dict[str, str]:
            resource = {"resource_type": 4, "resource_name": "11", "configuration_keys": None}
            how = {"include_synonyms": False, "include_documentation": False}
            (results,) = acted.ask(CONFIGS, resources=[resource], **how).results
            return {config.name: config.value for config in results.configs}

        assert (altered(4, "11", rate), described()) == (0, {"leader.replication.throttled.rate": "1000"})
        assert (altered(4, "11", appended), altered(4, "99", rate), altered(2, "A", rate)) == (40, 102, 3)
        nodes.kill(1)
        nodes.start(1)
        nodes.leader()
        nodes.wait_until_it_follows(2)
        assert described() == {"leader.replication.throttled.rate": "1000"}
        assert (altered(4, "11", removed), described()) == (0, {})


def test_kafka_python_reassigns(tmp_path: Path) -> None:
    """A client that shares no code with this project.  Rule: partition-reassign.admin-api."""
    admins, name = kafka_module("admin"), kafka_module("structs").TopicPartition("A", 0)
    with Nodes(tmp_path, voters=1, brokers=1) as nodes:
        nodes.start(1, 2)
        acted = ActedBrokers(nodes, nodes.leader(), 2)
        acted.start(11, 12, 13)
        with admins.KafkaAdminClient(bootstrap_servers=f"127.0.0.1:{nodes.ports[2]}") as admin:
            assert [broker["broker_id"] for broker in admin.describe_cluster()["brokers"]] == [2, 11, 12, 13]
            created = admin.create_topics([admins.NewTopic("A", replica_assignments={0: [11, 12]})])
            assert created["topics"][0]["error_code"] == 0
            assert admin.alter_partition_reassignments({name: [13, 12]}) == {name: None}
            listed = {"replicas": [11, 13, 12], "adding_replicas": [13], "removing_replicas": [11]}
            assert admin.list_partition_reassignments() == {name: listed}
            assert admin.alter_partition_reassignments({name: None}) == {name: None}
            refused = admin.alter_partition_reassignments({name: None})
            assert refused == {name: kafka_module("errors").NoReassignmentInProgressError}
            throttle = {"leader.replication.throttled.replicas": "0:11"}
            admin.alter_configs([admins.ConfigResource("TOPIC", "A", throttle)], raise_on_unknown=False)
            # A broker answers from what it has read of the leader so far.
            end = time.monotonic() + 60
            while not (results := admin.describe_configs([admins.ConfigResource("TOPIC", "A")])["topic"]["A"]):
                assert time.monotonic() < end, "the broker does not know of the throttle"
                time.sleep(0.1)
            assert results["leader.replication.throttled.replicas"]["value"] == "0:11"
