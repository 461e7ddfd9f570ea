"""Mock brokers, and requests of operators about partitions, over TCP."""

import time
from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from tests.conformance.nodes import Nodes

from kraft_kafka.live.process import CLUSTER_ID

REGISTER, HEARTBEAT, ALTER_PARTITION = (62, 4), (63, 1), (56, 3)
CREATE, ALTER, LIST, METADATA, SET, CONFIGS = (19, 7), (45, 0), (46, 0), (3, 13), (44, 1), (32, 4)
UNKNOWN_TOPIC, NOT_CONTROLLER, INVALID_ASSIGNMENT, NOTHING_IN_PROGRESS = 3, 41, 39, 85
Assignment = Sequence[int] | None


class ActedBrokers:
    """Brokers without data: they register at the leader, and their partition leaders report the ISR."""

    def __init__(self, nodes: Nodes, leader: int, listening: int) -> None:
        """At a leader; their address is that of the node `listening`."""
        self.nodes, self.leader, self.listening = nodes, leader, listening
        self.epochs: dict[int, int] = {}
        nodes.wait_until_it_follows(listening)
        if listening in nodes.brokers:
            nodes.wait_for(lambda _: listening in self.alive())

    def ask(self, api: tuple[int, int], number: int | None = None, **body: object) -> Any:
        """Return the response of a node, by default the leader."""
        return self.nodes.ask_other(self.leader if number is None else number, *api, body)

    def start(self, *brokers: int) -> None:
        """Register brokers, and unfence them."""
        address = {"host": "127.0.0.1", "port": self.nodes.ports[self.listening]}
        for broker in brokers:
            answer = self.ask(
                REGISTER,
                broker_id=broker,
                cluster_id=CLUSTER_ID,
                incarnation_id=UUID(int=broker),
                listeners=[{"name": "PLAINTEXT", **address, "security_protocol": 0}],
                features=[{"name": "metadata.version", "min_supported_version": 7, "max_supported_version": 25}],
                rack=None,
                log_dirs=[UUID(int=100 + broker)],
            )
            assert answer.error_code == 0
            self.epochs[broker] = answer.broker_epoch
            assert self.beat(broker) == (0, False)

    def alive(self) -> list[int]:
        """Return the brokers that the broker `listening` knows."""
        return [broker.node_id for broker in self.ask(METADATA, self.listening, topics=[], **_METADATA).brokers]

    def beat(self, broker: int, want_fence: bool = False) -> tuple[int, bool]:
        """Send a heartbeat, and return its error and whether the broker is fenced."""
        answer = self.ask(
            HEARTBEAT,
            broker_id=broker,
            broker_epoch=self.epochs[broker],
            current_metadata_offset=2**40,
            want_fence=want_fence,
            want_shut_down=False,
        )
        return answer.error_code, answer.is_fenced

    def create(self, topic: str, *replicas: Sequence[int]) -> int:
        """Create a topic with these replicas, and return the error."""
        assignments = [{"partition_index": index, "broker_ids": replica} for index, replica in enumerate(replicas)]
        requested = {
            "name": topic,
            "num_partitions": -1,
            "replication_factor": -1,
            "assignments": assignments,
            "configs": [],
        }
        return int(self.ask(CREATE, topics=[requested], timeout=timedelta()).topics[0].error_code)

    def reassign(self, *targets: tuple[str, int, Assignment], number: int | None = None) -> list[int]:
        """Return the error codes of the results, or of the whole request."""
        topics = [{"name": n, "partitions": [{"partition_index": i, "replicas": r}]} for n, i, r in targets]
        answer = self.ask(ALTER, number, timeout=timedelta(), topics=topics)
        results = [partition.error_code for topic in answer.responses for partition in topic.partitions]
        return [int(code) for code in results or [answer.error_code]]

    def listed(self, number: int | None = None) -> dict[str, tuple[Sequence[int], Sequence[int], Sequence[int]]]:
        """Return R, AR and RR of the reassignments."""
        end = time.monotonic() + 20
        while True:
            answer = self.ask(LIST, number, timeout=timedelta(), topics=None)
            if answer.error_code == 0:
                break
            # A new leader is not the controller at once.
            assert (answer.error_code, time.monotonic() < end) == (NOT_CONTROLLER, True)
            time.sleep(0.1)
        return {
            f"{topic.name}-{partition.partition_index}": (
                partition.replicas,
                partition.adding_replicas,
                partition.removing_replicas,
            )
            for topic in answer.topics
            for partition in topic.partitions
        }

    def partition(self, topic: str, index: int = 0) -> Any:
        """Return a partition of the broker's metadata, once they equal the leader's."""
        end = time.monotonic() + 20
        high_watermark = self._high_watermark(self.leader)
        while self._high_watermark(self.listening) < high_watermark:
            assert time.monotonic() < end, "the broker does not follow"
            time.sleep(0.02)
        text = self.ask(METADATA, self.listening, topics=[{"topic_id": None, "name": topic}], **_METADATA).topics[0]
        assert text.error_code == 0
        return text.topic_id, text.partitions[index]

    def _high_watermark(self, number: int) -> int:
        """Return a node's own high watermark, from its ApiVersions; a broker forwards DescribeQuorum to the leader."""
        software = {"clientSoftwareName": "test", "clientSoftwareVersion": "1"}
        return int(self.nodes.ask(number, "ApiVersions", 3, software)["finalizedFeaturesEpoch"])

    def in_sync(self, topic: str, *replicas: int) -> Any:
        """Let the leader of partition 0 report the ISR, and return the result."""
        topic_id, partition = self.partition(topic)
        state = [{"broker_id": replica, "broker_epoch": -1} for replica in replicas]
        # Metadata do not tell the partition epoch: one that is too old is not taken.
        for partition_epoch in range(100):
            part = {"partition_index": 0, "leader_epoch": partition.leader_epoch, "new_isr_with_epochs": state}
            part |= {"partition_epoch": partition_epoch}
            answer = self.ask(
                ALTER_PARTITION,
                broker_id=partition.leader_id,
                broker_epoch=self.epochs[partition.leader_id],
                topics=[{"topic_id": topic_id, "partitions": [part]}],
            )
            result = answer.topics[0].partitions[0]
            if result.error_code != _INVALID_UPDATE_VERSION:
                return result
        raise AssertionError("no partition epoch fits")


_METADATA = {"allow_auto_topic_creation": False, "include_topic_authorized_operations": False}
_INVALID_UPDATE_VERSION = 95
