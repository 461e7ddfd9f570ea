"""Bodies of the quorum's messages, with Kafka's field names."""

from collections.abc import Mapping
from typing import Any

from kraft_kafka.live.process import CLUSTER_ID, DIRECTORIES, REPLICA
from kraft_kafka.wire.decoding import Document
from kraft_kafka.wire.error_codes import CODES
from kraft_kafka.wire.schema import NULL_UUID
from kraft_kafka.wire.trace_links import TOPIC, TOPIC_ID, metadata_topics
from kraft_reference.messages import Error

OTHER_CLUSTER_ID = "AAAAAAAAAAAAAAAAAAAJCQ"
OTHER_DIRECTORY = "AAAAAAAAAAAAAAAAAAAJCA"

NONE = CODES[Error.NONE]
NOT_LEADER = CODES[Error.NOT_LEADER_OR_FOLLOWER]
REQUEST_TIMED_OUT = CODES[Error.REQUEST_TIMED_OUT]
UNSUPPORTED_VERSION = CODES[Error.UNSUPPORTED_VERSION]
INVALID_REQUEST = CODES[Error.INVALID_REQUEST]
FENCED_LEADER_EPOCH = CODES[Error.FENCED_LEADER_EPOCH]
UNKNOWN_LEADER_EPOCH = CODES[Error.UNKNOWN_LEADER_EPOCH]
INCONSISTENT_CLUSTER_ID = CODES[Error.INCONSISTENT_CLUSTER_ID]
SNAPSHOT_NOT_FOUND = CODES[Error.SNAPSHOT_NOT_FOUND]
INVALID_UPDATE_VERSION = CODES[Error.INVALID_UPDATE_VERSION]
INVALID_VOTER_KEY = CODES[Error.INVALID_VOTER_KEY]
DUPLICATE_VOTER = CODES[Error.DUPLICATE_VOTER]
VOTER_NOT_FOUND = CODES[Error.VOTER_NOT_FOUND]


def _list_endpoints(id_: int, port: int) -> list[Document]:
    return [{"name": "CONTROLLER", "host": "127.0.0.1", "port": port}] if id_ else []


def vote(
    source: int,
    epoch: int,
    is_pre_vote: bool,
    log: tuple[int, int] = (0, 0),
    *,
    to: int = REPLICA,
    to_directory: str | None = None,
    cluster_id: str | None = CLUSTER_ID,
    directory: str | None = None,
) -> Document:
    """Return a Vote; `log` is the last epoch and the end offset of the candidate's log."""
    part: Document = {"replicaEpoch": epoch, "replicaId": source, "lastOffsetEpoch": log[0], "lastOffset": log[1]}
    part |= {"replicaDirectoryId": directory or DIRECTORIES[source]}
    part |= {"voterDirectoryId": to_directory or DIRECTORIES.get(to, NULL_UUID), "preVote": is_pre_vote}
    return {"clusterId": cluster_id, "voterId": to, "topics": metadata_topics(part)}


def begin_quorum_epoch(
    leader: int,
    epoch: int,
    port: int,
    *,
    to: int = REPLICA,
    to_directory: str | None = None,
    cluster_id: str | None = CLUSTER_ID,
) -> Document:
    """Return a BeginQuorumEpoch of a leader that listens at `port`."""
    directory = to_directory or DIRECTORIES.get(to, NULL_UUID)
    part: Document = {"voterDirectoryId": directory, "leaderId": leader, "leaderEpoch": epoch}
    return {
        "clusterId": cluster_id,
        "voterId": to,
        "topics": metadata_topics(part),
        "leaderEndpoints": _list_endpoints(leader, port),
    }


def end_quorum_epoch(
    leader: int,
    epoch: int,
    preferred: list[int],
    port: int,
    *,
    directory: str | None = None,
    cluster_id: str | None = CLUSTER_ID,
) -> Document:
    """Return an EndQuorumEpoch; `directory` replaces the preferred candidates' directory ids."""
    listed = [{"candidateId": id_, "candidateDirectoryId": directory or DIRECTORIES[id_]} for id_ in preferred]
    part: Document = {"leaderId": leader, "leaderEpoch": epoch, "preferredCandidates": listed}
    part["preferredSuccessors"] = preferred
    return {"clusterId": cluster_id, "topics": metadata_topics(part), "leaderEndpoints": _list_endpoints(leader, port)}


def fetch(
    source: int,
    epoch: int,
    offset: int,
    last_epoch: int,
    *,
    wait_ms: int = 0,
    cluster_id: str | None = CLUSTER_ID,
    directory: str | None = None,
) -> Document:
    """Return a Fetch of a replica whose log ends with a record of `last_epoch` before `offset`."""
    part: Document = {
        "partition": 0,
        "currentLeaderEpoch": epoch,
        "fetchOffset": offset,
        "lastFetchedEpoch": last_epoch,
    }
    part |= {"logStartOffset": -1, "partitionMaxBytes": 0, "replicaDirectoryId": directory or DIRECTORIES[source]}
    return {
        "clusterId": cluster_id,
        "replicaState": {"replicaId": source, "replicaEpoch": -1},
        "maxWaitMs": wait_ms,
        "minBytes": 0,
        "maxBytes": 8 << 20,
        "isolationLevel": 0,
        "sessionId": 0,
        "sessionEpoch": -1,
        "forgottenTopicsData": [],
        "rackId": "",
        "topics": [{"topicId": TOPIC_ID, "partitions": [part]}],
    }


def fetch_snapshot(
    source: int, epoch: int, snapshot: tuple[int, int], position: int = 0, *, cluster_id: str | None = CLUSTER_ID
) -> Document:
    """Return a FetchSnapshot; `snapshot` is the epoch and end offset of its id."""
    part: Document = {"partition": 0, "currentLeaderEpoch": epoch, "position": position}
    part |= {"snapshotId": {"endOffset": snapshot[1], "epoch": snapshot[0]}}
    part |= {"replicaDirectoryId": DIRECTORIES[source]}
    listed = [{"name": TOPIC, "partitions": [part]}]
    return {"clusterId": cluster_id, "replicaId": source, "maxBytes": 1 << 20, "topics": listed}


def describe_quorum() -> Document:
    """Return a DescribeQuorum of the metadata partition."""
    return {"topics": metadata_topics({})}


def add_voter(id_: int, port: int, timeout_ms: int = 3000, **other: Any) -> Document:
    """Return an AddRaftVoter; `other` replaces fields."""
    return {
        "clusterId": CLUSTER_ID,
        "timeoutMs": timeout_ms,
        "voterId": id_,
        "voterDirectoryId": DIRECTORIES.get(id_, NULL_UUID),
        "listeners": _list_endpoints(id_, port),
        "ackWhenCommitted": True,
    } | other


def remove_voter(id_: int, **other: Any) -> Document:
    """Return a RemoveRaftVoter; `other` replaces fields."""
    return {"clusterId": CLUSTER_ID, "voterId": id_, "voterDirectoryId": DIRECTORIES.get(id_, NULL_UUID)} | other


def update_voter(id_: int, epoch: int, port: int, versions: tuple[int, int] = (0, 1), **other: Any) -> Document:
    """Return an UpdateRaftVoter; `other` replaces fields."""
    return {
        "clusterId": CLUSTER_ID,
        "currentLeaderEpoch": epoch,
        "voterId": id_,
        "voterDirectoryId": DIRECTORIES.get(id_, NULL_UUID),
        "listeners": _list_endpoints(id_, port),
        "kRaftVersionFeature": {"minSupportedVersion": versions[0], "maxSupportedVersion": versions[1]},
    } | other


# -------------------------------------------------------------------------------------------------------------
# Responses of mock peers.
# -------------------------------------------------------------------------------------------------------------


def vote_answer(is_granted: bool, epoch: int, leader: int = -1, error: int = NONE) -> Document:
    """Return a Vote response."""
    part: Document = {"errorCode": error, "leaderId": leader, "leaderEpoch": epoch, "voteGranted": is_granted}
    return {"errorCode": 0, "topics": metadata_topics(part)}


def quorum_answer(epoch: int, leader: int, error: int = NONE) -> Document:
    """Return a response to BeginQuorumEpoch or EndQuorumEpoch."""
    return {"errorCode": 0, "topics": metadata_topics({"errorCode": error, "leaderId": leader, "leaderEpoch": epoch})}


def fetch_answer(
    epoch: int,
    leader: int,
    error: int = NONE,
    high_watermark: int = -1,
    records: str = "",
    *,
    diverging: tuple[int, int] | None = None,
    snapshot: tuple[int, int] | None = None,
    port: int | None = None,
) -> Document:
    """Return a Fetch response; `diverging` and `snapshot` are epoch and end offset, `records` batches in base64."""
    part: Document = {"partitionIndex": 0, "errorCode": error, "highWatermark": high_watermark}
    part |= {"lastStableOffset": high_watermark, "logStartOffset": 0, "abortedTransactions": None}
    part |= {"preferredReadReplica": -1, "records": records}
    part |= {"currentLeader": {"leaderId": leader, "leaderEpoch": epoch}}
    if diverging:
        part["divergingEpoch"] = {"epoch": diverging[0], "endOffset": diverging[1]}
    if snapshot:
        part["snapshotId"] = {"epoch": snapshot[0], "endOffset": snapshot[1]}
    responses = [{"topicId": TOPIC_ID, "partitions": [part]}]
    body: Document = {"throttleTimeMs": 0, "errorCode": 0, "sessionId": 0, "responses": responses}
    if port is not None:
        body["nodeEndpoints"] = [{"nodeId": leader, "host": "127.0.0.1", "port": port, "rack": None}]
    return body


def described(ports: Mapping[int, int]) -> Document:
    """Return a DescribeQuorum response with the replicas' endpoints only."""
    nodes = [{"nodeId": id_, "listeners": _list_endpoints(id_, port)} for id_, port in ports.items()]
    return {"errorCode": 0, "errorMessage": None, "topics": [], "nodes": nodes}
