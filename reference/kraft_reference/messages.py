"""Requests and responses of the quorum, as far as the protocol needs them (wire versions are another layer).

Every message names its sender and receiver by replica id and carries the correlation id of the request it is
or answers.
`leader_id` and `leader_endpoint` of a response are what its sender knows when it answers.
"""

from dataclasses import dataclass
from enum import StrEnum

from kraft_reference.identity import ReplicaKey
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
    """Never sent: the sender's own network layer answers so.  Rule: prevote.unsupported-version."""


@dataclass(frozen=True, slots=True)
class VoteRequest:
    """A Vote, or with `pre_vote` a Pre-Vote.  Rules: vote.request.contents, prevote.request.contents."""

    source: int
    destination: int
    correlation_id: int
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
class VoteResponse:
    """Rule: prevote.reply.contents."""

    source: int
    destination: int
    correlation_id: int
    error: Error
    epoch: int
    leader_id: int | None
    leader_endpoint: str | None
    granted: bool
    pre_vote: bool
    """Whether the receiver handled the request as a Pre-Vote.  Rule: prevote.response.flag-false."""


@dataclass(frozen=True, slots=True)
class BeginQuorumEpochRequest:
    """A leader's announcement; its sender is the leader.  Rules: begin-quorum.on-election, begin-quorum.endpoint."""

    source: int
    destination: int
    correlation_id: int
    epoch: int
    voter_key: ReplicaKey | None
    leader_endpoint: str | None
    """None from software that speaks version 0."""
    cluster_id: str | None = None


@dataclass(frozen=True, slots=True)
class BeginQuorumEpochResponse:
    """Rule: begin-quorum.response."""

    source: int
    destination: int
    correlation_id: int
    error: Error
    epoch: int
    leader_id: int | None
    leader_endpoint: str | None


@dataclass(frozen=True, slots=True)
class EndQuorumEpochRequest:
    """A leader's resignation; its sender was the leader.  Rule: end-quorum.send."""

    source: int
    destination: int
    correlation_id: int
    epoch: int
    preferred_candidates: tuple[ReplicaKey, ...]
    """Voters by falling fetch offset."""
    cluster_id: str | None = None


@dataclass(frozen=True, slots=True)
class EndQuorumEpochResponse:
    """Rule: end-quorum.stale."""

    source: int
    destination: int
    correlation_id: int
    error: Error
    epoch: int
    leader_id: int | None
    leader_endpoint: str | None


@dataclass(frozen=True, slots=True)
class FetchRequest:
    """Rules: fetch.replica-key, fetch.leader-only."""

    source: int
    destination: int
    correlation_id: int
    epoch: int
    replica_key: ReplicaKey
    fetch_offset: int
    """The sender's log end offset; everything before it is synced at the sender."""
    last_epoch: int
    """The epoch of the sender's last record, 0 for an empty log."""
    cluster_id: str | None = None


@dataclass(frozen=True, slots=True)
class FetchResponse:
    """Rules: fetch.response.common, fetch.diverging.truncate, hw.follower."""

    source: int
    destination: int
    correlation_id: int
    error: Error
    epoch: int
    leader_id: int | None
    leader_endpoint: str | None
    high_watermark: int
    """-1 while the leader has not committed a record of its own epoch."""
    diverging_epoch: int
    """-1 unless the fetcher's log diverges."""
    diverging_end_offset: int
    records: tuple[Record, ...]


Request = VoteRequest | BeginQuorumEpochRequest | EndQuorumEpochRequest | FetchRequest
Response = VoteResponse | BeginQuorumEpochResponse | EndQuorumEpochResponse | FetchResponse
Message = Request | Response

REQUESTS = (VoteRequest, BeginQuorumEpochRequest, EndQuorumEpochRequest, FetchRequest)
