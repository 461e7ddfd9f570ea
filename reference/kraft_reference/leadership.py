"""Leadership: its announcement, check quorum, and the hand-over.  Beside it: Leadership.tla."""

from kraft_reference.configuration import Configuration
from kraft_reference.effects import StartTimer, Timer
from kraft_reference.events import Draw
from kraft_reference.identity import ReplicaKey, addresses
from kraft_reference.messages import (
    BeginQuorumEpochRequest,
    BeginQuorumEpochResponse,
    EndQuorumEpochRequest,
    EndQuorumEpochResponse,
    Error,
)
from kraft_reference.outcome import Outcome, Refusal, entry_timers, with_timers
from kraft_reference.responses import known_endpoint, learn_first, refuse, respond
from kraft_reference.roles import Cause, Role
from kraft_reference.state import ReplicaState, is_majority, is_voter, other_voters
from kraft_reference.transitions import follow, learn, names_second_leader, to_resigned

# Check quorum.


def has_check_quorum_timer(state: ReplicaState) -> bool:
    """Return True for a leader, unless it is the only voter of its set."""
    # Rule: check-quorum.sole-voter.
    return state.role is Role.LEADER and bool(other_voters(state))


def after_check_quorum_timeout(state: ReplicaState, configuration: Configuration, draw: Draw) -> Outcome:
    """The leader resigns, because no majority has fetched from it within the period.

    Say that 5 of {1, ..., 5} is down and leader 1 reaches only 2, while 2, 3 and 4 reach one another.  1 commits
    nothing, and 2, which fetches from it, rejects the Pre-Votes of 3 and 4, which need its vote: without check quorum
    nothing would be committed any more.  A leader that was replaced finds out in the same way.
    KIP-642 would have it stay leader and look around (reassign.zombie-leader).
    """
    if not has_check_quorum_timer(state):
        return Outcome(state, refusal=Refusal.NOT_IN_ROLE)
    # Rules: check-quorum.resign, check-quorum.zombie-leader, check-quorum.frees-followers, state.leader.resigns.
    return with_timers(state, to_resigned(state, configuration, Cause.CHECK_QUORUM_TIMEOUT), configuration, draw)


def with_fetcher(
    state: ReplicaState, configuration: Configuration, voter: ReplicaKey | None
) -> tuple[ReplicaState, tuple[StartTimer, ...]]:
    """Return the check-quorum period after a Fetch of the epoch by `voter` (None for an observer).

    A complete majority begins the period again.
    """
    # Rule: check-quorum.counts-keys.
    others = other_voters(state)
    if voter not in others:
        return state, ()
    fetchers = (state.fetchers | {voter.id}) & {other.id for other in others}
    # A leader that removes itself does not count itself.  Rules: check-quorum.resign, hw.leader-excluded.
    present = len(fetchers) + (1 if is_voter(state) else 0)
    if not is_majority(present, state.voters):
        return state._replace(fetchers=fetchers), ()
    period_ms = configuration.timeouts.check_quorum_period_ms
    return state._replace(fetchers=frozenset()), (StartTimer(Timer.CHECK_QUORUM, period_ms),)


def after_shutdown(state: ReplicaState, configuration: Configuration, draw: Draw) -> Outcome:
    """A leader that shuts down gracefully hands over first."""
    # Rule: state.leader.resigns.
    if state.role is not Role.LEADER:
        return Outcome(state, refusal=Refusal.NOT_IN_ROLE)
    return with_timers(state, to_resigned(state, configuration, Cause.SHUTDOWN), configuration, draw)


def removal_is_committed(state: ReplicaState) -> bool:
    """Return True if the voter set without this leader is committed.

    Until then the removed leader stays: leader 1 that removes itself from {1, 2, 3} is the only one that has the
    record, so nobody else can commit it.  It does not count itself.  If it did, leader 1 of {1, 2} would commit {2}
    alone at the append and resign; 2, which has not read the record, still needs the vote of 1, which refuses it for
    its shorter log and campaigns no more: there would be no leader again.
    """
    # Rule: remove-voter.leader-removal.
    if state.role is not Role.LEADER or is_voter(state):
        return False
    return state.high_watermark > state.log.voters[-1].offset


# BeginQuorumEpoch.


def begin_quorum_epoch_request(
    state: ReplicaState, configuration: Configuration, voter: ReplicaKey, correlation_id: int
) -> BeginQuorumEpochRequest:
    """Return a leader's announcement to a voter."""
    # Rules: begin-quorum.on-election, begin-quorum.endpoint.
    return BeginQuorumEpochRequest(
        source=state.key.id,
        destination=voter.id,
        correlation_id=correlation_id,
        epoch=state.epoch,
        voter_key=voter,
        leader_endpoint=known_endpoint(state, configuration),
        cluster_id=configuration.cluster_id,
    )


def after_begin_quorum_epoch_timeout(state: ReplicaState, configuration: Configuration) -> Outcome:
    """The announcement is due again at every voter that does not fetch."""
    # Rule: begin-quorum.resend.
    if not has_check_quorum_timer(state):
        return Outcome(state, refusal=Refusal.NOT_IN_ROLE)
    interval_ms = configuration.timeouts.begin_quorum_epoch_interval_ms
    return Outcome(
        state._replace(acknowledging_voters=frozenset()), timers=(StartTimer(Timer.BEGIN_QUORUM_EPOCH, interval_ms),)
    )


def after_begin_quorum_epoch_request(
    state: ReplicaState, configuration: Configuration, request: BeginQuorumEpochRequest, draw: Draw
) -> Outcome:
    """Follow the sender, which leads the epoch, and respond; the addressed key decides about the response only.

    A follower that knew the leader changes nothing: an announcement restarts no timer and counts as no Fetch.
    Rules: begin-quorum.membership-not-checked, begin-quorum.no-fetch-credit, vote.inconsistent-voter-set-gone.
    """
    leader = request.source
    # Rule: begin-quorum.stale.
    if request.epoch < state.epoch:
        return refuse(state, configuration, request, Error.FENCED_LEADER_EPOCH, Refusal.STALE_EPOCH)
    if names_second_leader(state, request.epoch, leader):
        return refuse(state, configuration, request, Error.INVALID_REQUEST, Refusal.SECOND_LEADER_IN_EPOCH)
    # Rules: begin-quorum.accept, state.prospective.discovers-leader.
    knew_leader = request.epoch == state.epoch and state.leader_id == leader
    if knew_leader and state.role is Role.PROSPECTIVE and configuration.profile.prospective_announcement == "follower":
        # A version 0 announcement has no endpoint: the known endpoint of this leader stays.
        # Rule: begin-quorum.endpoint.
        endpoint = request.leader_endpoint or state.leader_endpoint
        after = follow(state, configuration, Cause.LEADER_OF_EPOCH, request.epoch, leader, endpoint)
    else:
        after = learn(state, configuration, request.epoch, leader, request.leader_endpoint) or state
    # Rule: begin-quorum.voter-key.
    addressed = addresses(request.voter_key, state.key)
    error = Error.NONE if addressed else Error(configuration.profile.voter_key_error)
    timers = () if after is state else entry_timers(state, after, draw, configuration.timeouts)
    return Outcome(after, (respond(after, configuration, request, error),), timers)


def after_announcement_response(
    state: ReplicaState,
    configuration: Configuration,
    response: BeginQuorumEpochResponse | EndQuorumEpochResponse,
    draw: Draw,
) -> Outcome:
    """A voter acknowledges the announcement of a Leader, or the resignation of a Resigned replica."""
    # Rules: state.leader.higher-epoch, state.resigned.higher-epoch.
    if (learned := learn_first(state, configuration, response, draw)) is not None:
        return learned
    # Rules: begin-quorum.response, end-quorum.stale.
    if response.error is not Error.NONE:
        return Outcome(state, refusal=Refusal.ERROR_RESPONSE)
    return Outcome(state._replace(acknowledging_voters=state.acknowledging_voters | {response.source}))


# EndQuorumEpoch.


def end_quorum_epoch_request(
    state: ReplicaState, configuration: Configuration, voter: ReplicaKey, correlation_id: int
) -> EndQuorumEpochRequest:
    """Return the notice of a Resigned replica that its epoch is over."""
    # Rule: end-quorum.send.
    return EndQuorumEpochRequest(
        source=state.key.id,
        destination=voter.id,
        correlation_id=correlation_id,
        epoch=state.epoch,
        preferred_candidates=state.preferred_candidates,
        cluster_id=configuration.cluster_id,
    )


def hand_over_delay_ms(state: ReplicaState, configuration: Configuration, candidates: tuple[ReplicaKey, ...]) -> int:
    """Return the milliseconds that a Follower waits before its own Pre-Vote, by its place among the candidates.

    The first candidate does not wait.  The delay then doubles from an eighth of the longest backoff (this project's
    choice) up to the longest, which is also the delay of a replica that is not listed.
    """
    # Rules: end-quorum.handle, end-quorum.candidate-key.
    longest_ms = configuration.timeouts.election_backoff_max_ms
    for place, candidate in enumerate(candidates):
        if addresses(candidate, state.key):
            return 0 if place == 0 else min(longest_ms // 8 * (1 << min(place - 1, 30)), longest_ms)
    return longest_ms


def after_end_quorum_epoch_request(
    state: ReplicaState, configuration: Configuration, request: EndQuorumEpochRequest, draw: Draw
) -> Outcome:
    """The leader of the epoch has resigned: its followers campaign soon, and reject no Pre-Vote any more."""
    # Rule: end-quorum.stale.
    if request.epoch < state.epoch:
        return refuse(state, configuration, request, Error.FENCED_LEADER_EPOCH, Refusal.STALE_EPOCH)
    if names_second_leader(state, request.epoch, request.source):
        return refuse(state, configuration, request, Error.INVALID_REQUEST, Refusal.SECOND_LEADER_IN_EPOCH)
    # Rule: end-quorum.handle.
    after = learn(state, configuration, request.epoch, request.source, None) or state
    if after.role is not Role.FOLLOWER:
        timers = () if after is state else entry_timers(state, after, draw, configuration.timeouts)
        return Outcome(after, (respond(after, configuration, request, Error.NONE),), timers)
    # Rule: end-quorum.frees-followers.
    if configuration.profile.end_quorum_fetched_flag == "cleared":
        after = after._replace(fetched=False)
    delay_ms = hand_over_delay_ms(after, configuration, request.preferred_candidates)
    timers = (StartTimer(Timer.FETCH, delay_ms),)
    return Outcome(after, (respond(after, configuration, request, Error.NONE),), timers)
