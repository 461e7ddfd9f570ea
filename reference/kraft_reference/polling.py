"""What a replica sends of its own accord: one request on each idle connection.  Beside it: `Poll` in KRaft.tla."""

from kraft_reference.configuration import Configuration
from kraft_reference.elections import can_still_win, vote_request
from kraft_reference.events import Draw
from kraft_reference.identity import ReplicaKey
from kraft_reference.leadership import begin_quorum_epoch_request, end_quorum_epoch_request
from kraft_reference.log import flush
from kraft_reference.messages import (
    AddVoterRequest,
    ApiVersionsRequest,
    Message,
    RemoveVoterRequest,
    UpdateVoterRequest,
)
from kraft_reference.outcome import Outcome, Refusal
from kraft_reference.pending_changes import api_versions_request, awaits_versions_of
from kraft_reference.replication import fetch_request, fetch_targets
from kraft_reference.roles import Role
from kraft_reference.self_reports import join_request, report_request
from kraft_reference.snapshots import fetch_snapshot_request
from kraft_reference.state import ReplicaState, other_voters


def due_election_requests(state: ReplicaState, configuration: Configuration) -> list[ReplicaKey]:
    """The voters that a Vote, BeginQuorumEpoch or EndQuorumEpoch request is due to, by ascending id.

    Rules: prevote.request.recipients, prevote.response.majority, vote.request.contents, state.candidate.lost,
    begin-quorum.on-election, begin-quorum.resend, end-quorum.send,
    voters.no-begin-epoch-to-observers, state.voters-set.own-majority.
    """
    match state.role:
        case Role.PROSPECTIVE | Role.CANDIDATE if can_still_win(state):
            done = state.granted | state.rejected
        case Role.LEADER:
            announced_to = configuration.profile.announced_to
            done = frozenset() if announced_to == "all-again" else state.acknowledged
            if announced_to == "not-fetching":
                done |= state.fetchers
        case Role.RESIGNED:
            done = state.acknowledged
        case _:
            return []
    # A replica of another directory may stand under the own id in the set; there is no asking it from here.
    own_id = state.key.id
    return [
        voter
        for voter in other_voters(state)
        if voter.id not in done and voter.id not in state.awaiting and voter.id != own_id
    ]


def due_change_request(
    state: ReplicaState, configuration: Configuration, correlation_id: int
) -> AddVoterRequest | RemoveVoterRequest | UpdateVoterRequest | ApiVersionsRequest | None:
    """The request about voters that a replica has to send now, if any.

    A Leader asks a new voter for its versions.
    A Follower that has fetched, and so knows the set, joins it or tells its leader of itself, in place of a Fetch.
    Rules: add-voter.learn-versions, auto-join.remove-stale-self-first, auto-join.add-self, update-voter.when-sent.
    """
    if state.role is Role.LEADER:
        new_voter = awaits_versions_of(state, configuration)
        waits = new_voter is None or new_voter in state.awaiting or new_voter == state.key.id
        return None if waits else api_versions_request(state, correlation_id)
    if state.role is not Role.FOLLOWER or not state.fetched or state.awaiting:
        return None
    # Who is no voter and searches may have lost its leader; a voter reports itself to the one that it has fetched from.
    join = None if state.searching else join_request(state, configuration, correlation_id)
    return join or report_request(state, configuration, correlation_id)


def after_poll(state: ReplicaState, configuration: Configuration, draw: Draw) -> Outcome:
    """All election requests that are due, by ascending id of the receiver, then one about voters."""
    due = due_election_requests(state, configuration)
    change = due_change_request(state, configuration, draw.correlation_id)
    if change is not None and change.destination in {voter.id for voter in due}:
        change = None
    if not due and change is None:
        return Outcome(state, refusal=Refusal.NOTHING_DUE)
    sends: list[Message] = []
    for voter in due:
        if state.role is Role.LEADER:
            sends.append(begin_quorum_epoch_request(state, configuration, voter, draw.correlation_id))
        elif state.role is Role.RESIGNED:
            sends.append(end_quorum_epoch_request(state, configuration, voter, draw.correlation_id))
        else:
            sends.append(vote_request(state, configuration, voter, draw.correlation_id))
    if change is not None:
        sends.append(change)
    awaiting = {**state.awaiting, **{sent.destination: draw.correlation_id for sent in sends}}
    return Outcome(state._replace(awaiting=awaiting), tuple(sends))


def due_fetch_targets(state: ReplicaState, configuration: Configuration) -> tuple[int, ...]:
    """To whom a Fetch may go now: one at a time.  Rule: fetch.who-fetches."""
    return () if state.awaiting else fetch_targets(state, configuration)


def after_poll_fetch(state: ReplicaState, configuration: Configuration, destination: int, draw: Draw) -> Outcome:
    """A Fetch, or a FetchSnapshot of the snapshot that the leader has in place of records.

    Whatever was appended is synced before a Fetch, because the leader counts the offset as persisted.

    Rules: durable.flush-before-fetch, discovery.bootstrap, fetch.who-fetches.
    """
    if destination not in due_fetch_targets(state, configuration):
        return Outcome(state, refusal=Refusal.NOTHING_DUE)
    if state.wanted_snapshot is not None and destination == state.leader_id:
        request = fetch_snapshot_request(state, configuration, draw.correlation_id)
        return Outcome(state._replace(awaiting={destination: draw.correlation_id}), (request,))
    synced = state._replace(log=flush(state.log), awaiting={destination: draw.correlation_id})
    return Outcome(synced, (fetch_request(state, configuration, destination, draw.correlation_id),))
