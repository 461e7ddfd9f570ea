"""voters.*: leaders and replicas that are not in the set, and who is told and asked."""

from dataclasses import replace

from tests.reference.builders import (
    ANNOUNCE,
    ELECTION,
    FETCH,
    OBSERVED,
    checkpoint,
    committing,
    data,
    established,
    follower,
    key,
    keys,
    log_of,
    prospective,
    receive,
    refused,
    resigned,
    states,
    step,
    unattached,
    voters_record,
)
from tests.reference.wire import (
    asked,
    bqe,
    bqe_reply,
    fetch,
    fetch_reply,
    fetch_snapshot,
    fetch_snapshot_reply,
    pre_vote,
    pre_vote_reply,
    reply,
    vote,
    vote_reply,
)

from kraft_reference.changes import ChangeKind
from kraft_reference.events import (
    AppendVoters,
    BeginQuorumEpochTimeout,
    FetchTimeout,
    Poll,
    PollFetch,
    RemoveVoter,
)
from kraft_reference.log import log_on, rebased, snapshot_at
from kraft_reference.messages import Error
from kraft_reference.outcome import Outcome, Refusal
from kraft_reference.polling import due_election_requests
from kraft_reference.replication import fetch_targets
from kraft_reference.roles import Role
from kraft_reference.state import is_voter


@states("voters.leader-removed-stays-until-commit")
def test_a_removed_leader_leads_until_its_removal_is_committed() -> None:
    state = step(established(4), RemoveVoter(9, key(1))).state
    assert (state.role, is_voter(state)) == (Role.LEADER, False)
    one = receive(state, fetch(2, 1, 4, 2, 4)).state
    assert (one.role, one.pending_change) == (Role.LEADER, committing(ChangeKind.REMOVE, key(1), 1))
    two = receive(one, fetch(3, 1, 4, 2, 4))
    after = resigned(4, log=state.log, high_watermark=2, preferred_candidates=(key(2), key(3)))
    assert two == Outcome(after, (fetch_reply(1, 3, 4, 1, high_watermark=2), reply(9, 4, 1)), (ELECTION,))
    # A higher epoch ends it at once.
    deposed = receive(one, vote(2, 1, 5, (4, 9)))
    gone = unattached(5, log=state.log, high_watermark=1, voted=key(2))
    assert deposed == Outcome(gone, (vote_reply(1, 2, 5, True), reply(9, 5, None, Error.NOT_LEADER_OR_FOLLOWER)))


@states("voters.fetch-from-leader-outside-set")
def test_replicas_fetch_from_a_leader_outside_the_set() -> None:
    outside = step(established(4), RemoveVoter(9, key(1))).state
    record = outside.log.records[-1]
    read = receive(follower(4, 1, 2, awaiting=asked(1)), fetch_reply(1, 2, 4, 1, (*data(4), record)))
    assert (read.state.voters, read.timers) == (keys(2, 3), (FETCH,))
    assert step(read.state, PollFetch(1)).sends == (fetch(2, 1, 4, 2, 4, correlation_id=77),)
    # The leader serves it, and a replica that does not know it either.
    served = receive(outside, fetch(2, 1, 4, 1, 4)).sends
    assert served == (fetch_reply(1, 2, 4, 1, (record,), high_watermark=1),)
    taken = outside._replace(log=rebased(outside.log, snapshot_at(outside.log, 1)))
    given = receive(taken, fetch_snapshot(3, 1, 4, (1, 4))).sends
    assert given == (fetch_snapshot_reply(1, 3, 4, 1, checkpoint(keys(1, 2, 3), 1, 4)),)


@states("voters.vote-does-not-check-membership")
def test_a_vote_is_for_the_log_and_not_for_members() -> None:
    # Scenario S14: 1 has {1,2}@3 and asks 2, which has no set yet, or another one.
    for log in (log_of(1, 1, 1, voters=frozenset()), log_of(1, 1, 1, voters=keys(3))):
        second = unattached(4, 2, log=log)
        request = vote(1, 2, 4, (1, 4))
        assert receive(second, request) == Outcome(second._replace(voted_key=key(1)), (vote_reply(2, 1, 4, True),))
    assert not {"INCONSISTENT_VOTER_SET", "NOT_VOTER"} & set(Error.__members__)


@states("voters.self-added-may-campaign")
def test_an_added_replica_campaigns_as_soon_as_it_reads_of_it() -> None:
    state = follower(4, 1, 4, log=log_of(3), awaiting=asked(1))
    read = receive(state, fetch_reply(1, 4, 4, 1, (voters_record(4, 1, 2, 3, 4),)), OBSERVED)
    assert (read.timers, read.state.high_watermark) == ((FETCH,), -1)
    electing = step(read.state, FetchTimeout(), OBSERVED)
    assert electing == Outcome(prospective(4, 4, leader=1, log=read.state.log), (), (ELECTION,))


@states("voters.begin-epoch-accepted-by-non-member")
def test_an_announcement_is_taken_from_and_by_anybody() -> None:
    # 4 does not know yet that it was added; 1 does not know the leader 4.
    fourth = receive(unattached(3, 4, log=log_of(3)), bqe(1, 4, 4), OBSERVED)
    assert fourth == Outcome(follower(4, 1, 4, log=log_of(3)), (bqe_reply(4, 1, 4, 1),), (FETCH,))
    first = receive(unattached(3), bqe(4, 1, 4), OBSERVED)
    assert first == Outcome(follower(4, 4), (bqe_reply(1, 4, 4, 4),), (FETCH,))


@states("voters.begin-epoch-to-current-voters", "voters.no-begin-epoch-to-observers")
def test_the_leader_announces_itself_to_the_voters_of_its_newest_set() -> None:
    state = established(4, acknowledged=frozenset({2, 3}), fetch_offsets={key(4): 1})
    assert step(state, Poll(), OBSERVED) == refused(state, Refusal.NOTHING_DUE)
    added = step(state, AppendVoters(keys(1, 2, 3, 4)), OBSERVED).state
    assert step(added, Poll(), OBSERVED).sends == (bqe(1, 4, 4, correlation_id=77),)
    # Again whenever one has not fetched for a while; a removed one is not told.
    removed = step(state, AppendVoters(keys(1, 3)), OBSERVED).state
    due = step(removed, BeginQuorumEpochTimeout(), OBSERVED)
    assert due == Outcome(removed._replace(acknowledged=frozenset()), (), (ANNOUNCE,))
    assert due_election_requests(due.state) == [key(3)]


@states("voters.begin-epoch-to-current-voters")
def test_a_set_forgets_what_others_under_the_same_id_did() -> None:
    # (3,U3) goes, and later (3,U3') comes: neither its fetches nor its answers are those of the new one.
    state = established(4, acknowledged=frozenset({2, 3}), fetchers=frozenset({3}), fetch_offsets={key(3): 1})
    gone = step(state, AppendVoters(keys(1, 2))).state
    assert (gone.acknowledged, gone.fetchers) == (frozenset({2}), frozenset())
    committed = receive(gone, fetch(2, 1, 4, 2, 4)).state
    back = step(committed, AppendVoters(frozenset({key(1), key(2), key(3, "U3'")}))).state
    assert due_election_requests(back) == [key(3, "U3'")]
    assert back.high_watermark == 2


@states("voters.removed-voter-must-not-disrupt")
def test_a_removed_voter_that_missed_it_deposes_nobody() -> None:
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


@states("voters.fetch-goes-to-known-leader")
def test_a_known_leader_is_the_one_to_fetch_from() -> None:
    for own, log in ((2, log_of(3)), (4, log_of(3))):
        state = follower(4, 1, own, log=log)
        assert fetch_targets(state, replace(OBSERVED, bootstrap_servers=(2, 3))) == (1,)
    # Any answer that names the leader may bring its endpoint.
    lost = unattached(4, 2, awaiting=asked(3))
    elsewhere = fetch_reply(3, 2, 4, 1, error=Error.NOT_LEADER_OR_FOLLOWER, leader_endpoint="elsewhere:1")
    assert receive(lost, elsewhere) == Outcome(follower(4, 1, 2, leader_endpoint="elsewhere:1"), (), (FETCH,))


@states("voters.observer-discovery")
def test_without_a_leader_the_bootstrap_servers_are_asked() -> None:
    fresh = unattached(0, 4, log=log_on(OBSERVED.empty_checkpoint()))
    assert fetch_targets(fresh, replace(OBSERVED, bootstrap_servers=(2,))) == (2,)
    assert fetch_targets(fresh, OBSERVED) == (1, 2, 3)
    asking = step(fresh, PollFetch(2), OBSERVED)
    assert asking.sends == (fetch(4, 2, 0, 0, 0, correlation_id=77),)
    answer = fetch_reply(2, 4, 5, 1, error=Error.FENCED_LEADER_EPOCH, correlation_id=77)
    told = receive(asking.state, answer, OBSERVED).state
    assert told == follower(5, 1, 4, log=fresh.log)
