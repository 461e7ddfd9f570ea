"""A voter change from its acceptance to its answer: what it waits for, how it is appended, when it is over.

The tests that come before it are in `voter_changes`.  Beside both: VoterChanges.tla.
"""

from collections.abc import Iterable

from kraft_reference.changes import CatchUp, ChangeKind, Commit, LearnVersions, Requester, kind_of
from kraft_reference.configuration import Configuration
from kraft_reference.effects import StartTimer
from kraft_reference.events import Draw
from kraft_reference.identity import VoterDetails
from kraft_reference.leadership import has_check_quorum_timer, removal_is_committed
from kraft_reference.log import append, flush
from kraft_reference.messages import (
    AddVoterResponse,
    ApiVersionsRequest,
    ApiVersionsResponse,
    ChangeResponse,
    Error,
    Message,
    RemoveVoterResponse,
    Reply,
    UpdateVoterResponse,
)
from kraft_reference.outcome import Outcome, Refusal, entry_timers
from kraft_reference.records import Record
from kraft_reference.responses import free_connection, is_correlated, known_endpoint
from kraft_reference.roles import Cause, Role
from kraft_reference.state import ReplicaState
from kraft_reference.transitions import to_resigned, voters_record, with_details
from kraft_reference.watermark import with_high_watermark

_RESPONSES: dict[ChangeKind, type[ChangeResponse]] = {
    ChangeKind.ADD: AddVoterResponse,
    ChangeKind.REMOVE: RemoveVoterResponse,
    ChangeKind.UPDATE: UpdateVoterResponse,
}


def _reply(
    state: ReplicaState, configuration: Configuration, kind: ChangeKind, requester: Requester, error: Error
) -> Message | Reply:
    """The answer to a request for a voter change, with what this replica knows of the leader.

    Rules: add-voter.leader-only, remove-voter.leader-only, update-voter.leader-only.
    """
    if requester.replica_id is None:
        return client_reply(state, configuration, requester.request, error)
    led = (error, state.epoch, state.leader_id, known_endpoint(state, configuration))
    return _RESPONSES[kind](state.key.id, requester.replica_id, requester.request, *led)


def client_reply(state: ReplicaState, configuration: Configuration, request: int, error: Error) -> Reply:
    """The answer to an admin client, with what this replica knows of the leader.

    Rules: add-voter.leader-only, remove-voter.leader-only, reassign.request-leader-only.
    """
    return Reply(request, error, state.epoch, state.leader_id, known_endpoint(state, configuration))


def finalized_version(state: ReplicaState, configuration: Configuration) -> int:
    """The level of kraft.version that decides which requests a Leader accepts.

    Rule: kraft-version.finalized-when.
    """
    if configuration.profile.kraft_version_gate == "append":
        return state.log.kraft_version
    versions = state.log.versions
    known = [entry.kraft_version for entry in versions[1:] if entry.offset < state.high_watermark]
    return known[-1] if known else versions[0].kraft_version


# ---------------------------------------------------------------------------------------------------------
# Append.
# ---------------------------------------------------------------------------------------------------------


def append_records(
    before: ReplicaState, configuration: Configuration, records: tuple[Record, ...], draw: Draw
) -> tuple[ReplicaState, tuple[StartTimer, ...]]:
    """The Leader with records in its log, synced before it counts its own log end, and the timers that it starts.

    A new set takes effect at once: who is no voter any more counts for nothing, who became one has done nothing yet.
    Rules: voters.effective-on-append, add-voter.append-and-apply, remove-voter.append-and-apply, hw.majority,
    durable.flush-before-fetch, identity.leader-tracks-by-key, voters.begin-epoch-to-current-voters,
    reassign.begin-epoch-to-new-voter, check-quorum.counts-keys.
    """
    after = before._replace(log=flush(append(before.log, records)))
    if after.voters != before.voters:
        same = {voter.id for voter in before.voters & after.voters}
        after = after._replace(fetchers=after.fetchers & same, acknowledged=after.acknowledged & same)
    # A set with others in it needs the timers that a sole voter has not.  Rule: check-quorum.sole-voter.
    starts = has_check_quorum_timer(after) and not has_check_quorum_timer(before)
    timers = entry_timers(before, after, draw, configuration.timeouts) if starts else ()
    return with_high_watermark(after), timers


# ---------------------------------------------------------------------------------------------------------
# What a pending change waits for.
# ---------------------------------------------------------------------------------------------------------


def api_versions_request(state: ReplicaState, correlation_id: int) -> ApiVersionsRequest:
    """Rule: add-voter.learn-versions."""
    change = state.pending_change
    assert isinstance(change, LearnVersions), "there is an addition that asks for versions"
    return ApiVersionsRequest(state.key.id, change.voter.id, correlation_id)


def awaits_versions_of(state: ReplicaState, configuration: Configuration) -> int | None:
    """The id of the new voter that the Leader has yet to ask for its versions; None if there is none to reach.

    Rule: add-voter.learn-versions.
    """
    change = state.pending_change
    if not isinstance(change, LearnVersions):
        return None
    return change.voter.id if change.voter.id in configuration.replicas else None


def after_api_versions_request(
    state: ReplicaState, configuration: Configuration, request: ApiVersionsRequest
) -> Outcome:
    """Any replica says what its software supports.  Rule: kraft-version.levels."""
    own = configuration.replicas[state.key.id]
    return Outcome(
        state,
        (ApiVersionsResponse(state.key.id, request.source, request.correlation_id, own.min_version, own.max_version),),
    )


def after_api_versions_response(
    state: ReplicaState, configuration: Configuration, response: ApiVersionsResponse, draw: Draw
) -> Outcome:
    """The new voter supports the finalized level, or the request ends here.

    Rules: add-voter.learn-versions, add-voter.version-must-be-supported.
    """
    if not is_correlated(state, response):
        return Outcome(state, refusal=Refusal.UNCORRELATED_RESPONSE)
    rest = free_connection(state, response)
    change = state.pending_change
    if not isinstance(change, LearnVersions) or change.voter.id != response.source:
        return Outcome(rest, refusal=Refusal.NO_CHANGE_WAITS)
    if not response.min_version <= finalized_version(state, configuration) <= response.max_version:
        return _answer_change(Outcome(rest), configuration, Error.INVALID_REQUEST)
    details = VoterDetails(change.voter.id, change.endpoint, response.min_version, response.max_version)
    learned = CatchUp(change.voter, details, state.log.end_offset, change.requester)
    return append_caught_up(Outcome(rest._replace(pending_change=learned)), configuration, draw)


def append_caught_up(outcome: Outcome, configuration: Configuration, draw: Draw) -> Outcome:
    """The outcome, with the new voter in the set if it has caught up by now.

    It has when it has fetched up to where the Leader's log ended when the wait began: one round is enough, and clients
    that go on appending cannot make the wait endless.
    Every other condition was tested when the request came, and no other voters set can have been appended since.
    Rules: add-voter.catch-up-first, add-voter.conditions-hold-at-append, add-voter.append-and-apply,
    identity.could-become-voter.
    """
    state = outcome.state
    change = state.pending_change
    if not isinstance(change, CatchUp):
        return outcome
    voter = change.voter
    caught_up = state.fetch_offsets.get(voter, 0) >= change.log_end_offset
    if not caught_up:
        return outcome
    details = with_details(state.log.voters[-1].details, change.details)
    record = voters_record(state, state.voters | {voter}, details)
    added = Commit(ChangeKind.ADD, voter, state.log.end_offset, change.requester, change.details)
    return append_change(outcome, configuration, (record,), added, draw)


def append_change(
    outcome: Outcome,
    configuration: Configuration,
    records: tuple[Record, ...],
    change: Commit,
    draw: Draw,
) -> Outcome:
    """The outcome with the records of a change appended; the answer waits for their commit, unless it need not.

    Rules: add-voter.reply-after-commit, remove-voter.reply-after-commit, update-voter.reply-time,
    kraft-version.reply-after-commit, kraft-version.upgrade-atomic-batch.
    """
    after, timers = append_records(outcome.state, configuration, records, draw)
    waiting = Outcome(after._replace(pending_change=change), outcome.sends, (*outcome.timers, *timers), outcome.refusal)
    answers_now = change.requester is not None and not change.requester.when_committed
    return _answer_change(waiting, configuration, Error.NONE) if answers_now else waiting


# ---------------------------------------------------------------------------------------------------------
# How it ends.
# ---------------------------------------------------------------------------------------------------------


def _answer_change(outcome: Outcome, configuration: Configuration, error: Error) -> Outcome:
    """The outcome with the pending change answered, if anybody asked for it, and forgotten."""
    state = outcome.state
    change = state.pending_change
    assert change is not None, "there is a change to answer"
    forgotten = outcome._replace(state=state._replace(pending_change=None))
    if change.requester is None:
        return forgotten
    sent = _reply(state, configuration, kind_of(change), change.requester, error)
    return forgotten._replace(sends=(*outcome.sends, sent))


def abandon_addition(outcome: Outcome, configuration: Configuration) -> Outcome:
    """The outcome without an addition whose record is not in the log yet: the target that it served is another.

    Rules: reassign.cancel-by-new-target, add-voter.conditions-hold-at-append.
    """
    if not isinstance(outcome.state.pending_change, LearnVersions | CatchUp):
        return outcome
    return _answer_change(outcome, configuration, Error.REASSIGNMENT_IN_PROGRESS)


def answer_clients(outcome: Outcome, configuration: Configuration, requests: Iterable[int], error: Error) -> Outcome:
    """The outcome with this answer to clients that await their target, by the number of the request.

    Rules: reassign.request-success-after-commit, reassign.client-retries.
    """
    state, numbers = outcome.state, sorted(requests)
    if not numbers:
        return outcome
    answers = [client_reply(state, configuration, number, error) for number in numbers]
    others = {number: offset for number, offset in state.awaited_targets.items() if number not in numbers}
    return outcome._replace(state=state._replace(awaited_targets=others), sends=(*outcome.sends, *answers))


def conclude_committed(before: ReplicaState, outcome: Outcome, configuration: Configuration, draw: Draw) -> Outcome:
    """What a risen high watermark brings: the answers that waited for it, and the end of a removed Leader.

    The Leader answers first and then resigns.
    Rules: add-voter.reply-after-commit, remove-voter.reply-after-commit, remove-voter.leader-removal,
    reassign.request-success-after-commit.
    """
    change, committed = outcome.state.pending_change, outcome.state.high_watermark
    if isinstance(change, Commit) and committed > change.offset:
        outcome = _answer_change(outcome, configuration, Error.NONE)
    set_by_now = [number for number, offset in outcome.state.awaited_targets.items() if committed > offset]
    outcome = answer_clients(outcome, configuration, set_by_now, Error.NONE)
    if not removal_is_committed(outcome.state):
        return outcome
    resigned = to_resigned(outcome.state, configuration, Cause.REMOVAL_COMMITTED)
    return outcome._replace(state=resigned, timers=entry_timers(before, resigned, draw, configuration.timeouts))


def after_voter_change_timeout(state: ReplicaState, configuration: Configuration) -> Outcome:
    """The requester learns that its time is over; a record that was appended stays.  Rule: add-voter.timeout."""
    if state.role is not Role.LEADER or state.pending_change is None:
        return Outcome(state, refusal=Refusal.NOT_IN_ROLE)
    return _answer_change(Outcome(state), configuration, Error.REQUEST_TIMED_OUT)


def with_lost_leadership(before: ReplicaState, outcome: Outcome, configuration: Configuration) -> Outcome:
    """The outcome with an answer to every request that a Leader leaves behind; the records live on or are truncated.

    Rules: add-voter.leader-change-leaves-outcome-open, reassign.client-retries.
    """
    change, after, error = before.pending_change, outcome.state, Error.NOT_LEADER_OR_FOLLOWER
    if before.role is not Role.LEADER or after.role is Role.LEADER:
        return outcome
    if change is not None and change.requester is not None and not _is_answered(outcome, change.requester):
        sent = _reply(after, configuration, kind_of(change), change.requester, error)
        outcome = outcome._replace(sends=(*outcome.sends, sent))
    answered = {sent.request for sent in outcome.sends if isinstance(sent, Reply)}
    return answer_clients(outcome, configuration, before.awaited_targets.keys() - answered, error)


def _is_answered(outcome: Outcome, requester: Requester) -> bool:
    """Has the requester been answered in this very step?"""
    return any(_is_answer_to(sent, requester) for sent in outcome.sends)


def _is_answer_to(sent: Message | Reply, requester: Requester) -> bool:
    if isinstance(sent, Reply):
        return requester.replica_id is None and sent.request == requester.request
    return isinstance(sent, ChangeResponse) and sent.correlation_id == requester.request
