"""Instances of quantified facts, and the least counterexample.

Three rules of reasoning are not Z3's, and are all here: to give a thing that exists a name that nobody used before; to
apply a fact to terms; and that natural numbers have no infinite descent.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import z3

from kraft_spec.proofs.induction.symbols import Expression, Formula, Sort, exists, forall


class Instance(NamedTuple):
    """A fact about terms, with names for what it says exists."""

    formula: Formula
    """With the names."""
    named: tuple[Expression, ...]
    """The new constants: for these the formula holds, of others nothing is said."""
    unnamed: Formula
    """The same without the names: what must be proved before they are given."""


def instance(fact: Formula, terms: tuple[Expression, ...], label: str) -> Instance:
    """A fact `for all x: ...` of these terms.

    Args:
        fact: What holds for all.
        terms: One for each of its variables.
        label: What the names of new constants begin with.

    Raises:
        ValueError: the fact is not quantified over terms of these sorts.
    """
    if not (z3.is_quantifier(fact) and fact.is_forall()):
        raise ValueError(f"a fact for all is expected, not {fact}")
    expected = [fact.var_sort(number) for number in range(fact.num_vars())]
    if expected != [term.sort() for term in terms]:
        raise ValueError(f"terms of the sorts {expected} are expected, not {terms}")
    named: list[Expression] = []
    body = z3.substitute_vars(fact.body(), *reversed(terms))
    formula = _with_names(body, label, named)
    return Instance(formula, tuple(named), body)


def _with_names(formula: Formula, label: str, named: list[Expression]) -> Formula:
    """The formula with a new constant in place of each variable that is said to exist, where it is asserted."""
    if z3.is_and(formula):
        return z3.And(*(_with_names(part, label, named) for part in formula.children()))
    if z3.is_implies(formula):
        condition, conclusion = formula.children()
        return z3.Implies(condition, _with_names(conclusion, label, named))
    if z3.is_quantifier(formula) and formula.is_exists():
        constants = [
            z3.Const(f"{label}.{formula.var_name(number)}", formula.var_sort(number))
            for number in range(formula.num_vars())
        ]
        named.extend(constants)
        return _with_names(z3.substitute_vars(formula.body(), *reversed(constants)), label, named)
    return formula


class Counterexamples(NamedTuple):
    """A set of counterexamples, each with a natural number for its size."""

    variables: tuple[Expression, ...]
    condition: Callable[..., Formula]
    size: Callable[..., Expression]

    def exist(self) -> Formula:
        """There are such."""
        return exists(self.variables, self.condition(*self.variables))

    def sizes_are_natural(self) -> Formula:
        """What must be proved before a least one may be taken."""
        return forall(self.variables, z3.Implies(self.condition(*self.variables), self.size(*self.variables) >= 0))

    def least(self, label: str) -> "LeastCounterexample":
        """A least one, under new names: if there is any, one of them has the smallest natural number for its size."""
        named = tuple(z3.Const(f"{label}.{variable}", variable.sort()) for variable in self.variables)
        none_smaller = forall(
            self.variables,
            z3.Implies(self.condition(*self.variables), self.size(*named) <= self.size(*self.variables)),
        )
        return LeastCounterexample(named, self.condition(*named), none_smaller)


class LeastCounterexample(NamedTuple):
    """A counterexample than which none is smaller."""

    named: tuple[Expression, ...]
    condition: Formula
    none_smaller: Formula


def constants(formula: Formula) -> Iterator[tuple[str, Sort]]:
    """The constants that occur in a formula, by name and sort; some may come more than once."""
    pending, seen = [formula], set()
    while pending:
        part = pending.pop()
        if part.get_id() in seen:
            continue
        seen.add(part.get_id())
        if z3.is_const(part) and part.decl().kind() == z3.Z3_OP_UNINTERPRETED:
            yield str(part.decl().name()), part.sort()
        pending.extend([part.body()] if z3.is_quantifier(part) else part.children())
