"""Voter changes: which request for one is accepted, and which error answers the others.  Beside it: VoterChanges.tla.

AddVoter, RemoveVoter, UpdateVoter and the kraft.version part of UpdateFeatures begin with tests in a fixed order: the
first that fails gives the answer, and nothing has changed.
What comes after the tests is in `pending_changes`.

What the tests keep true: sets that can decide anything at one time differ by at most one voter, so that any majority
of one meets any majority of the other.
That takes two of them: no second change while one is uncommitted, and none before the Leader has committed something
of its own epoch (the bug of single-server changes: what an earlier leader began may otherwise come back).
"""

from kraft_reference.changes import ChangeKind, Commit, LearnVersions, Report, Requester
from kraft_reference.configuration import Configuration
from kraft_reference.effects import StartTimer, Timer
from kraft_reference.events import AddVoter, Draw, RemoveVoter, UpdateFeatures
from kraft_reference.identity import ReplicaKey, VoterDetails, VoterSet, names
from kraft_reference.leadership import with_fetcher
from kraft_reference.messages import AddVoterRequest, Error, RemoveVoterRequest, UpdateVoterRequest
from kraft_reference.outcome import Outcome, Refusal
from kraft_reference.pending_changes import append_change, append_records, conclude_committed, finalized_version
from kraft_reference.records import Record, RecordKind
from kraft_reference.responses import is_foreign, not_for_leader, refused, respond
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState
from kraft_reference.transitions import own_details, voters_record, with_details

# ---------------------------------------------------------------------------------------------------------
# The tests.
# ---------------------------------------------------------------------------------------------------------


def epoch_is_committed(state: ReplicaState) -> bool:
    """Has the Leader committed a record of its own epoch?

    Without it a set that an earlier leader appended may still win an election, two steps away from the next set.
    Rule: voters.epoch-committed-before-change.
    """
    return state.high_watermark > state.epoch_start_offset


def set_is_committed(state: ReplicaState) -> bool:
    """Is the newest voters set committed?  Rule: voters.one-change-at-a-time."""
    offset = state.log.voters[-1].offset
    return offset < state.log.start_offset or state.high_watermark > offset


def is_busy(state: ReplicaState) -> bool:
    """Is the Leader at work on another change?  Rules: voters.one-change-at-a-time, metric.pending-changes."""
    return state.pending_change is not None


def _is_named_well(voter: ReplicaKey) -> bool:
    return voter.id >= 0 and bool(voter.directory_id)


def _membership_error(
    state: ReplicaState, configuration: Configuration, foreign: bool, well_formed: bool
) -> tuple[Error, Refusal] | None:
    """What AddVoter and RemoveVoter test alike.  Rules: add-voter.check-order, remove-voter.check-order."""
    if foreign:
        return Error.INCONSISTENT_CLUSTER_ID, Refusal.FOREIGN_CLUSTER
    # Rules: add-voter.leader-only, remove-voter.leader-only.
    if state.role is not Role.LEADER:
        return Error.NOT_LEADER_OR_FOLLOWER, Refusal.NOT_LEADER
    # Rule: add-voter.well-formed.
    if not well_formed:
        return Error.INVALID_REQUEST, Refusal.MALFORMED_REQUEST
    # Rule: reassign.single-member-steps.
    if state.target is not None:
        return Error.REASSIGNMENT_IN_PROGRESS, Refusal.REQUEST_REFUSED
    # Rules: voters.one-change-at-a-time, voters.epoch-committed-before-change.
    if is_busy(state) or not epoch_is_committed(state):
        return Error.REQUEST_TIMED_OUT, Refusal.REQUEST_REFUSED
    # Rules: add-voter.unsupported-version, voters.static-set-at-version-0.
    if finalized_version(state, configuration) < 1:
        return Error.UNSUPPORTED_VERSION, Refusal.REQUEST_REFUSED
    # Rule: voters.one-change-at-a-time.
    if not set_is_committed(state):
        return Error.REQUEST_TIMED_OUT, Refusal.REQUEST_REFUSED
    return None


# ---------------------------------------------------------------------------------------------------------
# AddVoter and RemoveVoter.
# ---------------------------------------------------------------------------------------------------------


def after_add_voter(state: ReplicaState, configuration: Configuration, asked: AddVoter | AddVoterRequest) -> Outcome:
    """A voter to be added; what follows is to learn its versions, its catching up, and the append.

    Rules: add-voter.check-order, add-voter.duplicate-id, auto-join.uses-the-ordinary-rpcs.
    """
    # Rules: add-voter.leader-only, add-voter.well-formed, add-voter.conditions-hold-at-append.
    well_formed = _is_named_well(asked.voter) and bool(asked.endpoint)
    failed = _membership_error(state, configuration, is_foreign(configuration, asked.cluster_id), well_formed)
    if failed is not None:
        return refused(state, configuration, asked, *failed)
    # Rule: add-voter.duplicate-id.
    if any(voter.id == asked.voter.id for voter in state.voters):
        return refused(state, configuration, asked, Error.DUPLICATE_VOTER)
    assert asked.endpoint, "it is well formed"
    change = LearnVersions(asked.voter, asked.endpoint, _requester(asked, when_committed=asked.when_committed))
    # Rule: add-voter.timeout.
    timers = (StartTimer(Timer.VOTER_CHANGE, asked.timeout_ms),)
    return Outcome(state._replace(pending_change=change), timers=timers)


def after_remove_voter(
    state: ReplicaState, configuration: Configuration, asked: RemoveVoter | RemoveVoterRequest, draw: Draw
) -> Outcome:
    """A voter that is removed at once, the Leader itself included; the last one never.

    Rules: remove-voter.check-order, remove-voter.exact-key, remove-voter.append-and-apply, voters.never-empty,
    remove-voter.leader-removal.
    """
    # Rule: remove-voter.leader-only.
    foreign = is_foreign(configuration, asked.cluster_id)
    failed = _membership_error(state, configuration, foreign, _is_named_well(asked.voter))
    if failed is not None:
        return refused(state, configuration, asked, *failed)
    # Rules: remove-voter.exact-key, voters.never-empty.
    if asked.voter not in state.voters or len(state.voters) == 1:
        return refused(state, configuration, asked, Error.VOTER_NOT_FOUND)
    # Rules: remove-voter.append-and-apply, remove-voter.leader-removal.
    record = voters_record(state, state.voters - {asked.voter}, state.log.voters[-1].details)
    change = commit_of(state, (record,), ChangeKind.REMOVE, asked.voter, _requester(asked))
    return begin_change(state, configuration, (record,), change, draw)


def _requester(
    asked: AddVoter | RemoveVoter | AddVoterRequest | RemoveVoterRequest | UpdateVoterRequest,
    *,
    when_committed: bool = True,
) -> Requester:
    if isinstance(asked, AddVoter | RemoveVoter):
        return Requester(None, asked.request, when_committed)
    return Requester(asked.source, asked.correlation_id, when_committed)


def commit_of(
    state: ReplicaState,
    records: tuple[Record, ...],
    kind: ChangeKind,
    voter: ReplicaKey | None,
    requester: Requester | None,
) -> Commit:
    """A change of which these records are all, as it is when they stand at the end of the log."""
    return Commit(kind, voter, state.log.end_offset + len(records) - 1, requester)


def begin_change(
    state: ReplicaState, configuration: Configuration, records: tuple[Record, ...], change: Commit, draw: Draw
) -> Outcome:
    """A change that needs nothing but its commit; a sole voter's commits at once."""
    timer = StartTimer(Timer.VOTER_CHANGE, configuration.timeouts.voter_change_timeout_ms)
    waiting = append_change(Outcome(state), configuration, records, change, draw)
    concluded = conclude_committed(state, waiting, configuration, draw)
    waits = concluded.state.pending_change is not None
    return concluded._replace(timers=(*concluded.timers, timer)) if waits else concluded


# ---------------------------------------------------------------------------------------------------------
# UpdateVoter.
# ---------------------------------------------------------------------------------------------------------


def after_update_voter_request(
    state: ReplicaState, configuration: Configuration, asked: UpdateVoterRequest, draw: Draw
) -> Outcome:
    """A voter tells where it listens and what it supports; who votes stays as it is.

    Rules: update-voter.check-order, update-voter.leader-only, update-voter.not-a-membership-change,
    update-voter.range-must-include-finalized, identity.directory-id-never-silently-replaced.
    """

    if is_foreign(configuration, asked.cluster_id):
        return refused(state, configuration, asked, Error.INCONSISTENT_CLUSTER_ID, Refusal.FOREIGN_CLUSTER)
    if (failed := not_for_leader(state, configuration, asked)) is not None:
        return refused(state, configuration, asked, *failed)
    endpoint = asked.endpoint
    if not _is_named_well(asked.voter) or not endpoint or not 0 <= asked.min_version <= asked.max_version:
        return refused(state, configuration, asked, Error.INVALID_REQUEST, Refusal.MALFORMED_REQUEST)
    ready = epoch_is_committed(state) and set_is_committed(state)
    if is_busy(state) or not ready:
        return refused(state, configuration, asked, Error.REQUEST_TIMED_OUT)
    # Rule: update-voter.in-memory-at-version-0.
    if state.log.kraft_version == 0 and configuration.profile.report_at_version_0 == "refused":
        return refused(state, configuration, asked, Error.UNSUPPORTED_VERSION)
    reported = VoterDetails(asked.voter.id, endpoint, asked.min_version, asked.max_version)
    if not reported.supports(finalized_version(state, configuration)):
        return refused(state, configuration, asked, Error.INVALID_REQUEST)
    entry = next((voter for voter in state.voters if names(voter, asked.voter)), None)
    if entry is None:
        return refused(state, configuration, asked, Error.VOTER_NOT_FOUND)
    # Rule: check-quorum.counts-keys.
    counts = configuration.profile.update_voter_credit == "fetch"
    seen, timers = with_fetcher(state, configuration, entry) if counts else (state, ())
    # Rule: update-voter.in-memory-at-version-0.
    if state.log.kraft_version == 0:
        report = Report(asked.voter, endpoint, asked.min_version, asked.max_version)
        others = [known for known in state.reports if known.key.id != report.key.id]
        noted = seen._replace(reports=tuple(sorted([*others, report])))
        return Outcome(noted, (respond(state, configuration, asked, Error.NONE),), timers)
    details = with_details(state.log.voters[-1].details, reported)
    keys = state.voters - {entry} | {asked.voter}
    if keys == state.voters and details == state.log.voters[-1].details:
        return Outcome(seen, (respond(state, configuration, asked, Error.NONE),), timers)
    records = (voters_record(state, keys, details),)
    # Rule: update-voter.reply-time.
    requester = _requester(asked, when_committed=False)
    change = commit_of(state, records, ChangeKind.UPDATE, asked.voter, requester)
    begun = begin_change(seen, configuration, records, change, draw)
    return begun._replace(timers=(*timers, *begun.timers))


# ---------------------------------------------------------------------------------------------------------
# UpdateFeatures.
# ---------------------------------------------------------------------------------------------------------


def after_update_features(
    state: ReplicaState, configuration: Configuration, asked: UpdateFeatures, draw: Draw
) -> Outcome:
    """kraft.version from 0 to 1: the level and the voters set in one batch; never down.

    Rules: kraft-version.upgrade-atomic-batch, kraft-version.upgrade-needs-all-voters,
    kraft-version.upgrade-needs-all-observers, kraft-version.no-downgrade.
    """

    if state.role is not Role.LEADER:
        return refused(state, configuration, asked, Error.NOT_LEADER_OR_FOLLOWER, Refusal.NOT_LEADER)
    ready = epoch_is_committed(state) and set_is_committed(state)
    if is_busy(state) or not ready:
        return refused(state, configuration, asked, Error.REQUEST_TIMED_OUT)
    if asked.kraft_version == state.log.kraft_version:
        return Outcome(state, (respond(state, configuration, asked, Error.NONE),))
    # Rules: kraft-version.upgrade-needs-all-voters, kraft-version.upgrade-needs-all-observers.
    reports = _reports_for(state, configuration, asked)
    if reports is None:
        return refused(state, configuration, asked, Error.INVALID_UPDATE_VERSION)
    # Rule: kraft-version.upgrade-atomic-batch.
    keys = frozenset(report.key for report in reports)
    details = tuple([VoterDetails(r.key.id, r.endpoint, r.min_version, r.max_version) for r in reports])
    version = Record(state.epoch, RecordKind.KRAFT_VERSION, asked.kraft_version)
    records = (version, voters_record(state, keys, details))
    change = commit_of(state, records, ChangeKind.UPGRADE, None, Requester(None, asked.request))
    return begin_change(state, configuration, records, change, draw)


def _reports_for(state: ReplicaState, configuration: Configuration, asked: UpdateFeatures) -> tuple[Report, ...] | None:
    """What every voter has told of itself, the Leader included, by id; None if the level cannot be reached.

    Only from 0 to 1, and only if every registered broker and every voter supports it; a voter that has not reported
    does not.
    """
    level = asked.kraft_version
    # Rules: kraft-version.no-downgrade, kraft-version.upgrade-needs-all-observers.
    if state.log.kraft_version != 0 or level != 1 or not asked.brokers_min <= level <= asked.brokers_max:
        return None
    own = Report(state.key, *own_details(state, configuration)[1:])
    known = {report.key.id: report for report in (*state.reports, own)}
    reports: list[Report] = []
    for voter in sorted(state.voters):
        report = known.get(voter.id)
        # Rule: kraft-version.upgrade-needs-all-voters.
        if report is None or report.key.directory_id is None or not names(voter, report.key):
            return None
        if not report.min_version <= level <= report.max_version:
            return None
        reports.append(report)
    return tuple(reports)


# ---------------------------------------------------------------------------------------------------------
# Beneath the requests.
# ---------------------------------------------------------------------------------------------------------


def is_one_step(before: VoterSet, after: VoterSet) -> bool:
    """Do two sets differ by one voter at most?  Rule: voters.at-most-one-difference."""
    return len(before ^ after) <= 1


def after_append_voters(state: ReplicaState, configuration: Configuration, voters: VoterSet, draw: Draw) -> Outcome:
    """A voters set from elsewhere, held to the same conditions.

    Rules: voters.at-most-one-difference, voters.one-change-at-a-time, voters.epoch-committed-before-change,
    add-voter.duplicate-id, kraft-version.record-gate.
    """
    if state.role is not Role.LEADER:
        return Outcome(state, refusal=Refusal.NOT_IN_ROLE)
    names_each_once = len({voter.id for voter in voters}) == len(voters)
    one_step = is_one_step(state.voters, voters)
    ready = epoch_is_committed(state) and set_is_committed(state)
    free = state.target is None and not is_busy(state)
    allowed = state.log.kraft_version >= 1 and free and ready
    if not (allowed and one_step and names_each_once):
        return Outcome(state, refusal=Refusal.CHANGE_NOT_ALLOWED)
    known = {details.id: details for details in state.log.voters[-1].details}
    new = {details.id: details for details in configuration.details_of(voters)}
    details = tuple([(known | {i: d for i, d in new.items() if i not in known})[i] for i in sorted(new)])
    after, timers = append_records(state, configuration, (voters_record(state, voters, details),), draw)
    return conclude_committed(state, Outcome(after, timers=timers), configuration, draw)
