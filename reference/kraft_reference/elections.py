"""Elections: the timers that start them, Pre-Vote and Vote.  Beside it: Elections.tla.

Every function takes the state before an event and gives its outcome; none changes anything.
"""

from kraft_reference.configuration import Configuration
from kraft_reference.effects import StartTimer, Timer
from kraft_reference.events import Draw
from kraft_reference.identity import ReplicaKey, addresses, names
from kraft_reference.log import up_to_date
from kraft_reference.messages import Error, VoteRequest, VoteResponse
from kraft_reference.outcome import Outcome, Refusal, entered, entry_timers
from kraft_reference.responses import free_connection, is_correlated, is_foreign, learn_first, response_head
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
    voted_for,
)

# ---------------------------------------------------------------------------------------------------------
# Timers.
# ---------------------------------------------------------------------------------------------------------


def has_election_timer(state: ReplicaState) -> bool:
    """Does an election timer run?  Rules: state.unattached.entry-timer, observer.states."""
    if state.role is Role.UNATTACHED:
        return is_voter(state)
    return state.role in (Role.PROSPECTIVE, Role.CANDIDATE, Role.RESIGNED)


def after_election_timeout(state: ReplicaState, configuration: Configuration, draw: Draw) -> Outcome:
    """Unattached and Candidate nominate themselves, Prospective has lost, Resigned leaves its epoch."""
    if not has_election_timer(state):
        return Outcome(state, refusal=Refusal.NOT_IN_ROLE)
    if state.role is Role.PROSPECTIVE:
        # Rules: state.prospective.lost.no-leader, state.prospective.lost.known-leader.
        after = lose_pre_vote(state)
    elif state.role is Role.RESIGNED and is_voter(state) and lacks_pre_vote(state, configuration):
        # Before KIP-996 it became Candidate of the next epoch.  Rule: state.resigned.timeout.
        after = to_candidate(state, configuration, Cause.ELECTION_TIMEOUT)
    # Rule: state.resigned.timeout.
    elif state.role is Role.RESIGNED:
        after = enter(state, Role.UNATTACHED, Cause.ELECTION_TIMEOUT)
        # What is left of a timer that has fired is nothing.  Rule: state.resigned.timer-handover.
        timers = (StartTimer(Timer.ELECTION, 0),) if is_voter(after) else ()
        return Outcome(after, timers=timers)
    else:
        # Rules: state.unattached.election-timeout, state.candidate.election-timeout, state.candidate.lost.
        after = to_prospective(state, configuration, Cause.ELECTION_TIMEOUT)
    return entered(state, after, configuration, draw)


def after_fetch_timeout(state: ReplicaState, configuration: Configuration, draw: Draw) -> Outcome:
    """A voter starts a Pre-Vote; an observer looks wider and stops refusing Pre-Votes.

    Who is which, the newest voters set in the own log decides at this moment.
    Rules: observer.becomes-voter, observer.becomes-non-voter, voters.self-added-may-campaign,
    remove-voter.removed-node-becomes-observer, identity.observer-definition, state.candidate-only-from-prospective.
    """
    if state.role is not Role.FOLLOWER:
        return Outcome(state, refusal=Refusal.NOT_IN_ROLE)
    # Rule: state.follower.fetch-timeout.
    if is_voter(state):
        after = to_prospective(state, configuration, Cause.FETCH_TIMEOUT)
        return entered(state, after, configuration, draw)
    # Rules: observer.fetch-timeout, observer.never-nominates, prevote.follower.refusal-expires.
    if configuration.profile.observer_refusal == "timer-unused":
        return Outcome(state)
    keeps_refusing = state.fetched and configuration.profile.observer_refusal == "lasts"
    searching = state._replace(searching=True, fetched=keeps_refusing)
    return Outcome(searching, timers=(StartTimer(Timer.FETCH, configuration.timeouts.fetch_timeout_ms),))


# ---------------------------------------------------------------------------------------------------------
# Requests.
# ---------------------------------------------------------------------------------------------------------


def can_still_win(state: ReplicaState) -> bool:
    """Are the voters that have not refused still a majority?

    Rules: prevote.response.rejected, state.candidate.lost.
    """
    return is_majority(len(state.voters) - len(state.rejected), state.voters)


def vote_request(
    state: ReplicaState, configuration: Configuration, voter: ReplicaKey, correlation_id: int
) -> VoteRequest:
    """The Vote of a Candidate, the Pre-Vote of a Prospective.

    Rules: vote.request.contents, prevote.request.contents.
    """
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
    """Would this replica like the sender to start an election?

    Its vote in this epoch, earlier grants and anybody's membership do not matter.
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
    return up_to_date(request.last_epoch, request.end_offset, state.log)


def grants_vote(state: ReplicaState, request: VoteRequest) -> bool:
    """Does this replica give its one vote of the epoch, or has it given it, to the requester?

    At kraft.version 0 too the requester's directory id counts, as long as it is remembered.
    Rules: vote.decision-order, vote.membership-not-checked.
    """
    # Rules: vote.follower.rejects, vote.candidate.rejects, vote.leader.rejects, vote.resigned.rejects.
    if state.role not in (Role.UNATTACHED, Role.PROSPECTIVE):
        return False
    # Rules: vote.once-per-epoch, vote.repeat-grant.
    if state.voted_key is not None:
        return voted_for(state, request.replica_key)
    # Rule: vote.known-leader.rejects.
    if state.leader_id is not None:
        return False
    # Rule: vote.log-check.
    return up_to_date(request.last_epoch, request.end_offset, state.log)


def refuses_non_voter(state: ReplicaState, configuration: Configuration, request: VoteRequest) -> bool:
    """Does a voter whose vote is free refuse it for the reason alone that it knows the requester for no voter?

    KIP-642's rule, with which the refuser campaigns itself; safety does not depend on it, because a candidate counts by
    its own voters set.
    Rule: reassign.votes-from-non-voters.
    """
    if configuration.profile.vote_of_non_voter == "by-log" or not is_voter(state):
        return False
    free = state.role in (Role.UNATTACHED, Role.PROSPECTIVE) and state.voted_key is None and state.leader_id is None
    return free and not any(names(voter, request.replica_key) for voter in state.voters)


def _is_malformed(request: VoteRequest, pre_vote: bool) -> bool:
    """Is the shape of the request wrong?  Rules: prevote.request.check-order, prevote.request.last-epoch-bound."""
    if min(request.last_epoch, request.end_offset, request.source, request.epoch) < 0:
        return True
    return request.last_epoch > request.epoch or (not pre_vote and request.last_epoch == request.epoch)


def after_vote_request(state: ReplicaState, configuration: Configuration, request: VoteRequest, draw: Draw) -> Outcome:
    """The checks in their order: cluster, shape, older epoch, newer epoch, addressed key, role and log.

    Rules: prevote.request.check-order, prevote.reply.contents, vote.inconsistent-voter-set-gone,
    vote.unsupported-version.
    """
    pre_vote = request.pre_vote and configuration.replicas[state.key.id].pre_vote == "supported"

    def refuse(after: ReplicaState, error: Error, refusal: Refusal | None = None) -> Outcome:
        answer = VoteResponse(*response_head(after, configuration, request, error), granted=False, pre_vote=pre_vote)
        timers = () if after is state else entry_timers(state, after, draw, configuration.timeouts)
        return Outcome(after, (answer,), timers, refusal)

    if is_foreign(configuration, request.cluster_id):
        return refuse(state, Error.INCONSISTENT_CLUSTER_ID, Refusal.FOREIGN_CLUSTER)
    if _is_malformed(request, pre_vote):
        return refuse(state, Error.INVALID_REQUEST, Refusal.MALFORMED_REQUEST)
    # Rules: prevote.request.stale-epoch, vote.request.stale-epoch.
    if request.epoch < state.epoch:
        return refuse(state, Error.FENCED_LEADER_EPOCH, Refusal.STALE_EPOCH)
    now = state
    # Rules: prevote.request.higher-epoch, vote.request.higher-epoch.
    if request.epoch > state.epoch:
        now = enter(state, Role.UNATTACHED, Cause.LARGER_EPOCH, epoch=request.epoch)
    # Rule: vote.voter-key.
    if not addresses(request.voter_key, now.key):
        return refuse(now, Error(configuration.profile.voter_key_error))
    # Rule: reassign.votes-from-non-voters.
    if not pre_vote and refuses_non_voter(now, configuration, request):
        # A leader that is deposed by this waits for its timer, like any that resigned.
        rivals = now.role is Role.UNATTACHED and state.role not in (Role.LEADER, Role.RESIGNED)
        return refuse(to_prospective(now, configuration, Cause.NON_VOTER_ASKED) if rivals else now, Error.NONE)
    # Rule: vote.decision-order.
    if not (grants_pre_vote if pre_vote else grants_vote)(now, request):
        return refuse(now, Error.NONE)
    # Rules: prevote.grant.no-side-effects, vote.persist-before-reply, identity.voted-key-persisted,
    # durable.vote.v0-uuid-in-memory.
    after = now if pre_vote else _with_vote(now, request.replica_key)
    answer = VoteResponse(*response_head(after, configuration, request, Error.NONE), granted=True, pre_vote=pre_vote)
    return Outcome(after, (answer,), _grant_timers(state, now, after, configuration, draw))


def _with_vote(state: ReplicaState, requester: ReplicaKey) -> ReplicaState:
    """The state with the vote cast; a Prospective starts its round over.  Rule: state.prospective.add-vote."""
    if state.voted_key is not None:
        return state
    if state.role is Role.PROSPECTIVE:
        endpoint = state.leader_endpoint
        return new_round(enter(state, Role.PROSPECTIVE, Cause.VOTE_CAST, requester=requester, leader_endpoint=endpoint))
    return state._replace(voted_key=requester)


def _grant_timers(
    before: ReplicaState, now: ReplicaState, after: ReplicaState, configuration: Configuration, draw: Draw
) -> tuple[StartTimer, ...]:
    """Casting a vote restarts the election timer of a voter.  Rule: vote.grant.resets-timer."""
    if after is not now and is_voter(after):
        return (StartTimer(Timer.ELECTION, draw.election_timeout_ms),)
    return () if now is before else entry_timers(before, now, draw, configuration.timeouts)


# ---------------------------------------------------------------------------------------------------------
# Responses.
# ---------------------------------------------------------------------------------------------------------


def _count(state: ReplicaState, response: VoteResponse) -> ReplicaState:
    """The round with one more answer, each voter of the own set at most once.

    Rules: prevote.response.majority, vote.response.counting, state.voters-set.own-majority.
    """
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
    """First correlation, then epoch and leader, then support for Pre-Vote, and only then the count."""
    # Rules: prevote.response.correlate, vote.response.late, prevote.unsupported-version.after-majority.
    if not is_correlated(state, response):
        return Outcome(state, refusal=Refusal.UNCORRELATED_RESPONSE)
    rest = free_connection(state, response)
    # Rule: prevote.unsupported-version.
    if response.error is Error.UNSUPPORTED_VERSION:
        if state.role is Role.PROSPECTIVE:
            after = to_candidate(rest, configuration, Cause.PRE_VOTE_UNSUPPORTED)
            return entered(state, after, configuration, draw)
        return Outcome(rest, refusal=Refusal.NO_PRE_VOTE_ROUND)
    # Rules: vote.response.late, prevote.response.epoch-first, state.prospective.discovers-leader,
    # state.candidate.leader-equal-epoch, prevote.response.leader-wins-over-grant.
    if (learned := learn_first(state, rest, configuration, response, draw)) is not None:
        return learned
    # Rule: prevote.response.flag-false.
    if state.role is Role.PROSPECTIVE and not response.pre_vote:
        return entered(state, to_candidate(rest, configuration, Cause.PRE_VOTE_UNSUPPORTED), configuration, draw)
    if response.error is not Error.NONE:
        return Outcome(rest, refusal=Refusal.ERROR_RESPONSE)
    if state.role not in (Role.PROSPECTIVE, Role.CANDIDATE):
        return Outcome(rest, refusal=Refusal.ELECTION_IS_OVER)
    return _after_count(state, _count(rest, response), configuration, draw)


def _after_count(before: ReplicaState, counted: ReplicaState, configuration: Configuration, draw: Draw) -> Outcome:
    """Won, lost, or still open."""
    if counted.role is Role.CANDIDATE:
        # Rules: state.candidate.to-leader, vote.response.counting.
        after = leader_if_majority(counted, configuration)
        if after is not counted:
            return entered(before, after, configuration, draw)
        # Rule: state.candidate.lost.
        if can_still_win(counted) or not can_still_win(before):
            return Outcome(counted)
        return Outcome(counted, timers=(StartTimer(Timer.ELECTION, draw.election_backoff_ms),))
    # Rules: state.prospective.to-candidate, prevote.response.majority.
    if is_majority(len(counted.granted), counted.voters):
        return entered(before, to_candidate(counted, configuration, Cause.PRE_VOTE_WON), configuration, draw)
    # Rule: prevote.response.rejected.
    if can_still_win(counted):
        return Outcome(counted)
    return entered(before, lose_pre_vote(counted), configuration, draw)
