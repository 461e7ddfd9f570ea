"""The numbers of the error codes."""

from kraft_reference.messages import Error

CODES = {
    Error.NONE: 0,
    Error.NOT_LEADER_OR_FOLLOWER: 6,
    Error.REQUEST_TIMED_OUT: 7,
    Error.UNSUPPORTED_VERSION: 35,
    Error.INVALID_REPLICA_ASSIGNMENT: 39,
    Error.INVALID_REQUEST: 42,
    Error.REASSIGNMENT_IN_PROGRESS: 60,
    Error.FENCED_LEADER_EPOCH: 74,
    Error.UNKNOWN_LEADER_EPOCH: 75,
    Error.NO_REASSIGNMENT_IN_PROGRESS: 85,
    Error.INVALID_UPDATE_VERSION: 95,
    Error.SNAPSHOT_NOT_FOUND: 98,
    Error.INCONSISTENT_CLUSTER_ID: 104,
    Error.INVALID_VOTER_KEY: 125,
    Error.DUPLICATE_VOTER: 126,
    Error.VOTER_NOT_FOUND: 127,
}
"""The numbers of Apache Kafka.  Rule: wire.error-codes."""

UNKNOWN_TOPIC_OR_PARTITION = 3
POSITION_OUT_OF_RANGE = 99
MISMATCHED_ENDPOINT_TYPE = 114
"""Of what the reference has no request for."""
