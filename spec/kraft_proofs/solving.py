"""Satisfiability of the facts of a problem, decided by Z3.

The result is plain data: a minimal contradicting set of facts with a certificate if rational numbers suffice, or the
smallest numbers that satisfy every fact. Both are deterministic: the core is minimised in the order of the facts, and
the numbers one after the other.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import z3

from kraft_proofs.certificate import Certificate, WeightedRow, certifies
from kraft_proofs.linear import Fact, Problem, Term


class Contradiction(NamedTuple):
    """The facts cannot all be true."""

    core: tuple[str, ...]
    """Names of a minimal set of contradicting facts, in the order of the problem."""
    certificate: Certificate | None
    """None if the contradiction needs whole numbers, such as one of parity."""


class Solution(NamedTuple):
    """Numbers that satisfy every fact."""

    values: dict[str, int]


class SolverGaveUpError(Exception):
    """Z3 answered unknown, which does not happen for linear problems of this size."""


def solve(problem: Problem, smallest: Sequence[Term] = ()) -> Contradiction | Solution:
    """Decide a problem.

    Args:
        problem: The facts.
        smallest: Terms that a solution minimises in this order, before its variables.

    Raises:
        SolverGaveUpError: the solver answered `unknown`.
    """
    core = _find_core(problem)
    if core is None:
        return Solution(_minimise(problem, smallest))
    return Contradiction(tuple(fact.name for fact in core), _find_certificate(problem._replace(facts=core)))


def z3_term(term: Term) -> z3.ArithRef:
    """Return the term as a Z3 term."""
    return z3.Sum([z3.IntVal(term.constant), *(number * z3.Int(name) for name, number in term.coefficients)])


def z3_facts(facts: Sequence[Fact]) -> list[z3.BoolRef]:
    """Return the rows of facts as Z3 formulas."""
    return [z3_term(row) <= 0 for fact in facts for row in fact.rows]


def _naturals(problem: Problem) -> list[z3.BoolRef]:
    return [z3.Int(name) >= 0 for name in problem.variables]


def _find_core(problem: Problem) -> tuple[Fact, ...] | None:
    """Return a minimal set of contradicting facts; None if all can be true."""
    # One solver with a switch for each fact: asserting the facts again for each subset would take most of the time.
    solver = z3.SimpleSolver()
    solver.set("ctrl_c", False)
    solver.add(*_naturals(problem))
    switches = z3.Bools([f"fact-{n}" for n in range(len(problem.facts))])
    for switch, fact in zip(switches, problem.facts, strict=True):
        solver.add(*(z3.Implies(switch, row) for row in z3_facts([fact])))

    def consistent(chosen: Sequence[int]) -> bool:
        answer = solver.check(*(switches[n] for n in chosen))
        if answer == z3.unknown:
            raise SolverGaveUpError(f"{problem.name}: {solver.reason_unknown()}")
        return bool(answer == z3.sat)

    core = list(range(len(problem.facts)))
    if consistent(core):
        return None
    for n in range(len(problem.facts)):
        without = [other for other in core if other != n]
        if not consistent(without):
            core = without
    return tuple(problem.facts[n] for n in core)


def _minimise(problem: Problem, smallest: Sequence[Term]) -> dict[str, int]:
    optimize = z3.Optimize()
    optimize.set(priority="lex")
    optimize.add(*_naturals(problem), *z3_facts(problem.facts))
    for term in smallest:
        optimize.minimize(z3_term(term))
    for name in problem.variables:
        optimize.minimize(z3.Int(name))
    if optimize.check() != z3.sat:
        raise SolverGaveUpError(f"{problem.name}: {optimize.reason_unknown()}")
    model = optimize.model()
    return {name: model.eval(z3.Int(name), model_completion=True).as_long() for name in problem.variables}


def _find_certificate(problem: Problem) -> Certificate | None:
    """Return weights of rows that add up to a contradiction, with a minimal sum; None if fractions do not suffice."""
    rows = [(fact.name, row) for fact in problem.facts for row in fact.rows]
    weights = [z3.Real(f"weight-{n}") for n in range(len(rows))]
    sums: dict[str, list[z3.ArithRef]] = {name: [] for name in problem.variables}
    for weight, (_, row) in zip(weights, rows, strict=True):
        for name, number in row.coefficients:
            sums[name].append(number * weight)
    optimize = z3.Optimize()
    optimize.set(priority="lex")
    optimize.add(*(weight >= 0 for weight in weights), *(z3.Sum(parts) >= 0 for parts in sums.values() if parts))
    optimize.add(z3.Sum([row.constant * weight for weight, (_, row) in zip(weights, rows, strict=True)]) == 1)
    optimize.minimize(z3.Sum(weights))
    for weight in weights:
        optimize.minimize(weight)
    if optimize.check() != z3.sat:
        return None
    model = optimize.model()
    solution = [Fraction(str(model.eval(weight, model_completion=True))) for weight in weights]
    certificate = tuple(
        WeightedRow(name, row, weight) for (name, row), weight in zip(rows, solution, strict=True) if weight
    )
    assert certifies(certificate, problem), "the certificate that was found adds up"
    return certificate
