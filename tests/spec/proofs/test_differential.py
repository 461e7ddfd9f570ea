"""Four ways to the same answer, on all pairs of non-empty subsets of seven voters.

Rules: state.voters-set.own-majority, voters.at-most-one-difference.
"""

from collections.abc import Iterator

import pytest
import z3

from kraft_reference.identity import ReplicaKey
from kraft_spec.proofs.transitions import Proof, prove_transition

VOTERS = 7
SUBSETS = range(1, 1 << VOTERS)
"""Sets as bits: voter n is in it if bit n is set."""
PAIRS = [(old, new) for old in SUBSETS for new in SUBSETS]
Answers = dict[tuple[int, int], bool]
"""For a pair of sets: do all majorities intersect?"""


@pytest.fixture(scope="module")
def by_brute_force() -> Answers:
    """Try every majority of the one with every majority of the other."""
    majorities = {of: list(_majorities(of)) for of in SUBSETS}
    return {(old, new): all(one & other for one in majorities[old] for other in majorities[new]) for old, new in PAIRS}


def _majorities(of: int) -> Iterator[int]:
    return (part for part in range(of + 1) if part & of == part and 2 * part.bit_count() > of.bit_count())


def test_the_closed_form_is_right(by_brute_force: Answers) -> None:
    def intersect(old: int, new: int) -> bool:
        differ = (old ^ new).bit_count()
        return differ <= 1 or (differ == 2 and old.bit_count() % 2 == 0 and new.bit_count() % 2 == 0)

    assert len(PAIRS) == 16_129
    assert {pair: intersect(*pair) for pair in PAIRS} == by_brute_force


def test_z3_agrees_with_a_variable_for_each_voter(by_brute_force: Answers) -> None:
    # One solver for all questions: which voters the sets have is assumed, not asserted.
    solver = z3.SolverFor("QF_FD")
    names = ("old", "new", "old quorum", "new quorum")
    old, new, old_quorum, new_quorum = ([z3.Bool(f"{name} {n}") for n in range(VOTERS)] for name in names)
    for voters, quorum in ((old, old_quorum), (new, new_quorum)):
        solver.add(*(z3.Implies(chosen, voter) for chosen, voter in zip(quorum, voters, strict=True)))
        left_out = [z3.And(voter, z3.Not(chosen)) for chosen, voter in zip(quorum, voters, strict=True)]
        solver.add(z3.PbGe([(chosen, 1) for chosen in quorum] + [(out, -1) for out in left_out], 1))
    solver.add(*(z3.Not(z3.And(*both)) for both in zip(old_quorum, new_quorum, strict=True)))
    negated = {voter: z3.Not(voter) for voter in (*old, *new)}

    def bits(of: int, voters: list[z3.BoolRef]) -> list[z3.BoolRef]:
        return [voter if of >> n & 1 else negated[voter] for n, voter in enumerate(voters)]

    answers = {pair: str(solver.check(*bits(pair[0], old), *bits(pair[1], new))) for pair in PAIRS}
    assert answers == {pair: "unsat" if intersect else "sat" for pair, intersect in by_brute_force.items()}


def test_what_is_proved_of_the_sizes_of_regions_is_the_same(by_brute_force: Answers) -> None:
    named = {of: frozenset(ReplicaKey(n, f"U{n}") for n in range(VOTERS) if of >> n & 1) for of in SUBSETS}
    found = {(old, new): prove_transition(named[old], named[new]) for old, new in PAIRS}
    assert all(answer.recheck() for answer in found.values())
    assert {pair: isinstance(answer, Proof) for pair, answer in found.items()} == by_brute_force
