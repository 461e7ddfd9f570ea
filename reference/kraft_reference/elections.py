"""Elections: the timers that start them, Pre-Vote and Vote.  Beside it: Elections.tla.

Every function takes the state before an event and returns its outcome.
"""

from kraft_reference.configuration import Configuration
from kraft_reference.effects import StartTimer, Timer
from kraft_reference.events import Draw
from kraft_reference.identity import ReplicaKey, addresses, names
from kraft_reference.log import is_up_to_date
from kraft_reference.messages import Error, VoteRequest, VoteResponse
from kraft_reference.outcome import Outcome, Refusal, entry_timers, with_timers
from kraft_reference.responses import handles_as_pre_vote, learn_first, refuse, respond, response_head
from kraft_reference.roles import Cause, Role
from kraft_reference.state import ReplicaState, is_majority, is_voter
from kraft_reference.transitions import (
    enter,
    lacks_pre_vote,
    leader_if_majority,
    lose_pre_vote,
    new_round,
    to_candidate,
    to_prospective,
)

# Timers.


def has_election_timer(state: ReplicaState) -> bool:
    """Return True if an election timer runs in this state."""
    # An observer never campaigns.  Rules: state.unattached.entry-timer, observer.states.
    if state.role is Role.UNATTACHED:
        return is_voter(state)
    return state.role in (Role.PROSPECTIVE, Role.CANDIDATE, Role.RESIGNED)


def after_election_timeout(state: ReplicaState, configuration: Configuration, draw: Draw) -> Outcome:
    """Unattached and Candidate start a Pre-Vote, Prospective has lost its own, Resigned leaves its epoch."""
    if not has_election_timer(state):
        return Outcome(state, refusal=Refusal.NOT_IN_ROLE)
    if state.role is Role.PROSPECTIVE:
        # Rules: state.prospective.lost.no-leader, state.prospective.lost.known-leader.
        after = lose_pre_vote(state)
    elif state.role is Role.RESIGNED and is_voter(state) and lacks_pre_vote(state, configuration):
        # Before KIP-996 a Resigned voter became Candidate of the next epoch.  Rule: state.resigned.timeout.
        after = to_candidate(state, configuration, Cause.ELECTION_TIMEOUT)
    # Rule: state.resigned.timeout.
    elif state.role is Role.RESIGNED:
        after = enter(state, Role.UNATTACHED, Cause.ELECTION_TIMEOUT)
        # Unattached inherits the remaining election timeout, which is 0: it has just expired.
        # Rule: state.resigned.timer-handover.
        timers = (StartTimer(Timer.ELECTION, 0),) if is_voter(after) else ()
        return Outcome(after, timers=timers)
    else:
        # Rules: state.unattached.election-timeout, state.candidate.election-timeout, state.candidate.lost.
        after = to_prospective(state, configuration, Cause.ELECTION_TIMEOUT)
    return with_timers(state, after, configuration, draw)


def after_fetch_timeout(state: ReplicaState, configuration: Configuration, draw: Draw) -> Outcome:
    """A voter starts a Pre-Vote; an observer asks the bootstrap servers, too, and stops rejecting Pre-Votes."""
    if state.role is not Role.FOLLOWER:
        return Outcome(state, refusal=Refusal.NOT_IN_ROLE)
    # The newest voter set in the replica's log decides, committed or not: a replica that is being added campaigns, and
    # a removed one stops as soon as it has read its removal.
    # Rules: identity.observer-definition, observer.becomes-voter, observer.becomes-non-voter,
    # voters.self-added-may-campaign, remove-voter.removed-node-becomes-observer, state.candidate-only-from-prospective.
    # Rule: state.follower.fetch-timeout.
    if is_voter(state):
        after = to_prospective(state, configuration, Cause.FETCH_TIMEOUT)
        return with_timers(state, after, configuration, draw)
    # Rules: observer.fetch-timeout, observer.never-nominates, prevote.follower.refusal-expires.
    if configuration.profile.observer_refusal == "timer-unused":
        return Outcome(state)
    keeps_refusing = state.fetched and configuration.profile.observer_refusal == "lasts"
    searching = state._replace(searching=True, fetched=keeps_refusing)
    return Outcome(searching, timers=(StartTimer(Timer.FETCH, configuration.timeouts.fetch_timeout_ms),))


# Requests.


def can_still_win(state: ReplicaState) -> bool:
    """Return True if the voters that have not refused are still a majority."""
    # Rules: prevote.response.rejected, state.candidate.lost.
    return is_majority(len(state.voters) - len(state.rejected), state.voters)


def vote_request(
    state: ReplicaState, configuration: Configuration, voter: ReplicaKey, correlation_id: int
) -> VoteRequest:
    """Return the Vote of a Candidate or the Pre-Vote of a Prospective."""
    # A Pre-Vote has the epoch that the sender is in, not the next one.
    # Rules: vote.request.contents, prevote.request.contents.
    return VoteRequest(
        source=state.key.id,
        destination=voter.id,
        correlation_id=correlation_id,
        epoch=state.epoch,
        replica_key=state.key,
        voter_key=voter,
        last_epoch=state.log.last_epoch,
        end_offset=state.log.end_offset,
        pre_vote=state.role is Role.PROSPECTIVE,
        cluster_id=configuration.cluster_id,
    )


def grants_pre_vote(state: ReplicaState, request: VoteRequest) -> bool:
    """Return True if the replica sees no reason against an election by the sender.

    The replica's own vote, its earlier grants and the membership of either side do not matter.  A removed voter that
    has not read its removal cannot disturb the others: those that fetch from the leader reject it.
    Rules: prevote.grant.multiple, prevote.observer.answers, voters.removed-voter-must-not-disrupt.
    """
    # Rule: prevote.leader.rejects.
    if state.role is Role.LEADER:
        return False
    # Rules: prevote.follower.rejects-after-fetch, prevote.follower.refusal-expires (which clears the flag),
    # prevote.follower.grants-before-fetch.
    if state.role is Role.FOLLOWER and state.fetched:
        return False
    # Rules: prevote.request.log-check, prevote.unattached.grants, prevote.prospective.grants, prevote.candidate.grants,
    # prevote.resigned.grants.
    return is_up_to_date(request.last_epoch, request.end_offset, state.log)


def grants_vote(state: ReplicaState, request: VoteRequest) -> bool:
    """Return True if the replica gives the requester its one vote of the epoch, or has given it before.

    Neither side has to be a voter.  Say that leader 1 of {1, 2} adds 3 and replicates the record to 2, so that it is
    committed, and then 1 dies.  2 needs two votes of {1, 2, 3}.  If 3, which has not read the record and takes itself
    for an observer, refused, there would be no leader until 1 is back (for Pre-Vote it is the same, see
    `after_fetch_timeout`).  A candidate counts only votes of its own voter set, so other votes have no effect.
    Rules: vote.membership-not-checked, vote.decision-order.
    """
    # Rules: vote.follower.rejects, vote.candidate.rejects, vote.leader.rejects, vote.resigned.rejects.
    if state.role not in (Role.UNATTACHED, Role.PROSPECTIVE):
        return False
    # Rules: vote.once-per-epoch, vote.repeat-grant.
    if state.voted_key is not None:
        return names(state.voted_key, request.replica_key)
    # Rule: vote.known-leader.rejects.
    if state.leader_id is not None:
        return False
    # Rule: vote.log-check.
    return is_up_to_date(request.last_epoch, request.end_offset, state.log)


def _is_malformed(request: VoteRequest, pre_vote: bool) -> bool:
    """Return True if a field of the request is out of range."""
    # Rule: prevote.request.check-order.
    if min(request.last_epoch, request.end_offset, request.source, request.epoch) < 0:
        return True
    # The log of a Candidate ends before the epoch that it campaigns in.  Rule: prevote.request.last-epoch-bound.
    return request.last_epoch > request.epoch or (not pre_vote and request.last_epoch == request.epoch)


def after_vote_request(state: ReplicaState, configuration: Configuration, request: VoteRequest, draw: Draw) -> Outcome:
    """Check shape, stale epoch, larger epoch, addressed key, role and log, in this order; the cluster id came before.

    Rules: prevote.request.check-order, prevote.reply.contents, vote.inconsistent-voter-set-gone,
    vote.unsupported-version.
    """
    pre_vote = handles_as_pre_vote(state, configuration, request)

    def deny(after: ReplicaState, error: Error) -> Outcome:
        timers = () if after is state else entry_timers(state, after, draw, configuration.timeouts)
        return Outcome(after, (respond(after, configuration, request, error),), timers)

    if _is_malformed(request, pre_vote):
        return refuse(state, configuration, request, Error.INVALID_REQUEST, Refusal.MALFORMED_REQUEST)
    # Rules: prevote.request.stale-epoch, vote.request.stale-epoch.
    if request.epoch < state.epoch:
        return refuse(state, configuration, request, Error.FENCED_LEADER_EPOCH, Refusal.STALE_EPOCH)
    now = state
    # Rules: prevote.request.higher-epoch, vote.request.higher-epoch.
    if request.epoch > state.epoch:
        now = enter(state, Role.UNATTACHED, Cause.LARGER_EPOCH, epoch=request.epoch)
    # Rule: vote.voter-key.
    if not addresses(request.voter_key, now.key):
        return deny(now, Error(configuration.profile.voter_key_error))
    # Rules: vote.decision-order, reassign.votes-from-non-voters.
    if not (grants_pre_vote if pre_vote else grants_vote)(now, request):
        return deny(now, Error.NONE)
    # Rules: prevote.grant.no-side-effects, vote.persist-before-reply, identity.voted-key-persisted,
    # durable.vote.v0-uuid-in-memory.
    after = now if pre_vote else _with_vote(now, request.replica_key)
    response = VoteResponse(*response_head(after, configuration, request, Error.NONE), granted=True, pre_vote=pre_vote)
    return Outcome(after, (response,), _grant_timers(state, now, after, configuration, draw))


def _with_vote(state: ReplicaState, requester: ReplicaKey) -> ReplicaState:
    """Return the state with the vote cast; a Prospective begins its round of Pre-Votes again."""
    if state.voted_key is not None:
        return state
    # Rule: state.prospective.add-vote.
    if state.role is Role.PROSPECTIVE:
        endpoint = state.leader_endpoint
        return new_round(enter(state, Role.PROSPECTIVE, Cause.VOTE_CAST, requester=requester, leader_endpoint=endpoint))
    return state._replace(voted_key=requester)


def _grant_timers(
    before: ReplicaState, now: ReplicaState, after: ReplicaState, configuration: Configuration, draw: Draw
) -> tuple[StartTimer, ...]:
    """Return the timers after a grant: a cast vote restarts the election timer, to give the candidate time to win."""
    # Rule: vote.grant.resets-timer.
    if after is not now and is_voter(after):
        return (StartTimer(Timer.ELECTION, draw.election_timeout_ms),)
    return () if now is before else entry_timers(before, now, draw, configuration.timeouts)


# Responses.


def _count_vote(state: ReplicaState, response: VoteResponse) -> ReplicaState:
    """Return the round with one more response; a voter of the replica's own set counts once, others not at all."""
    # Rules: prevote.response.majority, vote.response.counting, state.voters-set.own-majority.
    voter = response.source
    known = any(entry.id == voter for entry in state.voters)
    if not known or voter in state.granted or voter in state.rejected:
        return state
    if response.granted:
        return state._replace(granted=state.granted | {voter})
    return state._replace(rejected=state.rejected | {voter})


def after_vote_response(
    state: ReplicaState, configuration: Configuration, response: VoteResponse, draw: Draw
) -> Outcome:
    """Look at support for Pre-Vote, then at epoch and leader, and only then count the vote."""
    # The network layer of the sender answers so, without an epoch: the voter's software cannot read a Pre-Vote.  If 2
    # and 3 of {1, 2, 3} are old, 1 never gets a second Pre-Vote.  It cannot know how many are, so one is enough.
    # Rules: prevote.unsupported-version, prevote.unsupported-version.after-majority.
    if response.error is Error.UNSUPPORTED_VERSION:
        if state.role is Role.PROSPECTIVE:
            after = to_candidate(state, configuration, Cause.PRE_VOTE_UNSUPPORTED)
            return with_timers(state, after, configuration, draw)
        return Outcome(state, refusal=Refusal.NO_PRE_VOTE_ROUND)
    # Rules: vote.response.late, prevote.response.epoch-first, state.prospective.discovers-leader,
    # state.candidate.leader-equal-epoch, prevote.response.leader-wins-over-grant.
    if (learned := learn_first(state, configuration, response, draw)) is not None:
        return learned
    # Rule: prevote.response.flag-false.
    if state.role is Role.PROSPECTIVE and not response.pre_vote:
        return with_timers(state, to_candidate(state, configuration, Cause.PRE_VOTE_UNSUPPORTED), configuration, draw)
    if response.error is not Error.NONE:
        return Outcome(state, refusal=Refusal.ERROR_RESPONSE)
    if state.role not in (Role.PROSPECTIVE, Role.CANDIDATE):
        return Outcome(state, refusal=Refusal.ELECTION_IS_OVER)
    return _after_count(state, _count_vote(state, response), configuration, draw)


def _after_count(before: ReplicaState, counted: ReplicaState, configuration: Configuration, draw: Draw) -> Outcome:
    """Return the outcome of a round: won, lost, or still open."""
    if counted.role is Role.CANDIDATE:
        # Rules: state.candidate.to-leader, vote.response.counting.
        after = leader_if_majority(counted, configuration)
        if after is not counted:
            return with_timers(before, after, configuration, draw)
        # The backoff starts once, at the response that loses the election.  Rule: state.candidate.lost.
        if can_still_win(counted) or not can_still_win(before):
            return Outcome(counted)
        return Outcome(counted, timers=(StartTimer(Timer.ELECTION, draw.election_backoff_ms),))
    # Rules: state.prospective.to-candidate, prevote.response.majority.
    if is_majority(len(counted.granted), counted.voters):
        return with_timers(before, to_candidate(counted, configuration, Cause.PRE_VOTE_WON), configuration, draw)
    # Rule: prevote.response.rejected.
    if can_still_win(counted):
        return Outcome(counted)
    return with_timers(before, lose_pre_vote(counted), configuration, draw)
