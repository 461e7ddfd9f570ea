"""What all responses have in common: whether one matches a request, and whether there is anything to learn from it."""

from kraft_reference.messages import Error, LedResponse, Response
from kraft_reference.outcome import Refusal
from kraft_reference.state import ReplicaState
from kraft_reference.transitions import names_second_leader


def is_correlated(state: ReplicaState, response: Response) -> bool:
    """Does the answer match an outstanding request?  Entering a role forgets all of them.

    Rules: prevote.response.correlate, prevote.response.ignored-when-candidate, vote.response.late.
    """
    return state.awaiting.get(response.source) == response.correlation_id


def answered(state: ReplicaState, response: Response) -> ReplicaState:
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
