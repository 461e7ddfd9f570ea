"""Requests of a replica about itself: to join the voters, or to report its endpoint and supported versions.

Beside it: `DueReport` in VoterChanges.tla.
"""

from kraft_reference.configuration import Configuration
from kraft_reference.effects import StartTimer, Timer
from kraft_reference.events import Draw
from kraft_reference.messages import (
    AddVoterRequest,
    ChangeResponse,
    Error,
    RemoveVoterRequest,
    UpdateVoterRequest,
    UpdateVoterResponse,
)
from kraft_reference.outcome import Outcome, Refusal
from kraft_reference.responses import after_failed_request, learn_first
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState, details_of, is_voter
from kraft_reference.transitions import own_details, own_endpoint


def join_request(
    state: ReplicaState, configuration: Configuration, correlation_id: int
) -> AddVoterRequest | RemoveVoterRequest | None:
    """Return the request of a replica that joins by itself, None if there is none to send.

    It first removes the voter with its own id and an older directory, then adds itself.
    """
    # Rule: auto-join.enabled-by-config.
    own = configuration.replicas[state.key.id]
    joins = own.auto_join and state.log.kraft_version >= 1 and state.key.directory_id is not None
    # Rule: auto-join.stop-before-removal.
    if not joins or not state.voters or is_voter(state):
        return None
    assert state.leader_id is not None, "a Follower knows its leader"
    envelope = (state.key.id, state.leader_id, correlation_id)
    # Rule: auto-join.remove-stale-self-first.
    stale = next((voter for voter in state.voters if voter.id == state.key.id), None)
    if stale is not None:
        return RemoveVoterRequest(*envelope, stale, configuration.cluster_id)
    timeout_ms = configuration.timeouts.voter_change_timeout_ms
    endpoint = own_endpoint(state, configuration)
    # While its only connection waits for the response, the replica cannot fetch, and so not help to commit.  It asks
    # for a response at the append (AckWhenCommitted false).  Rule: auto-join.add-self.
    return AddVoterRequest(*envelope, state.key, endpoint, timeout_ms, False, configuration.cluster_id)


def report_request(state: ReplicaState, configuration: Configuration, correlation_id: int) -> UpdateVoterRequest | None:
    """Return the UpdateVoter of a voter, None if this leader has noted it or the voter set says the same."""
    assert state.leader_id is not None, "a Follower knows its leader"
    # Rule: update-voter.when-sent.
    own = own_details(state, configuration)
    known = state.log.kraft_version >= 1 and details_of(state, state.key.id) == own
    # Rule: update-voter.in-memory-at-version-0.
    if state.log.kraft_version == 0 and configuration.profile.report_at_version_0 == "refused":
        return None
    if known or state.has_updated_leader or not is_voter(state) or state.key.directory_id is None:
        return None
    return UpdateVoterRequest(
        source=state.key.id,
        destination=state.leader_id,
        correlation_id=correlation_id,
        epoch=state.epoch,
        voter=state.key,
        endpoint=own.endpoint,
        min_version=own.min_version,
        max_version=own.max_version,
        cluster_id=configuration.cluster_id,
    )


def after_change_response(
    state: ReplicaState, configuration: Configuration, response: ChangeResponse, draw: Draw
) -> Outcome:
    """Learn epoch and leader; only the voter set in the replica's log shows whether a request to join succeeded."""
    if (learned := learn_first(state, configuration, response, draw)) is not None:
        return learned
    # Rules: add-voter.reply-after-commit, auto-join.add-self.
    if response.error is not Error.NONE:
        return Outcome(after_failed_request(state, configuration, response.source), refusal=Refusal.ERROR_RESPONSE)
    follows_sender = state.role is Role.FOLLOWER and state.leader_id == response.source
    if not isinstance(response, UpdateVoterResponse) or not follows_sender:
        return Outcome(state)
    # Rule: update-voter.when-sent.
    credited = configuration.profile.update_voter_credit == "fetch"
    timers = (StartTimer(Timer.FETCH, configuration.timeouts.fetch_timeout_ms),) if credited else ()
    return Outcome(state._replace(has_updated_leader=True), timers=timers)
