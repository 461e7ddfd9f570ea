"""The smallest counterexamples without a solver: all smaller ones are tried."""

from collections.abc import Iterator
from itertools import combinations, product
from math import comb

import pytest

from kraft_proofs.linear import Problem
from kraft_proofs.theorems import Weakening, theorems
from kraft_proofs.theorems.checking import counted

MOST_SHARES = 100_000
"""Maximum number of distributions of replicas over regions to try for one counterexample."""

WEAKENINGS = {
    f"{theorem.slug}/{weakening.name}": weakening for theorem in theorems() for weakening in theorem.weakenings
}


def shares(replicas: int, regions: int) -> Iterator[tuple[int, ...]]:
    """Yield every distribution of replicas over regions."""
    for bars in combinations(range(replicas + regions - 1), regions - 1):
        yield tuple(b - a - 1 for a, b in zip((-1, *bars), (*bars, replicas + regions - 1), strict=True))


def replicas_in(weakening: Weakening) -> int:
    return len({replica for members in weakening.counterexample.sets.values() for replica in members})


def values(weakening: Weakening, problem: Problem) -> Iterator[dict[str, int]]:
    """Yield every distribution of at most as many replicas as the recorded counterexample has, with small other
    numbers.
    """
    regions = len(weakening.refuted.diagram.regions)
    most = replicas_in(weakening)
    numbers = len(problem.variables) - regions
    for replicas in range(most + 1):
        for share in shares(replicas, regions):
            for more in product(range(most + 1), repeat=numbers):
                yield dict(zip(problem.variables, (*share, *more), strict=True))


def is_feasible(weakening: Weakening) -> bool:
    bars = len(weakening.refuted.diagram.regions) - 1
    return comb(replicas_in(weakening) + bars, bars) <= MOST_SHARES


@pytest.mark.parametrize("name", [name for name, weakening in WEAKENINGS.items() if is_feasible(weakening)])
def test_no_counterexample_with_as_many_replicas_is_smaller(name: str) -> None:
    weakening = WEAKENINGS[name]
    problem = weakening.refuted.problem
    smaller = [
        tuple(term.value(tried) for term in weakening.smallest)
        for tried in values(weakening, problem)
        if all(fact.holds(tried) for fact in problem.facts)
    ]
    recorded = counted(weakening.counterexample, weakening.refuted.diagram)
    assert recorded is not None
    assert min(smaller) == tuple(term.value(recorded) for term in weakening.smallest)


def test_only_the_resumed_plan_is_too_large_for_that() -> None:
    """test_resumed_plan.py tries it set by set."""
    too_large = [name for name, weakening in WEAKENINGS.items() if not is_feasible(weakening)]
    assert too_large == ["resumed-plan/add", "resumed-plan/remove"]
