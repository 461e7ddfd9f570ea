"""The finding on KIP-642 without a solver: replicas that win epoch 3 without the commits of epoch 2, set by set."""

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import pytest
from tests.spec.proofs.voters import voters

from kraft_proofs.kip642 import kip642_plan
from kraft_proofs.theorems import theorem

Ids = frozenset[int]
OLD_LEADER = 1


class Schedule(NamedTuple):
    """Participants of each step."""

    elects: Ids
    commits: Ids
    elects_again: Ids


def majorities(voters: Ids) -> Iterator[Ids]:
    """Yield every set of more than half of the voters."""
    for size in range(len(voters) // 2 + 1, len(voters) + 1):
        yield from map(frozenset, combinations(sorted(voters), size))


def schedules(base: Ids, first: Ids, resumed: Ids) -> Iterator[Schedule]:
    """Yield every way in which voters that all lack the new leader's commits elect the old leader again."""
    for elects in majorities(base - {OLD_LEADER}):
        if 2 * len(elects) <= len(base):
            continue
        for commits in majorities(resumed):
            for elects_again in majorities(first):
                if elects & commits and OLD_LEADER in elects_again and not elects_again & commits:
                    yield Schedule(elects, commits, elects_again)


def changes(base: Ids, *, adds: bool) -> list[Ids]:
    """Return the sets that one step of a plan makes of the base, up to the names of added voters."""
    if adds:
        return [base | {len(base) + 1}, base | {len(base) + 2}]
    return [base - {replica} for replica in sorted(base)]


def found(size: int, *, adds: bool) -> list[tuple[Ids, Ids, Schedule]]:
    """Return every first set, resumed set and schedule for a base of this many voters."""
    base = frozenset(range(1, size + 1))
    sets = [voters for voters in changes(base, adds=adds) if voters]
    return [
        (first, resumed, schedule) for first in sets for resumed in sets for schedule in schedules(base, first, resumed)
    ]


@pytest.mark.parametrize("adds", [True, False])
def test_the_smallest_base_has_four_voters(adds: bool) -> None:
    assert [size for size in range(1, 5) if found(size, adds=adds)] == [4]


@pytest.mark.parametrize("adds", [True, False])
def test_an_odd_base_is_safe_and_an_even_one_is_not(adds: bool) -> None:
    assert [bool(found(size, adds=adds)) for size in (5, 6)] == [False, True]


def test_the_recorded_schedule_is_one_of_them() -> None:
    sets = theorem("resumed-plan").weakenings[0].counterexample.sets
    assert {name: set(members) for name, members in sets.items()} == {
        "OldLeader": {1},
        "Base": {1, 2, 3, 4},
        "First": {1, 2, 3, 4, 5},
        "Resumed": {1, 2, 3, 4, 6},
        "Elects": {2, 3, 4},
        "OwnEpoch": {2, 3},
        "Commits": {2, 3, 6},
        "ElectsAgain": {1, 4, 5},
    }
    recorded = Schedule(frozenset({2, 3, 4}), frozenset({2, 3, 6}), frozenset({1, 4, 5}))
    assert (frozenset(sets["First"]), frozenset(sets["Resumed"]), recorded) in found(4, adds=True)


def test_both_sets_are_next_steps_of_one_plan() -> None:
    target = voters("1 2 3 4 5 6")
    assert kip642_plan(voters("1 2 3 4"), target)[1] == voters("1 2 3 4 5")
    assert kip642_plan(voters("1 2 3 4"), voters("1 2 3 4 6"))[1] == voters("1 2 3 4 6") < target


@pytest.mark.parametrize("adds", [True, False])
def test_after_a_commit_in_the_epoch_every_elected_leader_has_it(adds: bool) -> None:
    for size in range(1, 6):
        base = frozenset(range(1, size + 1))
        for first, _, schedule in found(size, adds=adds):
            assert len(first ^ base) == 1
            assert all(own_epoch & schedule.elects_again for own_epoch in majorities(base))
