"""Certificates that need no solver: rows that add up to a contradiction (Farkas' lemma).

Each row states `term <= 0`, and each variable is at least 0. A sum of rows with non-negative weights still states
`sum <= 0`. If no coefficient of the sum is negative and its constant is positive, no natural numbers satisfy all rows.
"""

from fractions import Fraction
from typing import NamedTuple

from kraft_proofs.linear import Problem, Term


class WeightedRow(NamedTuple):
    """A row of a named fact, and its weight in the sum."""

    fact: str
    row: Term
    weight: Fraction


Certificate = tuple[WeightedRow, ...]


def certifies(certificate: Certificate, problem: Problem) -> bool:
    """Return True if the certificate shows that the facts of the problem contradict each other."""
    rows = {(fact.name, row) for fact in problem.facts for row in fact.rows}
    if any(part.weight < 0 or (part.fact, part.row) not in rows for part in certificate):
        return False
    coefficients: dict[str, Fraction] = {}
    constant = Fraction(0)
    for _, row, weight in certificate:
        constant += weight * row.constant
        for name, number in row.coefficients:
            coefficients[name] = coefficients.get(name, Fraction(0)) + weight * number
    naturals = set(problem.variables)
    return constant > 0 and all(
        number == 0 or (number > 0 and name in naturals) for name, number in coefficients.items()
    )
