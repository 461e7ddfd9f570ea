"""Requests and responses of the quorum, as far as the protocol needs them (wire versions are another layer).

Every message names its sender and receiver by replica id and carries the correlation id of the request it is
or answers.
`leader_id` and `leader_endpoint` of a response are what its sender knows when it answers.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import get_args

from kraft_reference.identity import ReplicaKey
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
    """For a Pre-Vote never sent: the sender's own network layer answers so.  Else kraft.version is too low.

    Rules: prevote.unsupported-version, add-voter.unsupported-version."""
    REQUEST_TIMED_OUT = "REQUEST_TIMED_OUT"
    DUPLICATE_VOTER = "DUPLICATE_VOTER"
    VOTER_NOT_FOUND = "VOTER_NOT_FOUND"
    INVALID_UPDATE_VERSION = "INVALID_UPDATE_VERSION"
    SNAPSHOT_NOT_FOUND = "SNAPSHOT_NOT_FOUND"
    INVALID_REPLICA_ASSIGNMENT = "INVALID_REPLICA_ASSIGNMENT"
    NO_REASSIGNMENT_IN_PROGRESS = "NO_REASSIGNMENT_IN_PROGRESS"
    REASSIGNMENT_IN_PROGRESS = "REASSIGNMENT_IN_PROGRESS"
    """Nobody adds or removes a voter by hand while the Leader works towards a target (docs/decisions.md)."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """What every message begins with."""

    source: int
    destination: int
    correlation_id: int
    """Of the request that this is, or answers."""


@dataclass(frozen=True, slots=True)
class LedResponse(Envelope):
    """A response that says which epoch and leader its sender knows.  Rule: prevote.reply.contents."""

    error: Error
    epoch: int
    leader_id: int | None
    leader_endpoint: str | None


@dataclass(frozen=True, slots=True)
class VoteRequest(Envelope):
    """A Vote, or with `pre_vote` a Pre-Vote.  Rules: vote.request.contents, prevote.request.contents."""

    epoch: int
    """The sender's epoch: not raised for a Pre-Vote, raised for a standard vote."""
    replica_key: ReplicaKey
    voter_key: ReplicaKey | None
    """The addressed voter."""
    last_epoch: int
    end_offset: int
    """Exclusive end offset of the sender's log."""
    pre_vote: bool
    cluster_id: str | None = None


@dataclass(frozen=True, slots=True)
class VoteResponse(LedResponse):
    """An answer to a Vote or Pre-Vote.  Rule: prevote.reply.contents."""

    granted: bool
    pre_vote: bool
    """Whether the receiver handled the request as a Pre-Vote.  Rule: prevote.response.flag-false."""


@dataclass(frozen=True, slots=True)
class BeginQuorumEpochRequest(Envelope):
    """A leader's announcement; its sender is the leader.  Rules: begin-quorum.on-election, begin-quorum.endpoint."""

    epoch: int
    voter_key: ReplicaKey | None
    leader_endpoint: str | None
    """None from software that speaks version 0."""
    cluster_id: str | None = None


@dataclass(frozen=True, slots=True)
class BeginQuorumEpochResponse(LedResponse):
    """An answer to a leader's announcement.  Rule: begin-quorum.response."""


@dataclass(frozen=True, slots=True)
class EndQuorumEpochRequest(Envelope):
    """A leader's resignation; its sender was the leader.  Rule: end-quorum.send."""

    epoch: int
    preferred_candidates: tuple[ReplicaKey, ...]
    """Voters by falling fetch offset."""
    cluster_id: str | None = None


@dataclass(frozen=True, slots=True)
class EndQuorumEpochResponse(LedResponse):
    """An answer to a leader's resignation.  Rule: end-quorum.stale."""


@dataclass(frozen=True, slots=True)
class FetchRequest(Envelope):
    """A Fetch.  Rules: fetch.replica-key, fetch.leader-only."""

    epoch: int
    replica_key: ReplicaKey
    fetch_offset: int
    """The sender's log end offset; everything before it is synced at the sender."""
    last_epoch: int
    """The epoch of the sender's last record, 0 for an empty log."""
    cluster_id: str | None = None


@dataclass(frozen=True, slots=True)
class FetchResponse(LedResponse):
    """An answer to a Fetch.  Rules: fetch.response.common, fetch.diverging.truncate, hw.follower."""

    high_watermark: int
    """-1 while the leader has not committed a record of its own epoch."""
    diverging_epoch: int
    """-1 unless the fetcher's log diverges."""
    diverging_end_offset: int
    records: tuple[Record, ...]
    snapshot_end_offset: int = -1
    """-1 unless the fetcher has to fetch the leader's snapshot first."""
    snapshot_epoch: int = -1

    @property
    def snapshot_id(self) -> tuple[int, int] | None:
        """The id of the snapshot to fetch, None if there is none."""
        return None if self.snapshot_end_offset < 0 else (self.snapshot_end_offset, self.snapshot_epoch)


@dataclass(frozen=True, slots=True)
class FetchSnapshotRequest(Envelope):
    """A FetchSnapshot, which asks for the whole snapshot at once.

    Rules: snapshot.removed-leader-serves, identity.could-become-voter.
    """

    epoch: int
    replica_key: ReplicaKey
    snapshot_end_offset: int
    snapshot_epoch: int
    cluster_id: str | None = None


@dataclass(frozen=True, slots=True)
class FetchSnapshotResponse(LedResponse):
    """A whole snapshot: the bytes come in one piece here.  Rule: snapshot.control-records-first."""

    snapshot: Snapshot | None
    """None with an error."""


@dataclass(frozen=True, slots=True)
class ApiVersionsRequest(Envelope):
    """A leader asks a new voter which levels of kraft.version it supports.  Rule: add-voter.learn-versions."""


@dataclass(frozen=True, slots=True)
class ApiVersionsResponse(Envelope):
    """An answer to an ApiVersions.  Rule: kraft-version.levels."""

    min_version: int
    max_version: int


@dataclass(frozen=True, slots=True)
class AddVoterRequest(Envelope):
    """A joining controller's AddRaftVoter for itself.  Rules: auto-join.add-self, wire.add-voter."""

    voter: ReplicaKey
    endpoint: str | None
    timeout_ms: int
    when_committed: bool
    """AckWhenCommitted (KIP-1186)."""
    cluster_id: str | None = None


@dataclass(frozen=True, slots=True)
class AddVoterResponse(LedResponse):
    """An answer to an AddRaftVoter of a replica.  Rules: add-voter.reply-after-commit, wire.add-voter."""


@dataclass(frozen=True, slots=True)
class RemoveVoterRequest(Envelope):
    """A joining controller's RemoveRaftVoter for its own old directory.  Rule: auto-join.remove-stale-self-first."""

    voter: ReplicaKey
    cluster_id: str | None = None


@dataclass(frozen=True, slots=True)
class RemoveVoterResponse(LedResponse):
    """An answer to a RemoveRaftVoter of a replica.  Rules: remove-voter.reply-after-commit, wire.remove-voter."""


@dataclass(frozen=True, slots=True)
class UpdateVoterRequest(Envelope):
    """A voter reports where it listens and what it supports.  Rules: update-voter.when-sent, wire.update-voter."""

    epoch: int
    voter: ReplicaKey
    endpoint: str | None
    min_version: int
    max_version: int
    cluster_id: str | None = None


@dataclass(frozen=True, slots=True)
class UpdateVoterResponse(LedResponse):
    """An answer to an UpdateRaftVoter.  Rules: update-voter.reply-time, wire.update-voter."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to an admin client; no message of the quorum.

    Rules: add-voter.leader-only, remove-voter.leader-only.
    """

    request: int
    error: Error
    epoch: int
    leader_id: int | None
    leader_endpoint: str | None


Request = (
    VoteRequest
    | BeginQuorumEpochRequest
    | EndQuorumEpochRequest
    | FetchRequest
    | FetchSnapshotRequest
    | ApiVersionsRequest
    | AddVoterRequest
    | RemoveVoterRequest
    | UpdateVoterRequest
)
"""What one replica asks another."""

ChangeResponse = AddVoterResponse | RemoveVoterResponse | UpdateVoterResponse
"""An answer to a voter change that a replica asked for."""

Response = (
    VoteResponse
    | BeginQuorumEpochResponse
    | EndQuorumEpochResponse
    | FetchResponse
    | FetchSnapshotResponse
    | ChangeResponse
    | ApiVersionsResponse
)
"""What one replica answers another."""

Message = Request | Response
"""All that travels between two replicas."""

REQUESTS = get_args(Request)
"""The requests, each of which awaits an answer on its connection."""
