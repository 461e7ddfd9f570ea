"""Types of a voter change that a leader works on, one for each event that it waits for.

The rules are in `voter_changes` and `pending_changes`.
"""

from enum import StrEnum
from typing import NamedTuple

from kraft_reference.identity import Offset, ReplicaId, ReplicaKey, VoterDetails


class ChangeKind(StrEnum):
    """Kind of a voter change.  Rule: metric.pending-changes."""

    ADD = "add"
    REMOVE = "remove"
    UPDATE = "update"
    UPGRADE = "upgrade"


class Requester(NamedTuple):
    """Sender of the request for a change, who waits for the response."""

    replica_id: ReplicaId | None
    """None: an admin client."""
    request: int
    """Correlation id of a replica's request, or number of a client's."""
    when_committed: bool = True
    """Respond when the change is committed, not when it is appended."""


class AwaitingVersions(NamedTuple):
    """An addition that waits for the new voter's supported versions.  Rule: add-voter.learn-versions."""

    voter: ReplicaKey
    endpoint: str
    requester: Requester | None


class AwaitingCatchUp(NamedTuple):
    """An addition that waits for the new voter to fetch.  Rule: add-voter.catch-up-first."""

    voter: ReplicaKey
    details: VoterDetails
    """The new voter's entry in the voter set."""
    log_end_offset: Offset
    """End of the leader's log when the wait began."""
    requester: Requester | None


class AwaitingCommit(NamedTuple):
    """A change in the log that waits for the high watermark to pass its last record.

    Rules: add-voter.reply-after-commit, remove-voter.reply-after-commit.
    """

    kind: ChangeKind
    voter: ReplicaKey | None
    """None for an upgrade."""
    offset: Offset
    """Offset of the last record."""
    requester: Requester | None
    details: VoterDetails | None = None
    """Details of an added voter."""


PendingChange = AwaitingVersions | AwaitingCatchUp | AwaitingCommit
"""A change between its request and its response.

A leader has at most one.  The requester is None for a step of the leader's own reassignment: no one awaits its end.
Rules: voters.one-change-at-a-time, add-voter.conditions-hold-at-append.
"""


def change_kind(change: PendingChange) -> ChangeKind:
    """Return the kind of a pending change."""
    return change.kind if isinstance(change, AwaitingCommit) else ChangeKind.ADD


class Report(NamedTuple):
    """UpdateVoter of a voter, as noted by a leader at kraft.version 0.  Rule: update-voter.in-memory-at-version-0."""

    key: ReplicaKey
    endpoint: str
    min_version: int
    max_version: int
