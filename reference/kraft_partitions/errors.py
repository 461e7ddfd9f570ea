"""The errors of the requests about partitions."""

from enum import StrEnum


class Error(StrEnum):
    """Error codes of the answers, by Kafka's names.

    AlterPartitionReassignments and ListPartitionReassignments never answer REQUEST_TIMED_OUT here: the field that
    could bring it about is not looked at.
    Rules: partition-reassign.error-order, partition-reassign.timeout-ignored.
    """

    NONE = "NONE"
    UNKNOWN_TOPIC_OR_PARTITION = "UNKNOWN_TOPIC_OR_PARTITION"
    CLUSTER_AUTHORIZATION_FAILED = "CLUSTER_AUTHORIZATION_FAILED"
    INVALID_REPLICA_ASSIGNMENT = "INVALID_REPLICA_ASSIGNMENT"
    NOT_CONTROLLER = "NOT_CONTROLLER"
    INVALID_REQUEST = "INVALID_REQUEST"
    FENCED_LEADER_EPOCH = "FENCED_LEADER_EPOCH"
    NO_REASSIGNMENT_IN_PROGRESS = "NO_REASSIGNMENT_IN_PROGRESS"
    INVALID_UPDATE_VERSION = "INVALID_UPDATE_VERSION"
    INELIGIBLE_REPLICA = "INELIGIBLE_REPLICA"
    NEW_LEADER_ELECTED = "NEW_LEADER_ELECTED"
    """Of AlterPartition: done, and the sender leads no longer.  Rule: partition-reassign.leader-in-removing."""


ERROR_CODES: dict[Error, int] = {
    Error.NONE: 0,
    Error.UNKNOWN_TOPIC_OR_PARTITION: 3,
    Error.CLUSTER_AUTHORIZATION_FAILED: 31,
    Error.INVALID_REPLICA_ASSIGNMENT: 39,
    Error.NOT_CONTROLLER: 41,
    Error.INVALID_REQUEST: 42,
    Error.FENCED_LEADER_EPOCH: 74,
    Error.NO_REASSIGNMENT_IN_PROGRESS: 85,
    Error.INVALID_UPDATE_VERSION: 95,
    Error.INELIGIBLE_REPLICA: 107,
    Error.NEW_LEADER_ELECTED: 108,
}
"""What they are on the wire."""
