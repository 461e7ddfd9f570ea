"""Certificates are checked by adding fractions, and wrong ones are rejected."""

from fractions import Fraction

import pytest

from kraft_proofs.certificate import Certificate, WeightedRow, certifies
from kraft_proofs.linear import Problem, at_most, variable
from kraft_proofs.solving import Contradiction, Solution, solve

X, Y, Z = variable("x"), variable("y"), variable("z")
# 2x + y is at most 3, but x is at least 1 and y at least 2.
PROBLEM = Problem("p", ("x", "y"), (at_most("sum", 2 * X + Y, 3), at_most("x", 1, X), at_most("y", 2, Y)))
ROWS = {fact.name: fact.rows[0] for fact in PROBLEM.facts}


def certificate(**weights: str) -> Certificate:
    """Return the rows of `PROBLEM` by fact, with these weights."""
    return tuple(WeightedRow(name, ROWS[name], Fraction(weight)) for name, weight in weights.items())


@pytest.mark.parametrize(
    "weights",
    [{"sum": "1", "x": "2", "y": "1"}, {"sum": "1/3", "x": "2/3", "y": "1/3"}, {"sum": "1", "x": "2", "y": "1/1"}],
)
def test_weights_that_add_up_to_a_contradiction_are_accepted(weights: dict[str, str]) -> None:
    assert certifies(certificate(**weights), PROBLEM)


@pytest.mark.parametrize(
    "weights",
    [
        {},
        {"sum": "0", "x": "0", "y": "0"},
        {"sum": "-1", "x": "-2", "y": "-1"},
        {"sum": "1", "x": "2"},
        {"sum": "1", "x": "3", "y": "1"},
        {"sum": "1", "x": "2", "y": "-1"},
    ],
)
def test_weights_that_do_not_add_up_are_rejected(weights: dict[str, str]) -> None:
    assert not certifies(certificate(**weights), PROBLEM)


def test_a_row_is_not_turned_round_by_a_negative_weight() -> None:
    between = Problem("p", ("x",), (at_most("low", 1, X), at_most("high", X, 5)))
    turned = tuple(WeightedRow(fact.name, fact.rows[0], Fraction(-1)) for fact in between.facts)
    assert not certifies(turned, between)
    assert solve(between) == Solution({"x": 1})


def test_a_row_that_is_not_among_the_facts_is_refused() -> None:
    good = certificate(sum="1", x="2", y="1")
    for at, part in enumerate(good):
        for other in (part._replace(row=part.row + 1), part._replace(row=-1 * part.row), part._replace(fact="other")):
            assert not certifies((*good[:at], other, *good[at + 1 :]), PROBLEM)
    assert not certifies(good, PROBLEM._replace(facts=PROBLEM.facts[:2]))


def test_only_variables_of_the_problem_are_natural_numbers() -> None:
    free = Problem("p", (), (at_most("z", Z + 1, 0),))
    row = WeightedRow("z", free.facts[0].rows[0], Fraction(1))
    assert not certifies((row,), free)
    assert certifies((row,), free._replace(variables=("z",)))


def test_the_solver_finds_a_minimal_core_and_its_certificate() -> None:
    more = PROBLEM._replace(facts=(at_most("loose", X, 9), *PROBLEM.facts))
    solution = solve(more)
    assert isinstance(solution, Contradiction)
    assert solution.core == ("sum", "x", "y")
    assert solution.certificate is not None
    assert certifies(solution.certificate, more)


def test_a_contradiction_of_parity_has_no_certificate() -> None:
    odd = Problem("odd", ("x",), (at_most("low", 1, 2 * X), at_most("high", 2 * X, 1)))
    assert solve(odd) == Contradiction(("low", "high"), None)


def test_a_solution_is_the_smallest_in_the_order_asked_for() -> None:
    problem = Problem("p", ("x", "y"), (at_most("three", 3, X + Y),))
    assert solve(problem) == Solution({"x": 0, "y": 3})
    assert solve(problem, [Y]) == Solution({"x": 3, "y": 0})
