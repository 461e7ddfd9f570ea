"""kraft-version.*: from static voters to dynamic ones."""

from dataclasses import replace

import pytest
from tests.reference.builders import (
    CHANGE,
    DRAW,
    OBSERVED,
    THREE,
    adding,
    cluster,
    committing,
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
    states,
    step,
    unattached,
    version_record,
    voters_record,
)
from tests.reference.wire import (
    api_versions,
    api_versions_reply,
    asked,
    bqe,
    fetch,
    fetch_reply,
    reply,
    update_voter,
)

from kraft_reference.changes import ChangeKind, ChangePhase, Report
from kraft_reference.configuration import Configuration
from kraft_reference.durability import crashed
from kraft_reference.effects import PersistQuorumState
from kraft_reference.events import (
    AddVoter,
    AppendVoters,
    ClientAppend,
    ElectionTimeout,
    Receive,
    Restart,
    UpdateFeatures,
)
from kraft_reference.identity import ReplicaKey, VoterDetails
from kraft_reference.log import append, batch_end, flush, snapshot_at, tears_a_batch, truncate
from kraft_reference.messages import Error
from kraft_reference.metrics import ignored_static_voters
from kraft_reference.outcome import Outcome, Refusal
from kraft_reference.pending_changes import finalized_version
from kraft_reference.profile import KAFKA_4
from kraft_reference.replica import Replica
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState

STATIC = cluster(3, observers=1, kraft_version=0)
STATIC_LOG = log_of(voters=STATIC.voters)
REPORTS = (Report(key(2), endpoint(2), 0, 1), Report(key(3), endpoint(3), 0, 1))
BATCH = (version_record(4), voters_record(4, 1, 2, 3))


def told(*reports: Report) -> ReplicaState:
    """L(4) at level 0 that has heard these reports."""
    return established(4, log=STATIC_LOG, reports=reports)


def upgraded() -> ReplicaState:
    """L(4) that was asked for level 1, with the batch at offsets 1 and 2."""
    return step(told(*REPORTS), UpdateFeatures(9, 1), STATIC).state


@states("kraft-version.levels")
def test_a_replica_says_which_levels_it_supports() -> None:
    newer = replace(THREE, replicas={**THREE.replicas, 3: replace(THREE.replicas[3], min_version=1, max_version=2)})
    for state in in_every_role(4, own=3):
        answer = api_versions_reply(3, 1, (1, 2))
        assert receive(state, api_versions(1, 3), newer) == Outcome(state, (answer,))
    assert (THREE.replicas[1].min_version, THREE.replicas[1].max_version) == (0, 1)
    entry = VoterDetails(3, endpoint(3), 1, 2)
    assert [entry.supports(level) for level in (0, 1, 2, 3)] == [False, True, True, False]


@states("kraft-version.upgrade-atomic-batch")
def test_level_and_set_are_one_batch() -> None:
    state = told(*REPORTS)
    done = step(state, UpdateFeatures(9, 1), STATIC)
    after = state._replace(log=flush(append(state.log, BATCH)), pending_change=committing(ChangeKind.UPGRADE, None, 2))
    assert done == Outcome(after, (), (CHANGE,))
    # No cut, no snapshot and no answer parts it.
    log = after.log
    assert [tears_a_batch(log, end) for end in range(4)] == [False, False, True, False]
    with pytest.raises(ValueError, match="keeps whole batches"):
        crashed(after._replace(log=log._replace(flushed=1)), 2)
    assert (crashed(after._replace(log=log._replace(flushed=1)), 1).log.records, batch_end(log, 2)) == (
        state.log.records,
        3,
    )
    one_at_a_time = replace(STATIC, fetch_max_records=1)
    assert receive(after, fetch(2, 1, 4, 1, 4), one_at_a_time).sends == (
        fetch_reply(1, 2, 4, 1, BATCH, high_watermark=1),
    )


@states("kraft-version.upgrade-needs-all-voters")
@pytest.mark.parametrize(
    ("reports", "possible"),
    [
        (REPORTS, True),
        (REPORTS[:1], False),
        ((), False),
        ((REPORTS[0], Report(key(3), endpoint(3), 0, 0)), False),
        ((REPORTS[0], Report(key(3), endpoint(3), 2, 3)), False),
        ((REPORTS[0], Report(ReplicaKey(3), endpoint(3), 0, 1)), False),
        ((*REPORTS, Report(key(4), endpoint(4), 0, 0)), True),
    ],
)
def test_every_voter_must_have_reported_the_level(reports: tuple[Report, ...], possible: bool) -> None:
    state = told(*reports)
    done = step(state, UpdateFeatures(9, 1), STATIC)
    if possible:
        assert done.state.voters == keys(1, 2, 3)
    else:
        answer = reply(9, 4, 1, Error.INVALID_UPDATE_VERSION)
        assert done == Outcome(state, (answer,), (), Refusal.REQUEST_REFUSED)


@states("kraft-version.upgrade-needs-all-voters")
def test_the_leader_is_a_voter_too() -> None:
    old = replace(STATIC, replicas={**STATIC.replicas, 1: replace(STATIC.replicas[1], max_version=0)})
    answer = reply(9, 4, 1, Error.INVALID_UPDATE_VERSION)
    state = told(*REPORTS)
    assert step(state, UpdateFeatures(9, 1), old) == Outcome(state, (answer,), (), Refusal.REQUEST_REFUSED)
    # What another disk under its own id has told does not stand for it.
    disguised = told(Report(key(1, "U1'"), "elsewhere:1", 0, 1), *REPORTS)
    assert step(disguised, UpdateFeatures(9, 1), STATIC).state.log.records[-1] == BATCH[1]


@states("kraft-version.upgrade-needs-all-observers")
@pytest.mark.parametrize(("brokers", "possible"), [((0, 1), True), ((1, 1), True), ((0, 0), False), ((2, 3), False)])
def test_every_broker_must_support_the_level(brokers: tuple[int, int], possible: bool) -> None:
    state = told(*REPORTS)
    done = step(state, UpdateFeatures(9, 1, *brokers), STATIC)
    if possible:
        assert done.state == upgraded()
    else:
        answer = reply(9, 4, 1, Error.INVALID_UPDATE_VERSION)
        assert done == Outcome(state, (answer,), (), Refusal.REQUEST_REFUSED)


@states("kraft-version.reply-after-commit")
def test_an_upgrade_is_told_after_the_commit() -> None:
    state = upgraded()
    half = receive(state, fetch(2, 1, 4, 2, 4), STATIC)
    assert (half.state.high_watermark, len(half.sends)) == (2, 1)
    done = receive(half.state, fetch(3, 1, 4, 3, 4), STATIC)
    assert done.sends == (fetch_reply(1, 3, 4, 1, high_watermark=3), reply(9, 4, 1))
    assert (done.state.pending_change, done.state.high_watermark) == (None, 3)


@states("kraft-version.no-downgrade")
def test_the_level_never_goes_down() -> None:
    high, low = established(4), told()
    for state, configuration, asked_for, error in (
        (high, THREE, 1, Error.NONE),
        (low, STATIC, 0, Error.NONE),
        (high, THREE, 0, Error.INVALID_UPDATE_VERSION),
        (high, THREE, 2, Error.INVALID_UPDATE_VERSION),
        (low, STATIC, 2, Error.INVALID_UPDATE_VERSION),
        (low, STATIC, -1, Error.INVALID_UPDATE_VERSION),
    ):
        refusal = None if error is Error.NONE else Refusal.REQUEST_REFUSED
        done = step(state, UpdateFeatures(9, asked_for, -9, 9), configuration)
        assert done == Outcome(state, (reply(9, 4, 1, error),), (), refusal)


@states("kraft-version.no-downgrade")
def test_who_may_be_asked_for_a_level_and_when() -> None:
    for state in in_every_role(4):
        if state.role is not Role.LEADER:
            answer = reply(9, 4, state.leader_id, Error.NOT_LEADER_OR_FOLLOWER)
            assert step(state, UpdateFeatures(9, 1)) == Outcome(state, (answer,), (), Refusal.NOT_LEADER)
    busy = established(4, pending_change=adding(ChangePhase.CATCH_UP))
    for state in (leader(4), busy):
        timed_out = reply(9, 4, 1, Error.REQUEST_TIMED_OUT)
        assert step(state, UpdateFeatures(9, 1)) == Outcome(state, (timed_out,), (), Refusal.REQUEST_REFUSED)


@states("kraft-version.finalized-when")
@pytest.mark.parametrize(("profile", "at_append"), [("kip", False), ("kafka-4", True)])
def test_requests_are_accepted_by_the_finalized_level(profile: str, at_append: bool) -> None:
    configuration: Configuration = replace(STATIC, profile=KAFKA_4) if profile == "kafka-4" else STATIC
    # The request for the level has timed out, and nobody else holds its batch.
    alone = upgraded()._replace(pending_change=None)
    error = Error.REQUEST_TIMED_OUT if at_append else Error.UNSUPPORTED_VERSION
    refusal = step(alone, AddVoter(5, key(4), endpoint(4)), configuration)
    assert refusal == Outcome(alone, (reply(5, 4, 1, error),), (), Refusal.REQUEST_REFUSED)
    assert finalized_version(alone, configuration) == int(at_append)
    both = alone._replace(high_watermark=3)
    assert finalized_version(both, configuration) == 1
    assert step(both, AddVoter(5, key(4), endpoint(4)), configuration).refusal is None
    # The record alone decides, not the one behind it.
    assert [finalized_version(alone._replace(high_watermark=end), STATIC) for end in (-1, 1, 2)] == [0, 0, 1]


@states("kraft-version.finalized-when")
def test_the_set_and_the_file_follow_the_log() -> None:
    state = follower(4, 1, 2, log=append(STATIC_LOG, []), awaiting=asked(1))
    read = receive(state, fetch_reply(1, 2, 4, 1, BATCH), STATIC).state
    assert (read.voters, read.log.kraft_version, read.quorum_state_version) == (keys(1, 2, 3), 1, 0)
    # The file is written at level 1 with the next vote, leader or epoch, and not before.
    moved = Replica(read, STATIC).step(Receive(bqe(3, 2, 5)), DRAW)
    assert moved.effects[0] == PersistQuorumState(5, 3, None, version=1)
    # Truncated, level and set are the old ones again; the file is rewritten with the next change.
    back = moved.state._replace(awaiting=asked(3), log=flush(moved.state.log))
    cut = receive(back, fetch_reply(3, 2, 5, 3, diverging=(0, 0)), STATIC).state
    assert (cut.voters, cut.log, cut.quorum_state_version) == (STATIC.voters, STATIC_LOG, 1)
    assert receive(cut, bqe(1, 2, 6), STATIC).state.quorum_state_version == 0


@states("kraft-version.record-gate")
def test_at_level_0_nothing_of_level_1_is_written() -> None:
    electing = unattached(3, log=log_of(voters=frozenset({ReplicaKey(1)})))
    alone = cluster(1, kraft_version=0)
    won = step(electing, ElectionTimeout(), alone).state
    assert [record.kind for record in won.log.records] == ["LeaderChange"]
    more = step(won, ClientAppend(1), alone).state
    taken = snapshot_at(more.log, 2)
    assert (taken.kraft_version, taken.voters) == (0, frozenset({ReplicaKey(1)}))
    assert step(won, AppendVoters(keys(1)), alone) == refused(won, Refusal.CHANGE_NOT_ALLOWED)
    noted = receive(told(), update_voter(2, 1, 4, endpoint="elsewhere:1"), STATIC).state
    assert noted.log == told().log


@states("kraft-version.static-config-ignored")
def test_at_level_1_the_property_is_ignored() -> None:
    log = log_of(voters=STATIC.voters, more=(version_record(3), voters_record(3, 1, 2, 4)))
    down = follower(4, 1, 2, log=log)._replace(role=Role.STOPPED, leader_endpoint=None)
    back = step(down, Restart(), STATIC).state
    assert back.voters == keys(1, 2, 4)
    assert [ignored_static_voters(back._replace(high_watermark=end), STATIC) for end in (-1, 0, 1, 2)] == [0, 0, 1, 1]
    # Truncated, it is in force again: an operator must not have deleted it.
    assert truncate(log, 0).voters[-1].voters == STATIC.voters
    dynamic = established(4)
    assert ignored_static_voters(dynamic, OBSERVED) == 0
