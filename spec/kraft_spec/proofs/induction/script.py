"""A proof in steps: each step is an obligation of its own and a fact for the steps after it.

A script proves its goal from its denial: the last step is a contradiction. Everything that a step may use has a name.
What it uses is a text, the names with blanks between them; that of an instance is written `FACT,NAME` there.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import z3

from kraft_spec.proofs.induction.instances import Counterexamples, Instance, LeastCounterexample, constants, instance
from kraft_spec.proofs.induction.prover import Obligation
from kraft_spec.proofs.induction.symbols import Expression, Formula


class ScriptError(Exception):
    """A script uses a name twice or one that never was there."""


class MissingFactError(Exception):
    """A script cannot go on without a fact that was taken out of the theory."""

    def __init__(self, step: str, fact: str) -> None:
        super().__init__(f"{step} needs {fact}")
        self.step = step


class Facts(NamedTuple):
    """What a script may use."""

    formulas: Mapping[str, Formula]
    taken_out: frozenset[str] = frozenset()
    """Names of facts that a changed theory has no more; steps do without them."""


class Script:
    """Collects the steps of one proof."""

    def __init__(self, name: str, facts: Facts, goal: Formula) -> None:
        """Begin it.

        Args:
            name: The obligation, `part/invariant`.
            facts: What may be used, by name.
            goal: What is proved; its denial is the fact `denied`.
        """
        self._name = name
        self._taken_out = facts.taken_out
        self._facts = {**facts.formulas, "denied": z3.Not(goal)}
        self._constants = {known for fact in self._facts.values() for known, _ in constants(fact)}
        self._steps: list[Obligation] = []

    def have(self, step: str, goal: Formula, using: str) -> None:
        """A step: the goal follows from the facts of these names, and is a fact of the step's name from here on.

        Raises:
            ScriptError: a fact has the step's name, or one of those used is not there.
        """
        names = _named(using, self._taken_out)
        missing = [name for name in names if name not in self._facts]
        if missing:
            raise ScriptError(f"{self._name}/{step} uses {', '.join(missing)}, which is no fact")
        premises = {name: self._facts[name] for name in names}
        self._steps.append(Obligation(f"{self._name}/{step}", premises, goal, (names,)))
        self._add(step, goal)

    def apply(self, fact: str, terms: tuple[Expression, ...], to: str) -> Instance:
        """A step: a fact `for all` of these terms, with new names for what it says exists.

        It is the fact `fact, to` from here on.

        Raises:
            ScriptError: there is no such fact, or a new name is one that is used already.
            MissingFactError: the fact was taken out of the theory.
        """
        if fact in self._taken_out:
            raise MissingFactError(f"{fact}, {to}", fact)
        if fact not in self._facts:
            raise ScriptError(f"{self._name} applies {fact}, which is no fact")
        applied = instance(self._facts[fact], terms, to)
        name = f"{fact}, {to}"
        self._steps.append(Obligation(f"{self._name}/{name}", {fact: self._facts[fact]}, applied.unnamed, ((fact,),)))
        self._name_anew(applied.named)
        self._add(name, applied.formula)
        return applied

    def least(self, found: Counterexamples, natural: str) -> LeastCounterexample:
        """Two steps: the denial gives a counterexample, and sizes are natural numbers; so there is a least one.

        It is the facts `counterexample` and `none-smaller` from here on.
        """
        self.have("some-counterexample", found.exist(), "denied")
        self.have("sizes-are-natural", found.sizes_are_natural(), natural)
        least = found.least("least")
        self._name_anew(least.named)
        self._add("counterexample", least.condition)
        self._add("none-smaller", least.none_smaller)
        return least

    def some(self, found: Counterexamples) -> tuple[Expression, ...]:
        """A step: the denial gives a counterexample, which gets names; it is the fact `counterexample`."""
        self.have("some-counterexample", found.exist(), "denied")
        named = found.least("some").named
        self._name_anew(named)
        self._add("counterexample", found.condition(*named))
        return named

    def contradiction(self, using: str) -> tuple[Obligation, ...]:
        """The last step; all steps in their order."""
        self.have("contradiction", z3.BoolVal(False), using)
        return tuple(self._steps)

    def _add(self, name: str, fact: Formula) -> None:
        if name in self._facts:
            raise ScriptError(f"{self._name} has two facts {name}")
        self._facts[name] = fact

    def _name_anew(self, named: Iterable[Expression]) -> None:
        for constant in named:
            if str(constant) in self._constants:
                raise ScriptError(f"{self._name} names {constant} a second time")
            self._constants.add(str(constant))


def one_step(name: str, facts: Facts, goal: Formula, using: str) -> tuple[Obligation, ...]:
    """A proof without steps: the goal follows from the facts of these names.

    Raises:
        KeyError: one of them is no fact.
    """
    names = _named(using, facts.taken_out)
    return (Obligation(name, {used: facts.formulas[used] for used in names}, goal, (names,)),)


def _named(using: str, taken_out: frozenset[str]) -> tuple[str, ...]:
    names = (name.replace(",", ", ") for name in dict.fromkeys(using.split()))
    return tuple(name for name in names if name not in taken_out)
