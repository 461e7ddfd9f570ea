"""How a theory is changed on purpose: parts of it dropped, weakened or added."""

from collections.abc import Callable
from typing import Any, TypeAlias

from kraft_spec.proofs.induction.actions import Action
from kraft_spec.proofs.induction.invariant import Invariant
from kraft_spec.proofs.induction.state import State
from kraft_spec.proofs.induction.symbols import Formula
from kraft_spec.proofs.induction.theory import Theory

Change: TypeAlias = Callable[[Theory], Theory]


def together(*changes: Change) -> Change:
    """All of these, in order."""

    def change(theory: Theory) -> Theory:
        for one in changes:
            theory = one(theory)
        return theory

    return change


def without_axiom(name: str) -> Change:
    """The theory without a fact about the vocabulary."""

    def change(theory: Theory) -> Theory:
        kept = tuple(axiom for axiom in theory.axioms if axiom.name != name)
        if len(kept) == len(theory.axioms):
            raise KeyError(name)
        return theory._replace(axioms=kept)

    return change


def without_guard(action: str, *conjuncts: str) -> Change:
    """The action is possible without these conditions."""
    return lambda theory: theory.with_action(theory.action(action).without(*conjuncts))


def other_guard(action: str, conjunct: str, formula: Callable[[State], Formula]) -> Change:
    """The action has another condition in place of one."""

    def change(theory: Theory) -> Theory:
        found = theory.action(action)
        found.without(conjunct)
        return theory.with_action(found._replace(guard={**found.guard, conjunct: formula(theory.before)}))

    return change


def does_not(action: str, *functions: str) -> Change:
    """The action leaves these functions of the state as they are."""

    def change(theory: Theory) -> Theory:
        found = theory.action(action)
        same = {name: getattr(theory.before, name) for name in functions}
        return theory.with_action(found._replace(after=found.after.updated(**same)))

    return change


def does(action: str, function: str, after: Callable[[State], Callable[..., Any]]) -> Change:
    """The action changes one function of the state in another way."""

    def change(theory: Theory) -> Theory:
        found = theory.action(action)
        return theory.with_action(found._replace(after=found.after.updated(**{function: after(theory.before)})))

    return change


def with_action(action: Callable[[State], Action]) -> Change:
    """One more thing can happen."""
    return lambda theory: theory.with_action(action(theory.before))


def other_invariant(name: str, formula: Callable[[State], Formula]) -> Change:
    """An invariant says something else."""

    def change(theory: Theory) -> Theory:
        changed = tuple(
            Invariant(one.name, one.sentence, formula) if one.name == name else one for one in theory.invariants
        )
        return theory._replace(invariants=changed)

    return change
