"""Requests and responses of the quorum, with the fields that the protocol needs; the wire format is `kraft_kafka.wire`.

`leader_id` and `leader_endpoint` of a response are the leader that its sender knows.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import get_args

from kraft_reference.identity import Epoch, Offset, ReplicaId, ReplicaKey
from kraft_reference.log import Snapshot
from kraft_reference.records import Record


class Error(StrEnum):
    """Error codes of the responses."""

    NONE = "NONE"
    FENCED_LEADER_EPOCH = "FENCED_LEADER_EPOCH"
    UNKNOWN_LEADER_EPOCH = "UNKNOWN_LEADER_EPOCH"
    NOT_LEADER_OR_FOLLOWER = "NOT_LEADER_OR_FOLLOWER"
    INVALID_REQUEST = "INVALID_REQUEST"
    INVALID_VOTER_KEY = "INVALID_VOTER_KEY"
    INCONSISTENT_CLUSTER_ID = "INCONSISTENT_CLUSTER_ID"
    UNSUPPORTED_VERSION = "UNSUPPORTED_VERSION"
    """kraft.version is too low for the request, or the receiver's software has no Pre-Vote (an error that the sender's
    own network layer makes).

    Rules: prevote.unsupported-version, add-voter.unsupported-version."""
    REQUEST_TIMED_OUT = "REQUEST_TIMED_OUT"
    DUPLICATE_VOTER = "DUPLICATE_VOTER"
    VOTER_NOT_FOUND = "VOTER_NOT_FOUND"
    INVALID_UPDATE_VERSION = "INVALID_UPDATE_VERSION"
    SNAPSHOT_NOT_FOUND = "SNAPSHOT_NOT_FOUND"
    INVALID_REPLICA_ASSIGNMENT = "INVALID_REPLICA_ASSIGNMENT"
    NO_REASSIGNMENT_IN_PROGRESS = "NO_REASSIGNMENT_IN_PROGRESS"
    REASSIGNMENT_IN_PROGRESS = "REASSIGNMENT_IN_PROGRESS"
    """AddVoter or RemoveVoter during a reassignment (docs/decisions.md)."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """First fields of every message."""

    source: ReplicaId
    destination: ReplicaId
    correlation_id: int
    """Correlation id of the request, which its response repeats."""


@dataclass(frozen=True, slots=True)
class QuorumResponse(Envelope):
    """Response with the epoch and leader that its sender knows.  Rule: prevote.reply.contents."""

    error: Error
    epoch: Epoch
    leader_id: ReplicaId | None
    leader_endpoint: str | None


@dataclass(frozen=True, slots=True)
class VoteRequest(Envelope):
    """Vote, or with `pre_vote` a Pre-Vote.  Rules: vote.request.contents, prevote.request.contents."""

    epoch: Epoch
    """Epoch of the sender: not raised for a Pre-Vote, raised for a standard vote."""
    replica_key: ReplicaKey
    voter_key: ReplicaKey | None
    """Addressed voter."""
    last_epoch: Epoch
    end_offset: Offset
    """End of the sender's log."""
    pre_vote: bool
    cluster_id: str | None = None


@dataclass(frozen=True, slots=True)
class VoteResponse(QuorumResponse):
    """Response to a Vote or Pre-Vote.  Rule: prevote.reply.contents."""

    granted: bool
    pre_vote: bool
    """True if the receiver handled the request as a Pre-Vote.  Rule: prevote.response.flag-false."""


@dataclass(frozen=True, slots=True)
class BeginQuorumEpochRequest(Envelope):
    """Announcement of a leader, its sender.  Rules: begin-quorum.on-election, begin-quorum.endpoint."""

    epoch: Epoch
    voter_key: ReplicaKey | None
    leader_endpoint: str | None
    """None from software that speaks version 0."""
    cluster_id: str | None = None


@dataclass(frozen=True, slots=True)
class BeginQuorumEpochResponse(QuorumResponse):
    """Response to an announcement.  Rule: begin-quorum.response."""


@dataclass(frozen=True, slots=True)
class EndQuorumEpochRequest(Envelope):
    """Resignation of a leader, its sender.  Rule: end-quorum.send."""

    epoch: Epoch
    preferred_candidates: tuple[ReplicaKey, ...]
    """Voters by descending fetch offset."""
    cluster_id: str | None = None


@dataclass(frozen=True, slots=True)
class EndQuorumEpochResponse(QuorumResponse):
    """Response to a resignation.  Rule: end-quorum.stale."""


@dataclass(frozen=True, slots=True)
class FetchRequest(Envelope):
    """Fetch.  Rules: fetch.replica-key, fetch.leader-only."""

    epoch: Epoch
    replica_key: ReplicaKey
    fetch_offset: Offset
    """End of the sender's log; all records before it are synced."""
    last_epoch: Epoch
    """Epoch of the sender's last record, 0 for an empty log."""
    cluster_id: str | None = None


@dataclass(frozen=True, slots=True)
class FetchResponse(QuorumResponse):
    """Response to a Fetch.  Rules: fetch.response.common, fetch.diverging.truncate, hw.follower."""

    high_watermark: Offset
    """-1 while the leader has not committed a record of its own epoch."""
    diverging_epoch: Epoch
    """-1 unless the fetcher's log diverges."""
    diverging_end_offset: Offset
    records: tuple[Record, ...]
    snapshot_end_offset: Offset = -1
    """-1 unless the fetcher has to fetch the leader's snapshot first."""
    snapshot_epoch: Epoch = -1

    @property
    def snapshot_id(self) -> tuple[Offset, Epoch] | None:
        """Id of the snapshot to fetch, None if there is none."""
        return None if self.snapshot_end_offset < 0 else (self.snapshot_end_offset, self.snapshot_epoch)


@dataclass(frozen=True, slots=True)
class FetchSnapshotRequest(Envelope):
    """FetchSnapshot of a whole snapshot.

    Rules: snapshot.removed-leader-serves, identity.could-become-voter.
    """

    epoch: Epoch
    replica_key: ReplicaKey
    snapshot_end_offset: Offset
    snapshot_epoch: Epoch
    cluster_id: str | None = None


@dataclass(frozen=True, slots=True)
class FetchSnapshotResponse(QuorumResponse):
    """Response to a FetchSnapshot, with the whole snapshot.  Rule: snapshot.control-records-first."""

    snapshot: Snapshot | None
    """None with an error."""


@dataclass(frozen=True, slots=True)
class ApiVersionsRequest(Envelope):
    """Question of a leader to a new voter for its supported levels.  Rule: add-voter.learn-versions."""


@dataclass(frozen=True, slots=True)
class ApiVersionsResponse(Envelope):
    """Response to an ApiVersions.  Rule: kraft-version.levels."""

    min_version: int
    max_version: int


@dataclass(frozen=True, slots=True)
class AddVoterRequest(Envelope):
    """AddRaftVoter of a joining controller for itself.  Rules: auto-join.add-self, wire.add-voter."""

    voter: ReplicaKey
    endpoint: str | None
    timeout_ms: int
    when_committed: bool
    """AckWhenCommitted (KIP-1186)."""
    cluster_id: str | None = None


@dataclass(frozen=True, slots=True)
class AddVoterResponse(QuorumResponse):
    """Response to an AddRaftVoter of a replica.  Rules: add-voter.reply-after-commit, wire.add-voter."""


@dataclass(frozen=True, slots=True)
class RemoveVoterRequest(Envelope):
    """RemoveRaftVoter of a joining controller for its own old directory.  Rule: auto-join.remove-stale-self-first."""

    voter: ReplicaKey
    cluster_id: str | None = None


@dataclass(frozen=True, slots=True)
class RemoveVoterResponse(QuorumResponse):
    """Response to a RemoveRaftVoter of a replica.  Rules: remove-voter.reply-after-commit, wire.remove-voter."""


@dataclass(frozen=True, slots=True)
class UpdateVoterRequest(Envelope):
    """Report of a voter: endpoint and supported levels.  Rules: update-voter.when-sent, wire.update-voter."""

    epoch: Epoch
    voter: ReplicaKey
    endpoint: str | None
    min_version: int
    max_version: int
    cluster_id: str | None = None


@dataclass(frozen=True, slots=True)
class UpdateVoterResponse(QuorumResponse):
    """Response to an UpdateRaftVoter.  Rules: update-voter.reply-time, wire.update-voter."""


@dataclass(frozen=True, slots=True)
class Reply:
    """Reply to an admin client, which is no message of the quorum.

    Rules: add-voter.leader-only, remove-voter.leader-only.
    """

    request: int
    error: Error
    epoch: Epoch
    leader_id: ReplicaId | None
    leader_endpoint: str | None


QuorumRequest = (
    VoteRequest
    | BeginQuorumEpochRequest
    | EndQuorumEpochRequest
    | FetchRequest
    | FetchSnapshotRequest
    | AddVoterRequest
    | RemoveVoterRequest
    | UpdateVoterRequest
)
"""Request of one replica to another whose response names epoch and leader."""

Request = QuorumRequest | ApiVersionsRequest
"""Request of one replica to another."""

ChangeResponse = AddVoterResponse | RemoveVoterResponse | UpdateVoterResponse
"""Response to a voter change that a replica requested."""

Response = (
    VoteResponse
    | BeginQuorumEpochResponse
    | EndQuorumEpochResponse
    | FetchResponse
    | FetchSnapshotResponse
    | ChangeResponse
    | ApiVersionsResponse
)
"""Response of one replica to another."""

Message = Request | Response
"""Message between two replicas."""

REQUESTS = get_args(Request)
"""Types of requests."""
