"""The types of messages in a trace: the fields of `kraft_reference.messages` with an id, each of which may be absent.

`UNSET` stands for a field that was not observed and `None` for an explicit null.
"""

from typing import get_args

from msgspec import UNSET, Struct, UnsetType

from kraft_reference.messages import Error
from kraft_traces.values import (
    AskedKey,
    CorrelationId,
    DurationMs,
    Epoch,
    Level,
    MessageId,
    Offset,
    ReplicaId,
    TracedKey,
    TracedRecord,
    TracedSnapshot,
)


class _Traced(Struct, frozen=True, forbid_unknown_fields=True, gc=False, tag_field="type"):
    id: MessageId | UnsetType = UNSET
    source: ReplicaId | UnsetType = UNSET
    destination: ReplicaId | UnsetType = UNSET
    correlation_id: CorrelationId | UnsetType = UNSET


class TracedVoteRequest(_Traced, frozen=True, gc=False, tag="VoteRequest"):
    """A Vote or Pre-Vote."""

    epoch: Epoch | UnsetType = UNSET
    replica_key: TracedKey | UnsetType = UNSET
    voter_key: TracedKey | UnsetType | None = UNSET
    last_epoch: Epoch | UnsetType = UNSET
    end_offset: Offset | UnsetType = UNSET
    pre_vote: bool | UnsetType = UNSET
    cluster_id: str | UnsetType | None = UNSET


class _TracedResponse(_Traced, frozen=True, gc=False):
    error: Error | UnsetType = UNSET
    epoch: Epoch | UnsetType = UNSET
    leader_id: ReplicaId | UnsetType | None = UNSET
    leader_endpoint: str | UnsetType | None = UNSET


class TracedVoteResponse(_TracedResponse, frozen=True, gc=False, tag="VoteResponse"):
    """An answer to a Vote or Pre-Vote."""

    granted: bool | UnsetType = UNSET
    pre_vote: bool | UnsetType = UNSET


class TracedBeginQuorumEpochRequest(_Traced, frozen=True, gc=False, tag="BeginQuorumEpochRequest"):
    """A leader's announcement."""

    epoch: Epoch | UnsetType = UNSET
    voter_key: TracedKey | UnsetType | None = UNSET
    leader_endpoint: str | UnsetType | None = UNSET
    cluster_id: str | UnsetType | None = UNSET


class TracedBeginQuorumEpochResponse(_TracedResponse, frozen=True, gc=False, tag="BeginQuorumEpochResponse"):
    """An answer to a leader's announcement."""


class TracedEndQuorumEpochRequest(_Traced, frozen=True, gc=False, tag="EndQuorumEpochRequest"):
    """A leader's resignation."""

    epoch: Epoch | UnsetType = UNSET
    preferred_candidates: tuple[TracedKey, ...] | UnsetType = UNSET
    cluster_id: str | UnsetType | None = UNSET


class TracedEndQuorumEpochResponse(_TracedResponse, frozen=True, gc=False, tag="EndQuorumEpochResponse"):
    """An answer to a leader's resignation."""


class TracedFetchRequest(_Traced, frozen=True, gc=False, tag="FetchRequest"):
    """A Fetch."""

    epoch: Epoch | UnsetType = UNSET
    replica_key: TracedKey | UnsetType = UNSET
    fetch_offset: Offset | UnsetType = UNSET
    last_epoch: Epoch | UnsetType = UNSET
    cluster_id: str | UnsetType | None = UNSET


class TracedFetchResponse(_TracedResponse, frozen=True, gc=False, tag="FetchResponse"):
    """An answer to a Fetch."""

    high_watermark: Offset | UnsetType = UNSET
    diverging_epoch: Epoch | UnsetType = UNSET
    diverging_end_offset: Offset | UnsetType = UNSET
    records: tuple[TracedRecord, ...] | UnsetType = UNSET
    snapshot_end_offset: Offset | UnsetType = UNSET
    """-1 unless the fetcher has to fetch a snapshot first."""
    snapshot_epoch: Epoch | UnsetType = UNSET


class TracedFetchSnapshotRequest(_Traced, frozen=True, gc=False, tag="FetchSnapshotRequest"):
    """A FetchSnapshot, which asks for the whole snapshot at once."""

    epoch: Epoch | UnsetType = UNSET
    replica_key: TracedKey | UnsetType = UNSET
    snapshot_end_offset: Offset | UnsetType = UNSET
    snapshot_epoch: Epoch | UnsetType = UNSET
    cluster_id: str | UnsetType | None = UNSET


class TracedFetchSnapshotResponse(_TracedResponse, frozen=True, gc=False, tag="FetchSnapshotResponse"):
    """An answer to a FetchSnapshot."""

    snapshot: TracedSnapshot | UnsetType | None = UNSET


class TracedApiVersionsRequest(_Traced, frozen=True, gc=False, tag="ApiVersionsRequest"):
    """A leader asks a new voter for the levels of kraft.version that it supports."""


class TracedApiVersionsResponse(_Traced, frozen=True, gc=False, tag="ApiVersionsResponse"):
    """An answer to an ApiVersions."""

    min_version: Level | UnsetType = UNSET
    max_version: Level | UnsetType = UNSET


class TracedAddVoterRequest(_Traced, frozen=True, gc=False, tag="AddVoterRequest"):
    """A joining controller's AddRaftVoter for itself."""

    voter: AskedKey | UnsetType = UNSET
    endpoint: str | UnsetType | None = UNSET
    timeout_ms: DurationMs | UnsetType = UNSET
    when_committed: bool | UnsetType = UNSET
    cluster_id: str | UnsetType | None = UNSET


class TracedAddVoterResponse(_TracedResponse, frozen=True, gc=False, tag="AddVoterResponse"):
    """An answer to an AddRaftVoter of a replica."""


class TracedRemoveVoterRequest(_Traced, frozen=True, gc=False, tag="RemoveVoterRequest"):
    """A joining controller's RemoveRaftVoter for its own old directory."""

    voter: AskedKey | UnsetType = UNSET
    cluster_id: str | UnsetType | None = UNSET


class TracedRemoveVoterResponse(_TracedResponse, frozen=True, gc=False, tag="RemoveVoterResponse"):
    """An answer to a RemoveRaftVoter of a replica."""


class TracedUpdateVoterRequest(_Traced, frozen=True, gc=False, tag="UpdateVoterRequest"):
    """A voter reports where it listens and what it supports."""

    epoch: Epoch | UnsetType = UNSET
    voter: AskedKey | UnsetType = UNSET
    endpoint: str | UnsetType | None = UNSET
    min_version: Level | UnsetType = UNSET
    max_version: Level | UnsetType = UNSET
    cluster_id: str | UnsetType | None = UNSET


class TracedUpdateVoterResponse(_TracedResponse, frozen=True, gc=False, tag="UpdateVoterResponse"):
    """An answer to an UpdateRaftVoter."""


TracedMessage = (
    TracedVoteRequest
    | TracedVoteResponse
    | TracedBeginQuorumEpochRequest
    | TracedBeginQuorumEpochResponse
    | TracedEndQuorumEpochRequest
    | TracedEndQuorumEpochResponse
    | TracedFetchRequest
    | TracedFetchResponse
    | TracedFetchSnapshotRequest
    | TracedFetchSnapshotResponse
    | TracedApiVersionsRequest
    | TracedApiVersionsResponse
    | TracedAddVoterRequest
    | TracedAddVoterResponse
    | TracedRemoveVoterRequest
    | TracedRemoveVoterResponse
    | TracedUpdateVoterRequest
    | TracedUpdateVoterResponse
)
"""A message as a line shows it."""

TRACED_MESSAGES: dict[str, type[TracedMessage]] = {
    traced.__struct_config__.tag: traced for traced in get_args(TracedMessage)
}
"""By the name of the message, which is its `type` in a trace."""

CHANGE_ANSWERS: tuple[type[TracedMessage], ...] = (
    TracedAddVoterResponse,
    TracedRemoveVoterResponse,
    TracedUpdateVoterResponse,
)
"""The answers to voter changes: a step may send one beside another message to the same receiver."""
