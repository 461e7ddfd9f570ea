"""`prove_plan`, and KIP-642's plan from any voter set to any other."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.spec.proofs.voters import drawn_voters, key, voters

from kraft_proofs.changes import listed
from kraft_proofs.kip642 import UnknownLeaderError, kip642_plan
from kraft_proofs.plan_notes import leader_leaves
from kraft_proofs.plans import ProvedPlan, RefusedPlan, Shape, prove_plan, shape
from kraft_reference.identity import VoterSet


def plan(current: str, target: str, leader: str | None = None) -> list[str]:
    """Return KIP-642's plan as text."""
    sets = kip642_plan(voters(current), voters(target), None if leader is None else key(leader))
    return [listed(each) for each in sets]


def refusals(*sets: str) -> list[str]:
    """Return the reasons why a plan is refused."""
    result = prove_plan([voters(each) for each in sets])
    assert isinstance(result, RefusedPlan)
    return [str(reason) for reason in result.reasons]


def test_the_example_of_kip_642() -> None:
    expected = ["1, 2, 3", "1, 2, 3, 4", "1, 2, 4", "1, 2, 4, 5", "1, 4, 5", "1, 4, 5, 6", "4, 5, 6"]
    assert plan("1 2 3", "4 5 6") == expected
    assert plan("1 2 3", "4 5 6", leader="1") == expected
    result = prove_plan(kip642_plan(voters("1 2 3"), voters("4 5 6")))
    assert isinstance(result, ProvedPlan)
    assert result.shape == Shape(sizes=(3, 4), bounds=(3, 4), distances=(6, 5, 4, 3, 2, 1, 0))
    assert (result.shape.is_bounded, result.shape.is_direct) == (True, True)


@pytest.mark.parametrize("leader", ["2", "3"])
def test_the_leader_is_removed_last(leader: str) -> None:
    sets = plan("1 2 3", "4 5 6", leader=leader)
    assert sets[-2:] == [f"{leader}, 4, 5, 6", "4, 5, 6"]
    steps = prove_plan(kip642_plan(voters("1 2 3"), voters("4 5 6"), key(leader))).steps
    leaves = leader_leaves(steps, key(leader))
    assert leaves is not None
    assert leaves.text.startswith(f"step 6 removes the leader {leader}: ")
    assert "reassign.leader-steps-down-before-own-removal" in leaves.rules


def test_a_leader_that_stays_needs_nothing() -> None:
    assert leader_leaves(prove_plan(kip642_plan(voters("1 2"), voters("1 3"))).steps, key("1")) is None


def test_the_leader_is_one_of_the_voters() -> None:
    with pytest.raises(UnknownLeaderError, match=r"^9 is none of the voters 1, 2$"):
        kip642_plan(voters("1 2"), voters("1"), key("9"))
    assert plan("1-A 2-B", "3-C", leader="2")[-2:] == ["2-B, 3-C", "3-C"]


def test_whose_id_is_wanted_again_is_removed_first() -> None:
    assert plan("1-A 2-B", "1-C 3-D") == ["1-A, 2-B", "1-A, 2-B, 3-D", "2-B, 3-D", "1-C, 2-B, 3-D", "1-C, 3-D"]


def test_a_sole_voter_with_another_disk_has_no_plan() -> None:
    assert plan("1-A", "1-B") == ["1-A", "no voter", "1-B"]
    assert refusals("1-A", "", "1-B") == [
        "step 1: the new set has no voter: nothing could ever be decided (voters.never-empty)",
        "step 2: the old set has no voter: nothing could ever be decided (voters.never-empty)",
    ]


def test_every_wrong_step_is_named_with_both_verdicts() -> None:
    assert refusals("1 2 3", "1 2 4", "1 2 4 5", "1 2 5 6") == [
        "step 1: the majorities 1, 3 and 2, 4 have no replica in common",
        "step 1: 2 voters change at once: one VotersRecord adds one voter or removes one "
        "(voters.at-most-one-difference)",
        "step 3: 2 voters change at once: one VotersRecord adds one voter or removes one "
        "(voters.at-most-one-difference)",
    ]


def test_a_plan_has_at_least_one_set_and_that_a_voter() -> None:
    assert refusals() == ["a plan has at least one voter set"]
    assert len(refusals("")) == 2
    assert prove_plan([voters("1 2")]) == ProvedPlan((), Shape((2, 2), (2, 3), (0,)))


def test_a_detour_is_safe_and_noted() -> None:
    result = prove_plan([voters(each) for each in ("1 2", "1 2 3", "1 2 3 4", "1 2 3 4 5", "1 2 3 4", "1 2 3")])
    assert isinstance(result, ProvedPlan)
    assert (result.shape.is_bounded, result.shape.is_direct) == (False, False)
    assert result.shape.distances == (1, 0, 1, 2, 1, 0)


def test_a_target_that_holds_an_id_twice_is_refused_and_the_plan_still_ends() -> None:
    assert plan("1-A", "1-A 1-B") == ["1-A", "1-A, 1-B"]
    assert refusals("1-A", "1-A 1-B") == [
        "step 1: the new set holds the id 1 twice, 1-A and 1-B: DUPLICATE_VOTER (add-voter.duplicate-id)"
    ]


@given(drawn_voters(7), drawn_voters(7), st.data())
def test_each_plan_is_proved_bounded_direct_and_removes_the_leader_last(
    current: VoterSet, target: VoterSet, data: st.DataObject
) -> None:
    leader = data.draw(st.sampled_from(sorted(current)))
    sets = kip642_plan(current, target, leader)
    assert (sets[0], sets[-1]) == (current, target)
    assert len(sets) == len(current ^ target) + 1
    measured = shape(sets)
    assert measured.is_bounded or measured.sizes[0] == measured.bounds[0] - 1
    assert measured.is_bounded == (not measured.disks)
    assert (min(measured.bounds) >= 1, measured.is_direct) == (True, True)
    assert isinstance(prove_plan(sets), ProvedPlan) == (frozenset() not in sets)
    removed = [next(iter(old - new)) for old, new in pairwise(sets) if old - new]
    assert leader not in removed[:-1]


@given(drawn_voters(9, "AB"), drawn_voters(9, "AB"))
def test_the_bounds_are_those_of_kip_642(current: VoterSet, target: VoterSet) -> None:
    ends = len(current), len(target)
    assert shape(kip642_plan(current, target)).bounds == (min(ends), max(ends) + 1)


def test_a_plan_of_ones_own_that_is_too_small_is_not_excused_by_a_disk() -> None:
    for sets in (
        ("1-A 2-B 3-C", "1-A 2-B", "1-A", "1-A 2-D", "1-A 2-D 3-C"),
        ("1-A 2-B 3-C", "1-A 2-B", "1-A 2-B 3-C", "1-A 3-C", "1-A 2-D 3-C"),
        ("1-A 2-B 3-C", "1-A 2-B", "1-A", "1-A 2-D", "1-A 2-D 3-E"),
        ("1-A 2-B", "1-A", "1-A 2-C", "1-A 2-C 3-C", "1-A 2-C 3-C 4-C", "1-A 2-C 3-C", "1-A 2-C"),
    ):
        measured = shape([voters(each) for each in sets])
        assert (measured.is_bounded, measured.disks) == (False, ()), sets
