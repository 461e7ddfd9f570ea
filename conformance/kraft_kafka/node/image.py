"""State of the controller's records in the metadata log: brokers, topics, partitions, configurations.

`image_of` replays records in order, and `changes` encodes what the reference of partitions stores.
Records of a transaction take effect together at its end (KIP-868).
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
    """True, so not alive, before its first heartbeat and when it asks for fencing."""


@dataclass
class Image:
    """State built by `image_of`, and not changed afterwards."""

    brokers: dict[int, Broker] = field(default_factory=dict)
    topics: dict[str, str] = field(default_factory=dict)
    """Ids by name."""
    partitions: dict[TopicPartition, Partition] = field(default_factory=dict)
    configs: dict[tuple[int, str], dict[str, str]] = field(default_factory=dict)
    """By the type and name of a resource."""

    @property
    def alive(self) -> frozenset[int]:
        """Brokers that are not fenced."""
        return frozenset(number for number, broker in self.brokers.items() if not broker.is_fenced)

    def name_of(self, topic_id: str) -> str | None:
        """Return the name of the topic with this id."""
        return next((name for name, id_ in self.topics.items() if id_ == topic_id), None)


def counted(values: Iterable[bytes]) -> tuple[tuple[bytes, ...], bool]:
    """Return the records that take effect, without transaction markers, and True if a transaction is open."""
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
    """Replay records of the controller.

    Raises:
        WireError: a record is damaged, or has a newer version.
    """
    image = Image()
    for value in counted(values)[0]:
        if (record := decode_metadata_record(value)) is not None:
            _replay(image, record)
    return image


def _replay(image: Image, record: MetadataRecord) -> None:
    fields = record.fields
    match record.name:
        case "RegisterBrokerRecord":
            host, port = next(((listener["host"], listener["port"]) for listener in fields["endPoints"]), ("", 0))
            image.brokers[fields["brokerId"]] = Broker(
                fields["brokerEpoch"], fields["incarnationId"], host, port, fields["rack"], fields["fenced"]
            )
        case "BrokerRegistrationChangeRecord" if fields.get("fenced", 0):
            broker = image.brokers[fields["brokerId"]]
            image.brokers[fields["brokerId"]] = broker._replace(is_fenced=fields["fenced"] > 0)
        case "TopicRecord":
            image.topics[fields["name"]] = fields["topicId"]
        case "RemoveTopicRecord":
            name = image.name_of(fields["topicId"]) or ""
            del image.topics[name]
            image.partitions = {key: kept for key, kept in image.partitions.items() if key.topic != name}
        case "PartitionRecord":
            image.partitions[_name_partition(image, fields)] = Partition(
                tuple(fields["replicas"]),
                frozenset(fields["isr"]),
                tuple(fields["addingReplicas"]),
                tuple(fields["removingReplicas"]),
                _leader(fields["leader"]),
                fields["leaderEpoch"],
                fields["partitionEpoch"],
            )
        case "PartitionChangeRecord":
            partition_name = _name_partition(image, fields)
            image.partitions[partition_name] = _apply_change(image.partitions[partition_name], fields)
        case "ConfigRecord":
            configs = image.configs.setdefault((fields["resourceType"], fields["resourceName"]), {})
            configs.pop(fields["name"], None)
            if fields["value"] is not None:
                configs[fields["name"]] = fields["value"]


def _name_partition(image: Image, fields: Document) -> TopicPartition:
    return TopicPartition(image.name_of(fields["topicId"]) or "", fields["partitionId"])


def _leader(number: int) -> int | None:
    return None if number == _NO_LEADER else number


def _apply_change(partition: Partition, fields: Document) -> Partition:
    """Apply a change record: it raises the partition epoch, and a leader in it the leader epoch, as in Kafka."""

    def field_or(name: str, current: Iterable[int]) -> tuple[int, ...]:
        return tuple(current if fields.get(name) is None else fields[name])

    after = Partition(
        field_or("replicas", partition.replicas),
        frozenset(field_or("isr", partition.in_sync)),
        field_or("addingReplicas", partition.adding),
        field_or("removingReplicas", partition.removing),
        partition.leader,
        partition.leader_epoch,
        partition.partition_epoch + 1,
    )
    leader = fields.get("leader", _SAME_LEADER)
    if leader == _SAME_LEADER:
        return after
    return after._replace(leader=_leader(leader), leader_epoch=partition.leader_epoch + 1)


def new_partition(topic_id: str, index: int, partition: Partition) -> bytes:
    """Return the PartitionRecord of a partition that is not being reassigned."""
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
    """Yield the PartitionChangeRecords of existing partitions that have changed."""
    for name, after in stored:
        yield encode_metadata_record(
            "PartitionChangeRecord",
            partitionId=name.partition,
            topicId=image.topics[name.topic],
            **_changed_fields(image.partitions[name], after),
        )


def _changed_fields(before: Partition, after: Partition) -> Mapping[str, object]:
    fields: dict[str, object] = {}
    if after.in_sync != before.in_sync:
        fields["isr"] = _in_sync(after)
    if after.leader_epoch != before.leader_epoch:
        fields["leader"] = _NO_LEADER if after.leader is None else after.leader
    if after.replicas != before.replicas:
        fields |= {"replicas": list(after.replicas), "directories": _directories(after.replicas)}
    if after.removing != before.removing:
        fields["removingReplicas"] = list(after.removing)
    if after.adding != before.adding:
        fields["addingReplicas"] = list(after.adding)
    return fields


def _in_sync(partition: Partition) -> list[int]:
    return [replica for replica in partition.replicas if replica in partition.in_sync]


def _directories(replicas: Sequence[int]) -> list[str]:
    """Return the log directory of each replica: Kafka's UNASSIGNED, as they are unknown here."""
    return [NULL_UUID] * len(replicas)
