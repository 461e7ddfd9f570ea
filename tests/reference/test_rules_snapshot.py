"""snapshot.*, fetch.snapshot.*: snapshots as far as they carry voters."""

from dataclasses import replace

import pytest
from tests.reference.builders import (
    CHECK_QUORUM,
    DRAW,
    ELECTION,
    FETCH,
    OBSERVED,
    THREE,
    checkpoint,
    cluster,
    data,
    details,
    established,
    follower,
    in_every_role,
    key,
    keys,
    log_of,
    messages,
    prospective,
    receive,
    refused,
    role_name,
    states,
    step,
    stopped,
    unattached,
    version_record,
    voters_record,
)
from tests.reference.wire import asked, fetch, fetch_reply, fetch_snapshot, fetch_snapshot_reply

from kraft_reference.durability import apply_durable
from kraft_reference.effects import WriteSnapshot
from kraft_reference.events import (
    ClientAppend,
    Crash,
    FetchTimeout,
    PollFetch,
    Receive,
    RemoveVoter,
    Restart,
    TakeSnapshot,
)
from kraft_reference.log import VersionEntry, VotersEntry, append, flush, log_on, needs_snapshot, rebased, snapshot_at
from kraft_reference.messages import Error
from kraft_reference.outcome import Outcome, Refusal
from kraft_reference.replica import Replica
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState, is_voter

FETCHED = checkpoint(keys(1, 2, 3), 100, 3)
"""The snapshot (100, e3) of {1,2,3}."""


def on_snapshot() -> ReplicaState:
    """L(4) of {1,2,3} on the snapshot (100, e3), with the LeaderChange of its epoch at offset 100."""
    return established(4, log=log_on(FETCHED))


# ---------------------------------------------------------------------------------------------------------
# Taking one.
# ---------------------------------------------------------------------------------------------------------


@states("snapshot.control-records-first")
def test_a_snapshot_holds_level_and_set_beside_the_data() -> None:
    log = flush(append(log_of(3, voters=keys(1, 2)), (*data(3, 3), voters_record(3, 1, 2, 3), *data(3, 3))))
    replica = Replica(follower(4, 1, 2, log=log, high_watermark=5), THREE)
    done = replica.step(TakeSnapshot(5), DRAW)
    expected = checkpoint(keys(1, 2, 3), 5, 3)
    assert done.effects == (WriteSnapshot(expected, replaces_log=False),)
    assert (done.state.log.base, done.state.log.records, done.state.log.end_offset) == (expected, data(3), 6)
    # At level 0 it holds no VotersRecord; the static voters stay what they are.
    static = cluster(3, kraft_version=0)
    state = follower(4, 1, 2, log=log_of(3, 3, voters=static.voters), high_watermark=2)
    taken = step(state, TakeSnapshot(2), static).state
    assert (taken.log.base.kraft_version, taken.voters) == (0, static.voters)


@states("snapshot.set-at-its-end-offset")
def test_a_snapshot_has_the_set_of_its_end_offset() -> None:
    log = log_of(*[3] * 2, voters=keys(9), more=(voters_record(3, 1, 2, 3), *data(*[3] * 57), voters_record(3, 1, 2)))
    state = follower(4, 1, 2, log=log, high_watermark=55)
    taken = step(state, TakeSnapshot(55)).state
    assert (taken.log.base.voters, taken.voters) == (keys(1, 2, 3), keys(1, 2))
    assert [(entry.offset, entry.voters) for entry in taken.log.voters] == [(54, keys(1, 2, 3)), (60, keys(1, 2))]
    # An uncommitted set never gets in: it ends at the high watermark at the latest, and after the newest one.
    for end in (56, 61, 0, -1):
        assert step(state, TakeSnapshot(end)) == refused(state, Refusal.SNAPSHOT_OUT_OF_RANGE)
    assert step(taken, TakeSnapshot(55)) == refused(taken, Refusal.SNAPSHOT_OUT_OF_RANGE)
    unknown = state._replace(high_watermark=-1)
    assert step(unknown, TakeSnapshot(1)) == refused(unknown, Refusal.SNAPSHOT_OUT_OF_RANGE)


@states("snapshot.set-at-its-end-offset")
def test_a_snapshot_parts_no_batch() -> None:
    log = log_of(3, more=(version_record(4), voters_record(4, 1, 2, 3)))
    state = follower(4, 1, 2, log=log, high_watermark=3)
    assert step(state, TakeSnapshot(2)) == refused(state, Refusal.SNAPSHOT_OUT_OF_RANGE)
    assert step(state, TakeSnapshot(3)).state.log.records == ()


@states("snapshot.trim-keeps-last")
def test_the_newest_set_below_the_snapshot_is_kept() -> None:
    more = (voters_record(1, 1), *data(*[1] * 47), voters_record(1, 1, 2), *data(*[1] * 40))
    log = log_of(1, 1, voters=keys(9), more=more)
    assert [entry.offset for entry in log.voters] == [-1, 2, 50]
    kept = rebased(log, snapshot_at(log, 80))
    assert kept.voters == (VotersEntry(79, keys(1, 2), details(1, 2)),)
    assert kept.versions == (VersionEntry(79, 1),)
    assert (kept.start_offset, kept.end_offset, kept.flushed) == (80, 91, 91)


@states("snapshot.trim-keeps-last")
def test_what_is_counted_by_offsets_stays_right_after_a_snapshot() -> None:
    alone = established(4, log=log_of(*[3] * 9, voters=keys(1)))
    taken = step(alone, TakeSnapshot(10), cluster(1)).state
    more = step(taken, ClientAppend(1), cluster(1)).state
    assert (more.high_watermark, more.log.end_offset, more.log.records[0].epoch) == (11, 11, 4)
    assert receive(taken, fetch(2, 1, 4, 10, 4)).sends == (fetch_reply(1, 2, 4, 1, high_watermark=10),)


# ---------------------------------------------------------------------------------------------------------
# Fetching one.
# ---------------------------------------------------------------------------------------------------------


@states("fetch.snapshot.accepted", "snapshot.removed-leader-serves")
def test_the_leader_of_the_epoch_serves_its_snapshot() -> None:
    state = on_snapshot()
    served = receive(state, fetch_snapshot(2, 1, 4, (100, 3)))
    answer = fetch_snapshot_reply(1, 2, 4, 1, FETCHED)
    # It counts for check quorum, and for no progress.
    assert served == Outcome(state, (answer,), (CHECK_QUORUM,))
    # Outside its set it serves all the same; so it does an observer, which counts for nothing.
    outside = step(state, RemoveVoter(9, key(1))).state
    assert receive(outside, fetch_snapshot(2, 1, 4, (100, 3))).sends == (answer,)
    observer = receive(state, fetch_snapshot(4, 1, 4, (100, 3)), OBSERVED)
    assert observer == Outcome(state, (fetch_snapshot_reply(1, 4, 4, 1, FETCHED),))
    other = receive(state, fetch_snapshot(3, 1, 4, (100, 3), replica_key=key(3, "U3'")))
    assert (other.state, other.timers) == (state, ())
    missing = receive(state, fetch_snapshot(2, 1, 4, (90, 3)))
    gone = fetch_snapshot_reply(1, 2, 4, 1, None, error=Error.SNAPSHOT_NOT_FOUND)
    assert missing == Outcome(state, (gone,), (CHECK_QUORUM,))


@states("fetch.snapshot.accepted")
@pytest.mark.parametrize("state", in_every_role(4), ids=role_name)
def test_nobody_else_serves_snapshots(state: ReplicaState) -> None:
    def refusal(epoch: int, error: Error, reason: Refusal, **changes: object) -> None:
        answer = fetch_snapshot_reply(1, 2, 4, state.leader_id, None, error=error)
        request = fetch_snapshot(2, 1, epoch, (1, 3))
        assert receive(state, replace(request, **changes)) == Outcome(state, (answer,), (), reason)  # type: ignore[arg-type]

    refusal(3, Error.INCONSISTENT_CLUSTER_ID, Refusal.FOREIGN_CLUSTER, cluster_id="X")
    refusal(3, Error.INVALID_REQUEST, Refusal.MALFORMED_REQUEST, snapshot_end_offset=-1)
    refusal(3, Error.INVALID_REQUEST, Refusal.MALFORMED_REQUEST, snapshot_epoch=-1)
    refusal(3, Error.FENCED_LEADER_EPOCH, Refusal.STALE_EPOCH)
    refusal(5, Error.UNKNOWN_LEADER_EPOCH, Refusal.UNKNOWN_EPOCH)
    if state.role is not Role.LEADER:
        refusal(4, Error.NOT_LEADER_OR_FOLLOWER, Refusal.NOT_LEADER)


@states("fetch.snapshot.bootstrap-not-served", "snapshot.bootstrap-checkpoint")
def test_the_bootstrap_checkpoint_is_not_replicated() -> None:
    state = established(4, log=log_of(3, 3))
    answer = fetch_snapshot_reply(1, 2, 4, 1, None, error=Error.SNAPSHOT_NOT_FOUND)
    assert receive(state, fetch_snapshot(2, 1, 4, (0, 0))).sends == (answer,)
    # Who has nothing is served from the log.
    served = receive(state, fetch(4, 1, 4, 0, 0), OBSERVED).sends
    assert served == (fetch_reply(1, 4, 4, 1, state.log.records, high_watermark=3),)
    assert not needs_snapshot(state.log, 0, 0)


@states("snapshot.bootstrap-checkpoint")
def test_any_record_outranks_the_bootstrap_checkpoint() -> None:
    state = follower(4, 1, 2, log=log_on(checkpoint(keys(1, 2, 3))), awaiting=asked(1))
    read = receive(state, fetch_reply(1, 2, 4, 1, (*data(*[4] * 9), voters_record(4, 1, 2, 3, 4)))).state
    assert [(entry.offset, entry.voters) for entry in read.log.voters] == [(-1, keys(1, 2, 3)), (9, keys(1, 2, 3, 4))]
    # Before every offset: nothing that is cut takes it away.
    cut = receive(read._replace(awaiting=asked(1)), fetch_reply(1, 2, 4, 1, diverging=(3, 0))).state
    assert cut.log == state.log


@states("snapshot.load-resets-history", "fetch.snapshot.install")
def test_who_is_too_far_behind_loads_the_snapshot() -> None:
    # Observer 4 has nothing; its leader stands on (100, e3).
    leading = on_snapshot()
    fourth = follower(4, 1, 4, log=log_on(OBSERVED.empty_checkpoint()), awaiting=asked(1))
    sent = receive(leading, fetch(4, 1, 4, 0, 0), OBSERVED)
    offer = fetch_reply(1, 4, 4, 1, high_watermark=101, snapshot_end_offset=100, snapshot_epoch=3)
    assert sent == Outcome(leading, (offer,))
    wants = receive(fourth, offer, OBSERVED)
    wanting = fourth._replace(awaiting={}, fetched=True, wanted_snapshot=(100, 3))
    assert wants == Outcome(wanting, (), (FETCH,))
    polled = step(wanting, PollFetch(1), OBSERVED)
    assert polled.sends == (fetch_snapshot(4, 1, 4, (100, 3), correlation_id=77),)
    given = messages(receive(leading, fetch_snapshot(4, 1, 4, (100, 3)), OBSERVED))[0]
    replica = Replica(wanting._replace(awaiting=asked(1)), OBSERVED)
    loaded = replica.step(Receive(given), DRAW)
    after = wanting._replace(wanted_snapshot=None, log=log_on(FETCHED), high_watermark=100)
    assert loaded.state == after
    assert loaded.effects == (WriteSnapshot(FETCHED, replaces_log=True), FETCH)
    assert apply_durable(wanting, loaded.effects).log == after.log
    # Then it reads the log behind it.
    request = step(after, PollFetch(1), OBSERVED).sends
    assert request == (fetch(4, 1, 4, 100, 3, correlation_id=77),)
    grown = receive(
        after._replace(awaiting=asked(1)), fetch_reply(1, 4, 4, 1, (*data(4), voters_record(4, 1, 2, 3, 4))), OBSERVED
    ).state
    assert [(entry.offset, len(entry.voters)) for entry in grown.log.voters] == [(99, 3), (101, 4)]
    assert is_voter(grown)


@states("snapshot.load-resets-history")
@pytest.mark.parametrize(
    ("offset", "last_epoch", "too_far"),
    [
        (0, 0, True),
        (99, 3, True),
        (100, 2, True),
        (100, 3, False),
        (100, 4, True),
        (101, 4, False),
        (120, 2, True),
        (150, 3, False),
    ],
)
def test_who_needs_a_snapshot(offset: int, last_epoch: int, too_far: bool) -> None:
    answer = receive(on_snapshot(), fetch(2, 1, 4, offset, last_epoch)).sends[0]
    assert (answer.snapshot_id == (100, 3)) is too_far  # type: ignore[union-attr]
    assert needs_snapshot(on_snapshot().log, offset, last_epoch) is too_far


@states("snapshot.load-resets-history")
def test_sets_of_the_own_log_are_forgotten_with_it() -> None:
    log = log_of(*[2] * 5, more=(voters_record(2, 1, 2, 3, 4), *data(2)))
    state = follower(4, 1, 2, log=log, wanted_snapshot=(100, 3), awaiting=asked(1))
    loaded = receive(state, fetch_snapshot_reply(1, 2, 4, 1, FETCHED)).state
    assert loaded.log.voters == (VotersEntry(99, keys(1, 2, 3), details(1, 2, 3)),)
    back = step(step(loaded, Crash(100)).state, Restart()).state
    assert (back.log, back.high_watermark) == (loaded.log, -1)


@states("fetch.snapshot.install")
def test_what_is_not_loaded() -> None:
    state = follower(4, 1, 2, log=log_of(3), wanted_snapshot=(100, 3), awaiting=asked(1))
    rest = state._replace(awaiting={})
    other = checkpoint(keys(1, 2), 90, 3)
    assert receive(state, fetch_snapshot_reply(1, 2, 4, 1, other)) == refused(rest, Refusal.SNAPSHOT_NOT_WANTED)
    gone = fetch_snapshot_reply(1, 2, 4, 1, None, error=Error.SNAPSHOT_NOT_FOUND)
    assert receive(state, gone) == refused(rest._replace(wanted_snapshot=None), Refusal.ERROR_RESPONSE)
    stale = fetch_snapshot_reply(1, 2, 3, 1, FETCHED)
    assert receive(state, stale) == refused(rest, Refusal.STALE_EPOCH)
    late = fetch_snapshot_reply(1, 2, 4, 1, FETCHED, correlation_id=8)
    assert receive(state, late) == refused(state, Refusal.UNCORRELATED_RESPONSE)
    newer = fetch_snapshot_reply(1, 2, 5, 3, None, error=Error.FENCED_LEADER_EPOCH)
    assert receive(state, newer) == Outcome(follower(5, 3, 2, log=state.log), (), (FETCH,))
    # Nothing that is committed is given up.
    ahead = state._replace(high_watermark=101)
    done = receive(ahead, fetch_snapshot_reply(1, 2, 4, 1, FETCHED))
    kept = rest._replace(high_watermark=101, wanted_snapshot=None)
    assert done == refused(kept, Refusal.TRUNCATION_BELOW_HIGH_WATERMARK)
    offered = fetch_reply(1, 2, 4, 1, snapshot_end_offset=100, snapshot_epoch=3)
    asking = ahead._replace(wanted_snapshot=None)
    assert receive(asking, offered) == refused(kept, Refusal.TRUNCATION_BELOW_HIGH_WATERMARK)
    # Whoever has lost its leader loads nothing.
    electing = step(state, FetchTimeout())
    assert electing == Outcome(prospective(4, 2, leader=1, log=state.log), (), (ELECTION,))
    assert receive(electing.state, fetch_snapshot_reply(1, 2, 4, 1, FETCHED)).refusal is Refusal.UNCORRELATED_RESPONSE
    assert step(stopped(4, 2), TakeSnapshot(1)) == refused(stopped(4, 2), Refusal.NOT_RUNNING)
    lost = unattached(4, 2, awaiting=asked(1), log=log_of(3))
    told = receive(lost, fetch_snapshot_reply(1, 2, 4, 1, FETCHED))
    assert told == Outcome(follower(4, 1, 2, log=log_of(3)), (), (FETCH,))
