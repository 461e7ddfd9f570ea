"""Ordinary messages for the pairs: voters 1, 2 and 3, leader 1 in epoch 4; controller 4 joins, 3 leaves.

Each message has the fields of every version; the encoding drops those that a version lacks.
"""

from base64 import b64encode
from typing import Any

from kraft_kafka.wire.batches import batch_of, encode_batch
from kraft_kafka.wire.decoding import uuid_text
from kraft_kafka.wire.schema import Kind, Message, messages
from kraft_kafka.wire.trace_links import TOPIC, TOPIC_ID, metadata_topics

_CLUSTER_ID = "5L6g3nShT-eMCtK--X86sw"
_EPOCH, _END_OFFSET, _HIGH_WATERMARK = 4, 201, 200
_NOW_MS = 1_700_000_000_000


def _directory_id(replica: int) -> str:
    """Return the directory id of a replica."""
    return uuid_text(bytes([0x11 * replica]) * 16)


def _listener(replica: int) -> dict[str, Any]:
    """Return the listener of a controller."""
    return {"name": "CONTROLLER", "host": f"h{replica}", "port": 9093}


_LEADER = {"leaderId": 1, "leaderEpoch": _EPOCH}
_SUPPORTED = {"minSupportedVersion": 0, "maxSupportedVersion": 1}
_ANSWERED = {"throttleTimeMs": 0, "errorCode": 0}
_NO_ERROR = {"errorCode": 0, "errorMessage": None}
_NODE = {"nodeId": 1, "host": "h1", "port": 9093}
_SNAPSHOT = {"endOffset": 150, "epoch": 3}


def _topic(name: str, *partitions: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the only topic of a message, with these partitions."""
    return [{"name": name, "partitions": [*partitions]}]


def _voter_id(replica: int) -> dict[str, Any]:
    """Return the id and directory id of a voter."""
    return {"voterId": replica, "voterDirectoryId": _directory_id(replica)}


def _voter(replica: int) -> dict[str, Any]:
    return _voter_id(replica) | {"endpoints": [_listener(replica)], "kRaftVersionFeature": _SUPPORTED}


def _state(replica: int, end_offset: int, fetched_ms: int) -> dict[str, Any]:
    times = {"lastFetchTimestamp": fetched_ms, "lastCaughtUpTimestamp": fetched_ms}
    return {"replicaId": replica, "replicaDirectoryId": _directory_id(replica), "logEndOffset": end_offset} | times


def _voters_batch() -> str:
    """Return the log from offset 200 on: the voter set with 4."""
    value = {"version": 0, "voters": [_voter(replica) for replica in (1, 2, 3, 4)]}
    batch = batch_of(messages()["VotersRecord"], value)
    return b64encode(encode_batch(batch | {"baseOffset": 200, "partitionLeaderEpoch": _EPOCH})).decode()


def _documents() -> dict[str, Any]:
    answered = metadata_topics({"errorCode": 0} | _LEADER)
    return _admin_documents() | {
        "VoteRequest": {
            "clusterId": _CLUSTER_ID,
            "voterId": 1,
            "topics": metadata_topics(
                {
                    "replicaEpoch": 5,
                    "replicaId": 2,
                    "replicaDirectoryId": _directory_id(2),
                    "voterDirectoryId": _directory_id(1),
                    "lastOffsetEpoch": _EPOCH,
                    "lastOffset": _END_OFFSET,
                    "preVote": True,
                }
            ),
        },
        "VoteResponse": {
            "errorCode": 0,
            "topics": metadata_topics({"errorCode": 0, "voteGranted": False} | _LEADER),
            "nodeEndpoints": [_NODE],
        },
        "BeginQuorumEpochRequest": {
            "clusterId": _CLUSTER_ID,
            "voterId": 3,
            "topics": metadata_topics({"voterDirectoryId": _directory_id(3)} | _LEADER),
            "leaderEndpoints": [_listener(1)],
        },
        "BeginQuorumEpochResponse": {"errorCode": 0, "topics": answered, "nodeEndpoints": [_NODE]},
        "EndQuorumEpochRequest": {
            "clusterId": _CLUSTER_ID,
            "topics": metadata_topics(
                {
                    "preferredSuccessors": [2, 3],
                    "preferredCandidates": [
                        {"candidateId": replica, "candidateDirectoryId": _directory_id(replica)} for replica in (2, 3)
                    ],
                }
                | _LEADER
            ),
            "leaderEndpoints": [_listener(1)],
        },
        "EndQuorumEpochResponse": {"errorCode": 0, "topics": answered, "nodeEndpoints": [_NODE]},
        "FetchRequest": _fetch_request(),
        "FetchResponse": _fetch_response(),
        "FetchSnapshotRequest": {
            "clusterId": _CLUSTER_ID,
            "replicaId": 4,
            "maxBytes": 2**20,
            "topics": _topic(
                TOPIC,
                {
                    "partition": 0,
                    "currentLeaderEpoch": _EPOCH,
                    "snapshotId": _SNAPSHOT,
                    "position": 0,
                    "replicaDirectoryId": _directory_id(4),
                },
            ),
        },
        "FetchSnapshotResponse": _ANSWERED
        | {
            "topics": _topic(
                TOPIC,
                {
                    "index": 0,
                    "errorCode": 0,
                    "snapshotId": _SNAPSHOT,
                    "currentLeader": _LEADER,
                    "size": 4096,
                    "position": 0,
                    "unalignedRecords": _voters_batch(),
                },
            ),
            "nodeEndpoints": [_NODE],
        },
        "DescribeQuorumRequest": {"topics": metadata_topics({})},
        "DescribeQuorumResponse": _NO_ERROR
        | {
            "topics": metadata_topics(
                _NO_ERROR
                | {
                    "highWatermark": _HIGH_WATERMARK,
                    "currentVoters": [_state(1, _END_OFFSET, -1), _state(2, 200, _NOW_MS), _state(3, 200, _NOW_MS)],
                    "observers": [_state(4, 180, _NOW_MS)],
                }
                | _LEADER
            ),
            "nodes": [{"nodeId": replica, "listeners": [_listener(replica)]} for replica in (1, 2, 3)],
        },
        "LeaderChangeMessage": {
            "leaderId": 1,
            "voters": [_voter_id(replica) for replica in (1, 2, 3)],
            "grantingVoters": [_voter_id(replica) for replica in (1, 2)],
        },
        "SnapshotHeaderRecord": {"lastContainedLogTimestamp": _NOW_MS},
        "SnapshotFooterRecord": {},
        "KRaftVersionRecord": {"kRaftVersion": 1},
        "VotersRecord": {"voters": [_voter(replica) for replica in (1, 2, 3, 4)]},
        "QuorumStateData": {
            "clusterId": "",
            "leaderId": -1,
            "leaderEpoch": 7,
            "votedId": 3,
            "votedDirectoryId": _directory_id(3),
            "appliedOffset": 0,
            "currentVoters": [{"voterId": replica} for replica in (1, 2, 3)],
        },
    }


def _admin_documents() -> dict[str, Any]:
    """Return the requests of clients and of joining controllers, and their responses."""
    return {
        "AddRaftVoterRequest": {
            "clusterId": _CLUSTER_ID,
            "timeoutMs": 30_000,
            "voterId": 4,
            "voterDirectoryId": _directory_id(4),
            "listeners": [_listener(4)],
            "ackWhenCommitted": False,
        },
        "AddRaftVoterResponse": _ANSWERED | _NO_ERROR,
        "RemoveRaftVoterRequest": {"clusterId": _CLUSTER_ID} | _voter_id(3),
        "RemoveRaftVoterResponse": _ANSWERED | _NO_ERROR,
        "UpdateRaftVoterRequest": {
            "clusterId": _CLUSTER_ID,
            "currentLeaderEpoch": _EPOCH,
            "listeners": [_listener(2)],
            "kRaftVersionFeature": _SUPPORTED,
        }
        | _voter_id(2),
        "UpdateRaftVoterResponse": _ANSWERED | {"currentLeader": _LEADER | {"host": "h1", "port": 9093}},
        "ApiVersionsRequest": {"clientSoftwareName": "kraft-spec", "clientSoftwareVersion": "0.1.0"},
        "ApiVersionsResponse": {
            "errorCode": 0,
            "apiKeys": [
                {"apiKey": message.key, "minVersion": message.versions.low, "maxVersion": message.versions.high}
                for message in messages().values()
                if message.kind is Kind.REQUEST
            ],
            "throttleTimeMs": 0,
            "supportedFeatures": [{"name": "kraft.version", "minVersion": 0, "maxVersion": 1}],
            "finalizedFeaturesEpoch": _HIGH_WATERMARK - 1,
            "finalizedFeatures": [{"name": "kraft.version", "maxVersionLevel": 1, "minVersionLevel": 1}],
            "zkMigrationReady": False,
        },
        "UpdateFeaturesRequest": {
            "timeoutMs": 60_000,
            "featureUpdates": [
                {"feature": "kraft.version", "maxVersionLevel": 1, "allowDowngrade": False, "upgradeType": 1}
            ],
            "validateOnly": True,
        },
        "UpdateFeaturesResponse": _ANSWERED
        | {"errorMessage": None, "results": [{"feature": "kraft.version"} | _NO_ERROR]},
        "AlterPartitionReassignmentsRequest": {
            "timeoutMs": 60_000,
            "allowReplicationFactorChange": False,
            "topics": _topic(
                "A", {"partitionIndex": 0, "replicas": [4, 3, 2]}, {"partitionIndex": 1, "replicas": None}
            ),
        },
        "AlterPartitionReassignmentsResponse": _ANSWERED
        | {
            "allowReplicationFactorChange": False,
            "errorMessage": None,
            "responses": _topic(
                "A",
                {"partitionIndex": 0} | _NO_ERROR,
                {"partitionIndex": 1, "errorCode": 85, "errorMessage": "nothing to cancel"},
            ),
        },
        "ListPartitionReassignmentsRequest": {
            "timeoutMs": 60_000,
            "topics": [{"name": "A", "partitionIndexes": [0, 1]}],
        },
        "ListPartitionReassignmentsResponse": _ANSWERED
        | {
            "errorMessage": None,
            "topics": _topic(
                "A",
                {"partitionIndex": 0, "replicas": [1, 4, 3, 2], "addingReplicas": [4], "removingReplicas": [1]},
            ),
        },
    }


def _fetch_request() -> dict[str, Any]:
    """Return the Fetch of observer 4, which keeps no session with the leader."""
    partition = {
        "partition": 0,
        "currentLeaderEpoch": _EPOCH,
        "fetchOffset": 180,
        "lastFetchedEpoch": 3,
        "logStartOffset": 0,
        "partitionMaxBytes": 0,
        "replicaDirectoryId": _directory_id(4),
        "highWatermark": 179,
    }
    return {
        "clusterId": _CLUSTER_ID,
        "replicaId": 4,
        "replicaState": {"replicaId": 4, "replicaEpoch": -1},
        "maxWaitMs": 500,
        "minBytes": 0,
        "maxBytes": 8 * 2**20,
        "isolationLevel": 0,
        "sessionId": 0,
        "sessionEpoch": -1,
        "topics": [{"topic": TOPIC, "topicId": TOPIC_ID, "partitions": [partition]}],
        "forgottenTopicsData": [],
        "rackId": "",
    }


def _fetch_response() -> dict[str, Any]:
    """Return the leader's Fetch response with records."""
    partition = {
        "partitionIndex": 0,
        "errorCode": 0,
        "highWatermark": _HIGH_WATERMARK,
        "lastStableOffset": -1,
        "logStartOffset": 0,
        "currentLeader": _LEADER,
        "abortedTransactions": None,
        "preferredReadReplica": -1,
        "records": _voters_batch(),
    }
    return {
        "throttleTimeMs": 0,
        "errorCode": 0,
        "sessionId": 0,
        "responses": [{"topic": TOPIC, "topicId": TOPIC_ID, "partitions": [partition]}],
        "nodeEndpoints": [_NODE | {"rack": None}],
    }


ERRORS = {
    "VoteResponse": (104, None),
    "BeginQuorumEpochResponse": (104, None),
    "EndQuorumEpochResponse": (104, None),
    "FetchResponse": (104, None),
    "FetchSnapshotResponse": (104, None),
    "DescribeQuorumResponse": (31, "not authorized"),
    "AddRaftVoterResponse": (126, "4 is a voter already"),
    "RemoveRaftVoterResponse": (127, "no such voter"),
    "UpdateRaftVoterResponse": (6, None),
    "ApiVersionsResponse": (35, None),
    "UpdateFeaturesResponse": (95, "3 supports up to 0"),
    "AlterPartitionReassignmentsResponse": (41, None),
    "ListPartitionReassignmentsResponse": (41, None),
}
"""Errors of the pair `error` of a response: the top-level code, and the message if there is one.

Rules: wire.error-codes, wire.common-errors.
"""

_LOWEST_OF_0_SINCE = 4
"""First version of ApiVersions that can express a lowest feature version of 0."""
_REPLICA_STATE_SINCE = 15
"""First version of Fetch in which replicaState replaces replicaId."""

_HEADERS: dict[Kind, dict[str, Any]] = {
    Kind.REQUEST: {"correlationId": 6, "clientId": "raft-client-2"},
    Kind.RESPONSE: {"correlationId": 6},
}


def typical_header(message: Message) -> dict[str, Any]:
    """Return the header of an ordinary request or response; for a request without API and version."""
    return {**_HEADERS[message.kind]}


def typical_body(message: Message, version: int) -> dict[str, Any]:
    """Return the body of a message, with the fields of every version.

    Exceptions: the fetching replica is in one of two fields, since no sender fills both; a feature with lowest
    version 0 is omitted where Kafka omits it (KAFKA-17492).
    """
    document = dict(_documents()[message.name])
    if message.name == "ApiVersionsResponse" and version < _LOWEST_OF_0_SINCE:
        document["supportedFeatures"] = []
    if message.name == "FetchRequest":
        del document["replicaId" if version >= _REPLICA_STATE_SINCE else "replicaState"]
    return document
