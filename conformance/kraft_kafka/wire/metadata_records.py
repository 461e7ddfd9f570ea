"""Records of Kafka's controller in the metadata log that a node reads and writes.

Each record has a frame version, its type and version, then its fields, all flexible.
The fields are those of Kafka's `metadata/src/main/resources/common/metadata/*.json`, by their names there.
"""

from collections.abc import Mapping
from typing import NamedTuple

from kraft_kafka.wire.decoding import Document, decoded
from kraft_kafka.wire.encoding import encoded, varint
from kraft_kafka.wire.errors import Reason, WireError
from kraft_kafka.wire.reading import Bytes
from kraft_kafka.wire.schema import Kind, Message, Versions, fields_from

_FRAME = 1
_ALL = Versions(0, 2**15 - 1)


class MetadataRecord(NamedTuple):
    """A record of Kafka's controller, such as a TopicRecord."""

    name: str
    fields: Document


def _record(name: str, key: int, version: int, fields: str = "") -> Message:
    return Message(name, "", key, Kind.RECORD, Versions(0, version), _ALL, _ALL, (), fields_from(fields))


_RECORDS = (
    _record(
        "RegisterBrokerRecord",
        0,
        3,
        """
brokerId int32 0+
isMigratingZkBroker bool 2+ ignorable
incarnationId uuid 0+
brokerEpoch int64 0+
endPoints []BrokerEndpoint 0+
  name string 0+
  host string 0+
  port uint16 0+
  securityProtocol int16 0+
features []BrokerFeature 0+
  name string 0+
  minSupportedVersion int16 0+
  maxSupportedVersion int16 0+
rack string 0+ nullable
fenced bool 0+ default=true
inControlledShutdown bool 1+
logDirs []uuid 3+ tag=0
""",
    ),
    _record("TopicRecord", 2, 0, "name string 0+\ntopicId uuid 0+"),
    _record(
        "PartitionRecord",
        3,
        2,
        """
partitionId int32 0+
topicId uuid 0+
replicas []int32 0+
isr []int32 0+
removingReplicas []int32 0+
addingReplicas []int32 0+
leader int32 0+
leaderRecoveryState int8 0+ tag=0
leaderEpoch int32 0+
partitionEpoch int32 0+
directories []uuid 1+
eligibleLeaderReplicas []int32 2+ tag=1 nullable default=null
lastKnownElr []int32 2+ tag=2 nullable default=null
""",
    ),
    _record(
        "ConfigRecord",
        4,
        0,
        "resourceType int8 0+\nresourceName string 0+\nname string 0+\nvalue string 0+ nullable",
    ),
    _record(
        "PartitionChangeRecord",
        5,
        2,
        """
partitionId int32 0+
topicId uuid 0+
isr []int32 0+ tag=0 nullable default=null
leader int32 0+ tag=1 default=-2
replicas []int32 0+ tag=2 nullable default=null
removingReplicas []int32 0+ tag=3 nullable default=null
addingReplicas []int32 0+ tag=4 nullable default=null
leaderRecoveryState int8 0+ tag=5 default=-1
eligibleLeaderReplicas []int32 2+ tag=6 nullable default=null
lastKnownElr []int32 2+ tag=7 nullable default=null
directories []uuid 1+ tag=8 nullable default=null
""",
    ),
    _record("RemoveTopicRecord", 9, 0, "topicId uuid 0+"),
    _record("FeatureLevelRecord", 12, 0, "name string 0+\nfeatureLevel int16 0+"),
    _record(
        "BrokerRegistrationChangeRecord",
        17,
        2,
        """
brokerId int32 0+
brokerEpoch int64 0+
fenced int8 0+ tag=0
inControlledShutdown int8 1+ tag=1
logDirs []uuid 2+ tag=2
""",
    ),
    _record("BeginTransactionRecord", 23, 0, "name string 0+ tag=0 nullable default=null"),
    _record("EndTransactionRecord", 24, 0),
    _record("AbortTransactionRecord", 25, 0, "reason string 0+ tag=0 nullable default=null"),
)
_BY_NAME: Mapping[str, Message] = {schema.name: schema for schema in _RECORDS}
_BY_KEY: Mapping[int, Message] = {schema.key: schema for schema in _RECORDS}


def encode_metadata_record(record: str, /, **fields: object) -> bytes:
    """Encode a record in the newest version of this module; tagged fields may be omitted.

    Raises:
        KeyError: this module does not have the record.
        WireError: a field is missing or wrong.
    """
    schema = _BY_NAME[record]
    version = schema.versions.high
    return varint(_FRAME) + varint(schema.key) + varint(version) + encoded(schema, version, fields, record)[0]


def _read_head(content: Bytes) -> tuple[int, int]:
    """Read type and version of a record.

    Raises:
        WireError: it is no record of the controller.
    """
    frame, key, version = (content.varint(what, what) for what in ("frame version", "type", "version"))
    if frame != _FRAME:
        raise WireError(Reason.UNKNOWN_VERSION, "frame version", str(_FRAME), str(frame), 0)
    return key, version


def type_of(value: bytes) -> str:
    """Return the name of a record of any version; empty if this module does not have it."""
    try:
        key, _ = _read_head(Bytes(value))
    except WireError:
        return ""
    return _BY_KEY[key].name if key in _BY_KEY else ""


def decode_metadata_record(value: bytes) -> MetadataRecord | None:
    """Decode a record; None for a record of Kafka's that this module does not have.

    Raises:
        WireError: it is no record of the controller, or of a newer version.
    """
    content = Bytes(value)
    key, version = _read_head(content)
    schema = _BY_KEY.get(key)
    if schema is None:
        return None
    fields = decoded(schema, schema.checked(version, "version"), content, schema.name)
    return MetadataRecord(schema.name, fields)
