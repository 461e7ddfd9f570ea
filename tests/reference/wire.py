"""Messages for the tests of the reference, in the notation of the rule catalogue.

Correlation id 7 is that of the outstanding requests of `asked`.
"""

from dataclasses import replace
from typing import Any

from tests.reference.builders import endpoint, key, where

from kraft_reference.identity import ReplicaKey
from kraft_reference.log import Snapshot
from kraft_reference.messages import (
    AddVoterRequest,
    ApiVersionsRequest,
    ApiVersionsResponse,
    BeginQuorumEpochRequest,
    Error,
    FetchRequest,
    FetchResponse,
    FetchSnapshotRequest,
    FetchSnapshotResponse,
    RemoveVoterRequest,
    Reply,
    UpdateVoterRequest,
    VoteRequest,
    VoteResponse,
)
from kraft_reference.records import Record

CLUSTER = "kraft-spec"
_NAMED = "named"
"""Placeholder for the endpoint of the named leader, if any."""


def asked(*destinations: int) -> dict[int, int]:
    """Return outstanding requests to these replicas."""
    return dict.fromkeys(destinations, 7)


def vote(source: int, destination: int, epoch: int, last: tuple[int, int] = (0, 0), **more: Any) -> VoteRequest:
    """Return v(source>destination): a standard Vote with the sender's (last epoch, end offset)."""
    request = VoteRequest(
        source,
        destination,
        7,
        epoch,
        key(source),
        key(destination),
        last[0],
        last[1],
        pre_vote=False,
        cluster_id=CLUSTER,
    )
    return replace(request, **more)


def pre_vote(source: int, destination: int, epoch: int, last: tuple[int, int] = (0, 0), **more: Any) -> VoteRequest:
    """Return pv(source>destination): a Pre-Vote."""
    return replace(vote(source, destination, epoch, last), **{"pre_vote": True, **more})


def vote_reply(
    source: int,
    destination: int,
    epoch: int,
    granted: bool,
    *,
    leader: int | None = None,
    leader_endpoint: str | None = _NAMED,
    error: Error = Error.NONE,
    pre_vote: bool = False,
    correlation_id: int = 7,
) -> VoteResponse:
    """Return the response to a Vote, by default with the named leader's endpoint."""
    listens = where(leader) if leader_endpoint == _NAMED else leader_endpoint
    return VoteResponse(source, destination, correlation_id, error, epoch, leader, listens, granted, pre_vote)


def pre_vote_reply(source: int, destination: int, epoch: int, granted: bool, **more: Any) -> VoteResponse:
    """Return the response to a Pre-Vote by software that supports Pre-Votes."""
    return vote_reply(source, destination, epoch, granted, pre_vote=True, **more)


def bqe(source: int, destination: int, epoch: int, **more: Any) -> BeginQuorumEpochRequest:
    """Return bqe(source>destination)."""
    request = BeginQuorumEpochRequest(source, destination, 7, epoch, key(destination), endpoint(source), CLUSTER)
    return replace(request, **more)


def fetch(source: int, destination: int, epoch: int, offset: int, last_epoch: int, **more: Any) -> FetchRequest:
    """Return f(source>destination, offset)."""
    return replace(FetchRequest(source, destination, 7, epoch, key(source), offset, last_epoch, CLUSTER), **more)


def fetch_reply(
    source: int,
    destination: int,
    epoch: int,
    leader: int | None,
    records: tuple[Record, ...] = (),
    *,
    error: Error = Error.NONE,
    high_watermark: int = -1,
    diverging: tuple[int, int] = (-1, -1),
    **more: Any,
) -> FetchResponse:
    """Return the response to a Fetch."""
    answer = FetchResponse(
        source, destination, 7, error, epoch, leader, where(leader), high_watermark, diverging[0], diverging[1], records
    )
    return replace(answer, **more)


# ---------------------------------------------------------------------------------------------------------
# Voter changes and snapshots.
# ---------------------------------------------------------------------------------------------------------


def reply(request: int, epoch: int, leader: int | None, error: Error = Error.NONE) -> Reply:
    """Return the reply to an admin client."""
    return Reply(request, error, epoch, leader, where(leader))


def add_voter(source: int, destination: int, **more: Any) -> AddVoterRequest:
    """Return the request of a controller to add itself."""
    request = AddVoterRequest(source, destination, 7, key(source), endpoint(source), 30_000, False, CLUSTER)
    return replace(request, **more)


def remove_voter(source: int, destination: int, voter: ReplicaKey, **more: Any) -> RemoveVoterRequest:
    """Return the request of a controller to remove its old directory."""
    return replace(RemoveVoterRequest(source, destination, 7, voter, CLUSTER), **more)


def update_voter(source: int, destination: int, epoch: int, **more: Any) -> UpdateVoterRequest:
    """Return a voter's report of its configured endpoint and versions."""
    request = UpdateVoterRequest(source, destination, 7, epoch, key(source), endpoint(source), 0, 1, CLUSTER)
    return replace(request, **more)


def api_versions(source: int, destination: int, **more: Any) -> ApiVersionsRequest:
    """Return a leader's ApiVersions request to a new voter."""
    return replace(ApiVersionsRequest(source, destination, 7), **more)


def api_versions_reply(source: int, destination: int, supported: tuple[int, int] = (0, 1)) -> ApiVersionsResponse:
    """Return the ApiVersions response, with the lowest and the highest kraft.version."""
    return ApiVersionsResponse(source, destination, 7, *supported)


def fetch_snapshot(
    source: int, destination: int, epoch: int, snapshot_id: tuple[int, int], **more: Any
) -> FetchSnapshotRequest:
    """Return a FetchSnapshot of the snapshot with this end offset and epoch."""
    return replace(FetchSnapshotRequest(source, destination, 7, epoch, key(source), *snapshot_id, CLUSTER), **more)


def fetch_snapshot_reply(
    source: int, destination: int, epoch: int, leader: int | None, snapshot: Snapshot | None, **more: Any
) -> FetchSnapshotResponse:
    """Return the FetchSnapshot response."""
    answer = FetchSnapshotResponse(source, destination, 7, Error.NONE, epoch, leader, where(leader), snapshot)
    return replace(answer, **more)
