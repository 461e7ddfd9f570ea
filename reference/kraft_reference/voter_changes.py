"""Preconditions of AddVoter, RemoveVoter, UpdateVoter and UpdateFeatures, and the error for each.

Any two voter sets by which replicas may elect or commit at the same time differ by at most one voter, so a majority of
one meets every majority of the other.  Two preconditions keep that true:

- No change begins while one is uncommitted.
- No change begins before the leader has committed a record of its own epoch.  Otherwise leader 1 of {1, 2, 3, 4}
  appends {1, 2, 3} and loses its epoch before another voter has the record.  2, elected by 3 and 4, appends {2, 3, 4},
  which 2 and 4 commit before 3 fetches it.  1, then elected by 3 (2 of {1, 2, 3}), makes 2 and 4 truncate a committed
  record: the bug of single-server changes.  With a committed LeaderChange of 2's epoch, 3 would refuse 1.

An AddVoter from request to response:

    client    AddVoter(4)            after_add_voter: preconditions, AwaitingVersions, timer
    leader    ApiVersions to 4       polling.due_change_request
    4         its levels             pending_changes.after_api_versions_response: AwaitingCatchUp
    4         Fetch, Fetch           replication.after_fetch_request: progress by key
    leader    VotersRecord           pending_changes.append_caught_up: the set is in force, AwaitingCommit
    voters    Fetch                  watermark.with_high_watermark, by the new set
    leader    NONE to the client     pending_changes.conclude_committed
    or        REQUEST_TIMED_OUT      pending_changes.after_voter_change_timeout
    or        NOT_LEADER_OR_FOLLOWER pending_changes.answer_open_requests

A RemoveVoter appends at once and goes on from AwaitingCommit.  Beside it: VoterChanges.tla.
"""

from kraft_reference.changes import AwaitingCommit, AwaitingVersions, ChangeKind, Report, Requester
from kraft_reference.configuration import Configuration
from kraft_reference.effects import StartTimer, Timer
from kraft_reference.events import AddVoter, Draw, RemoveVoter, UpdateFeatures
from kraft_reference.identity import ReplicaKey, VoterDetails, VoterSet, names
from kraft_reference.leadership import with_fetcher
from kraft_reference.messages import AddVoterRequest, Error, RemoveVoterRequest, UpdateVoterRequest
from kraft_reference.outcome import Outcome, Refusal
from kraft_reference.pending_changes import append_change, append_records, conclude_committed, finalized_version
from kraft_reference.records import Record, RecordKind
from kraft_reference.responses import leader_error, refuse, respond
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState
from kraft_reference.transitions import own_details, voters_record, with_details

# Preconditions.


def epoch_is_committed(state: ReplicaState) -> bool:
    """Return True if the leader has committed a record of its own epoch; the head of the module has the reason."""
    # Rule: voters.epoch-committed-before-change.
    return state.high_watermark > state.epoch_start_offset


def set_is_committed(state: ReplicaState) -> bool:
    """Return True if the newest voter set is committed."""
    # Rule: voters.one-change-at-a-time.
    offset = state.log.voters[-1].offset
    return offset < state.log.start_offset or state.high_watermark > offset


def is_busy(state: ReplicaState) -> bool:
    """Return True if the leader works on another change."""
    # Rules: voters.one-change-at-a-time, metric.pending-changes.
    return state.pending_change is not None


def _is_complete(voter: ReplicaKey) -> bool:
    return voter.id >= 0 and bool(voter.directory_id)


def _membership_error(
    state: ReplicaState, configuration: Configuration, well_formed: bool
) -> tuple[Error, Refusal] | None:
    """Return the error of the first precondition of AddVoter and RemoveVoter that does not hold.

    The order is Apache Kafka's; KIP-853 leaves it open.  A busy leader answers REQUEST_TIMED_OUT, which KIP-853 allows
    in place of waiting for the earlier change: the requester repeats, and no queue has to survive the leader.
    Rules: add-voter.check-order, remove-voter.check-order.
    """
    leads = state.role is Role.LEADER
    reassigns = state.target is not None
    preconditions = (
        # Only the leader appends.  The client finds the leader in the response.
        # Rules: add-voter.leader-only, remove-voter.leader-only.
        (leads, Error.NOT_LEADER_OR_FOLLOWER, Refusal.NOT_LEADER),
        # Rule: add-voter.well-formed.
        (well_formed, Error.INVALID_REQUEST, Refusal.MALFORMED_REQUEST),
        # The steps of a reassignment are the leader's own.  Rule: reassign.single-member-steps.
        (not reassigns, Error.REASSIGNMENT_IN_PROGRESS, Refusal.REQUEST_REFUSED),
        # Rule: voters.one-change-at-a-time.
        (not is_busy(state), Error.REQUEST_TIMED_OUT, Refusal.REQUEST_REFUSED),
        # Rule: voters.epoch-committed-before-change.
        (epoch_is_committed(state), Error.REQUEST_TIMED_OUT, Refusal.REQUEST_REFUSED),
        # A VotersRecord needs level 1.  Rules: add-voter.unsupported-version, voters.static-set-at-version-0.
        (finalized_version(state, configuration) >= 1, Error.UNSUPPORTED_VERSION, Refusal.REQUEST_REFUSED),
        # A change that timed out, or was answered at its append, may still be uncommitted.
        # Rule: voters.one-change-at-a-time.
        (set_is_committed(state), Error.REQUEST_TIMED_OUT, Refusal.REQUEST_REFUSED),
    )
    return next(((error, refusal) for holds, error, refusal in preconditions if not holds), None)


# AddVoter and RemoveVoter.


def after_add_voter(state: ReplicaState, configuration: Configuration, request: AddVoter | AddVoterRequest) -> Outcome:
    """Begin an addition: the leader will ask the new voter for its supported levels.

    Rules: add-voter.check-order, auto-join.uses-the-ordinary-rpcs.
    """
    # Rules: add-voter.leader-only, add-voter.well-formed, add-voter.conditions-hold-at-append.
    well_formed = _is_complete(request.voter) and bool(request.endpoint)
    failed = _membership_error(state, configuration, well_formed)
    if failed is not None:
        return refuse(state, configuration, request, *failed)
    # Rule: add-voter.duplicate-id.
    if any(voter.id == request.voter.id for voter in state.voters):
        return refuse(state, configuration, request, Error.DUPLICATE_VOTER)
    assert request.endpoint, "it is well formed"
    requester = _requester(request, when_committed=request.when_committed)
    change = AwaitingVersions(request.voter, request.endpoint, requester)
    # Rule: add-voter.timeout.
    timers = (StartTimer(Timer.VOTER_CHANGE, request.timeout_ms),)
    return Outcome(state._replace(pending_change=change), timers=timers)


def after_remove_voter(
    state: ReplicaState, configuration: Configuration, request: RemoveVoter | RemoveVoterRequest, draw: Draw
) -> Outcome:
    """Append the set without a voter, which may be the leader itself but not the last one."""
    # Rules: remove-voter.check-order, remove-voter.leader-only.
    failed = _membership_error(state, configuration, _is_complete(request.voter))
    if failed is not None:
        return refuse(state, configuration, request, *failed)
    # Kafka has no error for the last voter (docs/decisions.md).  Rules: remove-voter.exact-key, voters.never-empty.
    if request.voter not in state.voters or len(state.voters) == 1:
        return refuse(state, configuration, request, Error.VOTER_NOT_FOUND)
    # Rules: remove-voter.append-and-apply, remove-voter.leader-removal.
    record = voters_record(state, state.voters - {request.voter}, state.log.voters[-1].details)
    change = awaiting_commit(state, (record,), ChangeKind.REMOVE, request.voter, _requester(request))
    return begin_change(state, configuration, (record,), change, draw)


def _requester(
    request: AddVoter | RemoveVoter | AddVoterRequest | RemoveVoterRequest | UpdateVoterRequest,
    *,
    when_committed: bool = True,
) -> Requester:
    if isinstance(request, AddVoter | RemoveVoter):
        return Requester(None, request.request, when_committed)
    return Requester(request.source, request.correlation_id, when_committed)


def awaiting_commit(
    state: ReplicaState,
    records: tuple[Record, ...],
    kind: ChangeKind,
    voter: ReplicaKey | None,
    requester: Requester | None,
) -> AwaitingCommit:
    """Return the pending change of records that are about to be appended."""
    return AwaitingCommit(kind, voter, state.log.end_offset + len(records) - 1, requester)


def begin_change(
    state: ReplicaState, configuration: Configuration, records: tuple[Record, ...], change: AwaitingCommit, draw: Draw
) -> Outcome:
    """Append a change that waits only for its commit; a sole voter commits at once."""
    timer = StartTimer(Timer.VOTER_CHANGE, configuration.timeouts.voter_change_timeout_ms)
    waiting = append_change(Outcome(state), configuration, records, change, draw)
    concluded = conclude_committed(state, waiting, configuration, draw)
    waits = concluded.state.pending_change is not None
    return concluded._replace(timers=(*concluded.timers, timer)) if waits else concluded


# UpdateVoter.


def after_update_voter_request(
    state: ReplicaState, configuration: Configuration, request: UpdateVoterRequest, draw: Draw
) -> Outcome:
    """Note the endpoint and supported levels of a voter, in the voter set or, at kraft.version 0, in memory."""
    # Rules: update-voter.check-order, update-voter.leader-only.
    if (failed := leader_error(state, configuration, request)) is not None:
        return refuse(state, configuration, request, *failed)
    endpoint = request.endpoint
    if not _is_complete(request.voter) or not endpoint or not 0 <= request.min_version <= request.max_version:
        return refuse(state, configuration, request, Error.INVALID_REQUEST, Refusal.MALFORMED_REQUEST)
    ready = epoch_is_committed(state) and set_is_committed(state)
    if is_busy(state) or not ready:
        return refuse(state, configuration, request, Error.REQUEST_TIMED_OUT)
    # Rule: update-voter.in-memory-at-version-0.
    if state.log.kraft_version == 0 and configuration.profile.report_at_version_0 == "refused":
        return refuse(state, configuration, request, Error.UNSUPPORTED_VERSION)
    # Rule: update-voter.range-must-include-finalized.
    reported = VoterDetails(request.voter.id, endpoint, request.min_version, request.max_version)
    if not reported.supports(finalized_version(state, configuration)):
        return refuse(state, configuration, request, Error.INVALID_REQUEST)
    # A voter whose directory id the set does not know yet may report it; another directory id is another replica.
    # Rules: update-voter.not-a-membership-change, identity.directory-id-never-silently-replaced.
    entry = next((voter for voter in state.voters if names(voter, request.voter)), None)
    if entry is None:
        return refuse(state, configuration, request, Error.VOTER_NOT_FOUND)
    # Rule: check-quorum.counts-keys.
    counts = configuration.profile.update_voter_credit == "fetch"
    credited, timers = with_fetcher(state, configuration, entry) if counts else (state, ())
    # Rule: update-voter.in-memory-at-version-0.
    if state.log.kraft_version == 0:
        report = Report(request.voter, endpoint, request.min_version, request.max_version)
        others = [known for known in state.reports if known.key.id != report.key.id]
        noted = credited._replace(reports=tuple(sorted([*others, report])))
        return Outcome(noted, (respond(state, configuration, request, Error.NONE),), timers)
    details = with_details(state.log.voters[-1].details, reported)
    keys = state.voters - {entry} | {request.voter}
    if keys == state.voters and details == state.log.voters[-1].details:
        return Outcome(credited, (respond(state, configuration, request, Error.NONE),), timers)
    records = (voters_record(state, keys, details),)
    # Rule: update-voter.reply-time.
    requester = _requester(request, when_committed=False)
    change = awaiting_commit(state, records, ChangeKind.UPDATE, request.voter, requester)
    begun = begin_change(credited, configuration, records, change, draw)
    return begun._replace(timers=(*timers, *begun.timers))


# UpdateFeatures.


def after_update_features(
    state: ReplicaState, configuration: Configuration, request: UpdateFeatures, draw: Draw
) -> Outcome:
    """Raise kraft.version from 0 to 1: the level and the voter set in one batch; never down."""
    if state.role is not Role.LEADER:
        return refuse(state, configuration, request, Error.NOT_LEADER_OR_FOLLOWER, Refusal.NOT_LEADER)
    ready = epoch_is_committed(state) and set_is_committed(state)
    if is_busy(state) or not ready:
        return refuse(state, configuration, request, Error.REQUEST_TIMED_OUT)
    if request.kraft_version == state.log.kraft_version:
        return Outcome(state, (respond(state, configuration, request, Error.NONE),))
    # Rules: kraft-version.upgrade-needs-all-voters, kraft-version.upgrade-needs-all-observers,
    # kraft-version.no-downgrade.
    reports = _reports_for(state, configuration, request)
    if reports is None:
        return refuse(state, configuration, request, Error.INVALID_UPDATE_VERSION)
    # Rule: kraft-version.upgrade-atomic-batch.
    keys = frozenset(report.key for report in reports)
    details = tuple([VoterDetails(r.key.id, r.endpoint, r.min_version, r.max_version) for r in reports])
    version = Record(state.epoch, RecordKind.KRAFT_VERSION, request.kraft_version)
    records = (version, voters_record(state, keys, details))
    change = awaiting_commit(state, records, ChangeKind.UPGRADE, None, Requester(None, request.request))
    return begin_change(state, configuration, records, change, draw)


def _reports_for(
    state: ReplicaState, configuration: Configuration, request: UpdateFeatures
) -> tuple[Report, ...] | None:
    """Return the reports of all voters, the leader's own included, by id; None if the level cannot be reached.

    The only step is from 0 to 1.  Every registered broker and every voter has to support it; a voter that has not
    reported does not.
    """
    level = request.kraft_version
    # Rules: kraft-version.no-downgrade, kraft-version.upgrade-needs-all-observers.
    if state.log.kraft_version != 0 or level != 1 or not request.brokers_min <= level <= request.brokers_max:
        return None
    own = Report(state.key, *own_details(state, configuration)[1:])
    by_id = {report.key.id: report for report in (*state.reports, own)}
    reports: list[Report] = []
    for voter in sorted(state.voters):
        report = by_id.get(voter.id)
        # Rule: kraft-version.upgrade-needs-all-voters.
        if report is None or report.key.directory_id is None or not names(voter, report.key):
            return None
        if not report.min_version <= level <= report.max_version:
            return None
        reports.append(report)
    return tuple(reports)


# A voter set from outside these requests.


def is_one_step(before: VoterSet, after: VoterSet) -> bool:
    """Return True if two sets differ by one voter at most."""
    # Rule: voters.at-most-one-difference.
    return len(before ^ after) <= 1


def after_append_voters(state: ReplicaState, configuration: Configuration, voters: VoterSet, draw: Draw) -> Outcome:
    """Append a voter set of another protocol, under the same preconditions."""
    if state.role is not Role.LEADER:
        return Outcome(state, refusal=Refusal.NOT_IN_ROLE)
    # Rules: add-voter.duplicate-id, voters.at-most-one-difference.
    names_each_once = len({voter.id for voter in voters}) == len(voters)
    one_step = is_one_step(state.voters, voters)
    # Rules: voters.one-change-at-a-time, voters.epoch-committed-before-change, kraft-version.record-gate.
    ready = epoch_is_committed(state) and set_is_committed(state)
    free = state.target is None and not is_busy(state)
    allowed = state.log.kraft_version >= 1 and free and ready
    if not (allowed and one_step and names_each_once):
        return Outcome(state, refusal=Refusal.CHANGE_NOT_ALLOWED)
    known = {details.id: details for details in state.log.voters[-1].details}
    details = tuple([known.get(configured.id, configured) for configured in configuration.details_of(voters)])
    after, timers = append_records(state, configuration, (voters_record(state, voters, details),), draw)
    return conclude_committed(state, Outcome(after, timers=timers), configuration, draw)
