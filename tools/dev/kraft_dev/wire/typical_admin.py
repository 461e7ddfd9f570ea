"""The requests of clients and of joining controllers on an ordinary day, and what all ordinary messages share."""

from typing import Any

from kraft_conformance.wire.decoding import uuid_text
from kraft_conformance.wire.schema import Kind, messages

CLUSTER_ID = "5L6g3nShT-eMCtK--X86sw"
EPOCH, END_OFFSET, HIGH_WATERMARK = 4, 201, 200
NOW_MS = 1_700_000_000_000


def directory_id(replica: int) -> str:
    """Of the only directory that a replica has had."""
    return uuid_text(bytes([0x11 * replica]) * 16)


def listener(replica: int) -> dict[str, Any]:
    """Where a controller listens."""
    return {"name": "CONTROLLER", "host": f"h{replica}", "port": 9093}


LEADER = {"leaderId": 1, "leaderEpoch": EPOCH}
SUPPORTED = {"minSupportedVersion": 0, "maxSupportedVersion": 1}
ANSWERED = {"throttleTimeMs": 0, "errorCode": 0}
NO_ERROR = {"errorCode": 0, "errorMessage": None}


def topic(name: str, *partitions: dict[str, Any]) -> list[dict[str, Any]]:
    """The only topic of a message, with these of its partitions."""
    return [{"name": name, "partitions": [*partitions]}]


def voter_id(replica: int) -> dict[str, Any]:
    """Who a voter is."""
    return {"voterId": replica, "voterDirectoryId": directory_id(replica)}


def admin_documents() -> dict[str, Any]:
    """Bodies by the names of their messages."""
    return {
        "AddRaftVoterRequest": {
            "clusterId": CLUSTER_ID,
            "timeoutMs": 30_000,
            "voterId": 4,
            "voterDirectoryId": directory_id(4),
            "listeners": [listener(4)],
            "ackWhenCommitted": False,
        },
        "AddRaftVoterResponse": ANSWERED | NO_ERROR,
        "RemoveRaftVoterRequest": {"clusterId": CLUSTER_ID} | voter_id(3),
        "RemoveRaftVoterResponse": ANSWERED | NO_ERROR,
        "UpdateRaftVoterRequest": {
            "clusterId": CLUSTER_ID,
            "currentLeaderEpoch": EPOCH,
            "listeners": [listener(2)],
            "kRaftVersionFeature": SUPPORTED,
        }
        | voter_id(2),
        "UpdateRaftVoterResponse": ANSWERED | {"currentLeader": LEADER | {"host": "h1", "port": 9093}},
        "ApiVersionsRequest": {"clientSoftwareName": "kraft-spec", "clientSoftwareVersion": "0.1.0"},
        "ApiVersionsResponse": {
            "errorCode": 0,
            "apiKeys": [
                {"apiKey": one.key, "minVersion": one.versions.low, "maxVersion": one.versions.high}
                for one in messages().values()
                if one.kind is Kind.REQUEST
            ],
            "throttleTimeMs": 0,
            "supportedFeatures": [{"name": "kraft.version", "minVersion": 0, "maxVersion": 1}],
            "finalizedFeaturesEpoch": HIGH_WATERMARK - 1,
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
        "UpdateFeaturesResponse": ANSWERED
        | {"errorMessage": None, "results": [{"feature": "kraft.version"} | NO_ERROR]},
        "AlterPartitionReassignmentsRequest": {
            "timeoutMs": 60_000,
            "allowReplicationFactorChange": False,
            "topics": topic("A", {"partitionIndex": 0, "replicas": [4, 3, 2]}, {"partitionIndex": 1, "replicas": None}),
        },
        "AlterPartitionReassignmentsResponse": ANSWERED
        | {
            "allowReplicationFactorChange": False,
            "errorMessage": None,
            "responses": topic(
                "A",
                {"partitionIndex": 0} | NO_ERROR,
                {"partitionIndex": 1, "errorCode": 85, "errorMessage": "nothing to cancel"},
            ),
        },
        "ListPartitionReassignmentsRequest": {
            "timeoutMs": 60_000,
            "topics": [{"name": "A", "partitionIndexes": [0, 1]}],
        },
        "ListPartitionReassignmentsResponse": ANSWERED
        | {
            "errorMessage": None,
            "topics": topic(
                "A",
                {"partitionIndex": 0, "replicas": [1, 4, 3, 2], "addingReplicas": [4], "removingReplicas": [1]},
            ),
        },
    }
