"""Responses: the header that all of them share, errors, and the checks that come before the content."""

from typing import TypeGuard

from kraft_reference.configuration import Configuration
from kraft_reference.events import AddVoter, AlterPartitionReassignments, Draw, RemoveVoter, UpdateFeatures
from kraft_reference.identity import Epoch, ReplicaId
from kraft_reference.messages import (
    AddVoterRequest,
    AddVoterResponse,
    BeginQuorumEpochRequest,
    BeginQuorumEpochResponse,
    EndQuorumEpochRequest,
    EndQuorumEpochResponse,
    Error,
    FetchRequest,
    FetchResponse,
    FetchSnapshotRequest,
    FetchSnapshotResponse,
    QuorumRequest,
    QuorumResponse,
    RemoveVoterRequest,
    RemoveVoterResponse,
    Reply,
    Request,
    Response,
    UpdateVoterRequest,
    UpdateVoterResponse,
    VoteRequest,
    VoteResponse,
)
from kraft_reference.outcome import Outcome, Refusal, with_timers
from kraft_reference.roles import Role
from kraft_reference.state import UNKNOWN_HIGH_WATERMARK, ReplicaState
from kraft_reference.transitions import learn, names_second_leader

ClientRequest = AddVoter | RemoveVoter | UpdateFeatures | AlterPartitionReassignments
"""Requests of an admin client."""

# Responses to the requests of others.


def known_endpoint(state: ReplicaState, configuration: Configuration) -> str | None:
    """Return the leader's endpoint for a message; None if the software is too old to send one.

    Rules: discovery.leader-endpoint-known, begin-quorum.endpoint.
    """
    return state.leader_endpoint if configuration.replicas[state.key.id].sends_leader_endpoint else None


def response_head(
    state: ReplicaState, configuration: Configuration, request: QuorumRequest, error: Error
) -> tuple[ReplicaId, ReplicaId, int, Error, Epoch, ReplicaId | None, str | None]:
    """Return the first fields of a response: envelope, error, and the epoch and leader that the replica knows now.

    Rule: prevote.reply.contents.
    """
    endpoint = known_endpoint(state, configuration)
    return (state.key.id, request.source, request.correlation_id, error, state.epoch, state.leader_id, endpoint)


def respond(
    state: ReplicaState, configuration: Configuration, request: QuorumRequest | ClientRequest, error: Error
) -> Response | Reply:
    """Return the response that carries an error, or NONE, and nothing else."""
    if isinstance(request, ClientRequest):
        return reply_to(state, configuration, request.request, error)
    head = response_head(state, configuration, request, error)
    match request:
        case VoteRequest():
            return VoteResponse(*head, granted=False, pre_vote=handles_as_pre_vote(state, configuration, request))
        case BeginQuorumEpochRequest():
            return BeginQuorumEpochResponse(*head)
        case EndQuorumEpochRequest():
            return EndQuorumEpochResponse(*head)
        case FetchRequest():
            return FetchResponse(*head, UNKNOWN_HIGH_WATERMARK, -1, -1, ())
        case FetchSnapshotRequest():
            return FetchSnapshotResponse(*head, None)
        # Rule: add-voter.leader-only.
        case AddVoterRequest():
            return AddVoterResponse(*head)
        # Rule: remove-voter.leader-only.
        case RemoveVoterRequest():
            return RemoveVoterResponse(*head)
        # Rule: update-voter.leader-only.
        case UpdateVoterRequest():
            return UpdateVoterResponse(*head)


def reply_to(state: ReplicaState, configuration: Configuration, request: int, error: Error) -> Reply:
    """Return the reply to a request of an admin client, by its number, with the leader that the replica knows.

    Rules: add-voter.leader-only, remove-voter.leader-only, reassign.request-leader-only.
    """
    return Reply(request, error, state.epoch, state.leader_id, known_endpoint(state, configuration))


def refuse(
    state: ReplicaState,
    configuration: Configuration,
    request: QuorumRequest | ClientRequest,
    error: Error,
    refusal: Refusal = Refusal.REQUEST_REFUSED,
) -> Outcome:
    """Return the outcome of a request that changes nothing and gets an error."""
    return Outcome(state, (respond(state, configuration, request, error),), refusal=refusal)


def handles_as_pre_vote(state: ReplicaState, configuration: Configuration, request: VoteRequest) -> bool:
    """Return True for a Pre-Vote, unless the replica's software handles it as a standard vote.

    Rule: prevote.response.flag-false.
    """
    return request.pre_vote and configuration.replicas[state.key.id].pre_vote == "supported"


def is_foreign(
    request: Request | AddVoter | RemoveVoter, configuration: Configuration
) -> TypeGuard[QuorumRequest | ClientRequest]:
    """Return True for a request that carries the id of another cluster; a request without an id is not foreign.

    Rules: wire.common-errors, bootstrap.same-cluster-id.
    """
    cluster_id = getattr(request, "cluster_id", None)
    return cluster_id is not None and cluster_id != configuration.cluster_id


def leader_error(
    state: ReplicaState, configuration: Configuration, request: FetchRequest | FetchSnapshotRequest | UpdateVoterRequest
) -> tuple[Error, Refusal] | None:
    """Return the error if the replica is not the leader of exactly the request's epoch, None if it is.

    Rules: fetch.leader-only, fetch.snapshot.accepted, update-voter.check-order.
    """
    if request.epoch < state.epoch:
        return Error.FENCED_LEADER_EPOCH, Refusal.STALE_EPOCH
    if request.epoch > state.epoch:
        return Error.UNKNOWN_LEADER_EPOCH, Refusal.UNKNOWN_EPOCH
    if state.role is not Role.LEADER:
        return Error.NOT_LEADER_OR_FOLLOWER, Refusal.NOT_LEADER
    return None


# Responses of others.


def free_connection(state: ReplicaState, destination: ReplicaId) -> ReplicaState:
    """Return the state in which the connection to `destination` is idle again."""
    return state._replace(awaiting={to: number for to, number in state.awaiting.items() if to != destination})


def after_failed_request(state: ReplicaState, configuration: Configuration, destination: ReplicaId) -> ReplicaState:
    """Return the state after a request to `destination` got no response, or an error.

    A Follower may then ask the bootstrap servers, too (`unanswered_fetch`).  Rule: fetch.who-fetches.
    """
    if state.role is not Role.FOLLOWER or configuration.profile.latitude.unanswered_fetch != "servers-too":
        return state
    return state._replace(searching=state.searching or destination == state.leader_id)


def reason_to_ignore(state: ReplicaState, response: QuorumResponse) -> Refusal | None:
    """Return the reason to ignore a response: wrong cluster, stale epoch, or a second leader of the epoch.

    Rules: wire.common-errors, vote.response.late, begin-quorum.response, fetch.response.common,
    state.follower.larger-epoch-leader.
    """
    if response.error is Error.INCONSISTENT_CLUSTER_ID:
        return Refusal.ERROR_RESPONSE
    if response.epoch < state.epoch:
        return Refusal.STALE_EPOCH
    if names_second_leader(state, response.epoch, response.leader_id):
        return Refusal.SECOND_LEADER_IN_EPOCH
    return None


def learn_first(
    state: ReplicaState, configuration: Configuration, response: QuorumResponse, draw: Draw
) -> Outcome | None:
    """Return the outcome of a response that is ignored, or teaches a new epoch or leader; None if its content counts.

    Rules: prevote.response.epoch-first, state.leader.higher-epoch, state.resigned.higher-epoch.
    """
    if (reason := reason_to_ignore(state, response)) is not None:
        return Outcome(state, refusal=reason)
    learned = learn(state, configuration, response.epoch, response.leader_id, response.leader_endpoint)
    return None if learned is None else with_timers(state, learned, configuration, draw)
