"""Outbound requests that are due, at most one in flight for each peer.  Beside it: `Poll` in KRaft.tla."""

from collections.abc import Sequence

from kraft_reference.configuration import Configuration
from kraft_reference.elections import can_still_win, vote_request
from kraft_reference.events import Draw
from kraft_reference.identity import ReplicaId, ReplicaKey
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
    """Return the voters that a Vote, BeginQuorumEpoch or EndQuorumEpoch request is due to, by ascending id."""
    match state.role:
        # Rules: prevote.request.recipients, prevote.response.majority, vote.request.contents, state.candidate.lost.
        case Role.PROSPECTIVE | Role.CANDIDATE if can_still_win(state):
            done = state.granted | state.rejected
        # Rules: begin-quorum.on-election, begin-quorum.resend.
        case Role.LEADER:
            announced_to = configuration.profile.latitude.announced_to
            done = frozenset() if announced_to == "all-again" else state.acknowledging_voters
            if announced_to == "not-fetching":
                done |= state.fetchers
        # Rule: end-quorum.send.
        case Role.RESIGNED:
            done = state.acknowledging_voters
        case _:
            return []
    # The voter set may hold this replica's id with the directory id of its previous disk.  It cannot send to itself.
    own_id = state.key.id
    # Rules: state.voters-set.own-majority, voters.no-begin-epoch-to-observers.
    return [
        voter
        for voter in other_voters(state)
        if voter.id not in done and voter.id not in state.awaiting and voter.id != own_id
    ]


def due_change_request(
    state: ReplicaState, configuration: Configuration, correlation_id: int
) -> AddVoterRequest | RemoveVoterRequest | UpdateVoterRequest | ApiVersionsRequest | None:
    """Return the request about voters that is due now, None if there is none."""
    # Rule: add-voter.learn-versions.
    if state.role is Role.LEADER:
        new_voter = awaits_versions_of(state, configuration)
        waits = new_voter is None or new_voter in state.awaiting or new_voter == state.key.id
        return None if waits else api_versions_request(state, correlation_id)
    # A Follower that has fetched knows the voter set.  It sends the request in place of a Fetch.
    if state.role is not Role.FOLLOWER or not state.fetched or state.awaiting:
        return None
    # An observer that searches may have lost its leader, so it does not ask to join; a voter may still report.
    # Rules: auto-join.remove-stale-self-first, auto-join.add-self, update-voter.when-sent.
    join = None if state.searching else join_request(state, configuration, correlation_id)
    return join or report_request(state, configuration, correlation_id)


def _announcements_by_clock(state: ReplicaState, announce_to: Sequence[ReplicaId]) -> list[ReplicaKey] | None:
    """Return the voters that a leader announces itself to by its clock; None if it may not choose these.

    `fetchers` does not say whose last Fetch is recent: it is empty again as soon as a majority has fetched.  Say that
    2 fetches from leader 1 of {1, 2, 3}, and 3 is down.  Then 1 repeats its announcement to 3, and 2 needs none.
    """
    if state.role is not Role.LEADER:
        return None
    idle = [voter for voter in other_voters(state) if voter.id not in state.awaiting and voter.id != state.key.id]
    # The leader knows the fetch offset of a voter that has fetched in this epoch.
    # Rules: begin-quorum.on-election, begin-quorum.resend.
    active = state.acknowledging_voters | {voter.id for voter in idle if voter in state.fetch_offsets}
    chosen = frozenset(announce_to)
    if not {voter.id for voter in idle} - active <= chosen <= {voter.id for voter in idle}:
        return None
    return [voter for voter in idle if voter.id in chosen]


def after_poll(
    state: ReplicaState, configuration: Configuration, draw: Draw, announce_to: Sequence[ReplicaId] | None = None
) -> Outcome:
    """Send all election requests that are due, by ascending id of the receiver, then one about voters."""
    chosen = None if announce_to is None else _announcements_by_clock(state, announce_to)
    due = due_election_requests(state, configuration) if announce_to is None else chosen
    if due is None:
        return Outcome(state, refusal=Refusal.NOTHING_DUE)
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
    acknowledging = state.acknowledging_voters - {voter.id for voter in chosen or ()}
    # Rule: update-voter.when-sent.
    return Outcome(state._replace(awaiting=awaiting, acknowledging_voters=acknowledging), tuple(sends))


def due_fetch_targets(state: ReplicaState, configuration: Configuration) -> tuple[ReplicaId, ...]:
    """Return the replicas that a Fetch may go to now; none while a request is outstanding."""
    # Rule: fetch.who-fetches.
    return () if state.awaiting else fetch_targets(state, configuration)


def after_poll_fetch(state: ReplicaState, configuration: Configuration, destination: ReplicaId, draw: Draw) -> Outcome:
    """Send a Fetch, or a FetchSnapshot of the snapshot that the leader has in place of records."""
    # Rules: discovery.bootstrap, fetch.who-fetches.
    if destination not in due_fetch_targets(state, configuration):
        return Outcome(state, refusal=Refusal.NOTHING_DUE)
    if state.wanted_snapshot is not None and destination == state.leader_id:
        request = fetch_snapshot_request(state, configuration, draw.correlation_id)
        return Outcome(state._replace(awaiting={destination: draw.correlation_id}), (request,))
    # The leader counts the fetch offset as persisted, so the log is synced first.  Rule: durable.flush-before-fetch.
    synced = state._replace(log=flush(state.log), awaiting={destination: draw.correlation_id})
    return Outcome(synced, (fetch_request(state, configuration, destination, draw.correlation_id),))
