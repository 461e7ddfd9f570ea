"""metric.*: gauges of a controller."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reference.builders import (
    OBSERVED,
    THREE,
    candidate,
    catching_up,
    cluster,
    committing,
    established,
    follower,
    in_every_role,
    key,
    keys,
    leader,
    learning,
    log_of,
    prospective,
    receive,
    resigned,
    role_name,
    step,
    unattached,
    version_record,
    voters_record,
)
from tests.reference.wire import fetch, update_voter, vote

from kraft_reference.changes import ChangeKind
from kraft_reference.events import RemoveVoter, VoterChangeTimeout
from kraft_reference.identity import ReplicaKey
from kraft_reference.metrics import (
    controller_not_voter,
    current_state,
    duplicate_voter_ids,
    ignored_static_voters,
    number_of_observers,
    number_of_offline_voters,
    number_of_voters,
    pending_add_voter,
    pending_remove_voter,
    uncommitted_voter,
    uncommitted_voter_change,
)
from kraft_reference.profile import KAFKA_4
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState


def gauges(state: ReplicaState) -> tuple[int, int, int]:
    """Return pending-add-voter, pending-remove-voter, uncommitted-voter-change."""
    return pending_add_voter(state), pending_remove_voter(state), uncommitted_voter_change(state)


def test_an_addition_from_its_acceptance_to_its_commit() -> None:
    """Rule: metric.pending-changes."""
    assert gauges(established(4)) == (0, 0, 0)
    for change in (learning(), catching_up()):
        assert gauges(established(4, pending_change=change)) == (1, 0, 1)
    state = receive(established(4, pending_change=catching_up()), fetch(4, 1, 4, 1, 4), OBSERVED).state
    assert (gauges(state), uncommitted_voter(state)) == ((1, 0, 1), (ChangeKind.ADD, key(4)))
    # The requester's timeout has expired, and the record is not committed yet.
    late = step(state, VoterChangeTimeout(), OBSERVED).state
    assert gauges(late) == (1, 0, 0)
    two = receive(receive(late, fetch(4, 1, 4, 2, 4), OBSERVED).state, fetch(2, 1, 4, 2, 4), OBSERVED).state
    assert (gauges(two), uncommitted_voter(two)) == ((0, 0, 0), None)


def test_a_removal_from_its_append_to_its_commit() -> None:
    """Rule: metric.pending-changes."""
    state = step(established(4), RemoveVoter(9, key(3))).state
    assert (gauges(state), uncommitted_voter(state)) == ((0, 1, 1), (ChangeKind.REMOVE, key(3)))
    assert gauges(receive(state, fetch(2, 1, 4, 2, 4)).state) == (0, 0, 0)


def test_other_changes_do_not_count_as_additions_or_removals() -> None:
    """Rule: metric.pending-changes."""
    moved = receive(established(4), update_voter(2, 1, 4, endpoint="elsewhere:1")).state
    assert (gauges(moved), moved.log.end_offset) == ((0, 0, 0), 2)
    static = cluster(3, kraft_version=0)
    upgrade = established(4, log=log_of(voters=static.voters, more=(version_record(4), voters_record(4, 1, 2, 3))))
    upgrading = upgrade._replace(high_watermark=1, pending_change=committing(ChangeKind.UPGRADE, None, 1))
    assert (gauges(upgrading), uncommitted_voter(upgrading)) == ((0, 0, 0), None)
    # Only a Leader has them, regardless of its log.
    log = log_of(3, more=(voters_record(4, 1, 2, 3, 4),))
    for state in in_every_role(5):
        if state.role is not Role.LEADER:
            assert gauges(state._replace(log=log)) == (0, 0, 0)
    assert gauges(leader(5, log=log)) == (1, 0, 0)


SETS = st.lists(st.sampled_from([keys(1, 2, 3), keys(1, 2), keys(1, 2, 4), keys(1, 2, 3, 4)]), max_size=4)


@given(SETS, st.integers(-1, 6))
def test_never_both(sets: list[frozenset[ReplicaKey]], high_watermark: int) -> None:
    """Rule: metric.pending-changes."""
    records = tuple(voters_record(4, *[voter.id for voter in voters]) for voters in sets)
    state = leader(5, log=log_of(3, more=records), high_watermark=high_watermark)
    assert pending_add_voter(state) + pending_remove_voter(state) <= 1


@pytest.mark.parametrize(
    ("state", "gauge"),
    [
        (unattached(0, 4), 1),
        (follower(4, 1, 4, log=log_of(3, more=(voters_record(4, 1, 2, 3, 4),))), 0),
        (follower(4, 1, 3), 0),
        (follower(4, 1, 3)._replace(key=key(3, "U3'")), 1),
        (leader(4), 0),
        (step(established(4), RemoveVoter(9, key(1))).state, 1),
    ],
    ids=["no set", "added", "voter", "another disk", "leader", "removed leader"],
)
def test_a_controller_that_is_no_voter(state: ReplicaState, gauge: int) -> None:
    """Rule: metric.controller-not-voter."""
    assert controller_not_voter(state) == gauge


def test_duplicate_ids_and_silent_voters() -> None:
    """Rule: metric.duplicate-and-offline-voters."""
    assert duplicate_voter_ids(leader(4)) == 0
    twice = keys(1, 2, 3) | {key(3, "U3'"), key(3, "U3''"), key(2, "U2'")}
    assert duplicate_voter_ids(leader(4, log=log_of(voters=twice))) == 2
    state = established(4)
    fetched = {key(2): 7_000, key(3): 10_000, key(3, "U3'"): 10_000}

    def offline(now_ms: int) -> int:
        return number_of_offline_voters(state, fetched, now_ms, THREE.timeouts.fetch_timeout_ms)

    assert [offline(now_ms) for now_ms in (9_000, 9_001, 12_000, 12_001)] == [0, 1, 1, 2]
    assert number_of_offline_voters(state, {}, 0, 2_000) == 2


def test_static_voters_are_ignored_from_level_1_on() -> None:
    """Rule: metric.ignored-static-voters."""
    static = cluster(3, kraft_version=0)
    below = established(4, log=log_of(voters=static.voters))
    assert (ignored_static_voters(below, static), ignored_static_voters(established(4), THREE)) == (0, 0)
    above = established(5, log=log_of(voters=static.voters, more=(version_record(4), voters_record(4, 1, 2, 3))))
    assert ignored_static_voters(above, static) == 1
    # Every node reports it itself, once it learns that the kraft.version is committed.
    assert [ignored_static_voters(follower(5, 2, log=above.log, high_watermark=end), static) for end in (0, 1)] == [
        0,
        1,
    ]


OUTSIDE = log_of(voters=OBSERVED.voters)
"""The log of replica 4, which is in no voter set."""


@pytest.mark.parametrize(
    ("state", "value"),
    [
        (unattached(5), "unattached"),
        (unattached(5, voted=key(2)), "unattached-voted"),
        (prospective(5), "prospective"),
        (prospective(5, voted=key(2)), "prospective-voted"),
        (candidate(5), "candidate"),
        (leader(5), "leader"),
        (follower(5, 2), "follower"),
        (follower(5, 2, voted=key(3)), "follower"),
        (resigned(5), "resigned"),
        (follower(5, 2, 4, log=OUTSIDE), "observer"),
        (unattached(5, 4, log=OUTSIDE, voted=key(2)), "observer"),
        (leader(5, log=log_of(more=(voters_record(4, 2, 3),))), "leader"),
    ],
)
def test_metric_current_state(state: ReplicaState, value: str) -> None:
    """Rules: metric.current-state, metric.voted-renamed."""
    assert current_state(state, OBSERVED) == value


def test_metric_current_state_follows_the_role() -> None:
    """Rule: metric.current-state."""
    voted = receive(prospective(5, 2), vote(3, 2, 5)).state
    assert current_state(voted, THREE) == "prospective-voted"
    assert current_state(resigned(5), replace(THREE, profile=KAFKA_4)) == "unattached"
    values = {current_state(state, THREE) for state in in_every_role(5)}
    assert values == {role_name(state).lower() for state in in_every_role(5)}
    assert "voted" not in values


def test_metric_voters_observers() -> None:
    """Rules: metric.voters-observers, metric.voters-and-observers."""
    configuration = cluster(3, observers=3)
    state = leader(5, log=log_of(voters=configuration.voters))
    assert (number_of_voters(state), number_of_observers(state)) == (3, 0)
    for source, own in ((2, key(2)), (4, key(4)), (3, key(3, "U3'")), (5, key(5)._replace(directory_id=None))):
        state = receive(state, fetch(source, 1, 5, 0, 0, replica_key=own), configuration).state
    assert (number_of_voters(state), number_of_observers(state)) == (3, 2)
    # The leader never counts as offline, and is identified by its key, not by its id.
    other_disk = state._replace(key=key(1, "U1'"))
    assert number_of_offline_voters(other_disk, {key(2): 9_000, key(3): 9_000}, 10_000, 2_000) == 1
    # Other roles know the voters, but no observers.
    assert number_of_voters(follower(4, 1, 4, log=log_of(voters=keys(1, 2)))) == 2
