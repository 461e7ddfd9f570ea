"""A voter change that a Leader works on, as a value.  The rules are in `voter_changes`."""

from enum import StrEnum
from typing import NamedTuple

from kraft_reference.identity import ReplicaKey


class ChangeKind(StrEnum):
    """What is changed.  Rule: metric.pending-changes."""

    ADD = "add"
    REMOVE = "remove"
    UPDATE = "update"
    UPGRADE = "upgrade"


class ChangePhase(StrEnum):
    """What a pending change waits for, in this order.

    Only an addition has the first two.
    """

    LEARN_VERSIONS = "learn-versions"
    """An answer to ApiVersions.  Rule: add-voter.learn-versions."""
    CATCH_UP = "catch-up"
    """The new voter, to fetch up to the end of the log.  Rule: add-voter.catch-up-first."""
    COMMIT = "commit"
    """The high watermark.  Rules: add-voter.reply-after-commit, remove-voter.reply-after-commit."""


CLIENT = -1
"""Stands where a replica id would for a requester that is no replica: an admin client."""

REASSIGNMENT = -2
"""The same for a change that nobody asked for: a step of the Leader's own reassignment, which nobody awaits."""


class PendingChange(NamedTuple):
    """A change between its request and its answer; a Leader has at most one.

    Rules: voters.one-change-at-a-time, add-voter.conditions-hold-at-append.
    """

    kind: ChangeKind
    phase: ChangePhase
    voter: ReplicaKey | None
    """Who is added, removed or updated; None for an upgrade."""
    endpoint: str | None
    """Of a voter that is added."""
    min_version: int
    """Of the range that a new voter has reported; -1 before it has."""
    max_version: int
    offset: int
    """Of the last record of the change in the log; while a new voter catches up, the log end that it has to reach; -1
    before that."""
    requester: int
    """The replica that asked, `CLIENT` or `REASSIGNMENT`."""
    request: int
    """The correlation id of a replica's request, the number of a client's; 0 of nobody's."""
    when_committed: bool = True
    """Is the answer due when the change is committed, not when it is appended?"""


class Report(NamedTuple):
    """What a voter has told the Leader of itself at kraft.version 0.  Rule: update-voter.in-memory-at-version-0."""

    key: ReplicaKey
    endpoint: str
    min_version: int
    max_version: int
