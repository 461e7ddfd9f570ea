"""Rules that no vector covers: order of checks, timers, files, and effects without a message."""

from dataclasses import replace
from itertools import product

import pytest
from tests.reference.builders import (
    CHANGE,
    DRAW,
    ELECTION,
    FETCH,
    FETCHED,
    OBSERVED,
    SIX,
    TARGET,
    THREE,
    appended,
    assignment,
    candidate,
    catching_up,
    checkpoint,
    cluster,
    details,
    endpoint,
    established,
    follower,
    joining,
    key,
    keys,
    leader,
    learning,
    log_of,
    messages,
    prospective,
    reassigning,
    receive,
    refused,
    resigned,
    step,
    steps,
    stopped,
    unattached,
    version_record,
    voters_record,
)
from tests.reference.wire import (
    add_voter,
    api_versions,
    api_versions_reply,
    asked,
    bqe,
    fetch,
    fetch_reply,
    fetch_snapshot,
    fetch_snapshot_reply,
    pre_vote,
    pre_vote_reply,
    remove_voter,
    reply,
    update_voter,
    vote,
    vote_reply,
)

from kraft_reference.changes import AwaitingCommit, ChangeKind
from kraft_reference.configuration import Timeouts
from kraft_reference.effects import PersistQuorumState, Send, StartTimer, Timer
from kraft_reference.events import (
    AddVoter,
    AdvanceReassignment,
    AlterPartitionReassignments,
    CheckQuorumTimeout,
    Crash,
    Draw,
    ElectionTimeout,
    Event,
    FetchTimeout,
    Poll,
    Receive,
    RemoveVoter,
    RequestTimeout,
    Restart,
    VoterChangeTimeout,
)
from kraft_reference.identity import ReplicaKey, VoterDetails
from kraft_reference.log import append, flush, log_from, needs_snapshot, truncate
from kraft_reference.messages import (
    Error,
    UpdateVoterRequest,
    UpdateVoterResponse,
)
from kraft_reference.outcome import Outcome, Refusal
from kraft_reference.polling import due_fetch_targets
from kraft_reference.profile import with_settings
from kraft_reference.quorum_reassignment import next_steps
from kraft_reference.records import Record, RecordKind
from kraft_reference.replica import Replica, handle
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState, is_voter
from kraft_reference.transitions import endpoint_of
from kraft_simulation.event_queue import Chance
from kraft_simulation.world import World

LONG = log_of(4, 4)


@pytest.mark.parametrize(
    ("changes", "error", "epoch", "reason"),
    [
        ({"cluster_id": "X", "last_epoch": 9, "epoch": 1}, Error.INCONSISTENT_CLUSTER_ID, 5, Refusal.FOREIGN_CLUSTER),
        ({"last_epoch": 9, "epoch": 1}, Error.INVALID_REQUEST, 5, Refusal.MALFORMED_REQUEST),
        ({"end_offset": -1, "epoch": 1}, Error.INVALID_REQUEST, 5, Refusal.MALFORMED_REQUEST),
        ({"last_epoch": -1, "epoch": 1}, Error.INVALID_REQUEST, 5, Refusal.MALFORMED_REQUEST),
        ({"epoch": 4, "voter_key": key(1, "Uold")}, Error.FENCED_LEADER_EPOCH, 5, Refusal.STALE_EPOCH),
        ({"epoch": 7, "voter_key": key(1, "Uold")}, Error.INVALID_REQUEST, 7, None),
        ({"epoch": 5, "voter_key": key(1, "Uold"), "last_epoch": 5, "end_offset": 9}, Error.INVALID_REQUEST, 5, None),
        ({"epoch": 5}, Error.NONE, 5, None),
    ],
)
@pytest.mark.parametrize("request_of", [vote, pre_vote])
def test_prevote_request_check_order(
    request_of: type, changes: dict[str, object], error: Error, epoch: int, reason: Refusal | None
) -> None:
    """Rule: prevote.request.check-order."""
    state = unattached(5, log=LONG)
    request = replace(request_of(3, 1, 5), **changes)
    if not request.pre_vote and request.last_epoch == request.epoch:
        request = replace(request, last_epoch=4)
    answer = vote_reply(1, 3, epoch, False, error=error, pre_vote=request.pre_vote)
    assert receive(state, request) == Outcome(unattached(epoch, log=LONG), (answer,), (), reason)


def test_vote_grant_resets_timer() -> None:
    """Rule: vote.grant.resets-timer."""
    assert receive(unattached(5), vote(2, 1, 5)).timers == (ELECTION,)
    assert receive(resigned(4), vote(2, 1, 5)).timers == (ELECTION,)
    assert receive(unattached(5, log=log_of(4)), vote(2, 1, 5)).timers == ()
    # An observer votes, too, but has no election timer.
    observer = unattached(5, 4, log=log_of(voters=OBSERVED.voters))
    assert receive(observer, vote(2, 4, 5), OBSERVED).timers == ()


def test_roles() -> None:
    """Rule: state.roles."""
    assert set(Role) == {"Unattached", "Prospective", "Candidate", "Leader", "Follower", "Resigned", "Stopped"}
    world = World(THREE)
    assert [world.state(i) for i in (1, 2, 3)] == [unattached(0, i) for i in (1, 2, 3)]


def test_sole_voter() -> None:
    """Rule: state.sole-voter."""
    alone = cluster(1)
    log = log_of(voters=alone.voters)
    records = (
        Record(1, RecordKind.LEADER_CHANGE, 1),
        Record(1, RecordKind.KRAFT_VERSION, 1),
        voters_record(1, 1),
    )
    after = leader(1, log=log, epoch_start_offset=0, high_watermark=3)._replace(log=flush(append(log, records)))
    assert step(unattached(0, log=log), ElectionTimeout(), alone) == Outcome(after)


def test_timers_random() -> None:
    """Rule: state.timers.random."""
    later = Draw(1, 1999, 0)
    for state in (unattached(4), candidate(4), leader(4)):
        event = CheckQuorumTimeout() if state.role is Role.LEADER else ElectionTimeout()
        assert handle(state, THREE, event, later).timers == (StartTimer(Timer.ELECTION, 1999),)
    assert handle(unattached(4), THREE, Receive(bqe(2, 1, 4)), later).timers == (FETCH,)
    chance = Chance(1)
    drawn = {chance.draw(1, THREE.timeouts).election_timeout_ms for _ in range(500)}
    assert 1000 <= min(drawn) < 1100 < 1900 < max(drawn) < 2000


STATIC = cluster(3, kraft_version=0)
STATIC_LOG = log_of(voters=STATIC.voters)


def test_durable_vote_v0_uuid_in_memory() -> None:
    """Rules: durable.vote.v0-uuid-in-memory, identity.voted-uuid-volatile-at-version-0."""
    voted = receive(unattached(5, log=STATIC_LOG), vote(3, 1, 5), STATIC).state
    assert voted.voted_key == key(3)
    other_disk = vote(3, 1, 5, replica_key=key(3, "U3'"))
    assert receive(voted, other_disk, STATIC).sends == (vote_reply(1, 3, 5, False),)
    back = step(step(voted, Crash(0), STATIC).state, Restart(), STATIC).state
    assert receive(back, other_disk, STATIC).sends == (vote_reply(1, 3, 5, True),)
    assert receive(back, vote(2, 1, 5), STATIC).sends == (vote_reply(1, 2, 5, False),)
    # At kraft.version 1 the disk stores the directory id.
    kept = step(stopped(5, voted=key(3)), Restart()).state
    assert receive(kept, other_disk).sends == (vote_reply(1, 3, 5, False),)


def test_durable_soft_transitions() -> None:
    """Rules: durable.soft-transitions, state.resigned.timer-handover."""
    electing = Replica(follower(4, 1, 3), THREE)
    assert electing.step(FetchTimeout(), DRAW).effects == (ELECTION,)
    electing.step(Crash(0), DRAW)
    assert electing.step(Restart(), DRAW).state == follower(4, 1, 3)
    assert Replica(leader(4), THREE).step(CheckQuorumTimeout(), DRAW).effects == (ELECTION,)
    granted = Replica(unattached(4), THREE).step(Receive(pre_vote(3, 1, 4)), DRAW)
    assert granted.effects == (Send(pre_vote_reply(1, 3, 4, True)),)
    left = Replica(resigned(4), THREE).step(ElectionTimeout(), DRAW)
    assert left.effects == (PersistQuorumState(5, None, None), StartTimer(Timer.ELECTION, 0))


@pytest.mark.parametrize("own", [1, 4], ids=["voter", "observer"])
def test_a_resigned_voter_without_pre_vote_becomes_candidate_of_the_next_epoch(own: int) -> None:
    """Rule: state.resigned.timeout."""
    without = cluster(3, observers=1, pre_vote={1: "unsupported", 4: "unsupported"})
    left = step(resigned(4, own), ElectionTimeout(), without)
    if own == 1:
        assert (left.state, left.timers) == (candidate(5), (ELECTION,))
    else:
        assert (left.state, left.timers) == (unattached(5, own), ())


def test_a_follower_without_responses_fetches_from_other_servers() -> None:
    """Rules: fetch.who-fetches, update-voter.when-sent."""
    waits = follower(4, 2, log=log_of(3), fetched=True, moved_to="elsewhere:1", awaiting={2: 77})
    again = step(waits, RequestTimeout(2)).state
    assert due_fetch_targets(again, THREE) == (2,)
    servers_too = replace(THREE, profile=with_settings(THREE.profile, "wide", unanswered_fetch="servers-too"))
    searches = step(waits, RequestTimeout(2), servers_too).state
    assert searches == again._replace(searching=True)
    assert due_fetch_targets(searches, servers_too) == (2, 3)
    refused_report = UpdateVoterResponse(2, 1, 77, Error.REQUEST_TIMED_OUT, 4, 2, endpoint(2))
    assert step(waits, Receive(refused_report), servers_too).state == searches
    assert step(waits, Receive(refused_report)).state == again
    # Only the leader's silence counts, and a voter still sends its report to it.
    other = waits._replace(awaiting={3: 77})
    assert not step(other, RequestTimeout(3), servers_too).state.searching
    (report,) = messages(step(searches, Poll(), servers_too))
    assert (type(report), report.destination) == (UpdateVoterRequest, 2)


def test_the_bootstrap_checkpoint_is_not_replicated() -> None:
    """Rules: fetch.snapshot.bootstrap-not-served, snapshot.bootstrap-checkpoint."""
    state = established(4, log=log_of(3, 3))
    answer = fetch_snapshot_reply(1, 2, 4, 1, None, error=Error.SNAPSHOT_NOT_FOUND)
    assert receive(state, fetch_snapshot(2, 1, 4, (0, 0))).sends == (answer,)
    # A replica with an empty log fetches from the log.
    served = receive(state, fetch(4, 1, 4, 0, 0), OBSERVED).sends
    assert served == (fetch_reply(1, 4, 4, 1, state.log.records, high_watermark=3),)
    assert not needs_snapshot(state.log, 0, 0)


def test_check_quorum_period() -> None:
    """Rule: check-quorum.period."""
    for fetch_timeout_ms in (10, 2000, 9999):
        timeouts = Timeouts(fetch_timeout_ms=fetch_timeout_ms)
        assert timeouts.begin_quorum_epoch_interval_ms < fetch_timeout_ms < timeouts.check_quorum_period_ms


def test_the_clock_of_a_leader_chooses_among_the_voters_that_fetch() -> None:
    """Rule: begin-quorum.resend.  Replica 2 fetches, 3 has acknowledged, 4 has done neither."""
    voters = log_of(1, more=(voters_record(4, 1, 2, 3, 4),))
    state = leader(4, log=voters, fetch_offsets={key(2): 1}, acknowledging_voters=frozenset([3]))
    for announce_to in ((4,), (2, 4), (2, 3, 4)):
        requests = messages(step(state, Poll(announce_to), OBSERVED))
        assert [(type(sent).__name__, sent.destination) for sent in requests] == [
            ("BeginQuorumEpochRequest", to) for to in announce_to
        ]
    assert step(state, Poll((2, 3, 4)), OBSERVED).state.acknowledging_voters == frozenset()
    for impossible in ((), (2, 3), (1, 4), (4, 9)):
        assert step(state, Poll(impossible), OBSERVED) == refused(state, Refusal.NOTHING_DUE)
    assert step(state._replace(awaiting={4: 7}), Poll((4,)), OBSERVED).refusal is Refusal.NOTHING_DUE
    assert step(candidate(4, log=voters), Poll((2, 3, 4)), OBSERVED).refusal is Refusal.NOTHING_DUE


def test_election_requests_go_to_the_voters_of_the_newest_set() -> None:
    """Rules: state.voters-set.own-majority, voters.endpoints-are-part-of-the-set."""
    newer = log_of(more=(voters_record(4, 2, 3, 4),))
    for state in (prospective(4, 2, log=newer), candidate(4, 2, log=newer), leader(4, 2, log=newer)):
        assert [request.destination for request in messages(step(state, Poll(), OBSERVED))] == [3, 4]
    assert endpoint_of(prospective(4, 2, log=newer), OBSERVED, 4, None) == endpoint(4)
    assert endpoint_of(prospective(4, 2, log=newer), OBSERVED, 1, None) is None


def test_endpoints_are_read_from_the_newest_set() -> None:
    """Rules: voters.endpoints-are-part-of-the-set, voters.network-client-follows-set."""
    moved = Record(4, RecordKind.VOTERS, 0, keys(1, 2, 3), (*details(1, 2), VoterDetails(3, "host-b:1", 0, 1)))
    log = log_of(3, more=(moved,))
    # An announcement of old software has no endpoint: the voter set has it.
    notified = receive(unattached(4, 2, log=log), bqe(3, 2, 4, leader_endpoint=None)).state
    assert notified == follower(4, 3, 2, log=log, leader_endpoint="host-b:1")
    # Truncation removes the voter set and its endpoint.
    before = truncate(log, 1)
    assert receive(unattached(4, 2, log=before), bqe(3, 2, 4, leader_endpoint=None)).state == follower(
        4, 3, 2, log=before
    )
    # A replica outside the voter set has no endpoint there.
    stranger = receive(unattached(4, 2, log=log), bqe(4, 2, 4, leader_endpoint=None), OBSERVED).state
    assert stranger == unattached(4, 2, leader=4, log=log)
    added = flush(append(log, [voters_record(4, 1, 2, 3, 4)]))
    reached = receive(unattached(4, 2, log=added), bqe(4, 2, 4, leader_endpoint=None), OBSERVED).state
    assert reached == follower(4, 4, 2, log=added)


def test_a_removed_voter_that_missed_its_removal_deposes_no_leader() -> None:
    """Rule: voters.removed-voter-must-not-disrupt."""
    log = log_of(3, more=(voters_record(4, 1, 2),))
    second = follower(4, 1, 2, log=log, fetched=True)
    request = pre_vote(3, 2, 4, (3, 9))
    assert receive(second, request) == Outcome(second, (pre_vote_reply(2, 3, 4, False, leader=1),))
    leading = established(4, log=log)
    assert receive(leading, pre_vote(3, 1, 4, (3, 9))) == Outcome(leading, (pre_vote_reply(1, 3, 4, False, leader=1),))
    # It learns of its removal by fetching.
    third = follower(4, 1, 3, log=log_of(3), awaiting=asked(1))
    read = receive(third, fetch_reply(1, 3, 4, 1, (voters_record(4, 1, 2),))).state
    assert not is_voter(read)


JOINING = joining(OBSERVED, 3, 4)


def test_a_removed_replica_that_joins_comes_back() -> None:
    # The operator must notice that it is missing, whoever removed it.
    """Rule: auto-join.stop-before-removal."""
    third = follower(4, 1, 3, log=log_of(3), awaiting=asked(1))
    read = receive(third, fetch_reply(1, 3, 4, 1, (voters_record(4, 1, 2),)), JOINING).state
    assert step(read, Poll(), JOINING).sends == (add_voter(3, 1, correlation_id=77),)
    assert step(read, Poll(), THREE) == refused(read, Refusal.NOTHING_DUE)


TO_FOUR_FIVE_SIX = AlterPartitionReassignments(9, (4, 5, 6))
STOP = AlterPartitionReassignments(9, None)


def answered(state: ReplicaState, error: Error, refusal: Refusal | None = Refusal.REQUEST_REFUSED) -> Outcome:
    """Return the outcome that only responds to request 9."""
    return Outcome(state, (reply(9, state.epoch, state.leader_id, error),), (), refusal)


def test_the_checks_of_a_target_come_in_their_order() -> None:
    # Each line corrects the first fault of the line before.
    """Rules: reassign.request-leader-only, reassign.cancel-null, wire.reassignment-rpcs."""
    static = cluster(3, observers=3, kraft_version=0)
    at_level_0 = established(4, log=log_of(voters=static.voters))
    unfinalized = appended(at_level_0, version_record(4), voters_record(4, 1, 2, 3))
    finalized = unfinalized._replace(high_watermark=3)
    wrong = AlterPartitionReassignments(9, ())
    assert step(unattached(4, log=at_level_0.log), STOP, static) == answered(
        unattached(4, log=at_level_0.log), Error.NOT_LEADER_OR_FOLLOWER, Refusal.NOT_LEADER
    )
    assert step(at_level_0, STOP, static) == answered(at_level_0, Error.UNSUPPORTED_VERSION)
    assert step(unfinalized, wrong, static) == answered(unfinalized, Error.UNSUPPORTED_VERSION)
    assert step(finalized, STOP, static) == answered(finalized, Error.NO_REASSIGNMENT_IN_PROGRESS)
    assert step(finalized, wrong, static) == answered(finalized, Error.INVALID_REPLICA_ASSIGNMENT)
    accepted = step(finalized, TO_FOUR_FIVE_SIX, static)
    assert (accepted.refusal, accepted.sends, accepted.state.target) == (None, (), TARGET)


def test_a_request_of_another_cluster_is_refused_before_it_is_looked_at() -> None:
    """Rules: add-voter.check-order, remove-voter.check-order, update-voter.check-order."""
    nobody = ReplicaKey(-1, "")
    foreign: list[Event] = [AddVoter(9, nobody, None, cluster_id="X"), RemoveVoter(9, nobody, cluster_id="X")]
    foreign += [
        Receive(add_voter(4, 1, voter=nobody, cluster_id="X")),
        Receive(remove_voter(4, 1, nobody, cluster_id="X")),
        Receive(update_voter(2, 1, 9, voter=nobody, cluster_id="X")),
    ]
    for state, event in product((established(4), follower(4, 2)), foreign):
        outcome = step(state, event)
        (answer,) = outcome.sends
        assert (outcome.state, outcome.refusal) == (state, Refusal.FOREIGN_CLUSTER)
        assert getattr(answer, "error", None) is Error.INCONSISTENT_CLUSTER_ID


def test_0_is_the_id_of_a_voter() -> None:
    """Rule: add-voter.well-formed."""
    accepted = step(established(4), AddVoter(9, ReplicaKey(0, "U0"), "E0"))
    assert (accepted.refusal, accepted.sends) == (None, ())


def test_a_replica_formatted_for_other_static_voters_does_not_start() -> None:
    """Rule: durable.fields-v0."""
    down = stopped(5, log=log_of(5, voters=STATIC.voters))
    with pytest.raises(ValueError, match="formatted for other static voters"):
        step(down, Restart(), cluster(4, kraft_version=0))
    assert step(down, Restart(), STATIC).state.role is Role.UNATTACHED
    # From a snapshot on, the voters are those of its author; the file's are not kept separately.
    loaded = stopped(5, log=log_from(checkpoint(STATIC.voters, 5, 5)))
    assert step(loaded, Restart(), cluster(4, kraft_version=0)).state.role is Role.UNATTACHED


def test_voters_and_target_are_read_from_the_log_not_from_the_file() -> None:
    """An uncommitted assignment stays in force after a restart until it is truncated.

    Rule: reassign.quorum-state-holds-committed-assignment.
    """
    records = (assignment(3, 1, 2, 3, target=(4, 5, 6)), assignment(3, 1, 2, 3, 4, target=(4, 5, 6)))
    down = stopped(3, 4, leader=1, log=log_of(more=records))
    back = step(down, Restart(), SIX).state
    assert (back.role, back.high_watermark) == (Role.FOLLOWER, -1)
    assert (back.voters, back.target, is_voter(back)) == (keys(1, 2, 3, 4), TARGET, True)


def test_a_removed_voter_is_served_and_learns_of_it_from_the_record() -> None:
    """Rule: reassign.removed-voter-told-by-fetch."""
    state = appended(reassigning(1, 2, 3, 4), assignment(4, 1, 2, 4, target=(4, 5, 6)))._replace(high_watermark=3)
    answer = receive(state, fetch(3, 1, 4, 2, 4), SIX).sends[0]
    assert answer == fetch_reply(1, 3, 4, 1, (assignment(4, 1, 2, 4, target=(4, 5, 6)),), high_watermark=3)
    removed = follower(4, 1, 3, log=reassigning(1, 2, 3, 4).log, awaiting=asked(1), high_watermark=2)
    notified = receive(removed, replace(answer, correlation_id=7), SIX).state
    assert (is_voter(removed), is_voter(notified), notified.role) == (True, False, Role.FOLLOWER)


def test_a_leader_without_fetches_resigns() -> None:
    """Rule: reassign.zombie-leader."""
    state = reassigning(1, 4, 5, 6, acknowledging_voters=frozenset(TARGET))
    assert step(state, CheckQuorumTimeout(), SIX).state.role is Role.RESIGNED
    # It has not requested the quorum before.
    assert step(state, Poll(), SIX) == refused(state, Refusal.NOTHING_DUE)


def test_progress_of_observers_is_known_without_a_target() -> None:
    """Rule: reassign.progress-only-during."""
    for state in (established(4), reassigning(1, 2, 3), reassigning(1, 2, 3, target=None)):
        end = state.log.end_offset
        assert receive(state, fetch(4, 1, 4, end, 4), SIX).state.fetch_offsets == {key(4): end}


def test_no_replica_is_added_before_it_has_fetched() -> None:
    """Rule: reassign.promotion-by-leader."""
    assert steps(reassigning(1, 2, 3)) == []
    assert next_steps(reassigning(1, 2, 3, fetch_offsets={key(5): 0, key(2): 2})) == {key(5)}
    # An old Fetch without a directory id has no key that could become a voter.
    assert steps(reassigning(1, 2, 3, fetch_offsets={ReplicaKey(5): 2})) == []


def test_each_disk_of_an_id_may_be_the_one_to_add() -> None:
    """Rule: reassign.promotion-by-leader."""
    disks = {key(5): 1, key(5, "U5'"): 2, ReplicaKey(5): 2}
    state = reassigning(1, 2, 3, fetch_offsets=disks)
    assert next_steps(state) == {key(5), key(5, "U5'")}
    begun = step(state, AdvanceReassignment(key(5, "U5'")), SIX).state
    assert begun.pending_change is not None
    assert begun.pending_change.voter == key(5, "U5'")
    # A lost disk of a remaining voter is not relevant to a target of ids.
    lost = reassigning(1, 2, 3, target=(1, 2, 3), fetch_offsets={key(3, "U3'"): 2})
    assert next_steps(lost) == {None}


def test_an_addition_learns_versions_and_waits_until_it_has_caught_up() -> None:
    """Rules: reassign.catch-up-before-add, reassign.promotion-by-leader."""
    state = reassigning(1, 2, 3, acknowledging_voters=frozenset({2, 3}), fetch_offsets={key(4): 1})
    begun = step(state, AdvanceReassignment(key(4)), SIX)
    assert begun == Outcome(state._replace(pending_change=learning(4, None)), timers=(CHANGE,))
    polled = step(begun.state, Poll(), SIX)
    assert polled.sends == (api_versions(1, 4, correlation_id=77),)
    learned = receive(polled.state, replace(api_versions_reply(4, 1), correlation_id=77), SIX)
    waits = catching_up(4, 2, None)
    assert learned == Outcome(state._replace(pending_change=waits))
    # It fetches from the former end of the log, where its own addition with the target begins.
    done = receive(learned.state, fetch(4, 1, 4, 2, 4), SIX)
    assert done.state.log.records[-1] == assignment(4, 1, 2, 3, 4, target=(4, 5, 6))
    assert done.state.pending_change == AwaitingCommit(ChangeKind.ADD, key(4), 2, None, waits.details)
    assert len(done.sends) == 1
    assert steps(done.state) == []


def test_an_addition_that_runs_out_of_time_changes_nothing() -> None:
    """Rule: reassign.promotion-by-leader."""
    ready = reassigning(1, 2, 3, fetch_offsets=FETCHED)
    for change in (learning(requester=None), catching_up(requester=None)):
        waiting = ready._replace(pending_change=change)
        assert step(waiting, VoterChangeTimeout(), SIX) == Outcome(ready)
        assert steps(ready) == [4, 5, 6]
    # The record stays in the log, and the next step still waits for its commit.
    written = appended(ready, assignment(4, 1, 2, 3, 4, target=(4, 5, 6)))
    committed_soon = written._replace(pending_change=AwaitingCommit(ChangeKind.ADD, key(4), 2, None))
    assert step(committed_soon, VoterChangeTimeout(), SIX) == Outcome(written)
    assert steps(written) == []
    # A kraft.version that the new voter does not support ends it, too; the Leader may try the next one.
    asking = ready._replace(pending_change=learning(requester=None), awaiting=asked(4))
    assert receive(asking, api_versions_reply(4, 1, (0, 0)), SIX) == Outcome(ready)


def test_the_log_alone_decides_and_membership_does_not() -> None:
    """Rule: reassign.votes-from-non-voters."""
    state = unattached(3)
    granted = receive(state, vote(4, 1, 3, (2, 9)), SIX)
    assert granted.state == state._replace(voted_key=key(4))
    assert granted.sends == (vote_reply(1, 4, 3, True),)


def test_a_leader_prefers_the_voter_that_has_fetched_most() -> None:
    """Rule: state.leader.resigns.  No vector has three voters whose logs end at three places above 0."""
    state = established(4, log=log_of(voters=keys(1, 2, 3, 4)), fetch_offsets={key(2): 1, key(3): 3, key(4): 2})
    resigned_leader = step(state, CheckQuorumTimeout(), cluster(4)).state
    assert resigned_leader.preferred_candidates == (key(3), key(4), key(2))
