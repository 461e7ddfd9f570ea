"""Plans between sets in which only some directory ids are stated."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.spec.proofs.voters import key, voters

from kraft_proofs.changes import change, listed
from kraft_proofs.kip642 import UnknownLeaderError, kip642_plan
from kraft_proofs.plan_notes import plan_notes
from kraft_proofs.plans import ProvedPlan, prove_plan, prove_step
from kraft_reference.identity import ReplicaKey, VoterSet


def plan(current: str, target: str, leader: str | None = None) -> tuple[list[str], bool]:
    """Return KIP-642's plan as text, and True if it is proved."""
    sets = kip642_plan(voters(current), voters(target), None if leader is None else key(leader))
    return [listed(each) for each in sets], isinstance(prove_plan(sets), ProvedPlan)


def notes(*sets: str, leader: str | None = None) -> list[str]:
    """Return the notes about a plan."""
    plan = [voters(each) for each in sets]
    return [str(note) for note in plan_notes(plan, prove_plan(plan), None if leader is None else key(leader))]


def test_the_steps_state_the_added_directory_ids() -> None:
    steps = prove_plan(kip642_plan(voters("1 2"), voters("1-A 2-B 3-C"))).steps
    assert [step.protocol.kind for step in steps] == ["fills in the directory ids 1-A, 2-B", "adds 3-C"]
    assert (steps[0].change.given_old, steps[0].change.given_new) == (voters("1 2"), voters("1-A 2-B"))


def test_static_voters_are_upgraded_before_anything_else() -> None:
    expected = (
        "if 1, 2, 3 are static voters, the upgrade to kraft.version 1 comes first, and fills in the directory ids of "
        "all of them at once (kraft-version.upgrade-atomic-batch)"
    )
    assert notes("1 2 3", "1-A 2 3") == [
        "an entry without a directory id is taken for the replica of its id: 1-A "
        "(identity.unknown-directory-matches-id)",
        expected,
    ]
    for sets in (("1 2 3", "1-A 2-B 3-C"), ("1 2 3", "1 2 3 4"), ("1 2 3-C", "1-A 2 3-C")):
        assert not any("static" in note for note in notes(*sets)), sets


def test_a_directory_id_of_two_replicas_is_pointed_out() -> None:
    noted = change(voters("1-A 2-B"), voters("1-A 2-B 3-B")).notes
    assert [str(note) for note in noted] == [
        "the directory id B stands for 2-B and 3-B: two replicas have two (identity.directory-id-at-format)"
    ]


def test_a_leader_is_the_voter_of_its_id_whose_directory_id_is_unknown() -> None:
    assert plan("1 2", "2 3", leader="1-A") == (["1, 2", "1, 2, 3", "2, 3"], True)
    assert plan("1 2", "3 4", leader="2-B")[0][-2:] == ["2, 3, 4", "3, 4"]
    assert any("step 2 removes the leader 1" in note for note in notes("1 2", "1 2 3", "2 3", leader="1-A"))
    with pytest.raises(UnknownLeaderError, match=r"^1-A is none of the voters 1-X, 2$"):
        kip642_plan(voters("1 2"), voters("1-X 2"), key("1-A"))


def test_a_leader_that_goes_before_others_is_noted() -> None:
    remarks = notes("1 2 3", "2 3", "2 3 4", "3 4", leader="1")
    assert "step 1 removes the leader 1 before 2: KIP-642 removes it last (reassign.leader-removed-last)" in remarks
    assert not any("reassign.leader-removed-last" in note for note in notes("1 2", "1", leader="2"))


def test_departures_from_kip_642_are_noted() -> None:
    assert notes("1 2", "1 2 3", "1 2 3 4", "1 2 3 4 5", "1 2 3 4", "1 2 3")[1:] == [
        "there are 2 to 5 voters, outside KIP-642's bounds of 2 to 4 (reassign.add-or-remove-choice)",
        "not every step comes closer to the last set, as in KIP-642's plan: not steps 2, 3 (reassign.three-sets)",
    ]
    assert notes("1 2", "1 2 3", "2 3")[1:] == []
    # A replaced disk costs a voter, and KIP-642 knows no disks.
    assert len(notes("1-A 2-B", "1-A", "1-A 2-C")) == 1


keys = st.builds(ReplicaKey, st.integers(0, 3), st.sampled_from([None, "A", "B"]))
mixed = st.frozensets(keys, min_size=1, max_size=5)
proper = st.dictionaries(st.integers(0, 5), st.sampled_from([None, "A", "B"]), min_size=1).map(
    lambda by_id: frozenset(ReplicaKey(*each) for each in by_id.items())
)


@given(st.one_of(st.tuples(mixed, mixed), st.tuples(proper, proper)))
def test_a_plan_has_the_given_ends_and_agrees_with_the_transition(
    ends: tuple[VoterSet, VoterSet],
) -> None:
    current, target = ends
    sets = kip642_plan(current, target)
    assert (sets[0], sets[-1]) == (current, target)
    assert len(set(sets)) == len(sets)
    passes, step = isinstance(prove_plan(sets), ProvedPlan), prove_step(current, target)
    if len(sets) <= 2:
        assert passes == step.passes
    assert passes or not step.passes


@given(proper)
def test_all_directory_ids_are_filled_in_by_one_record(current: VoterSet) -> None:
    bare = frozenset(ReplicaKey(key.id) for key in current)
    named = frozenset(ReplicaKey(key.id, key.directory_id or "C") for key in current)
    assert kip642_plan(bare, named) == (bare, named)
    assert isinstance(prove_plan((bare, named)), ProvedPlan)
