"""The error codes of the admin requests: their numbers, and what they mean for whoever asked."""

from kraft_reference.changes import ChangeKind
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

_MEANINGS: dict[tuple[Error, ChangeKind | None], str] = {
    (Error.NOT_LEADER_OR_FOLLOWER, None): "the controller asked does not lead",
    (Error.REQUEST_TIMED_OUT, None): (
        "another change is in progress, the leader has not committed anything of its epoch yet, or time ran out"
    ),
    (Error.REQUEST_TIMED_OUT, ChangeKind.ADD): (
        "another change is in progress, the leader has not committed anything of its epoch yet, "
        "or the new voter did not answer and catch up in time"
    ),
    (Error.UNSUPPORTED_VERSION, None): "the quorum is at kraft.version 0, expected 1: upgrade it first",
    (Error.INVALID_REQUEST, None): "the request is malformed: a voter has an id of at least 0 and a directory id",
    (Error.INVALID_REQUEST, ChangeKind.ADD): "the request is malformed, or the new voter does not support this level",
    (Error.INCONSISTENT_CLUSTER_ID, None): "the request names another cluster",
    (Error.INVALID_REPLICA_ASSIGNMENT, None): "the voters are not a list of controllers that there are, each once",
    (Error.REASSIGNMENT_IN_PROGRESS, None): (
        "the quorum is being reassigned, and meanwhile nobody adds or removes voters by hand; "
        "`kraft-spec admin reassign list` shows it, `reassign cancel` ends it"
    ),
    (Error.NO_REASSIGNMENT_IN_PROGRESS, None): "nothing is being reassigned, so that there is nothing to cancel",
    (Error.DUPLICATE_VOTER, None): "a voter with this id is in the set already; a lost disk's entry is removed first",
    (Error.VOTER_NOT_FOUND, None): "no voter has both this id and this directory id, or it is the last one",
    (Error.INVALID_UPDATE_VERSION, None): (
        "the level cannot be reached: it is lower than the finalized one, or a voter or broker does not support it"
    ),
}


def meaning_of(error: Error, kind: ChangeKind | None = None) -> str | None:
    """What an error means for whoever asked for such a change; None if there is nothing to say."""
    return _MEANINGS.get((error, kind)) or _MEANINGS.get((error, None))


def described(error: Error, kind: ChangeKind) -> str:
    """`NAME (number): what it means`; just `NONE (0)` without an error."""
    meaning = meaning_of(error, kind)
    named = f"{error} ({CODES[error]})"
    return named if meaning is None else f"{named}: {meaning}"
