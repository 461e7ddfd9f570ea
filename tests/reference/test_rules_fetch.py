"""fetch.* and hw.*: Fetch, truncation, and the high watermark."""

from dataclasses import replace

import pytest
from tests.reference.builders import (
    FETCH,
    OBSERVED,
    THREE,
    candidate,
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
    prospective,
    receive,
    refused,
    resigned,
    role_name,
    states,
    step,
    unattached,
    voters_record,
)
from tests.reference.wire import asked, bqe, bqe_reply, fetch, fetch_reply

from kraft_reference.effects import StartTimer, Timer
from kraft_reference.events import AppendVoters, ClientAppend, Crash, ElectionTimeout, FetchTimeout, PollFetch, Restart
from kraft_reference.identity import ReplicaKey
from kraft_reference.log import VotersEntry, append, flush
from kraft_reference.messages import Error
from kraft_reference.outcome import Outcome, Refusal
from kraft_reference.records import Record, RecordKind
from kraft_reference.replication import fetch_targets
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState, is_voter

NOT_LEADERS = [state for state in in_every_role(5) if state.role is not Role.LEADER]


@states("fetch.leader-only")
@pytest.mark.parametrize("state", NOT_LEADERS, ids=role_name)
@pytest.mark.parametrize(
    ("epoch", "error", "reason"),
    [
        (4, Error.FENCED_LEADER_EPOCH, Refusal.STALE_EPOCH),
        (6, Error.UNKNOWN_LEADER_EPOCH, Refusal.UNKNOWN_EPOCH),
        (5, Error.NOT_LEADER_OR_FOLLOWER, Refusal.NOT_LEADER),
    ],
)
def test_fetch_leader_only(state: ReplicaState, epoch: int, error: Error, reason: Refusal) -> None:
    answer = fetch_reply(1, 4, 5, state.leader_id, error=error)
    assert receive(state, fetch(4, 1, epoch, 0, 0), OBSERVED) == Outcome(state, (answer,), (), reason)
    if error is not Error.NOT_LEADER_OR_FOLLOWER:
        led = leader(5)
        answer = fetch_reply(1, 4, 5, 1, error=error)
        assert receive(led, fetch(4, 1, epoch, 0, 0), OBSERVED) == Outcome(led, (answer,), (), reason)


@states("fetch.replica-key")
def test_fetch_replica_key() -> None:
    state = leader(5)
    own = receive(state, fetch(3, 1, 5, 1, 5)).state
    assert own == state._replace(fetch_offsets={key(3): 1}, high_watermark=1)
    other = receive(state, fetch(3, 1, 5, 1, 5, replica_key=key(3, "U3'")))
    assert other.state == state._replace(fetch_offsets={key(3, "U3'"): 1})
    assert other.timers == ()
    unnamed = receive(state, fetch(3, 1, 5, 1, 5, replica_key=ReplicaKey(3))).state
    assert (unnamed.high_watermark, unnamed.fetchers) == (-1, frozenset())


@states("fetch.leader-outside-set-serves")
def test_fetch_leader_outside_set_serves() -> None:
    state = step(established(4), AppendVoters(keys(2, 3))).state
    for source in (2, 3, 4):
        served = receive(state, fetch(source, 1, 4, 1, 4), OBSERVED).sends[0]
        assert served == fetch_reply(1, source, 4, 1, (voters_record(4, 2, 3),), high_watermark=1)


@states("fetch.follow-outside-leader")
def test_fetch_follow_outside_leader() -> None:
    state = follower(4, 1, 2, awaiting=asked(1))
    read = receive(state, fetch_reply(1, 2, 4, 1, (voters_record(4, 2, 3),))).state
    assert (read.voters, read.role, fetch_targets(read, THREE)) == (keys(2, 3), Role.FOLLOWER, (1,))
    assert step(read, PollFetch(1)).sends == (fetch(2, 1, 4, 1, 4, correlation_id=77),)


@states("fetch.timer")
def test_fetch_timer() -> None:
    state = follower(4, 1, 3, log=log_of(3, 4), awaiting=asked(1))
    assert receive(state, fetch_reply(1, 3, 4, 1)).timers == (FETCH,)
    assert receive(state, fetch_reply(1, 3, 4, 1, diverging=(3, 1))).timers == (FETCH,)
    assert receive(state, fetch_reply(1, 3, 4, 1, error=Error.NOT_LEADER_OR_FOLLOWER)).timers == ()
    assert receive(state, bqe(1, 3, 4)) == Outcome(state, (bqe_reply(3, 1, 4, 1),))
    assert receive(unattached(4, 3), bqe(1, 3, 4)).timers == (FETCH,)


@states("fetch.fetched-flag")
def test_fetch_fetched_flag() -> None:
    state = receive(follower(4, 1, 3, awaiting=asked(1)), fetch_reply(1, 3, 4, 1)).state
    assert state.fetched
    lost = step(step(state, FetchTimeout()).state, ElectionTimeout()).state
    assert lost == follower(4, 1, 3)
    back = step(step(state, Crash(0)).state, Restart()).state
    assert back == follower(4, 1, 3)
    failed = receive(lost._replace(awaiting=asked(1)), fetch_reply(1, 3, 4, 1, error=Error.NOT_LEADER_OR_FOLLOWER))
    assert failed == refused(lost, Refusal.ERROR_RESPONSE)


@states("fetch.who-fetches")
def test_fetch_who_fetches() -> None:
    targets = {state.role: fetch_targets(state, THREE) for state in in_every_role(4, own=3)}
    silent = (Role.PROSPECTIVE, Role.CANDIDATE, Role.LEADER, Role.RESIGNED)
    assert targets == {Role.FOLLOWER: (2,), Role.UNATTACHED: (1, 2), **dict.fromkeys(silent, ())}
    assert step(prospective(4, 3, leader=1), PollFetch(1)) == refused(prospective(4, 3, leader=1), Refusal.NOTHING_DUE)
    # One at a time, and only where it belongs.
    asking = step(unattached(4, 3), PollFetch(1))
    assert asking == Outcome(unattached(4, 3, awaiting={1: 77}), (fetch(3, 1, 4, 0, 0, correlation_id=77),))
    assert step(asking.state, PollFetch(2)).refusal is Refusal.NOTHING_DUE
    assert step(follower(4, 1, 3), PollFetch(2)).refusal is Refusal.NOTHING_DUE


@states("fetch.response.common")
def test_fetch_response_common() -> None:
    state = unattached(5, 3, log=log_of(voters=OBSERVED.voters), awaiting=asked(1, 2))
    rest = state._replace(awaiting=asked(1))

    def answer(epoch: int, leader_id: int | None, error: Error = Error.NONE) -> Outcome:
        return receive(state, fetch_reply(2, 3, epoch, leader_id, data(5), error=error), OBSERVED)

    assert answer(4, 2) == refused(rest, Refusal.STALE_EPOCH)
    not_leader = Error.NOT_LEADER_OR_FOLLOWER
    assert answer(5, 1, not_leader) == Outcome(follower(5, 1, 3, log=state.log), (), (FETCH,))
    assert answer(5, None, not_leader) == refused(rest, Refusal.ERROR_RESPONSE)
    assert answer(6, None, Error.FENCED_LEADER_EPOCH) == Outcome(unattached(6, 3, log=state.log))
    # A larger epoch only moves the replica: the data belongs to a Fetch of the smaller one.
    assert answer(6, 2) == Outcome(follower(6, 2, 3, log=state.log), (), (FETCH,))
    # The same epoch, a leader not known so far, no error: the data of that same answer counts.
    used = follower(5, 2, 3, log=append(state.log, data(5)), fetched=True)
    assert answer(5, 2) == Outcome(used, (), (FETCH,))
    # Data of anybody but the leader is not used.
    following = follower(5, 1, 3, awaiting=asked(2))
    assert receive(following, fetch_reply(2, 3, 5, 1, data(5))) == refused(
        follower(5, 1, 3), Refusal.NOT_FOLLOWER_OF_SENDER
    )


@states("fetch.diverging.truncate")
def test_fetch_diverging_truncate() -> None:
    leading = leader(5, 2, log=log_of(*[4] * 12))
    third = follower(5, 2, 3, log=log_of(*[4] * 15), awaiting={2: 7})
    answer = receive(leading, fetch(3, 2, 5, 15, 4)).sends[0]
    assert answer == fetch_reply(2, 3, 5, 2, diverging=(4, 12))
    cut = receive(third, answer)
    assert cut == Outcome(follower(5, 2, 3, log=log_of(*[4] * 12), fetched=True), (), (FETCH,))
    # An epoch that the follower does not have: back to the end of the epoch before it.
    strange = follower(5, 2, 3, log=log_of(1, 1, 3, 3), awaiting={2: 7})
    assert receive(strange, fetch_reply(2, 3, 5, 2, diverging=(2, 3))).state.log == log_of(1, 1)
    # Never below the own high watermark.
    committed = follower(5, 2, 3, log=log_of(1, 1, 3, 3), high_watermark=3, awaiting={2: 7})
    assert receive(committed, fetch_reply(2, 3, 5, 2, diverging=(2, 2))) == refused(
        committed._replace(awaiting={}), Refusal.TRUNCATION_BELOW_HIGH_WATERMARK
    )


@states("fetch.truncate.voters-set")
def test_fetch_truncate_voters_set() -> None:
    log = log_of(*[4] * 13, more=(voters_record(4, 1, 2, 4), *data(4)))
    state = follower(5, 2, 3, log=log, awaiting=asked(2))
    assert (log.voters[-1], is_voter(state)) == (VotersEntry(13, keys(1, 2, 4), details(1, 2, 4)), False)
    cut = receive(state, fetch_reply(2, 3, 5, 2, diverging=(4, 13)), OBSERVED).state
    assert (cut.log.voters, is_voter(cut)) == ((VotersEntry(-1, keys(1, 2, 3), details(1, 2, 3)),), True)
    kept = receive(state, fetch_reply(2, 3, 5, 2, diverging=(4, 14)), OBSERVED).state
    assert kept.voters == keys(1, 2, 4)


@states("wire.common-errors")
@pytest.mark.parametrize("changes", [{"fetch_offset": -9}, {"last_epoch": -1}])
def test_fetch_of_wrong_shape(changes: dict[str, int]) -> None:
    state = leader(5)
    request = replace(fetch(2, 1, 5, 0, 0), **changes)  # type: ignore[arg-type]
    answer = fetch_reply(1, 2, 5, 1, error=Error.INVALID_REQUEST)
    assert receive(state, request) == Outcome(state, (answer,), (), Refusal.MALFORMED_REQUEST)
    foreign = fetch_reply(1, 2, 5, 1, error=Error.INCONSISTENT_CLUSTER_ID)
    assert receive(state, replace(request, cluster_id="X")) == Outcome(state, (foreign,), (), Refusal.FOREIGN_CLUSTER)
    asking = follower(4, 1, 2, awaiting=asked(1))
    taught = fetch_reply(1, 2, 99, 1, error=Error.INCONSISTENT_CLUSTER_ID)
    assert receive(asking, taught) == refused(follower(4, 1, 2), Refusal.ERROR_RESPONSE)


# ---------------------------------------------------------------------------------------------------------
# High watermark.
# ---------------------------------------------------------------------------------------------------------


def _leading(end: int, offsets: dict[int, int], high_watermark: int = -1) -> ReplicaState:
    """L(4) of {1,2,3} whose epoch starts at offset 1 and whose log ends at `end`."""
    state = leader(4, log=log_of(3))
    log = flush(append(state.log, data(*[4] * (end - 2))))
    known = {key(replica_id): offset for replica_id, offset in offsets.items()}
    return state._replace(log=log, fetch_offsets=known, high_watermark=high_watermark)


@states("hw.majority")
def test_hw_majority() -> None:
    state = _leading(20, {3: 10}, 10)
    assert receive(state, fetch(2, 1, 4, 20, 4)).state.high_watermark == 20
    assert receive(state, fetch(2, 1, 4, 15, 4)).state.high_watermark == 15
    assert receive(state, fetch(2, 1, 4, 5, 4)).state.high_watermark == 10
    # The newest set counts as soon as it is in the log.
    grown = step(state, AppendVoters(keys(1, 2, 3, 4)), OBSERVED).state
    one = receive(grown, fetch(2, 1, 4, 20, 4), OBSERVED).state
    assert (grown.voters, one.high_watermark) == (keys(1, 2, 3, 4), 10)
    assert step(leader(1, log=log_of(voters=keys(1))), ClientAppend(3), cluster(1)).state.high_watermark == 2


@states("hw.own-epoch")
def test_hw_own_epoch() -> None:
    inherited = leader(6, log=log_of(*[4] * 11), high_watermark=5)
    majority = receive(inherited, fetch(2, 1, 6, 11, 4))
    assert majority.state.high_watermark == 5
    assert majority.sends == (fetch_reply(1, 2, 6, 1, (Record(6, RecordKind.LEADER_CHANGE, 1),)),)
    own = receive(majority.state, fetch(2, 1, 6, 12, 6))
    assert (own.state.high_watermark, own.sends) == (12, (fetch_reply(1, 2, 6, 1, high_watermark=12),))


@states("hw.leader-excluded")
def test_hw_leader_excluded() -> None:
    state = step(_leading(20, {3: 20}, 20), AppendVoters(keys(2, 3))).state
    assert state.log.end_offset == 21
    assert receive(state, fetch(2, 1, 4, 21, 4)).state.high_watermark == 20


@states("hw.monotonic")
def test_hw_monotonic() -> None:
    state = _leading(200, {2: 200, 3: 100}, high_watermark=200)
    grown = step(state, AppendVoters(keys(1, 2, 3, 4)), OBSERVED).state
    assert grown.high_watermark == 200
    slower = receive(grown, fetch(3, 1, 4, 150, 4), OBSERVED)
    assert slower.state.high_watermark == 200
    assert slower.sends[0].high_watermark == 200  # type: ignore[union-attr]


@states("hw.follower")
def test_hw_follower() -> None:
    state = follower(4, 1, 2, log=log_of(*[4] * 25), awaiting=asked(1))
    lagging = receive(state, fetch_reply(1, 2, 4, 1, high_watermark=30)).state
    assert lagging.high_watermark == 25
    caught_up = receive(lagging._replace(awaiting=asked(1)), fetch_reply(1, 2, 4, 1, data(*[4] * 5), high_watermark=30))
    assert caught_up.state.high_watermark == 30
    unknown = receive(caught_up.state._replace(awaiting=asked(1)), fetch_reply(1, 2, 4, 1)).state
    assert unknown.high_watermark == 30


@states("fetch.timer")
def test_fetch_timer_is_fixed() -> None:
    fired = step(follower(4, 1, 4, log=log_of(voters=OBSERVED.voters)), FetchTimeout(), OBSERVED)
    assert fired.timers == (StartTimer(Timer.FETCH, OBSERVED.timeouts.fetch_timeout_ms),)
    assert endpoint(1) == fired.state.leader_endpoint
    assert {candidate(4).role, resigned(4).role}.isdisjoint({fired.state.role})
