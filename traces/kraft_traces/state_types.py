"""The state of a replica in a line, as far as it was observed.

A field with the default `UNSET` may be absent, which says that it was not observed; `None` is an explicit null.
"""

from enum import StrEnum
from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from kraft_reference.changes import ChangeKind
from kraft_reference.roles import Role
from kraft_traces.values import (
    CorrelationId,
    Count,
    Epoch,
    KraftVersion,
    Level,
    Offset,
    ReplicaId,
    RequestNumber,
    TracedKey,
    TracedTarget,
)


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


class TracedVoters(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """A voters set and the offset of its VotersRecord, -1 for static voters and the bootstrap checkpoint."""

    offset: Offset | UnsetType = UNSET
    voters: tuple[TracedKey, ...] | UnsetType = UNSET
    target: TracedTarget | UnsetType = UNSET
    """Of the reassignment that is under way, null for none."""


class TracedChange(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """A voter change that a leader works on."""

    kind: ChangeKind
    phase: ChangePhase
    voter: TracedKey | None
    endpoint: str | None
    min_version: Level
    """-1 while it is not known."""
    max_version: Level
    offset: Offset
    """-1 before its record is appended."""
    requester: ReplicaId | Literal["reassignment"] | None
    """The replica that asked; null for a client; nobody for a step of the leader's own reassignment."""
    request: CorrelationId
    """The correlation id of a replica's request, the number of a client's."""
    when_committed: bool


class TracedReport(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """What a voter has told the leader of itself at kraft.version 0."""

    key: TracedKey
    endpoint: str
    min_version: Level
    max_version: Level


class TracedSnapshotId(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """Which snapshot."""

    end_offset: Count
    epoch: Epoch


class TracedState(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """The replica after the event, as far as it was observed."""

    replica_key: TracedKey | UnsetType = UNSET
    """Its own: the directory id is that of the disk it has."""
    role: Role | UnsetType = UNSET
    epoch: Epoch | UnsetType = UNSET
    leader_id: ReplicaId | UnsetType | None = UNSET
    leader_endpoint: str | UnsetType | None = UNSET
    voted_key: TracedKey | UnsetType | None = UNSET
    log_end_offset: Offset | UnsetType = UNSET
    last_epoch: Epoch | UnsetType = UNSET
    flushed_offset: Offset | UnsetType = UNSET
    high_watermark: Offset | UnsetType = UNSET
    voters: TracedVoters | UnsetType = UNSET
    kraft_version: KraftVersion | UnsetType = UNSET
    """The newest level in its log."""
    granted: tuple[ReplicaId, ...] | UnsetType = UNSET
    rejected: tuple[ReplicaId, ...] | UnsetType = UNSET
    fetched: bool | UnsetType = UNSET
    searching: bool | UnsetType = UNSET
    awaiting: tuple[tuple[ReplicaId, CorrelationId], ...] | UnsetType = UNSET
    """Outstanding requests: receiver and correlation id."""
    acknowledged: tuple[ReplicaId, ...] | UnsetType = UNSET
    """Leader, Resigned: voters that answered the announcement, or that are not told again before a timer fires."""
    fetchers: tuple[ReplicaId, ...] | UnsetType = UNSET
    """Leader: voters that fetched in this check-quorum period."""
    fetch_offsets: tuple[tuple[TracedKey, Offset], ...] | UnsetType = UNSET
    """Leader: fetch offset of each voter entry or observer."""
    log_start_offset: Offset | UnsetType = UNSET
    """Where the snapshot ends that the log stands on."""
    pending_change: TracedChange | UnsetType | None = UNSET
    """Leader: the voter change that it works on."""
    reports: tuple[TracedReport, ...] | UnsetType = UNSET
    """Leader at kraft.version 0: what voters told of themselves."""
    awaited_targets: tuple[tuple[RequestNumber, Offset], ...] | UnsetType = UNSET
    """Leader: AlterPartitionReassignments that wait for the commit of their target, and the offset of its record."""
    wanted_snapshot: TracedSnapshotId | UnsetType | None = UNSET
    """Follower: the snapshot that it has to fetch."""
    quorum_state_version: KraftVersion | UnsetType = UNSET
    """Of the quorum state file."""
    moved_to: str | UnsetType | None = UNSET
    """Where it listens, if not where the header says."""
