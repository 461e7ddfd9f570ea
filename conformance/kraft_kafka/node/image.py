"""What the controller's records in the metadata log say: brokers, topics, partitions, configurations.

`image_of` reads records in order, and `changes` makes the records of what the reference of partitions stores.
Between a BeginTransactionRecord and its end nothing counts, so that several records are one step (KIP-868).
Rule: partition-reassign.persisted.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from kraft_kafka.wire.decoding import Document
from kraft_kafka.wire.metadata_records import (
    MetadataRecord,
    decode_metadata_record,
    encode_metadata_record,
    type_of,
)
from kraft_kafka.wire.schema import NULL_UUID
from kraft_partitions.partition import Partition, TopicPartition

BEGIN, END = encode_metadata_record("BeginTransactionRecord"), encode_metadata_record("EndTransactionRecord")
ABORT = encode_metadata_record("AbortTransactionRecord")
_NO_LEADER, _SAME_LEADER = -1, -2


class Broker(NamedTuple):
    """A broker that has registered."""

    epoch: int
    incarnation_id: str
    host: str
    port: int
    rack: str | None
    is_fenced: bool
    """Until its first heartbeat, and when it asks for it: then it is not alive."""


@dataclass
class Image:
    """Built by `image_of`, and not changed afterwards."""

    brokers: dict[int, Broker] = field(default_factory=dict)
    topics: dict[str, str] = field(default_factory=dict)
    """Ids by name."""
    partitions: dict[TopicPartition, Partition] = field(default_factory=dict)
    configs: dict[tuple[int, str], dict[str, str]] = field(default_factory=dict)
    """By the type and name of a resource."""

    @property
    def alive(self) -> frozenset[int]:
        """The brokers that are not fenced."""
        return frozenset(number for number, broker in self.brokers.items() if not broker.is_fenced)

    def name_of(self, topic_id: str) -> str | None:
        """The topic with this id."""
        return next((name for name, one in self.topics.items() if one == topic_id), None)


def counted(values: Iterable[bytes]) -> tuple[tuple[bytes, ...], bool]:
    """The records that count, without the marks of transactions; and is the end of one still to come?"""
    kept: list[bytes] = []
    begun: int | None = None
    for value in values:
        name = type_of(value)
        if name == "AbortTransactionRecord":
            del kept[begun:]
        if name in ("EndTransactionRecord", "AbortTransactionRecord"):
            begun = None
        elif name == "BeginTransactionRecord":
            begun = len(kept)
        else:
            kept.append(value)
    return tuple(kept[:begun]), begun is not None


def image_of(values: Iterable[bytes]) -> Image:
    """What records of the controller say.

    Raises:
        WireError: one of them is damaged, or of a version that came later.
    """
    image = Image()
    for value in counted(values)[0]:
        if (record := decode_metadata_record(value)) is not None:
            _replay(image, record)
    return image


def _replay(image: Image, record: MetadataRecord) -> None:
    said = record.fields
    match record.name:
        case "RegisterBrokerRecord":
            host, port = next(((one["host"], one["port"]) for one in said["endPoints"]), ("", 0))
            image.brokers[said["brokerId"]] = Broker(
                said["brokerEpoch"], said["incarnationId"], host, port, said["rack"], said["fenced"]
            )
        case "BrokerRegistrationChangeRecord" if said.get("fenced", 0):
            broker = image.brokers[said["brokerId"]]
            image.brokers[said["brokerId"]] = broker._replace(is_fenced=said["fenced"] > 0)
        case "TopicRecord":
            image.topics[said["name"]] = said["topicId"]
        case "RemoveTopicRecord":
            name = image.name_of(said["topicId"]) or ""
            del image.topics[name]
            image.partitions = {one: kept for one, kept in image.partitions.items() if one.topic != name}
        case "PartitionRecord":
            image.partitions[_named(image, said)] = Partition(
                tuple(said["replicas"]),
                frozenset(said["isr"]),
                tuple(said["addingReplicas"]),
                tuple(said["removingReplicas"]),
                _leader(said["leader"]),
                said["leaderEpoch"],
                said["partitionEpoch"],
            )
        case "PartitionChangeRecord":
            name_there = _named(image, said)
            image.partitions[name_there] = _changed(image.partitions[name_there], said)
        case "ConfigRecord":
            known = image.configs.setdefault((said["resourceType"], said["resourceName"]), {})
            known.pop(said["name"], None)
            if said["value"] is not None:
                known[said["name"]] = said["value"]


def _named(image: Image, said: Document) -> TopicPartition:
    return TopicPartition(image.name_of(said["topicId"]) or "", said["partitionId"])


def _leader(number: int) -> int | None:
    return None if number == _NO_LEADER else number


def _changed(partition: Partition, said: Document) -> Partition:
    """A leader in the record is one more leader epoch, and each record one more partition epoch, as in Kafka."""

    def said_or(name: str, known: Iterable[int]) -> tuple[int, ...]:
        return tuple(known if said.get(name) is None else said[name])

    after = Partition(
        said_or("replicas", partition.replicas),
        frozenset(said_or("isr", partition.in_sync)),
        said_or("addingReplicas", partition.adding),
        said_or("removingReplicas", partition.removing),
        partition.leader,
        partition.leader_epoch,
        partition.partition_epoch + 1,
    )
    leader = said.get("leader", _SAME_LEADER)
    if leader == _SAME_LEADER:
        return after
    return after._replace(leader=_leader(leader), leader_epoch=partition.leader_epoch + 1)


def new_partition(topic_id: str, index: int, partition: Partition) -> bytes:
    """The PartitionRecord of a partition that is not reassigned."""
    return encode_metadata_record(
        "PartitionRecord",
        partitionId=index,
        topicId=topic_id,
        replicas=list(partition.replicas),
        isr=_in_sync(partition),
        removingReplicas=[],
        addingReplicas=[],
        leader=_NO_LEADER if partition.leader is None else partition.leader,
        leaderEpoch=partition.leader_epoch,
        partitionEpoch=partition.partition_epoch,
        directories=_directories(partition.replicas),
    )


def changes(image: Image, stored: Sequence[tuple[TopicPartition, Partition]]) -> Iterator[bytes]:
    """The PartitionChangeRecords of partitions that are there and have changed."""
    for name, after in stored:
        yield encode_metadata_record(
            "PartitionChangeRecord",
            partitionId=name.partition,
            topicId=image.topics[name.topic],
            **_differences(image.partitions[name], after),
        )


def _differences(before: Partition, after: Partition) -> Mapping[str, object]:
    said: dict[str, object] = {}
    if after.in_sync != before.in_sync:
        said["isr"] = _in_sync(after)
    if after.leader_epoch != before.leader_epoch:
        said["leader"] = _NO_LEADER if after.leader is None else after.leader
    if after.replicas != before.replicas:
        said |= {"replicas": list(after.replicas), "directories": _directories(after.replicas)}
    if after.removing != before.removing:
        said["removingReplicas"] = list(after.removing)
    if after.adding != before.adding:
        said["addingReplicas"] = list(after.adding)
    return said


def _in_sync(partition: Partition) -> list[int]:
    return [replica for replica in partition.replicas if replica in partition.in_sync]


def _directories(replicas: Sequence[int]) -> list[str]:
    """Where each replica lies on its broker: not known here, Kafka's UNASSIGNED."""
    return [NULL_UUID] * len(replicas)
