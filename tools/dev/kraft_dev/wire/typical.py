"""Messages of an ordinary day, for the pairs: voters 1, 2 and 3, leader 1 in epoch 4; controller 4 joins, 3 leaves.

Each is whole: it has the fields of every version, and what a version lacks is left out when it is encoded.
"""

from base64 import b64encode
from typing import Any

from kraft_conformance.wire.batches import batch_of, encode_batch
from kraft_conformance.wire.schema import Kind, Message, messages
from kraft_conformance.wire.trace_links import TOPIC, TOPIC_ID, metadata_topics
from kraft_dev.wire.typical_admin import (
    ANSWERED,
    CLUSTER_ID,
    END_OFFSET,
    EPOCH,
    HIGH_WATERMARK,
    LEADER,
    NO_ERROR,
    NOW_MS,
    SUPPORTED,
    admin_documents,
    directory_id,
    listener,
    topic,
    voter_id,
)

_NODE = {"nodeId": 1, "host": "h1", "port": 9093}
_SNAPSHOT = {"endOffset": 150, "epoch": 3}


def _voter(replica: int) -> dict[str, Any]:
    key = {"voterId": replica, "voterDirectoryId": directory_id(replica)}
    return key | {"endpoints": [listener(replica)], "kRaftVersionFeature": SUPPORTED}


def _state(replica: int, end_offset: int, fetched_ms: int) -> dict[str, Any]:
    times = {"lastFetchTimestamp": fetched_ms, "lastCaughtUpTimestamp": fetched_ms}
    return {"replicaId": replica, "replicaDirectoryId": directory_id(replica), "logEndOffset": end_offset} | times


def _voters_batch() -> str:
    """The log from offset 200 on: the voters set with 4 in it."""
    value = {"version": 0, "voters": [_voter(replica) for replica in (1, 2, 3, 4)]}
    batch = batch_of(messages()["VotersRecord"], value)
    return b64encode(encode_batch(batch | {"baseOffset": 200, "partitionLeaderEpoch": EPOCH})).decode()


def _documents() -> dict[str, Any]:
    answered = metadata_topics({"errorCode": 0} | LEADER)
    return admin_documents() | {
        "VoteRequest": {
            "clusterId": CLUSTER_ID,
            "voterId": 1,
            "topics": metadata_topics(
                {
                    "replicaEpoch": 5,
                    "replicaId": 2,
                    "replicaDirectoryId": directory_id(2),
                    "voterDirectoryId": directory_id(1),
                    "lastOffsetEpoch": EPOCH,
                    "lastOffset": END_OFFSET,
                    "preVote": True,
                }
            ),
        },
        "VoteResponse": {
            "errorCode": 0,
            "topics": metadata_topics({"errorCode": 0, "voteGranted": False} | LEADER),
            "nodeEndpoints": [_NODE],
        },
        "BeginQuorumEpochRequest": {
            "clusterId": CLUSTER_ID,
            "voterId": 3,
            "topics": metadata_topics({"voterDirectoryId": directory_id(3)} | LEADER),
            "leaderEndpoints": [listener(1)],
        },
        "BeginQuorumEpochResponse": {"errorCode": 0, "topics": answered, "nodeEndpoints": [_NODE]},
        "EndQuorumEpochRequest": {
            "clusterId": CLUSTER_ID,
            "topics": metadata_topics(
                {
                    "preferredSuccessors": [2, 3],
                    "preferredCandidates": [
                        {"candidateId": replica, "candidateDirectoryId": directory_id(replica)} for replica in (2, 3)
                    ],
                }
                | LEADER
            ),
            "leaderEndpoints": [listener(1)],
        },
        "EndQuorumEpochResponse": {"errorCode": 0, "topics": answered, "nodeEndpoints": [_NODE]},
        "FetchRequest": _fetch_request(),
        "FetchResponse": _fetch_response(),
        "FetchSnapshotRequest": {
            "clusterId": CLUSTER_ID,
            "replicaId": 4,
            "maxBytes": 2**20,
            "topics": topic(
                TOPIC,
                {
                    "partition": 0,
                    "currentLeaderEpoch": EPOCH,
                    "snapshotId": _SNAPSHOT,
                    "position": 0,
                    "replicaDirectoryId": directory_id(4),
                },
            ),
        },
        "FetchSnapshotResponse": ANSWERED
        | {
            "topics": topic(
                TOPIC,
                {
                    "index": 0,
                    "errorCode": 0,
                    "snapshotId": _SNAPSHOT,
                    "currentLeader": LEADER,
                    "size": 4096,
                    "position": 0,
                    "unalignedRecords": _voters_batch(),
                },
            ),
            "nodeEndpoints": [_NODE],
        },
        "DescribeQuorumRequest": {"topics": metadata_topics({})},
        "DescribeQuorumResponse": NO_ERROR
        | {
            "topics": metadata_topics(
                NO_ERROR
                | {
                    "highWatermark": HIGH_WATERMARK,
                    "currentVoters": [_state(1, END_OFFSET, -1), _state(2, 200, NOW_MS), _state(3, 200, NOW_MS)],
                    "observers": [_state(4, 180, NOW_MS)],
                }
                | LEADER
            ),
            "nodes": [{"nodeId": replica, "listeners": [listener(replica)]} for replica in (1, 2, 3)],
        },
        "LeaderChangeMessage": {
            "leaderId": 1,
            "voters": [voter_id(replica) for replica in (1, 2, 3)],
            "grantingVoters": [voter_id(replica) for replica in (1, 2)],
        },
        "SnapshotHeaderRecord": {"lastContainedLogTimestamp": NOW_MS},
        "SnapshotFooterRecord": {},
        "KRaftVersionRecord": {"kRaftVersion": 1},
        "VotersRecord": {"voters": [_voter(replica) for replica in (1, 2, 3, 4)]},
        "QuorumStateData": {
            "clusterId": "",
            "leaderId": -1,
            "leaderEpoch": 7,
            "votedId": 3,
            "votedDirectoryId": directory_id(3),
            "appliedOffset": 0,
            "currentVoters": [{"voterId": replica} for replica in (1, 2, 3)],
        },
    }


def _fetch_request() -> dict[str, Any]:
    """Of the observer 4, which keeps no session with the leader."""
    partition = {
        "partition": 0,
        "currentLeaderEpoch": EPOCH,
        "fetchOffset": 180,
        "lastFetchedEpoch": 3,
        "logStartOffset": 0,
        "partitionMaxBytes": 0,
        "replicaDirectoryId": directory_id(4),
        "highWatermark": 179,
    }
    return {
        "clusterId": CLUSTER_ID,
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
    """The leader's, with records."""
    partition = {
        "partitionIndex": 0,
        "errorCode": 0,
        "highWatermark": HIGH_WATERMARK,
        "lastStableOffset": -1,
        "logStartOffset": 0,
        "currentLeader": LEADER,
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
"""What goes wrong in the pair `error` of a response: the code at the top, and the message where there is one.

Rules: wire.error-codes, wire.common-errors.
"""

_LOWEST_OF_0_SINCE = 4
"""The first version of ApiVersions that can say that a feature's lowest version is 0."""
_REPLICA_STATE_SINCE = 15
"""The first version of Fetch in which replicaState stands for replicaId."""

_HEADERS: dict[Kind, dict[str, Any]] = {
    Kind.REQUEST: {"correlationId": 6, "clientId": "raft-client-2"},
    Kind.RESPONSE: {"correlationId": 6},
}


def typical_header(message: Message) -> dict[str, Any]:
    """The header of an ordinary request or response; of a request without API and version."""
    return {**_HEADERS[message.kind]}


def typical(message: Message, version: int) -> dict[str, Any]:
    """The body of a whole message, with the fields of every version.

    Only who fetches stands in one of two places, since no sender fills both, and a feature whose lowest version is 0
    is left out where Kafka leaves it out (KAFKA-17492).
    """
    document = dict(_documents()[message.name])
    if message.name == "ApiVersionsResponse" and version < _LOWEST_OF_0_SINCE:
        document["supportedFeatures"] = []
    if message.name == "FetchRequest":
        del document["replicaId" if version >= _REPLICA_STATE_SINCE else "replicaState"]
    return document
