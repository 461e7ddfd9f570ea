"""Ask Z3 whether the facts of a problem can be true together.

The answer is plain data: a smallest contradicting set of facts with a certificate where rational numbers suffice, or
the smallest numbers that make every fact true. Both are the same on every run: the core is made minimal in the order
of the facts, and the numbers are minimised one after the other.
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
    """Names of facts that contradict each other, none of which can be left out; in the order of the problem."""
    certificate: Certificate | None
    """None if the contradiction is one of whole numbers only, as of parity."""


class Solution(NamedTuple):
    """Numbers for which every fact is true."""

    values: dict[str, int]


class SolverGaveUpError(Exception):
    """Z3 answered neither yes nor no, which linear problems of this size never make it do."""


def solve(problem: Problem, smallest: Sequence[Term] = ()) -> Contradiction | Solution:
    """Decide a problem.

    Args:
        problem: The facts.
        smallest: What a solution makes as small as possible, the first before the second; then its variables in order.

    Raises:
        SolverGaveUpError: the solver answered `unknown`.
    """
    core = _core(problem)
    if core is None:
        return Solution(_smallest(problem, smallest))
    return Contradiction(tuple(fact.name for fact in core), _certificate(problem._replace(facts=core)))


def z3_term(term: Term) -> z3.ArithRef:
    """The term as Z3 has it."""
    return z3.Sum([z3.IntVal(term.constant), *(number * z3.Int(name) for name, number in term.coefficients)])


def z3_facts(facts: Sequence[Fact]) -> list[z3.BoolRef]:
    """The rows of facts as Z3 has them."""
    return [z3_term(row) <= 0 for fact in facts for row in fact.rows]


def _naturals(problem: Problem) -> list[z3.BoolRef]:
    return [z3.Int(name) >= 0 for name in problem.variables]


def _core(problem: Problem) -> tuple[Fact, ...] | None:
    """Facts that contradict each other, none of which can be left out; None if all can be true."""
    # One solver that every fact can be switched on in: stating the facts anew for each subset takes most of the time.
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


def _smallest(problem: Problem, smallest: Sequence[Term]) -> dict[str, int]:
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


def _certificate(problem: Problem) -> Certificate | None:
    """Weights that add the rows up to a contradiction, as few in sum as possible; None if no fractions do."""
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
    found = [Fraction(str(model.eval(weight, model_completion=True))) for weight in weights]
    certificate = tuple(
        WeightedRow(name, row, weight) for (name, row), weight in zip(rows, found, strict=True) if weight
    )
    assert certifies(certificate, problem), "the certificate that was found adds up"
    return certificate
