"""identity.*: a replica is its id and its directory id."""

import pytest
from tests.reference.builders import (
    DRAW,
    ELECTION,
    FETCH,
    OBSERVED,
    THREE,
    adding,
    checkpoint,
    cluster,
    details,
    established,
    follower,
    key,
    keys,
    log_of,
    prospective,
    receive,
    refused,
    states,
    step,
    stopped,
    unattached,
    voters_record,
)
from tests.reference.wire import (
    asked,
    bqe,
    bqe_reply,
    fetch,
    fetch_reply,
    update_voter,
    update_voter_reply,
    vote,
    vote_reply,
)

from kraft_reference.changes import ChangePhase
from kraft_reference.effects import PersistQuorumState
from kraft_reference.events import Crash, ElectionTimeout, FetchTimeout, PollFetch, Receive, ReplaceDisk, Restart
from kraft_reference.identity import ReplicaKey, VoterSet, addresses, names
from kraft_reference.messages import Error
from kraft_reference.outcome import Outcome, Refusal
from kraft_reference.records import Record, RecordKind
from kraft_reference.replica import Replica
from kraft_reference.state import ReplicaState, is_voter, new_replica

THIRD_AGAIN = key(3, "U3'")
"""Replica 3 with an empty disk."""
WITHOUT_THIRD_DISK: VoterSet = frozenset({key(1), key(2), ReplicaKey(3)})
"""A set in which the directory id of replica 3 is not known."""


@states("identity.replica-key", "identity.leader-tracks-by-key")
def test_progress_of_another_disk_counts_for_nobody() -> None:
    state = established(4, log=log_of(3), high_watermark=1)
    served = receive(state, fetch(3, 1, 4, 2, 4, replica_key=THIRD_AGAIN))
    answer = fetch_reply(1, 3, 4, 1)
    assert served == Outcome(state._replace(fetch_offsets={THIRD_AGAIN: 2}), (answer,))
    # Both are tracked, each under its key; the voter's own progress commits.
    own = receive(served.state, fetch(3, 1, 4, 2, 4))
    after = state._replace(fetch_offsets={THIRD_AGAIN: 2, key(3): 2}, high_watermark=2)
    assert own.state == after


@states("identity.directory-id-at-format")
def test_each_formatted_disk_is_another_replica() -> None:
    down = stopped(5, 3, leader=1, log=log_of(4, 4), high_watermark=1)
    again = step(down, ReplaceDisk("U3'"))
    assert again == Outcome(new_replica(THIRD_AGAIN, THREE.empty_checkpoint()))
    assert (again.state.epoch, again.state.voters, is_voter(again.state)) == (0, frozenset(), False)
    running = follower(5, 1, 3)
    assert step(running, ReplaceDisk("U3'")) == refused(running, Refusal.RUNNING)


@states("identity.directory-id-never-silently-replaced")
def test_a_known_directory_id_is_never_replaced() -> None:
    state = established(4)
    other = update_voter(3, 1, 4, voter=THIRD_AGAIN)
    answer = update_voter_reply(1, 3, 4, 1, Error.VOTER_NOT_FOUND)
    assert receive(state, other) == Outcome(state, (answer,), (), Refusal.REQUEST_REFUSED)
    # An unknown one is filled in; from then on it is known.
    incomplete = established(4, log=log_of(voters=WITHOUT_THIRD_DISK))
    filled = receive(incomplete, other)
    record = Record(4, RecordKind.VOTERS, 0, frozenset({key(1), key(2), THIRD_AGAIN}), details(1, 2, 3))
    assert filled.state.log.records[-1] == record
    assert filled.sends == (update_voter_reply(1, 3, 4, 1),)


@states("identity.unknown-directory-matches-id")
@pytest.mark.parametrize(
    ("entry", "replica", "is_it"),
    [
        (ReplicaKey(3), key(3), True),
        (ReplicaKey(3), THIRD_AGAIN, True),
        (key(3), key(3), True),
        (key(3), THIRD_AGAIN, False),
        (key(3), ReplicaKey(3), False),
        (ReplicaKey(3), key(2, "U3"), False),
    ],
)
def test_an_entry_without_a_directory_id_is_any_replica_of_its_id(
    entry: ReplicaKey, replica: ReplicaKey, is_it: bool
) -> None:
    assert names(entry, replica) is is_it
    assert is_voter(unattached(0)._replace(key=replica, log=log_of(voters=frozenset({entry})))) is is_it


@states("identity.voter-definition", "identity.observer-definition")
def test_who_is_in_its_own_set_votes_and_campaigns() -> None:
    log = log_of(voters=keys(1, 2, 3))
    voter, observer = follower(4, 1, 3, log=log), follower(4, 1, 4, log=log)
    swapped = voter._replace(key=THIRD_AGAIN)
    assert [is_voter(state) for state in (voter, observer, swapped)] == [True, False, False]
    assert step(voter, FetchTimeout(), OBSERVED) == Outcome(prospective(4, 3, leader=1, log=log), (), (ELECTION,))
    for state in (observer, swapped):
        assert step(state, FetchTimeout(), OBSERVED) == Outcome(state._replace(searching=True), (), (FETCH,))
        lost = unattached(4)._replace(key=state.key, log=log)
        assert step(lost, ElectionTimeout(), OBSERVED) == refused(lost, Refusal.NOT_IN_ROLE)
    # The set is the own one: the observer that has read that it was added votes.
    added = observer._replace(log=log_of(voters=keys(1, 2, 3), more=(voters_record(4, 1, 2, 3, 4),)))
    assert is_voter(added)


@states("identity.observer-definition")
def test_an_observer_counts_for_no_commitment() -> None:
    state = established(4, log=log_of(*[3] * 99), high_watermark=60)
    served = receive(state, fetch(4, 1, 4, 100, 4), OBSERVED)
    assert served.state == state._replace(fetch_offsets={key(4): 100})


@states("identity.addressed-to-key")
def test_a_request_for_another_disk_gets_no_vote() -> None:
    blank = unattached(4, 3)._replace(key=THIRD_AGAIN)
    # The epoch is learned: it exists, whoever the vote was asked of (docs/rules.md).
    judged = receive(blank, vote(2, 3, 5))
    after = unattached(5, 3)._replace(key=THIRD_AGAIN)
    assert judged == Outcome(after, (vote_reply(3, 2, 5, False, error=Error.INVALID_REQUEST),))
    told = receive(blank, bqe(1, 3, 4))
    follows = follower(4, 1, 3)._replace(key=THIRD_AGAIN)
    assert told == Outcome(follows, (bqe_reply(3, 1, 4, 1, Error.INVALID_REQUEST),), (FETCH,))
    assert [addresses(key(3), own) for own in (key(3), THIRD_AGAIN, key(2))] == [True, False, False]
    assert [addresses(named, THIRD_AGAIN) for named in (None, ReplicaKey(3))] == [True, True]


@states("identity.voted-key-persisted")
def test_a_vote_is_for_one_disk_across_restarts() -> None:
    replica = Replica(unattached(7), THREE)
    granted = replica.step(Receive(vote(3, 1, 7)), DRAW)
    assert granted.effects[0] == PersistQuorumState(7, None, key(3), version=1)
    replica.step(Crash(0), DRAW)
    replica.step(Restart(), DRAW)
    again = replica.step(Receive(vote(3, 1, 7, replica_key=THIRD_AGAIN)), DRAW)
    assert again.state == unattached(7, voted=key(3))
    same = replica.step(Receive(vote(3, 1, 7)), DRAW)
    assert same.state == unattached(7, voted=key(3))


@states("identity.voted-uuid-volatile-at-version-0")
def test_at_version_0_a_restart_forgets_the_disk_that_was_voted_for() -> None:
    static = cluster(3, kraft_version=0)
    log = log_of(voters=static.voters)
    replica = Replica(unattached(7, log=log), static)
    granted = replica.step(Receive(vote(3, 1, 7)), DRAW)
    assert granted.effects[0] == PersistQuorumState(7, None, key(3), version=0)
    other = vote(3, 1, 7, replica_key=THIRD_AGAIN)
    assert receive(granted.state, other, static).sends == (vote_reply(1, 3, 7, False),)
    replica.step(Crash(0), DRAW)
    back = replica.step(Restart(), DRAW).state
    assert back == unattached(7, voted=ReplicaKey(3), log=log)
    assert receive(back, other, static) == Outcome(back, (vote_reply(1, 3, 7, True),))


@states("identity.could-become-voter")
@pytest.mark.parametrize("fetcher", [ReplicaKey(4), key(4, "U4'"), key(3)])
def test_only_a_fetch_with_the_whole_key_catches_up(fetcher: ReplicaKey) -> None:
    state = established(4, pending_change=adding(ChangePhase.CATCH_UP))
    request = fetch(fetcher.id, 1, 4, 1, 4, replica_key=fetcher)
    served: ReplicaState = receive(state, request, OBSERVED).state
    assert (served.pending_change, served.log) == (state.pending_change, state.log)
    caught_up: ReplicaState = receive(served, fetch(4, 1, 4, 1, 4), OBSERVED).state
    assert caught_up.log.records[-1] == voters_record(4, 1, 2, 3, 4)


@states("identity.could-become-voter")
def test_every_fetch_names_the_whole_key() -> None:
    state = follower(4, 1, 2, awaiting=asked(1))
    fetched = receive(state, fetch_reply(1, 2, 4, 1, snapshot_end_offset=5, snapshot_epoch=3)).state
    assert checkpoint(keys(1), 5, 3).id == fetched.wanted_snapshot
    poll = Replica(fetched, THREE)
    sent = poll.step(PollFetch(1), DRAW).effects[-1]
    assert sent.message.replica_key == key(2)  # type: ignore[union-attr]
