"""What a replica sends of its own accord: one request on each idle connection.  Beside it: `Poll` in KRaft.tla."""

from kraft_reference.configuration import Configuration
from kraft_reference.elections import can_still_win, vote_request
from kraft_reference.events import Draw
from kraft_reference.identity import ReplicaKey
from kraft_reference.leadership import begin_quorum_epoch_request, end_quorum_epoch_request
from kraft_reference.log import flush
from kraft_reference.messages import Message
from kraft_reference.outcome import Outcome, Refusal
from kraft_reference.replication import fetch_request, fetch_targets
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState, other_voters


def due_election_requests(state: ReplicaState) -> list[ReplicaKey]:
    """The voters that a Vote, BeginQuorumEpoch or EndQuorumEpoch request is due to, by ascending id.

    Rules: prevote.request.recipients, prevote.response.majority, vote.request.contents, state.candidate.lost,
    begin-quorum.on-election, begin-quorum.resend, end-quorum.send, discovery.election-endpoints.
    """
    match state.role:
        case Role.PROSPECTIVE | Role.CANDIDATE if can_still_win(state):
            done = state.granted | state.rejected
        case Role.LEADER:
            done = state.acknowledged | state.fetchers
        case Role.RESIGNED:
            done = state.acknowledged
        case _:
            return []
    own_id = state.key.id
    return [
        voter
        for voter in other_voters(state)
        if voter.id not in done and voter.id not in state.awaiting and voter.id != own_id
    ]


def after_poll(state: ReplicaState, configuration: Configuration, draw: Draw) -> Outcome:
    """All election requests that are due, by ascending id of the receiver."""
    due = due_election_requests(state)
    if not due:
        return Outcome(state, refusal=Refusal.NOTHING_DUE)
    sends: list[Message] = []
    for voter in due:
        if state.role is Role.LEADER:
            sends.append(begin_quorum_epoch_request(state, configuration, voter, draw.correlation_id))
        elif state.role is Role.RESIGNED:
            sends.append(end_quorum_epoch_request(state, configuration, voter, draw.correlation_id))
        else:
            sends.append(vote_request(state, configuration, voter, draw.correlation_id))
    awaiting = {**state.awaiting, **{voter.id: draw.correlation_id for voter in due}}
    return Outcome(state._replace(awaiting=awaiting), tuple(sends))


def due_fetch_targets(state: ReplicaState, configuration: Configuration) -> tuple[int, ...]:
    """To whom a Fetch may go now: one at a time.  Rule: fetch.who-fetches."""
    return () if state.awaiting else fetch_targets(state, configuration)


def after_poll_fetch(state: ReplicaState, configuration: Configuration, destination: int, draw: Draw) -> Outcome:
    """A Fetch; whatever was appended is synced first, because the leader counts the offset as persisted.

    Rules: durable.flush-before-fetch, discovery.bootstrap, fetch.who-fetches.
    """
    if destination not in due_fetch_targets(state, configuration):
        return Outcome(state, refusal=Refusal.NOTHING_DUE)
    synced = state._replace(log=flush(state.log), awaiting={destination: draw.correlation_id})
    return Outcome(synced, (fetch_request(state, configuration, destination, draw.correlation_id),))
