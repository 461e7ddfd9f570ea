"""The proofs use the same majority as the reference.

Rules: state.voters-set.own-majority, voters.at-most-one-difference.
"""

from collections.abc import Callable
from itertools import combinations

import pytest
from tests.spec.proofs.voters import voters

from kraft_proofs import transitions
from kraft_proofs.plans import prove_step
from kraft_proofs.transitions import Counterexample, Proof, prove_transition, smallest_majority
from kraft_reference.identity import ReplicaKey, VoterSet
from kraft_reference.state import is_majority

IsMajority = Callable[[int, VoterSet], bool]
REPLICAS = tuple(ReplicaKey(number, f"U{number}") for number in range(1, 8))
SETS = tuple(frozenset(chosen) for size in range(len(REPLICAS) + 1) for chosen in combinations(REPLICAS, size))


def follows_the_closed_form(function: IsMajority, size_max: int) -> bool:
    """True if `n` of `|V|` is a majority exactly when 2n > |V|, for every n up to |V|, up to `size_max` voters."""
    everybody = [ReplicaKey(number) for number in range(size_max)]
    sets = (frozenset(everybody[:size]) for size in range(size_max + 1))
    return all(function(number, of) == (2 * number > len(of)) for of in sets for number in range(len(of) + 1))


def majorities(function: IsMajority, of: VoterSet) -> list[VoterSet]:
    """Return every majority of a set, by name."""
    return [
        frozenset(chosen)
        for size in range(len(of) + 1)
        if function(size, of)
        for chosen in combinations(sorted(of), size)
    ]


def disjoint_majorities(function: IsMajority) -> list[tuple[VoterSet, VoterSet]]:
    """Return pairs of sets, equal or one replica apart, with disjoint majorities; the quorum axioms forbid any."""
    by_set = {each: majorities(function, each) for each in SETS}
    return [
        (first, other)
        for first in SETS
        for other in (first, *(first | {replica} for replica in REPLICAS if replica not in first))
        if any(left.isdisjoint(right) for left in by_set[first] for right in by_set[other])
    ]


WRONG: dict[str, IsMajority] = {
    "half is enough": lambda number, of: 2 * number >= len(of),
    "half of the voters, rounded down, and one of an odd set less": lambda number, of: number >= len(of) // 2,
    "always two": lambda number, of: number >= min(2, len(of)),
    "anybody": lambda number, of: number > 0,
}


def test_the_reference_counts_by_the_closed_form() -> None:
    assert follows_the_closed_form(is_majority, 1_000)


def test_majorities_of_the_reference_satisfy_both_quorum_axioms_up_to_seven_replicas() -> None:
    assert len(SETS) == 128
    assert disjoint_majorities(is_majority) == []


@pytest.mark.parametrize("function", WRONG.values(), ids=WRONG)
def test_another_majority_function_fails_both_checks(function: IsMajority) -> None:
    assert not follows_the_closed_form(function, 10)
    assert disjoint_majorities(function) != []


def test_the_proofs_take_their_majority_from_the_reference() -> None:
    assert [smallest_majority(frozenset(REPLICAS[:size])) for size in range(8)] == [1, 1, 2, 2, 3, 3, 4, 4]


def test_a_proof_fails_when_the_reference_takes_half_for_a_majority(monkeypatch: pytest.MonkeyPatch) -> None:
    four = voters("1 2 3 4")
    assert isinstance(prove_transition(four, four), Proof)
    monkeypatch.setattr(transitions, "is_majority", WRONG["half is enough"])
    result = prove_transition(four, four)
    assert isinstance(result, Counterexample)
    assert (frozenset(result.old_quorum), frozenset(result.new_quorum)) == (voters("1 2"), voters("3 4"))
    step = prove_step(four, four)
    assert (step.protocol.allowed, step.passes) == (True, False)
