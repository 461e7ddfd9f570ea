"""remove-voter.*: from the request to the answer."""

from dataclasses import replace

import pytest
from tests.reference.builders import (
    CHANGE,
    CHECK_QUORUM,
    ELECTION,
    FETCH,
    OBSERVED,
    adding,
    cluster,
    committing,
    details,
    established,
    follower,
    in_every_role,
    key,
    keys,
    leader,
    log_of,
    receive,
    refused,
    resigned,
    role_name,
    states,
    step,
    unattached,
    version_record,
    voters_record,
)
from tests.reference.wire import (
    asked,
    eqe,
    fetch,
    fetch_reply,
    remove_voter,
    remove_voter_reply,
    reply,
    vote,
    vote_reply,
)

from kraft_reference.changes import ChangeKind, ChangePhase
from kraft_reference.events import (
    CheckQuorumTimeout,
    ElectionTimeout,
    FetchTimeout,
    Poll,
    RemoveVoter,
    VoterChangeTimeout,
)
from kraft_reference.identity import ReplicaKey
from kraft_reference.log import append, flush
from kraft_reference.messages import Error
from kraft_reference.outcome import Outcome, Refusal
from kraft_reference.records import Record, RecordKind
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState, is_voter


def removed(voter: int) -> ReplicaState:
    """L(4) of {1,2,3} that was asked to remove one of them, with the record at offset 1."""
    return step(established(4), RemoveVoter(9, key(voter))).state


@states("remove-voter.leader-only")
@pytest.mark.parametrize("state", [s for s in in_every_role(4) if s.role is not Role.LEADER], ids=role_name)
def test_only_the_leader_removes(state: ReplicaState) -> None:
    error = Error.NOT_LEADER_OR_FOLLOWER
    answer = reply(9, 4, state.leader_id, error)
    assert step(state, RemoveVoter(9, key(3))) == Outcome(state, (answer,), (), Refusal.NOT_LEADER)
    told = remove_voter_reply(1, 3, 4, state.leader_id, error)
    assert receive(state, remove_voter(3, 1, key(3))) == Outcome(state, (told,), (), Refusal.NOT_LEADER)


@states("remove-voter.check-order")
def test_the_tests_come_in_their_order() -> None:
    # Everything is wrong; each line puts the first wrong thing right.
    static = cluster(3, observers=1, kraft_version=0)
    base = log_of(voters=static.voters)
    raised = flush(append(base, [version_record(4), voters_record(4, 1, 2, 3)]))
    leading = leader(4, log=raised, pending_change=adding(ChangePhase.CATCH_UP))
    behind = established(4, log=base, high_watermark=1)
    pending = behind._replace(log=flush(append(behind.log, [version_record(4), voters_record(4, 1, 2, 3)])))
    wrong = RemoveVoter(9, ReplicaKey(9), cluster_id="X")
    home = replace(wrong, cluster_id=static.cluster_id)
    whole = replace(home, voter=key(9))
    timed_out, other = Error.REQUEST_TIMED_OUT, Refusal.REQUEST_REFUSED
    for state, event, error, refusal in (
        (unattached(4, log=raised), wrong, Error.INCONSISTENT_CLUSTER_ID, Refusal.FOREIGN_CLUSTER),
        (unattached(4, log=raised), home, Error.NOT_LEADER_OR_FOLLOWER, Refusal.NOT_LEADER),
        (leading, home, Error.INVALID_REQUEST, Refusal.MALFORMED_REQUEST),
        (leading, whole, timed_out, other),
        (leading._replace(pending_change=None), whole, timed_out, other),
        (pending, whole, Error.UNSUPPORTED_VERSION, other),
        (pending._replace(high_watermark=2), whole, timed_out, other),
        (pending._replace(high_watermark=3), whole, Error.VOTER_NOT_FOUND, other),
    ):
        answer = reply(9, 4, state.leader_id, error)
        assert step(state, event, static) == Outcome(state, (answer,), (), refusal)
    accepted = step(pending._replace(high_watermark=3), replace(whole, voter=key(3)), static)
    assert accepted.state.pending_change == committing(ChangeKind.REMOVE, key(3), 3)


@states("remove-voter.exact-key")
@pytest.mark.parametrize("voter", [key(3, "U3'"), key(4), key(9)])
def test_id_and_directory_id_must_match(voter: ReplicaKey) -> None:
    state = established(4)
    answer = reply(9, 4, 1, Error.VOTER_NOT_FOUND)
    assert step(state, RemoveVoter(9, voter)) == Outcome(state, (answer,), (), Refusal.REQUEST_REFUSED)
    # The healthy replacement stays.
    replaced = established(4, log=log_of(voters=keys(1, 2) | {key(3, "U3'")}))
    done = step(replaced, RemoveVoter(9, key(3)))
    assert done == Outcome(replaced, (answer,), (), Refusal.REQUEST_REFUSED)


@states("remove-voter.append-and-apply")
def test_the_reduced_set_acts_at_once() -> None:
    state = established(
        4, fetch_offsets={key(2): 1, key(3): 1}, fetchers=frozenset({3}), acknowledged=frozenset({2, 3})
    )
    done = step(state, RemoveVoter(9, key(3)))
    record = Record(4, RecordKind.VOTERS, 0, keys(1, 2), details(1, 2))
    after = state._replace(
        log=flush(append(state.log, [record])),
        fetchers=frozenset(),
        acknowledged=frozenset({2}),
        pending_change=committing(ChangeKind.REMOVE, key(3), 1),
    )
    assert done == Outcome(after, (), (CHANGE,))
    # What it fetches from then on counts for nothing, and is served.
    served = receive(after, fetch(3, 1, 4, 2, 4))
    tracked = after._replace(fetch_offsets={key(2): 1, key(3): 2})
    assert served == Outcome(tracked, (fetch_reply(1, 3, 4, 1, high_watermark=1),))
    two = receive(after, fetch(2, 1, 4, 2, 4))
    assert (two.state.high_watermark, two.timers) == (2, (CHECK_QUORUM,))


@states("remove-voter.reply-after-commit")
def test_success_is_told_after_the_commit_by_the_reduced_set() -> None:
    state = removed(3)
    assert receive(state, fetch(3, 1, 4, 2, 4)).sends == (fetch_reply(1, 3, 4, 1, high_watermark=1),)
    done = receive(state, fetch(2, 1, 4, 2, 4))
    assert done.sends == (fetch_reply(1, 2, 4, 1, high_watermark=2), reply(9, 4, 1))
    assert (done.state.pending_change, done.state.voters) == (None, keys(1, 2))
    # When that takes too long, the record stays.
    late = step(state, VoterChangeTimeout())
    assert late == Outcome(state._replace(pending_change=None), (reply(9, 4, 1, Error.REQUEST_TIMED_OUT),))
    # A sole voter that is left commits in the same step.
    pair = established(4, log=log_of(voters=keys(1, 2)))
    at_once = step(pair, RemoveVoter(9, key(2)))
    record = Record(4, RecordKind.VOTERS, 0, keys(1), details(1))
    assert at_once == Outcome(pair._replace(log=flush(append(pair.log, [record])), high_watermark=2), (reply(9, 4, 1),))
    # A controller's own request is answered by a message.
    by_three = receive(established(4), remove_voter(3, 1, key(3))).state
    assert by_three.pending_change == committing(ChangeKind.REMOVE, key(3), 1, requester=3, request=7)
    answered = receive(by_three, fetch(2, 1, 4, 2, 4)).sends
    assert answered == (fetch_reply(1, 2, 4, 1, high_watermark=2), remove_voter_reply(1, 3, 4, 1))


@states("remove-voter.leader-removal")
def test_a_leader_removes_itself() -> None:
    state = removed(1)
    assert (state.voters, state.log.end_offset, state.high_watermark) == (keys(2, 3), 2, 1)
    third = receive(state, fetch(3, 1, 4, 2, 4)).state
    done = receive(third, fetch(2, 1, 4, 2, 4))
    after = resigned(4, log=state.log, high_watermark=2, preferred_candidates=(key(2), key(3)))
    # The answer comes first, then EndQuorumEpoch, to the new set.
    assert done == Outcome(after, (fetch_reply(1, 2, 4, 1, high_watermark=2), reply(9, 4, 1)), (ELECTION,))
    told = step(after, Poll())
    assert told.sends == tuple(eqe(1, to, 4, key(2), key(3), correlation_id=77) for to in (2, 3))
    # It leaves its epoch, and campaigns no more.
    left = step(told.state, ElectionTimeout())
    assert left == Outcome(unattached(5, log=state.log, high_watermark=2))
    # The most advanced comes first: its EndQuorumEpoch names them by what they have fetched.
    ahead = third._replace(fetch_offsets={key(3): 3, key(2): 1})
    assert receive(ahead, fetch(2, 1, 4, 2, 4)).state.preferred_candidates == (key(3), key(2))


@states("remove-voter.resign-only-after-commit")
def test_a_removal_that_is_truncated_leaves_a_voter() -> None:
    state = removed(1)
    alone = step(state, CheckQuorumTimeout()).state
    assert (alone.role, is_voter(alone)) == (Role.RESIGNED, False)
    deposed = receive(state, vote(2, 1, 5, (4, 3)))
    assert deposed.sends == (vote_reply(1, 2, 5, True), reply(9, 5, None, Error.NOT_LEADER_OR_FOLLOWER))
    following = follower(5, 2, log=state.log, awaiting=asked(2), high_watermark=1)
    cut = receive(following, fetch_reply(2, 1, 5, 2, diverging=(4, 1))).state
    assert (is_voter(cut), cut.voters, cut.role) == (True, keys(1, 2, 3), Role.FOLLOWER)


@states("remove-voter.removed-node-becomes-observer")
def test_a_removed_replica_observes() -> None:
    third = follower(4, 1, 3, log=log_of(3), awaiting=asked(1))
    read = receive(third, fetch_reply(1, 3, 4, 1, (voters_record(4, 1, 2),)))
    after = follower(4, 1, 3, log=append(third.log, [voters_record(4, 1, 2)]), fetched=True)
    assert read == Outcome(after, (), (FETCH,))
    silent = step(after, FetchTimeout())
    # It looks for a leader, and for no votes.
    assert silent == Outcome(after._replace(searching=True, fetched=False), (), (FETCH,))
    assert step(unattached(4, 3, log=after.log), ElectionTimeout()) == refused(
        unattached(4, 3, log=after.log), Refusal.NOT_IN_ROLE
    )


@states("remove-voter.check-order")
@pytest.mark.parametrize("voter", [ReplicaKey(3), ReplicaKey(3, ""), key(-1)])
def test_a_malformed_request_is_refused(voter: ReplicaKey) -> None:
    state = established(4)
    answer = reply(9, 4, 1, Error.INVALID_REQUEST)
    assert step(state, RemoveVoter(9, voter), OBSERVED) == Outcome(state, (answer,), (), Refusal.MALFORMED_REQUEST)
