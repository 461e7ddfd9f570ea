"""Mapping from the fields of traced messages to Kafka's fields, as data.

A traced message has the fields that the protocol decides on; Kafka's has topics, sessions and throttling as well.
`LINKS` has the common fields, `WITHOUT_KAFKA_FIELD` the traced fields that Kafka lacks, each with a reason, and
`filled` Kafka's fields that a trace lacks.
"""

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any, NamedTuple

from kraft_kafka.wire.schema import NULL_UUID

TOPIC = "__cluster_metadata"
TOPIC_ID = "AAAAAAAAAAAAAAAAAAAAAQ"
"""Id of the metadata topic, which Kafka reserves as it does the null id."""


def metadata_topics(partition: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the field `topics` of most messages: the metadata partition, with these fields."""
    return [{"topicName": TOPIC, "partitions": [{"partitionIndex": 0, **partition}]}]


class As(Enum):
    """Conversion between the values of a link."""

    SAME = "the same value"
    KEY = "null is id -1 and the null uuid; a directory id is text in a trace, a uuid for Kafka"
    LEADER = "null is -1"
    ERROR = "a name in a trace, a number for Kafka"
    LISTENER = "host:port is the one listener CONTROLLER; null is none"
    NODE = "host:port is the one endpoint of the named leader; null is none"
    HOST_PORT = "host:port in two fields; null is an empty host"
    CANDIDATES = "the keys; version 0 has the ids alone"
    LEVELS = "the range of the feature kraft.version"


class Link(NamedTuple):
    """Fields of a trace, and Kafka's fields for them."""

    trace: tuple[str, ...]
    kafka: tuple[str, ...]
    """Paths."""
    how: As = As.SAME
    since: int = 0
    """The first version with these fields."""
    before: int = 2**15
    """The first version without them again."""


_STATE_SINCE = 15
"""The first version of Fetch that has the fetching replica in the struct replicaState."""
_P = "body.topics[0].partitions[0]."
_FETCHER = f"{_P}replicaDirectoryId"
_R = "body.responses[0].partitions[0]."
_CORRELATION = Link(("correlation_id",), ("header.correlationId",))
_CLUSTER = Link(("cluster_id",), ("body.clusterId",))
_NODES = Link(("leader_endpoint",), ("body.nodeEndpoints",), As.NODE)


def _link_response(partition: str) -> tuple[Link, ...]:
    """Return the links that the quorum's responses have in common."""
    return (
        _CORRELATION,
        Link(("error",), (f"{partition}errorCode",), As.ERROR),
        Link(("epoch",), (f"{partition}leaderEpoch",)),
        Link(("leader_id",), (f"{partition}leaderId",), As.LEADER),
        _NODES,
    )


def _link_fetch_response(partition: str) -> tuple[Link, ...]:
    """Return these links for Fetch and FetchSnapshot, which have the leader in a struct of its own."""
    return (
        _CORRELATION,
        Link(("error",), (f"{partition}errorCode",), As.ERROR),
        Link(("epoch",), (f"{partition}currentLeader.leaderEpoch",)),
        Link(("leader_id",), (f"{partition}currentLeader.leaderId",), As.LEADER),
        _NODES,
    )


_VOTER = Link(("voter",), ("body.voterId", "body.voterDirectoryId"), As.KEY)
_CHANGED = (_CORRELATION, Link(("error",), ("body.errorCode",), As.ERROR))

LINKS: Mapping[str, tuple[Link, ...]] = MappingProxyType(
    {
        "VoteRequest": (
            _CORRELATION,
            _CLUSTER,
            Link(("epoch",), (f"{_P}replicaEpoch",)),
            Link(("replica_key",), (f"{_P}replicaId", f"{_P}replicaDirectoryId"), As.KEY),
            Link(("voter_key",), ("body.voterId", f"{_P}voterDirectoryId"), As.KEY),
            Link(("last_epoch",), (f"{_P}lastOffsetEpoch",)),
            Link(("end_offset",), (f"{_P}lastOffset",)),
            Link(("pre_vote",), (f"{_P}preVote",)),
        ),
        "VoteResponse": (*_link_response(_P), Link(("granted",), (f"{_P}voteGranted",))),
        "BeginQuorumEpochRequest": (
            _CORRELATION,
            _CLUSTER,
            Link(("epoch",), (f"{_P}leaderEpoch",)),
            Link(("source",), (f"{_P}leaderId",)),
            Link(("voter_key",), ("body.voterId", f"{_P}voterDirectoryId"), As.KEY),
            Link(("leader_endpoint",), ("body.leaderEndpoints",), As.LISTENER),
        ),
        "BeginQuorumEpochResponse": _link_response(_P),
        "EndQuorumEpochRequest": (
            _CORRELATION,
            _CLUSTER,
            Link(("epoch",), (f"{_P}leaderEpoch",)),
            Link(("source",), (f"{_P}leaderId",)),
            Link(
                ("preferred_candidates",),
                (f"{_P}preferredCandidates", f"{_P}preferredSuccessors"),
                As.CANDIDATES,
            ),
        ),
        "EndQuorumEpochResponse": _link_response(_P),
        "FetchRequest": (
            _CORRELATION,
            _CLUSTER,
            Link(("epoch",), (f"{_P}currentLeaderEpoch",)),
            Link(("replica_key",), ("body.replicaId", _FETCHER), As.KEY, before=_STATE_SINCE),
            Link(
                ("replica_key",),
                ("body.replicaState.replicaId", _FETCHER),
                As.KEY,
                since=_STATE_SINCE,
            ),
            Link(("fetch_offset",), (f"{_P}fetchOffset",)),
            Link(("last_epoch",), (f"{_P}lastFetchedEpoch",)),
        ),
        "FetchResponse": (
            *_link_fetch_response(_R),
            Link(("high_watermark",), (f"{_R}highWatermark",)),
            Link(("diverging_epoch",), (f"{_R}divergingEpoch.epoch",)),
            Link(("diverging_end_offset",), (f"{_R}divergingEpoch.endOffset",)),
            Link(("snapshot_end_offset",), (f"{_R}snapshotId.endOffset",)),
            Link(("snapshot_epoch",), (f"{_R}snapshotId.epoch",)),
        ),
        "FetchSnapshotRequest": (
            _CORRELATION,
            _CLUSTER,
            Link(("epoch",), (f"{_P}currentLeaderEpoch",)),
            Link(("replica_key",), ("body.replicaId", f"{_P}replicaDirectoryId"), As.KEY),
            Link(("snapshot_end_offset",), (f"{_P}snapshotId.endOffset",)),
            Link(("snapshot_epoch",), (f"{_P}snapshotId.epoch",)),
        ),
        "FetchSnapshotResponse": _link_fetch_response(_P),
        "ApiVersionsRequest": (_CORRELATION,),
        "ApiVersionsResponse": (
            _CORRELATION,
            Link(("min_version", "max_version"), ("body.supportedFeatures",), As.LEVELS),
        ),
        "AddVoterRequest": (
            _CORRELATION,
            _CLUSTER,
            _VOTER,
            Link(("endpoint",), ("body.listeners",), As.LISTENER),
            Link(("timeout_ms",), ("body.timeoutMs",)),
            Link(("when_committed",), ("body.ackWhenCommitted",)),
        ),
        "AddVoterResponse": _CHANGED,
        "RemoveVoterRequest": (_CORRELATION, _CLUSTER, _VOTER),
        "RemoveVoterResponse": _CHANGED,
        "UpdateVoterRequest": (
            _CORRELATION,
            _CLUSTER,
            _VOTER,
            Link(("epoch",), ("body.currentLeaderEpoch",)),
            Link(("endpoint",), ("body.listeners",), As.LISTENER),
            Link(("min_version",), ("body.kRaftVersionFeature.minSupportedVersion",)),
            Link(("max_version",), ("body.kRaftVersionFeature.maxSupportedVersion",)),
        ),
        "UpdateVoterResponse": (
            *_CHANGED,
            Link(("epoch",), ("body.currentLeader.leaderEpoch",)),
            Link(("leader_id",), ("body.currentLeader.leaderId",), As.LEADER),
            Link(("leader_endpoint",), ("body.currentLeader.host", "body.currentLeader.port"), As.HOST_PORT),
        ),
    }
)
"""Links by the traced message's type.  Rules: wire.vote-versions and the other rules of the messages."""

_NAMES = {
    "AddVoter": "AddRaftVoter",
    "RemoveVoter": "RemoveRaftVoter",
    "UpdateVoter": "UpdateRaftVoter",
}


def kafka_name(traced: str) -> str:
    """Return Kafka's name of a traced message: AddRaftVoterRequest for `AddVoterRequest`."""
    for ours, theirs in _NAMES.items():
        traced = traced.replace(ours, theirs)
    return traced


TRACED_NAMES: Mapping[str, str] = {kafka_name(name): name for name in LINKS}
"""Traced message types by Kafka's names."""

_EVERYWHERE = {
    "id": "names the message within its trace",
    "source": "the connection says who sends, where no field of the message does",
    "destination": "the connection says who receives",
}
_NO_LEADER = "Kafka's response has throttleTimeMs, errorCode and errorMessage; the KIP's has the leader"

WITHOUT_KAFKA_FIELD: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "VoteResponse": {
            "pre_vote": "Kafka's response has no such flag, and no receiver needs it (wire.vote-response)"
        },
        "FetchResponse": {
            "records": "a Data record of a trace is a number that stands for metadata records, and a VoterAssignment "
            "(KIP-642) is none of Kafka's; control records alone: `--record`"
        },
        "FetchSnapshotResponse": {
            "snapshot": "a trace has the content, where Kafka sends pieces of its bytes; the id is that of the request"
        },
        "AddVoterResponse": dict.fromkeys(("epoch", "leader_id", "leader_endpoint"), _NO_LEADER),
        "RemoveVoterResponse": dict.fromkeys(("epoch", "leader_id", "leader_endpoint"), _NO_LEADER),
    }
)
"""Fields of a traced message that Kafka's messages lose, with reasons."""


def without_kafka_field(traced: str) -> Mapping[str, str]:
    """Return the fields of a traced message that Kafka's message lacks, with reasons."""
    linked = {name for link in LINKS[traced] for name in link.trace}
    everywhere = {name: reason for name, reason in _EVERYWHERE.items() if name not in linked}
    return {**everywhere, **WITHOUT_KAFKA_FIELD.get(traced, {})}


def filled(traced: str, version: int) -> dict[str, Any]:
    """Return the body of Kafka's message without the traced fields: the topic, and defaults that request nothing."""
    partitions: dict[str, Any] = {"topics": metadata_topics({})}
    answered: dict[str, Any] = {"throttleTimeMs": 0}
    snapshot = {"endOffset": -1, "epoch": -1}
    match traced:
        case "FetchRequest":
            partition: dict[str, Any] = {"partition": 0, "logStartOffset": -1, "partitionMaxBytes": 0}
            fetch = {"maxWaitMs": 0, "minBytes": 0, "maxBytes": 2**31 - 1, "isolationLevel": 0, "sessionId": 0}
            topics = [{"topic": TOPIC, "topicId": TOPIC_ID, "partitions": [partition]}]
            state = {"replicaState": {"replicaEpoch": -1}} if version >= _STATE_SINCE else {}
            return fetch | state | {"sessionEpoch": -1, "topics": topics, "forgottenTopicsData": [], "rackId": ""}
        case "FetchResponse":
            leader: dict[str, Any] = {"divergingEpoch": {}, "currentLeader": {}, "snapshotId": {}}
            offsets = {"partitionIndex": 0, "lastStableOffset": -1, "logStartOffset": -1}
            partition = offsets | leader | {"abortedTransactions": None, "preferredReadReplica": -1, "records": ""}
            topics = [{"topic": TOPIC, "topicId": TOPIC_ID, "partitions": [partition]}]
            return answered | {"errorCode": 0, "sessionId": 0, "responses": topics}
        case "FetchSnapshotRequest":
            partition = {"partition": 0, "snapshotId": {}, "position": 0}
            return {"maxBytes": 2**31 - 1, "topics": [{"name": TOPIC, "partitions": [partition]}]}
        case "FetchSnapshotResponse":
            partition = {"index": 0, "snapshotId": snapshot, "currentLeader": {}, "size": 0, "position": 0}
            topics = [{"name": TOPIC, "partitions": [partition | {"unalignedRecords": ""}]}]
            return answered | {"errorCode": 0, "topics": topics}
        case "VoteRequest" | "BeginQuorumEpochRequest" | "EndQuorumEpochRequest":
            return partitions | ({"leaderEndpoints": []} if traced == "EndQuorumEpochRequest" else {})
        case "VoteResponse" | "BeginQuorumEpochResponse" | "EndQuorumEpochResponse":
            return {"errorCode": 0} | partitions
        case "ApiVersionsRequest":
            return {"clientSoftwareName": "kraft-spec", "clientSoftwareVersion": "0"}
        case "ApiVersionsResponse":
            return answered | {"errorCode": 0, "apiKeys": []}
        case "AddVoterResponse" | "RemoveVoterResponse":
            return answered | {"errorMessage": None}
        case "UpdateVoterResponse":
            return answered | {"currentLeader": {}}
        case "UpdateVoterRequest":
            return {"kRaftVersionFeature": {}}
        case _:
            return {}


NOBODY = (-1, NULL_UUID)
"""Id and directory id of a null key."""
