"""A voter change that a Leader works on, a type for what it waits for.  The rules are in `voter_changes`."""

from enum import StrEnum
from typing import NamedTuple

from kraft_reference.identity import ReplicaKey, VoterDetails


class ChangeKind(StrEnum):
    """What is changed.  Rule: metric.pending-changes."""

    ADD = "add"
    REMOVE = "remove"
    UPDATE = "update"
    UPGRADE = "upgrade"


class Requester(NamedTuple):
    """Who waits for the answer to a change."""

    replica_id: int | None
    """None: an admin client."""
    request: int
    """The correlation id of a replica's request, the number of a client's."""
    when_committed: bool = True
    """Is the answer due when the change is committed, not when it is appended?"""


class LearnVersions(NamedTuple):
    """An addition, until the new voter has said which levels it supports.  Rule: add-voter.learn-versions."""

    voter: ReplicaKey
    endpoint: str
    requester: Requester | None


class CatchUp(NamedTuple):
    """An addition, until the new voter has fetched enough.  Rule: add-voter.catch-up-first."""

    voter: ReplicaKey
    details: VoterDetails
    """What the voters set will say of it."""
    log_end_offset: int
    """Where the Leader's log ended when the wait began."""
    requester: Requester | None


class Commit(NamedTuple):
    """A change that is in the log, until the high watermark passes its last record.

    Rules: add-voter.reply-after-commit, remove-voter.reply-after-commit.
    """

    kind: ChangeKind
    voter: ReplicaKey | None
    """None for an upgrade."""
    offset: int
    """Of its last record."""
    requester: Requester | None
    details: VoterDetails | None = None
    """Of a voter that was added."""


PendingChange = LearnVersions | CatchUp | Commit
"""A change between its request and its answer; a Leader has at most one, and only an addition has the first two.

The requester is None for a step of the Leader's own reassignment, whose end nobody awaits.
Rules: voters.one-change-at-a-time, add-voter.conditions-hold-at-append.
"""


def kind_of(change: PendingChange) -> ChangeKind:
    """What is changed."""
    return change.kind if isinstance(change, Commit) else ChangeKind.ADD


class Report(NamedTuple):
    """What a voter has told the Leader of itself at kraft.version 0.  Rule: update-voter.in-memory-at-version-0."""

    key: ReplicaKey
    endpoint: str
    min_version: int
    max_version: int
