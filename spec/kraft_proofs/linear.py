"""Linear facts about natural numbers, as plain data.

The statements of the cardinality proofs are independent of the solver: a fact is a name and rows `term <= 0`. The same
data become a query for Z3, SMT-LIB text for any other solver, and rows that a certificate adds up using only fractions.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple


class Term(NamedTuple):
    """An integer constant plus integer multiples of variables, which are natural numbers."""

    coefficients: tuple[tuple[str, int], ...] = ()
    """Variable and coefficient, sorted by variable; no coefficient is 0."""
    constant: int = 0

    def __add__(self, other: object) -> "Term":
        return _combine(self, _as_term(other), 1)

    def __radd__(self, other: object) -> "Term":
        return self + other

    def __sub__(self, other: object) -> "Term":
        return _combine(self, _as_term(other), -1)

    def __rsub__(self, other: object) -> "Term":
        return _combine(_as_term(other), self, -1)

    def __mul__(self, factor: object) -> "Term":
        if not isinstance(factor, int):
            raise TypeError(f"a term is multiplied by a whole number, not by {factor!r}")
        return Term(tuple((name, factor * n) for name, n in self.coefficients if factor), factor * self.constant)

    def __rmul__(self, factor: object) -> "Term":
        return self * factor

    def value(self, values: Mapping[str, int]) -> int:
        """Return the term's value for these values of its variables.

        Raises:
            KeyError: a variable has no value.
        """
        return self.constant + sum(n * values[name] for name, n in self.coefficients)


class Fact(NamedTuple):
    """A named conjunction of rows `term <= 0`."""

    name: str
    rows: tuple[Term, ...]

    def holds(self, values: Mapping[str, int]) -> bool:
        """Return True if the fact holds for these values."""
        return all(row.value(values) <= 0 for row in self.rows)


class Problem(NamedTuple):
    """Facts that are checked together for satisfiability."""

    name: str
    variables: tuple[str, ...]
    """All variables, in the order in which a counterexample is minimised."""
    facts: tuple[Fact, ...]

    def smt2(self) -> str:
        """Return the problem in SMT-LIB 2, every fact by its name; the expected answer for a theorem is `unsat`."""
        lines = [f"; {self.name}", "(set-option :produce-unsat-cores true)", "(set-logic QF_LIA)"]
        lines += [f"(declare-fun |{name}| () Int)" for name in self.variables]
        lines += [f"(assert (>= |{name}| 0))" for name in self.variables]
        for fact in self.facts:
            rows = [f"(<= {_smt2(row)} 0)" for row in fact.rows]
            body = rows[0] if len(rows) == 1 else f"(and {' '.join(rows)})"
            lines.append(f"(assert (! {body} :named |{fact.name}|))")
        return "\n".join([*lines, "(check-sat)", ""])


def variable(name: str) -> Term:
    """Return the term of a variable."""
    return Term(((name, 1),))


def total(terms: Iterable[Term]) -> Term:
    """Return the sum of terms; 0 if there are none."""
    result = Term()
    for term in terms:
        result = result + term
    return result


def at_most(name: str, small: Term | int, large: Term | int) -> Fact:
    """Return the fact `small <= large`."""
    return Fact(name, (_as_term(small) - _as_term(large),))


def less(name: str, small: Term | int, large: Term | int) -> Fact:
    """Return the fact `small < large`: over whole numbers, `small + 1 <= large`."""
    return Fact(name, (_as_term(small) + 1 - _as_term(large),))


def equal(name: str, left: Term | int, right: Term | int) -> Fact:
    """Return the fact `left = right`."""
    return Fact(name, (_as_term(left) - _as_term(right), _as_term(right) - _as_term(left)))


def _as_term(value: object) -> Term:
    if isinstance(value, Term):
        return value
    if isinstance(value, int):
        return Term(constant=value)
    raise TypeError(f"expected a term or a whole number, not {value!r}")


def _combine(left: Term, right: Term, sign: int) -> Term:
    coefficients = dict(left.coefficients)
    for name, n in right.coefficients:
        coefficients[name] = coefficients.get(name, 0) + sign * n
    kept = tuple(sorted((name, n) for name, n in coefficients.items() if n))
    return Term(kept, left.constant + sign * right.constant)


def _smt2(term: Term) -> str:
    parts = [f"|{name}|" if n == 1 else f"(* {_smt2_number(n)} |{name}|)" for name, n in term.coefficients]
    if term.constant or not parts:
        parts.append(_smt2_number(term.constant))
    return parts[0] if len(parts) == 1 else f"(+ {' '.join(parts)})"


def _smt2_number(number: int) -> str:
    return str(number) if number >= 0 else f"(- {-number})"
