"""`prove_transition`: proofs that are checked again, named counterexamples, reproducible results."""

from fractions import Fraction
from random import Random

import pytest
import z3
from hypothesis import given
from hypothesis import strategies as st
from tests.spec.proofs.voters import drawn_voters, key, voters

from kraft_proofs.certificate import Certificate
from kraft_proofs.changes import Reason, change, listed
from kraft_proofs.transitions import (
    Counterexample,
    Proof,
    in_words,
    prove_transition,
    sizes,
)
from kraft_reference.identity import ReplicaKey, VoterSet

WHOLE_CORE = ("kept", "removed", "added", "old-majority", "new-majority", "disjoint")


def quorums(old: str, new: str) -> tuple[str, str]:
    """Return the quorums of a counterexample."""
    result = prove_transition(voters(old), voters(new))
    assert isinstance(result, Counterexample)
    assert result.recheck()
    return listed(result.old_quorum), listed(result.new_quorum)


def proof(old: str, new: str) -> Proof:
    """Return a proof."""
    result = prove_transition(voters(old), voters(new))
    assert isinstance(result, Proof)
    return result


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("1 2 3", "1 2 3"),
        ("1 2 3", "1 2 3 4"),
        ("1 2 3 4", "1 2 3"),
        ("1", "1 2"),
        ("1 2 3 4", "1 2 3 5"),
        ("1 2 3 4", "1 2 3 4 5 6"),
    ],
)
def test_a_safe_transition_is_proved_by_all_its_facts(old: str, new: str) -> None:
    result = proof(old, new)
    assert result.core == WHOLE_CORE
    assert result.recheck()
    assert {part.weight for part in result.certificate} == {Fraction(1)}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("1", "2", ("1", "2")),
        ("1 2 3", "1 2 4", ("1, 3", "2, 4")),
        ("1 2 3", "4 5 6", ("1, 2", "4, 5")),
        ("1 2 3", "1 2 3 4 5", ("1, 2", "3, 4, 5")),
        ("1 2 3 4 5", "1 2 3", ("1, 4, 5", "2, 3")),
        ("1-A 2-B 3-C", "1-A 2-B 3-D", ("1-A, 3-C", "2-B, 3-D")),
    ],
)
def test_a_counterexample_names_the_first_voters_that_make_one(old: str, new: str, expected: tuple[str, str]) -> None:
    assert quorums(old, new) == expected


def test_an_empty_set_has_no_majority() -> None:
    for old, new, empty in (("1 2", "", "new"), ("", "1 2", "old")):
        assert proof(old, new).recheck()
        assert proof(old, new).summary == f"the {empty} set has no majority"


def test_a_proof_is_summed_up_in_one_line() -> None:
    assert proof("1 2 3", "1 2 3 4").summary == "majorities of 2 and 3 share one of 4 replicas"


def test_facts_are_listed_with_their_rules() -> None:
    counted = sizes(change(voters("1 2 3"), voters("1 2 3 4")))
    assert [in_words(counted, name) for name in WHOLE_CORE] == [
        Reason("voters in both sets: 3", ("identity.replica-key",)),
        Reason("voters in the old set only: 0", ("identity.replica-key",)),
        Reason("voters in the new set only: 1", ("identity.replica-key",)),
        Reason("a quorum of the old set has at least 2 of its 3 voters", ("state.voters-set.own-majority",)),
        Reason("a quorum of the new set has at least 3 of its 4 voters", ("state.voters-set.own-majority",)),
        Reason("supposed: the two quorums have no replica in common"),
    ]


def test_a_new_directory_id_is_another_replica() -> None:
    swapped = change(voters("1-A 2-B 3-C"), voters("1-A 2-B 3-D"))
    assert swapped.other_directories == ((key("3-C"), key("3-D")),)
    assert [note.text for note in swapped.notes] == [
        "3-C and 3-D are two replicas; by id alone nothing would have changed at 3"
    ]
    assert isinstance(prove_transition(voters("1 2 3"), voters("1 2 3")), Proof)


def test_a_directory_id_that_is_filled_in_changes_no_voter() -> None:
    result = change(voters("1-A 2 3"), voters("1-A 2-B 3 4"))
    assert (result.learned, result.forgotten, result.added, result.removed) == ((key("2-B"),), (), (key("4"),), ())
    assert result.old == voters("1-A 2-B 3")
    assert "stands for" not in result.notes[0].text
    assert result.notes[0].rules == ("identity.unknown-directory-matches-id",)


def test_an_id_that_a_set_holds_twice_is_not_taken_for_one_replica() -> None:
    assert change(voters("1 2"), voters("1-A 1-B 2")).learned == ()


def test_sets_of_thousands_are_decided_by_three_numbers() -> None:
    many = [ReplicaKey(number) for number in range(5_001)]
    added = prove_transition(many[:-1], many)
    assert isinstance(added, Proof)
    assert added.recheck()
    swapped = prove_transition(many, [*many[1:], ReplicaKey(9_999)])
    assert isinstance(swapped, Counterexample)
    assert swapped.recheck()
    assert (len(swapped.old_quorum), len(swapped.new_quorum)) == (2_501, 2_501)


pairs = st.tuples(drawn_voters(7), drawn_voters(7))


@given(pairs, st.randoms(use_true_random=False))
def test_the_order_of_the_voters_does_not_matter(sets: tuple[VoterSet, VoterSet], chance: Random) -> None:
    old, new = (chance.sample(sorted(voters), len(voters)) for voters in sets)
    assert prove_transition(old, new) == prove_transition(*sets)


@given(pairs)
def test_every_answer_is_checked_again_without_a_solver(sets: tuple[VoterSet, VoterSet]) -> None:
    assert prove_transition(*sets).recheck()


@given(pairs)
def test_the_exported_question_has_the_same_answer(sets: tuple[VoterSet, VoterSet]) -> None:
    result = prove_transition(*sets)
    solver = z3.Solver()
    solver.from_string(result.smt2())
    assert solver.check() == (z3.unsat if isinstance(result, Proof) else z3.sat)


def altered(of: Proof, certificate: Certificate) -> Proof:
    """Return the proof with another certificate."""
    return Proof(of.change, of.core, certificate)


def test_a_weight_that_no_longer_adds_up_is_refused() -> None:
    result = proof("1 2 3", "1 2 3 4")
    for at, part in enumerate(result.certificate):
        less = (*result.certificate[:at], part._replace(weight=Fraction(1, 2)), *result.certificate[at + 1 :])
        assert not altered(result, less).recheck(), part.fact


def test_a_proof_of_another_transition_is_refused() -> None:
    safe = proof("1 2 3", "1 2 3 4")
    assert not Proof(change(voters("1 2 3"), voters("1 2 4")), safe.core, safe.certificate).recheck()
    assert not Proof(safe.change, safe.core[1:], safe.certificate).recheck()


@pytest.mark.parametrize(
    ("old_quorum", "new_quorum"),
    [("1 3", "1 4"), ("3", "2 4"), ("1 3", "4"), ("1 5", "2 4"), ("1 3", "4 9"), ("1 3", "2 3")],
)
def test_a_wrong_counterexample_is_refused(old_quorum: str, new_quorum: str) -> None:
    result = prove_transition(voters("1 2 3"), voters("1 2 4"))
    assert not Counterexample(result.change, tuple(voters(old_quorum)), tuple(voters(new_quorum))).recheck()
