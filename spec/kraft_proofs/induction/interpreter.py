"""Interpreter of the theory: guards, states after, invariants and axioms, evaluated in small concrete worlds.

It evaluates the same terms that the prover receives.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import z3

from kraft_proofs.induction.actions import Action
from kraft_proofs.induction.evaluator import Evaluated, Evaluator
from kraft_proofs.induction.state import FUNCTIONS
from kraft_proofs.induction.symbols import TRUTH, Formula, constants, exists
from kraft_proofs.induction.theory import Theory
from kraft_proofs.induction.worlds import (
    MEANINGS,
    Entry,
    Meaning,
    Replicas,
    World,
    bootstrapped,
)


class Step(NamedTuple):
    """An action with values of its parameters."""

    action: str
    arguments: Mapping[str, Any]
    """Values by the name of the parameter."""

    def __str__(self) -> str:
        return f"{self.action}({', '.join(f'{name[4:]}={_shown(value)}' for name, value in self.arguments.items())})"


def _shown(value: Any) -> str:
    return "{" + ",".join(map(str, sorted(value))) + "}" if isinstance(value, frozenset) else str(value)


class _Action:
    """An action, compiled on demand."""

    def __init__(self, action: Action, theory: Theory, evaluator: Evaluator) -> None:
        self._action = action
        self._evaluator = evaluator
        self._options: dict[frozenset[str], tuple[tuple[str, ...], Evaluated]] = {}
        self.after: dict[str, Evaluated] = {}
        for name, signature in FUNCTIONS.items():
            before, after = getattr(theory.before, name), getattr(action.after, name)
            if before is not after:
                at = tuple(z3.Const(f"at_{number}", sort) for number, sort in enumerate(signature.arguments))
                term = _as_term(after(*at))
                self.after[name] = evaluator.solutions(at, term) if signature.value == TRUTH else evaluator.value(term)

    def options(self, fixed: frozenset[str]) -> tuple[tuple[str, ...], Evaluated]:
        """Return the parameters that affect the result, and their values that the guard allows."""
        if fixed not in self._options:
            used = fixed.union(*(function.names for function in self.after.values()))
            parameters = {str(parameter): parameter for parameter in self._action.parameters}
            unknown = tuple(parameter for name, parameter in parameters.items() if name in used - fixed)
            hidden = {name: parameter for name, parameter in parameters.items() if name not in used}
            about_hidden: list[Formula] = []
            plain: list[Formula] = []
            for part in (part for conjunct in self._action.guard.values() for part in _parts(conjunct)):
                (about_hidden if any(name in hidden for name, _ in constants(part)) else plain).append(part)
            if about_hidden:
                plain.append(exists(tuple(hidden.values()), z3.And(*about_hidden)))
            guard = self._evaluator.solutions(unknown, z3.And(*plain))
            self._options[fixed] = tuple(map(str, unknown)), guard
        return self._options[fixed]


def _parts(formula: Formula) -> list[Formula]:
    return formula.children() if z3.is_and(formula) else [formula]


def _as_term(value: Any) -> z3.ExprRef:
    """Convert a Python number to a Z3 term."""
    return value if z3.is_expr(value) else z3.IntVal(value)


class Interpreter:
    """A theory with an interpretation for every symbol that no step changes."""

    def __init__(self, theory: Theory, meanings: Mapping[str, Meaning] = MEANINGS) -> None:
        """Compile the theory.

        Raises:
            ValueError: a formula has a part outside the language of the proof.
        """
        evaluator = Evaluator(meanings)
        self.theory = theory
        self.start = evaluator.value(theory.start)
        self.axioms = {axiom.name: evaluator.value(axiom.formula) for axiom in theory.axioms}
        self.invariants = {
            invariant.name: evaluator.value(invariant.formula(theory.before))
            for invariant in (*theory.invariants, *theory.safety)
        }
        """Invariants, including the safety properties that follow from them."""
        self._actions = {action.name: _Action(action, theory, evaluator) for action in theory.actions}

    def first(self, replicas: tuple[int, ...], voters: Replicas, last_epoch: int) -> World:
        """Return the first state of the theory, for a cluster of these replicas, formatted with these voters.

        Raises:
            ValueError: the theory has another first state.
        """
        log = bootstrapped(voters)
        by_sort: Mapping[str, Any] = {"Int": 0, "Entry": log}
        values = {
            name: frozenset()
            if signature.value == TRUTH
            else {replica: by_sort[str(signature.value)] for replica in replicas}
            for name, signature in FUNCTIONS.items()
        }
        world = World(replicas, last_epoch, log, {**values, "written": frozenset(((log,),))})
        if not self.start(world.environment()):
            raise ValueError("the first state is another one in this theory")
        return world

    def steps(self, world: World, action: str, *unwritten: Entry, **fixed: Any) -> Iterator[Step]:
        """Yield the steps of an action that its guard allows, in no particular order.

        Args:
            world: The state.
            action: Name of the action.
            unwritten: Entries that a leader may append.
            fixed: Values of some of its parameters, by name without `the_`.
        """
        arguments = {f"the_{name}": value for name, value in fixed.items()}
        unknown, options = self._actions[action].options(frozenset(arguments))
        for values in options({**world.environment(*unwritten), **arguments}):
            yield Step(action, {**arguments, **dict(zip(unknown, values, strict=True))})

    def after(self, world: World, step: Step) -> World:
        """Return the state after a step, without checking its guard."""
        new = [value for value in step.arguments.values() if isinstance(value, Entry) and (value,) not in world.written]
        environment = {**world.environment(*new), **step.arguments}
        changed: dict[str, Any] = {}
        for name, evaluated in self._actions[step.action].after.items():
            if FUNCTIONS[name].value == TRUTH:
                changed[name] = evaluated(environment)
            else:
                changed[name] = {replica: evaluated({**environment, "at_0": replica}) for replica in world.replicas}
        return world._replace(values={**world.values, **changed})

    def broken(self, world: World) -> tuple[str, ...]:
        """Return the invariants, including safety, that do not hold in the state."""
        environment = world.environment()
        return tuple(name for name, evaluated in self.invariants.items() if not evaluated(environment))

    def broken_axioms(self, world: World) -> tuple[str, ...]:
        """Return the axioms that do not hold in the world."""
        environment = world.environment()
        return tuple(name for name, evaluated in self.axioms.items() if not evaluated(environment))
