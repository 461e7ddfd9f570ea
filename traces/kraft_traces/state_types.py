"""Types of a replica's state in a line.

A field with the default `UNSET` may be absent, which means that it was not observed; `None` is an explicit null.
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
    """Phase of a pending change: the event that it waits for, in this order.

    Only an addition has the first two phases.
    """

    LEARN_VERSIONS = "learn-versions"
    """Response to ApiVersions.  Rule: add-voter.learn-versions."""
    CATCH_UP = "catch-up"
    """Fetch of the new voter up to the end of the log.  Rule: add-voter.catch-up-first."""
    COMMIT = "commit"
    """Commit of its record.  Rules: add-voter.reply-after-commit, remove-voter.reply-after-commit."""


class TracedVoters(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """Voter set and the offset of its VotersRecord, -1 for static voters and the bootstrap checkpoint."""

    offset: Offset | UnsetType = UNSET
    voters: tuple[TracedKey, ...] | UnsetType = UNSET
    target: TracedTarget | UnsetType = UNSET
    """Target of the reassignment in progress, null for none."""


class TracedChange(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """Pending voter change of a leader."""

    kind: ChangeKind
    phase: ChangePhase
    voter: TracedKey | None
    endpoint: str | None
    min_version: Level
    """-1 while it is unknown."""
    max_version: Level
    offset: Offset
    """-1 before its record is appended."""
    requester: ReplicaId | Literal["reassignment"] | None
    """Replica that sent the request; null for a client; "reassignment" for a step of the leader's own reassignment."""
    request: CorrelationId
    """Correlation id of a replica's request, or number of a client's."""
    when_committed: bool


class TracedReport(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """Report of a voter to the leader about itself at kraft.version 0."""

    key: TracedKey
    endpoint: str
    min_version: Level
    max_version: Level


class TracedSnapshotId(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """Identity of a snapshot."""

    end_offset: Count
    epoch: Epoch


class TracedState(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """State of the replica after the event, as far as it was observed."""

    replica_key: TracedKey | UnsetType = UNSET
    """Own key, with the directory id of the present disk."""
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
    """Newest kraft.version in its log."""
    granted: tuple[ReplicaId, ...] | UnsetType = UNSET
    rejected: tuple[ReplicaId, ...] | UnsetType = UNSET
    fetched: bool | UnsetType = UNSET
    searching: bool | UnsetType = UNSET
    awaiting: tuple[tuple[ReplicaId, CorrelationId], ...] | UnsetType = UNSET
    """Outstanding requests: receiver and correlation id."""
    acknowledged: tuple[ReplicaId, ...] | UnsetType = UNSET
    """Leader, Resigned: voters that acknowledged the announcement, or get no other one before a timer fires.

    Follower: its leader, if that has accepted its UpdateVoter."""
    fetchers: tuple[ReplicaId, ...] | UnsetType = UNSET
    """Leader: voters that fetched in this check-quorum period."""
    fetch_offsets: tuple[tuple[TracedKey, Offset], ...] | UnsetType = UNSET
    """Leader: fetch offset of each voter entry or observer."""
    log_start_offset: Offset | UnsetType = UNSET
    """Start offset of the log, which is the end offset of its snapshot."""
    pending_change: TracedChange | UnsetType | None = UNSET
    """Leader: pending voter change."""
    reports: tuple[TracedReport, ...] | UnsetType = UNSET
    """Leader at kraft.version 0: reports of voters about themselves."""
    awaited_targets: tuple[tuple[RequestNumber, Offset], ...] | UnsetType = UNSET
    """Leader: AlterPartitionReassignments that wait for the commit of their target, with the offset of its record."""
    wanted_snapshot: TracedSnapshotId | UnsetType | None = UNSET
    """Follower: snapshot that it has to fetch."""
    quorum_state_version: KraftVersion | UnsetType = UNSET
    """Version of the quorum state file."""
    moved_to: str | UnsetType | None = UNSET
    """Endpoint on which it listens, if not that of the header."""
