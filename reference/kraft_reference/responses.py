"""What the answers of a replica say, and what all answers to it have in common."""

from kraft_reference.configuration import Configuration
from kraft_reference.events import AddVoter, AlterPartitionReassignments, Draw, RemoveVoter, UpdateFeatures
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
    LedResponse,
    RemoveVoterRequest,
    RemoveVoterResponse,
    Reply,
    Response,
    UpdateVoterRequest,
    UpdateVoterResponse,
    VoteRequest,
)
from kraft_reference.outcome import Outcome, Refusal, entered
from kraft_reference.roles import Role
from kraft_reference.state import UNKNOWN_HIGH_WATERMARK, ReplicaState
from kraft_reference.transitions import learn, names_second_leader

# ---------------------------------------------------------------------------------------------------------
# Answers to requests.
# ---------------------------------------------------------------------------------------------------------

ClientRequest = AddVoter | RemoveVoter | UpdateFeatures | AlterPartitionReassignments
"""What an admin client asks."""

PlainRequest = (
    BeginQuorumEpochRequest
    | EndQuorumEpochRequest
    | FetchRequest
    | FetchSnapshotRequest
    | AddVoterRequest
    | RemoveVoterRequest
    | UpdateVoterRequest
    | ClientRequest
)
"""The requests to which an error can be answered without more."""


def known_endpoint(state: ReplicaState, configuration: Configuration) -> str | None:
    """The leader's endpoint for a message, unless the software is too old to send one.

    Rules: discovery.leader-endpoint-known, begin-quorum.endpoint.
    """
    return state.leader_endpoint if configuration.replicas[state.key.id].speaks_endpoints else None


def response_head(
    state: ReplicaState, configuration: Configuration, request: PlainRequest | VoteRequest, error: Error
) -> tuple[int, int, int, Error, int, int | None, str | None]:
    """What the response to a replica begins with: the envelope, the error, and the epoch and leader known now.

    Rules: prevote.reply.contents, add-voter.leader-only, remove-voter.leader-only, update-voter.leader-only.
    """
    assert not isinstance(request, ClientRequest), "a client is answered by a Reply"
    endpoint = known_endpoint(state, configuration)
    return (state.key.id, request.source, request.correlation_id, error, state.epoch, state.leader_id, endpoint)


def respond(state: ReplicaState, configuration: Configuration, request: PlainRequest, error: Error) -> Response | Reply:
    """The response that says an error, and no more than every response does.

    Rules: add-voter.leader-only, remove-voter.leader-only, update-voter.leader-only, reassign.request-leader-only.
    """
    if isinstance(request, ClientRequest):
        return Reply(request.request, error, state.epoch, state.leader_id, known_endpoint(state, configuration))
    head = response_head(state, configuration, request, error)
    match request:
        case BeginQuorumEpochRequest():
            return BeginQuorumEpochResponse(*head)
        case EndQuorumEpochRequest():
            return EndQuorumEpochResponse(*head)
        case FetchRequest():
            return FetchResponse(*head, UNKNOWN_HIGH_WATERMARK, -1, -1, ())
        case FetchSnapshotRequest():
            return FetchSnapshotResponse(*head, None)
        case AddVoterRequest():
            return AddVoterResponse(*head)
        case RemoveVoterRequest():
            return RemoveVoterResponse(*head)
        case UpdateVoterRequest():
            return UpdateVoterResponse(*head)


def refused(
    state: ReplicaState,
    configuration: Configuration,
    request: PlainRequest,
    error: Error,
    refusal: Refusal = Refusal.REQUEST_REFUSED,
) -> Outcome:
    """The outcome of a request that changes nothing and is answered with an error."""
    return Outcome(state, (respond(state, configuration, request, error),), refusal=refusal)


def is_foreign(configuration: Configuration, cluster_id: str | None) -> bool:
    """Is a request from another cluster?  One that names none is not.

    Rules: wire.common-errors, bootstrap.same-cluster-id.
    """
    return cluster_id is not None and cluster_id != configuration.cluster_id


def not_for_leader(
    state: ReplicaState, configuration: Configuration, request: FetchRequest | FetchSnapshotRequest | UpdateVoterRequest
) -> tuple[Error, Refusal] | None:
    """Why the replica is not the Leader of exactly the epoch that the request is for; None if it is.

    Rules: fetch.leader-only, fetch.snapshot.accepted, update-voter.check-order.
    """
    if request.epoch < state.epoch:
        return Error.FENCED_LEADER_EPOCH, Refusal.STALE_EPOCH
    if request.epoch > state.epoch:
        return Error.UNKNOWN_LEADER_EPOCH, Refusal.UNKNOWN_EPOCH
    if state.role is not Role.LEADER:
        return Error.NOT_LEADER_OR_FOLLOWER, Refusal.NOT_LEADER
    return None


# ---------------------------------------------------------------------------------------------------------
# Answers from others.
# ---------------------------------------------------------------------------------------------------------


def is_correlated(state: ReplicaState, response: Response) -> bool:
    """Does the answer match an outstanding request?  Entering a role forgets all of them.

    Rules: prevote.response.correlate, prevote.response.ignored-when-candidate, vote.response.late.
    """
    return state.awaiting.get(response.source) == response.correlation_id


def free_connection(state: ReplicaState, response: Response) -> ReplicaState:
    """The state in which the connection to the answering replica is idle again."""
    if response.source not in state.awaiting:
        return state
    return state._replace(awaiting={to: c for to, c in state.awaiting.items() if to != response.source})


def useless_answer(state: ReplicaState, response: LedResponse) -> Refusal | None:
    """Why an answer teaches nothing: another cluster, an older epoch, a second leader of this one; None if it may.

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
    before: ReplicaState, rest: ReplicaState, configuration: Configuration, response: LedResponse, draw: Draw
) -> Outcome | None:
    """The outcome of an answer that is useless or teaches a new epoch or leader; None if its content counts.

    `rest` is the state in which the connection is idle again.
    Rules: prevote.response.epoch-first, state.leader.higher-epoch, state.resigned.higher-epoch.
    """
    if (useless := useless_answer(before, response)) is not None:
        return Outcome(rest, refusal=useless)
    learned = learn(rest, configuration, response.epoch, response.leader_id, response.leader_endpoint)
    return None if learned is rest else entered(before, learned, configuration, draw)
