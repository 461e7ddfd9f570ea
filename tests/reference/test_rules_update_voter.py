"""update-voter.*: voters tell of themselves."""

from dataclasses import replace

import pytest
from tests.reference.builders import (
    CHANGE,
    FETCH,
    OBSERVED,
    THREE,
    adding,
    cluster,
    data,
    details,
    endpoint,
    established,
    follower,
    in_every_role,
    key,
    keys,
    leader,
    log_of,
    receive,
    refused,
    role_name,
    states,
    step,
    unattached,
    voters_record,
)
from tests.reference.wire import (
    asked,
    bqe,
    fetch,
    fetch_reply,
    update_voter,
    update_voter_reply,
    vote_reply,
)

from kraft_reference.changes import ChangeKind, ChangePhase, PendingChange, Report
from kraft_reference.events import Crash, ElectionTimeout, FetchTimeout, Poll, Restart, UpdateFeatures
from kraft_reference.identity import ReplicaKey, VoterDetails
from kraft_reference.log import append, flush
from kraft_reference.messages import Error, UpdateVoterRequest
from kraft_reference.outcome import Outcome, Refusal
from kraft_reference.records import Record, RecordKind
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState

STATIC = cluster(3, kraft_version=0)
STATIC_LOG = log_of(voters=STATIC.voters)
MOVED = VoterDetails(2, "elsewhere:1", 0, 1)


def moved_record(epoch: int) -> Record:
    """{1,2,3} with replica 2 elsewhere."""
    return Record(epoch, RecordKind.VOTERS, 0, keys(1, 2, 3), (*details(1), MOVED, *details(3)))


# ---------------------------------------------------------------------------------------------------------
# At the voter.
# ---------------------------------------------------------------------------------------------------------


@states("update-voter.when-sent")
def test_a_voter_at_level_0_reports_until_its_leader_has_taken_note() -> None:
    state = follower(5, 1, 2, log=STATIC_LOG, fetched=True)
    polled = step(state, Poll(), STATIC)
    assert polled == Outcome(state._replace(awaiting={1: 77}), (update_voter(2, 1, 5, correlation_id=77),))
    failed = update_voter_reply(1, 2, 5, 1, Error.REQUEST_TIMED_OUT, correlation_id=77)
    again = receive(polled.state, failed, STATIC)
    assert again == refused(state, Refusal.ERROR_RESPONSE)
    assert step(again.state, Poll(), STATIC).sends == polled.sends
    noted = receive(polled.state, update_voter_reply(1, 2, 5, 1, correlation_id=77), STATIC)
    assert noted == Outcome(state._replace(acknowledged=frozenset({1})))
    assert step(noted.state, Poll(), STATIC) == refused(noted.state, Refusal.NOTHING_DUE)
    # What its entry says makes no difference here: software of level 0 alone reports too.
    old = replace(STATIC, replicas={**STATIC.replicas, 2: replace(STATIC.replicas[2], max_version=0)})
    assert step(state, Poll(), old).sends == (update_voter(2, 1, 5, max_version=0, correlation_id=77),)
    # The next leader has to be told again, and so has this one after a restart.
    changed = receive(noted.state, bqe(3, 2, 6), STATIC).state
    assert changed == follower(6, 3, 2, log=STATIC_LOG)
    restarted = step(step(noted.state, Crash(0), STATIC).state, Restart(), STATIC).state
    assert restarted == follower(5, 1, 2, log=STATIC_LOG)


@states("update-voter.when-sent")
def test_a_voter_at_level_1_reports_only_what_its_entry_does_not_say() -> None:
    state = follower(5, 1, 2, fetched=True)
    assert step(state, Poll()) == refused(state, Refusal.NOTHING_DUE)
    moved = state._replace(moved_to="elsewhere:1")
    told = step(moved, Poll()).sends
    assert told == (update_voter(2, 1, 5, endpoint="elsewhere:1", correlation_id=77),)
    newer = replace(THREE, replicas={**THREE.replicas, 2: replace(THREE.replicas[2], max_version=2)})
    assert step(state, Poll(), newer).sends == (update_voter(2, 1, 5, max_version=2, correlation_id=77),)
    # Not before it has fetched, when it does not know the set; not while it looks around; nobody but voters.
    log = log_of(voters=keys(1, 3))
    for quiet in (
        moved._replace(fetched=False),
        moved._replace(searching=True),
        moved._replace(awaiting=asked(1)),
        moved._replace(log=log),
        moved._replace(acknowledged=frozenset({1})),
    ):
        assert step(quiet, Poll()) == refused(quiet, Refusal.NOTHING_DUE)


@states("update-voter.when-sent")
def test_the_answer_teaches_epoch_and_leader_like_any_other() -> None:
    state = follower(5, 1, 2, awaiting=asked(1), fetched=True)
    gone = receive(state, update_voter_reply(1, 2, 6, 3, Error.FENCED_LEADER_EPOCH))
    assert gone == Outcome(follower(6, 3, 2), (), (FETCH,))
    stale = receive(state, update_voter_reply(1, 2, 4, 1))
    assert stale == refused(state._replace(awaiting={}), Refusal.STALE_EPOCH)
    late = update_voter_reply(1, 2, 5, 1, correlation_id=8)
    assert receive(state, late) == refused(state, Refusal.UNCORRELATED_RESPONSE)
    # An answer that comes when the sender has lost its leader counts for nothing.
    electing = step(state, FetchTimeout()).state
    assert receive(electing, update_voter_reply(1, 2, 5, 1)) == refused(electing, Refusal.UNCORRELATED_RESPONSE)


@states("update-voter.leader-self-update")
def test_a_new_leader_corrects_its_own_entry() -> None:
    log = log_of(*[4] * 20, more=())
    log = flush(append(log, [voters_record(4, 1, 2, 3)]))
    moved = unattached(5, log=log, moved_to="elsewhere:1")
    electing = step(step(moved, ElectionTimeout()).state, Poll()).state
    asking = receive(electing, vote_reply(2, 1, 5, True, pre_vote=True, correlation_id=77)).state
    won = receive(step(asking, Poll()).state, vote_reply(2, 1, 6, True, correlation_id=77)).state
    own = VoterDetails(1, "elsewhere:1", 0, 1)
    batch = (
        Record(6, RecordKind.LEADER_CHANGE, 1),
        Record(6, RecordKind.KRAFT_VERSION, 1),
        Record(6, RecordKind.VOTERS, 0, keys(1, 2, 3), (own, *details(2, 3))),
    )
    assert (won.role, won.log.records[21:], won.leader_endpoint) == (Role.LEADER, batch, "elsewhere:1")
    # With nothing to correct it begins with the LeaderChange alone.
    same = step(step(moved._replace(moved_to=None), ElectionTimeout()).state, Poll()).state
    same = receive(same, vote_reply(2, 1, 5, True, pre_vote=True, correlation_id=77)).state
    same = receive(step(same, Poll()).state, vote_reply(2, 1, 6, True, correlation_id=77)).state
    assert same.log.records[21:] == (Record(6, RecordKind.LEADER_CHANGE, 1),)


# ---------------------------------------------------------------------------------------------------------
# At the leader.
# ---------------------------------------------------------------------------------------------------------


@states("update-voter.leader-only")
@pytest.mark.parametrize("state", in_every_role(4), ids=role_name)
def test_only_the_leader_of_the_epoch_takes_note(state: ReplicaState) -> None:
    def refusal(epoch: int, error: Error, reason: Refusal) -> None:
        answer = update_voter_reply(1, 2, 4, state.leader_id, error)
        assert receive(state, update_voter(2, 1, epoch)) == Outcome(state, (answer,), (), reason)

    refusal(3, Error.FENCED_LEADER_EPOCH, Refusal.STALE_EPOCH)
    refusal(5, Error.UNKNOWN_LEADER_EPOCH, Refusal.UNKNOWN_EPOCH)
    if state.role is not Role.LEADER:
        refusal(4, Error.NOT_LEADER_OR_FOLLOWER, Refusal.NOT_LEADER)


@states("update-voter.check-order")
def test_the_tests_come_in_their_order() -> None:
    # Everything is wrong; each line puts the first wrong thing right.
    wrong = UpdateVoterRequest(9, 1, 7, 3, ReplicaKey(9), None, 5, 4, "X")
    uncommitted = append(log_of(), [voters_record(4, 1, 2, 3)])
    busy = leader(4, log=flush(uncommitted), pending_change=adding(ChangePhase.CATCH_UP))
    idle = busy._replace(pending_change=None)
    committed = established(4, log=flush(uncommitted))
    late = committed._replace(log=flush(append(committed.log, [voters_record(4, 1, 2, 3)])))
    home, sixth = replace(wrong, cluster_id=THREE.cluster_id), replace(wrong, cluster_id=None, epoch=5)
    now = replace(home, epoch=4)
    whole = replace(now, voter=key(9), endpoint="nine:1", min_version=2, max_version=3)
    supported = replace(whole, min_version=1)
    other, timed_out = Refusal.REQUEST_REFUSED, Error.REQUEST_TIMED_OUT
    for state, request, error, refusal in (
        (unattached(4), wrong, Error.INCONSISTENT_CLUSTER_ID, Refusal.FOREIGN_CLUSTER),
        (unattached(4), home, Error.FENCED_LEADER_EPOCH, Refusal.STALE_EPOCH),
        (unattached(4), sixth, Error.UNKNOWN_LEADER_EPOCH, Refusal.UNKNOWN_EPOCH),
        (unattached(4), now, Error.NOT_LEADER_OR_FOLLOWER, Refusal.NOT_LEADER),
        (busy, now, Error.INVALID_REQUEST, Refusal.MALFORMED_REQUEST),
        (busy, whole, timed_out, other),
        (idle, whole, timed_out, other),
        (late, whole, timed_out, other),
        (committed, whole, Error.INVALID_REQUEST, other),
        (committed, supported, Error.VOTER_NOT_FOUND, other),
    ):
        answer = update_voter_reply(1, 9, 4, state.leader_id, error)
        assert receive(state, request) == Outcome(state, (answer,), (), refusal)
    done = receive(committed, replace(supported, voter=key(2)))
    assert done.sends == (update_voter_reply(1, 9, 4, 1),)


@states("update-voter.check-order")
@pytest.mark.parametrize(
    "changes",
    [
        {"voter": ReplicaKey(2)},
        {"voter": ReplicaKey(2, "")},
        {"voter": key(-1)},
        {"endpoint": None},
        {"endpoint": ""},
        {"min_version": -1},
        {"min_version": 2},
        {"max_version": -1},
    ],
)
def test_a_malformed_request_is_refused(changes: dict[str, object]) -> None:
    state = established(4)
    answer = update_voter_reply(1, 2, 4, 1, Error.INVALID_REQUEST)
    request = update_voter(2, 1, 4, **changes)
    assert receive(state, request) == Outcome(state, (answer,), (), Refusal.MALFORMED_REQUEST)


@states("update-voter.not-a-membership-change")
def test_an_update_changes_no_key() -> None:
    state = established(4)
    answer = update_voter_reply(1, 4, 4, 1, Error.VOTER_NOT_FOUND)
    stranger = receive(state, update_voter(4, 1, 4), OBSERVED)
    assert stranger == Outcome(state, (answer,), (), Refusal.REQUEST_REFUSED)
    done = receive(state, update_voter(2, 1, 4, endpoint="elsewhere:1"))
    after = state._replace(log=flush(append(state.log, [moved_record(4)])))
    assert done == Outcome(after, (update_voter_reply(1, 2, 4, 1),))
    # What the entry says already is not written again.
    same = receive(state, update_voter(2, 1, 4))
    assert same == Outcome(state, (update_voter_reply(1, 2, 4, 1),))
    # An unknown directory id is filled in, and nothing else changes.
    blank = frozenset({key(1), ReplicaKey(2), key(3)})
    told = established(4, log=log_of(voters=blank), acknowledged=frozenset({2, 3}), fetchers=frozenset({2}))
    filled = receive(told, update_voter(2, 1, 4)).state
    assert filled.log.records[-1] == Record(4, RecordKind.VOTERS, 0, keys(1, 2, 3), details(1, 2, 3))
    # What some replica 2 did is forgotten: it may have been another disk.
    assert (filled.acknowledged, filled.fetchers) == (frozenset({3}), frozenset())


@states("update-voter.range-must-include-finalized")
@pytest.mark.parametrize(("kraft_version", "supported"), [(1, (0, 0)), (1, (2, 3)), (0, (1, 1))])
def test_the_range_must_include_the_finalized_level(kraft_version: int, supported: tuple[int, int]) -> None:
    state = established(4) if kraft_version else established(4, log=STATIC_LOG)
    request = update_voter(2, 1, 4, min_version=supported[0], max_version=supported[1])
    answer = update_voter_reply(1, 2, 4, 1, Error.INVALID_REQUEST)
    configuration = THREE if kraft_version else STATIC
    assert receive(state, request, configuration) == Outcome(state, (answer,), (), Refusal.REQUEST_REFUSED)


@states("update-voter.reply-time")
def test_the_leader_answers_at_the_append() -> None:
    # Scenario S15: in {1,2} the voter that waits for the answer is the one whose fetch would commit.
    pair = established(4, log=log_of(voters=keys(1, 2)))
    done = receive(pair, update_voter(2, 1, 4, endpoint="elsewhere:1"))
    assert done.sends == (update_voter_reply(1, 2, 4, 1),)
    assert (done.state.pending_change, done.state.high_watermark, done.timers) == (None, 1, ())
    # Until it is committed no other change begins.
    second = receive(done.state, update_voter(1, 1, 4))
    assert second.sends == (update_voter_reply(1, 1, 4, 1, Error.REQUEST_TIMED_OUT),)
    # The KIP's text, as the experiment without the rule: the answer comes with the commit.
    waits = receive(pair, update_voter(2, 1, 4, endpoint="elsewhere:1"), THREE, "update-voter.reply-time")
    change = PendingChange(ChangeKind.UPDATE, ChangePhase.COMMIT, key(2), None, -1, -1, 1, 2, 7, True)
    assert (waits.state.pending_change, waits.sends, waits.timers) == (change, (), (CHANGE,))
    committed = receive(waits.state, fetch(2, 1, 4, 2, 4), THREE, "update-voter.reply-time")
    answers = (fetch_reply(1, 2, 4, 1, high_watermark=2), update_voter_reply(1, 2, 4, 1))
    assert (committed.sends, committed.state.pending_change) == (answers, None)


@states("update-voter.in-memory-at-version-0")
def test_at_version_0_reports_are_kept_in_memory() -> None:
    state = established(4, log=STATIC_LOG)
    second = receive(state, update_voter(2, 1, 4), STATIC)
    told = Report(key(2), endpoint(2), 0, 1)
    assert second == Outcome(state._replace(reports=(told,)), (update_voter_reply(1, 2, 4, 1),))
    # The last one of an id counts, whatever its disk.
    again = receive(second.state, update_voter(2, 1, 4, voter=key(2, "U2'"), endpoint="elsewhere:1"), STATIC).state
    assert again.reports == (Report(key(2, "U2'"), "elsewhere:1", 0, 1),)
    third = receive(again, update_voter(3, 1, 4), STATIC).state
    assert third.reports == (Report(key(2, "U2'"), "elsewhere:1", 0, 1), Report(key(3), endpoint(3), 0, 1))
    assert third.log == state.log
    # They are lost with the leadership, and in a crash.
    assert receive(third, bqe(3, 1, 5), STATIC).state == follower(5, 3, log=state.log, high_watermark=1)
    assert step(third, Crash(1), STATIC).state.reports == ()
    # They are what an upgrade is made of.
    upgraded = step(third, UpdateFeatures(9, 1), STATIC).state
    assert upgraded.voters == frozenset({key(1), key(2, "U2'"), key(3)})


@states("update-voter.not-a-membership-change")
def test_an_update_is_of_the_record_before_it() -> None:
    # The record carries the whole set: a voter added in between would be dropped.
    log = log_of(3, more=(voters_record(3, 1, 2, 3, 4), *data(3)))
    state = established(4, log=log)
    done = receive(state, update_voter(2, 1, 4, endpoint="elsewhere:1"), OBSERVED)
    listed = (*details(1), MOVED, *details(3, 4))
    assert done.state.log.records[-1] == Record(4, RecordKind.VOTERS, 0, keys(1, 2, 3, 4), listed)
