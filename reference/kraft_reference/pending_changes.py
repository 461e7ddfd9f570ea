"""A voter change from its acceptance to its response: the waits, the append, the end.  Beside it: PendingChanges.tla.

The preconditions are in `voter_changes`.
"""

from collections.abc import Iterable

from kraft_reference.changes import (
    AwaitingCatchUp,
    AwaitingCommit,
    AwaitingVersions,
    ChangeKind,
    Requester,
    change_kind,
)
from kraft_reference.configuration import Configuration
from kraft_reference.effects import StartTimer
from kraft_reference.events import Draw
from kraft_reference.identity import Offset, ReplicaId, ReplicaKey, VoterDetails
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
from kraft_reference.responses import known_endpoint, reply_to
from kraft_reference.roles import Cause, Role
from kraft_reference.state import ReplicaState
from kraft_reference.transitions import to_resigned, voters_record, with_details
from kraft_reference.watermark import with_high_watermark

_RESPONSES: dict[ChangeKind, type[ChangeResponse]] = {
    ChangeKind.ADD: AddVoterResponse,
    ChangeKind.REMOVE: RemoveVoterResponse,
    ChangeKind.UPDATE: UpdateVoterResponse,
}


def _respond_to(
    state: ReplicaState, configuration: Configuration, kind: ChangeKind, requester: Requester, error: Error
) -> Message | Reply:
    """Return the response to a request for a voter change, with the leader that the replica knows.

    Rules: add-voter.leader-only, remove-voter.leader-only, update-voter.leader-only.
    """
    if requester.replica_id is None:
        return reply_to(state, configuration, requester.request, error)
    led = (error, state.epoch, state.leader_id, known_endpoint(state, configuration))
    return _RESPONSES[kind](state.key.id, requester.replica_id, requester.request, *led)


def finalized_version(state: ReplicaState, configuration: Configuration) -> int:
    """Return the level of kraft.version that decides which requests a leader accepts.

    Rule: kraft-version.finalized-when.
    """
    if configuration.profile.kraft_version_gate == "append":
        return state.log.kraft_version
    versions = state.log.versions
    committed = [entry.kraft_version for entry in versions[1:] if entry.offset < state.high_watermark]
    return committed[-1] if committed else versions[0].kraft_version


# The append.


def append_records(
    before: ReplicaState, configuration: Configuration, records: tuple[Record, ...], draw: Draw
) -> tuple[ReplicaState, tuple[StartTimer, ...]]:
    """Return the leader with records in its log, and the timers that it starts; a new voter set takes effect at once.

    Rules: voters.effective-on-append, add-voter.append-and-apply, remove-voter.append-and-apply.
    """
    # The leader syncs before it counts its own log end.  Rules: durable.flush-before-fetch, hw.majority.
    after = before._replace(log=flush(append(before.log, records)))
    if after.voters != before.voters:
        # A removed voter counts for nothing any more, and an added one has done nothing yet, even under the same id.
        # Rules: identity.leader-tracks-by-key, voters.begin-epoch-to-current-voters,
        # reassign.begin-epoch-to-new-voter, check-quorum.counts-keys.
        same = {voter.id for voter in before.voters & after.voters}
        after = after._replace(fetchers=after.fetchers & same, acknowledging_voters=after.acknowledging_voters & same)
    # A sole voter has no timers; with another voter in the set it needs them.  Rule: check-quorum.sole-voter.
    starts = has_check_quorum_timer(after) and not has_check_quorum_timer(before)
    timers = entry_timers(before, after, draw, configuration.timeouts) if starts else ()
    return with_high_watermark(after), timers


# The waits.


def api_versions_request(state: ReplicaState, correlation_id: int) -> ApiVersionsRequest:
    """Return the leader's question to a new voter for its supported levels.  Rule: add-voter.learn-versions."""
    change = state.pending_change
    assert isinstance(change, AwaitingVersions), "there is an addition that asks for versions"
    return ApiVersionsRequest(state.key.id, change.voter.id, correlation_id)


def awaits_versions_of(state: ReplicaState, configuration: Configuration) -> ReplicaId | None:
    """Return the id of the new voter that the leader has yet to ask for its versions; None if it cannot be reached.

    Rule: add-voter.learn-versions.
    """
    change = state.pending_change
    if not isinstance(change, AwaitingVersions):
        return None
    return change.voter.id if change.voter.id in configuration.replicas else None


def after_api_versions_request(
    state: ReplicaState, configuration: Configuration, request: ApiVersionsRequest
) -> Outcome:
    """Every replica responds with the levels that its software supports.  Rule: kraft-version.levels."""
    own = configuration.replicas[state.key.id]
    return Outcome(
        state,
        (ApiVersionsResponse(state.key.id, request.source, request.correlation_id, own.min_version, own.max_version),),
    )


def after_api_versions_response(
    state: ReplicaState, configuration: Configuration, response: ApiVersionsResponse, draw: Draw
) -> Outcome:
    """The new voter supports the finalized level and has to catch up, or the request fails."""
    # Rule: add-voter.learn-versions.
    change = state.pending_change
    if not isinstance(change, AwaitingVersions) or change.voter.id != response.source:
        return Outcome(state, refusal=Refusal.NO_CHANGE_WAITS)
    # Rule: add-voter.version-must-be-supported.
    if not response.min_version <= finalized_version(state, configuration) <= response.max_version:
        return _end_change(Outcome(state), configuration, Error.INVALID_REQUEST)
    # Rule: add-voter.catch-up-first.
    setting = configuration.profile.lagging_voter
    caught_up_offset = 0 if setting == "added" else state.log.end_offset
    if setting != "awaited" and not _has_fetched_up_to(state, change.voter, caught_up_offset):
        return after_voter_change_timeout(state, configuration)
    details = VoterDetails(change.voter.id, change.endpoint, response.min_version, response.max_version)
    learned = AwaitingCatchUp(change.voter, details, caught_up_offset, change.requester)
    return append_caught_up(Outcome(state._replace(pending_change=learned)), configuration, draw)


def _has_fetched_up_to(state: ReplicaState, voter: ReplicaKey, offset: Offset) -> bool:
    """True if this replica has; its progress counts by replica key, not by id.  Rule: identity.could-become-voter."""
    return state.fetch_offsets.get(voter, -1) >= offset


def append_caught_up(outcome: Outcome, configuration: Configuration, draw: Draw) -> Outcome:
    """Return the outcome with the new voter added to the set, if it has caught up.

    It has when it has fetched up to the end that the leader's log had when the wait began.  One round is enough: with
    a moving end, clients that keep appending could make the wait endless.
    The other preconditions held at the request.  They still hold, because every other append of a set is refused while
    this addition is pending, and a new target ends it (`abandon_addition`).
    """
    # Rules: add-voter.catch-up-first, add-voter.conditions-hold-at-append.
    state = outcome.state
    change = state.pending_change
    if not isinstance(change, AwaitingCatchUp):
        return outcome
    voter = change.voter
    if not _has_fetched_up_to(state, voter, change.log_end_offset):
        return outcome
    # Rule: add-voter.append-and-apply.
    details = with_details(state.log.voters[-1].details, change.details)
    record = voters_record(state, state.voters | {voter}, details)
    added = AwaitingCommit(ChangeKind.ADD, voter, state.log.end_offset, change.requester, change.details)
    return append_change(outcome, configuration, (record,), added, draw)


def append_change(
    outcome: Outcome,
    configuration: Configuration,
    records: tuple[Record, ...],
    change: AwaitingCommit,
    draw: Draw,
) -> Outcome:
    """Return the outcome with the records of a change appended; the response waits for their commit if it has to."""
    # Rules: kraft-version.upgrade-atomic-batch, add-voter.reply-after-commit, remove-voter.reply-after-commit,
    # update-voter.reply-time, kraft-version.reply-after-commit.
    after, timers = append_records(outcome.state, configuration, records, draw)
    waiting = Outcome(after._replace(pending_change=change), outcome.sends, (*outcome.timers, *timers), outcome.refusal)
    answers_now = change.requester is not None and not change.requester.when_committed
    return _end_change(waiting, configuration, Error.NONE) if answers_now else waiting


# The end.


def _end_change(outcome: Outcome, configuration: Configuration, error: Error) -> Outcome:
    """Return the outcome without the pending change, and with the response to its requester, if there is one."""
    state = outcome.state
    change = state.pending_change
    assert change is not None, "there is a change to end"
    ended = outcome._replace(state=state._replace(pending_change=None))
    if change.requester is None:
        return ended
    response = _respond_to(state, configuration, change_kind(change), change.requester, error)
    return ended._replace(sends=(*outcome.sends, response))


def abandon_addition(outcome: Outcome, configuration: Configuration) -> Outcome:
    """Return the outcome without an addition whose record is not in the log yet, because the target is another now."""
    # Rules: reassign.cancel-by-new-target, add-voter.conditions-hold-at-append.
    if not isinstance(outcome.state.pending_change, AwaitingVersions | AwaitingCatchUp):
        return outcome
    return _end_change(outcome, configuration, Error.REASSIGNMENT_IN_PROGRESS)


def reply_to_clients(outcome: Outcome, configuration: Configuration, requests: Iterable[int], error: Error) -> Outcome:
    """Return the outcome with this reply to clients that await their target, by the number of the request."""
    # Rules: reassign.request-success-after-commit, reassign.client-retries.
    state, numbers = outcome.state, sorted(requests)
    if not numbers:
        return outcome
    replies = [reply_to(state, configuration, number, error) for number in numbers]
    others = {number: offset for number, offset in state.awaited_targets.items() if number not in numbers}
    return outcome._replace(state=state._replace(awaited_targets=others), sends=(*outcome.sends, *replies))


def conclude_committed(before: ReplicaState, outcome: Outcome, configuration: Configuration, draw: Draw) -> Outcome:
    """Return the outcome with the responses that waited for the high watermark; a removed leader then resigns."""
    # Rules: add-voter.reply-after-commit, remove-voter.reply-after-commit.
    change, committed = outcome.state.pending_change, outcome.state.high_watermark
    if isinstance(change, AwaitingCommit) and committed > change.offset:
        outcome = _end_change(outcome, configuration, Error.NONE)
    # Rule: reassign.request-success-after-commit.
    committed_requests = [number for number, offset in outcome.state.awaited_targets.items() if committed > offset]
    outcome = reply_to_clients(outcome, configuration, committed_requests, Error.NONE)
    # Rule: remove-voter.leader-removal.
    if not removal_is_committed(outcome.state):
        return outcome
    resigned = to_resigned(outcome.state, configuration, Cause.REMOVAL_COMMITTED)
    return outcome._replace(state=resigned, timers=entry_timers(before, resigned, draw, configuration.timeouts))


def after_voter_change_timeout(state: ReplicaState, configuration: Configuration) -> Outcome:
    """The requester gets REQUEST_TIMED_OUT; a record that was appended stays in the log."""
    # Rule: add-voter.timeout.
    if state.role is not Role.LEADER or state.pending_change is None:
        return Outcome(state, refusal=Refusal.NOT_IN_ROLE)
    return _end_change(Outcome(state), configuration, Error.REQUEST_TIMED_OUT)


def answer_open_requests(outcome: Outcome, configuration: Configuration) -> Outcome:
    """Return the outcome with NOT_LEADER_OR_FOLLOWER to every request that a former leader has left open.

    The change itself may live on: the record is in the log, and the next leader commits it or truncates it.
    """
    # Rules: add-voter.leader-change-leaves-outcome-open, reassign.client-retries.
    state = outcome.state
    if state.role is Role.LEADER or (state.pending_change is None and not state.awaited_targets):
        return outcome
    if state.pending_change is not None:
        outcome = _end_change(outcome, configuration, Error.NOT_LEADER_OR_FOLLOWER)
    return reply_to_clients(outcome, configuration, state.awaited_targets, Error.NOT_LEADER_OR_FOLLOWER)
