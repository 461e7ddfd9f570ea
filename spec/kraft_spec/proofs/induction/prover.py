"""Ask Z3 whether premises prove a goal.

Quantifiers are instantiated by matching alone: no model is ever built, so the answer is "proved" or nothing. Which
premises are given decides whether the search ends. A goal that follows from some premises follows from all of them, so
any list may be tried; the one that served is kept with the answer.

The limit is one of work, not of time: the same question gets the same answer on any machine.
"""

import time
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import z3

from kraft_spec.proofs.induction.symbols import Formula

SEED = 0
WORK_LIMIT = 300_000
"""Z3's resource units for one attempt; the largest proof needs about a tenth."""
MANY = 12
"""A list with more premises than these is made shorter once it has served."""


class Obligation(NamedTuple):
    """A goal, the premises that it may be proved from, and the lists of premises to try."""

    name: str
    """`part/invariant`, or `part/invariant/step` for a step of a script."""
    facts: Mapping[str, Formula]
    goal: Formula
    attempts: tuple[tuple[str, ...], ...]
    """Names of facts."""

    @property
    def part(self) -> str:
        """The action, or what else the obligation is about."""
        return self.name.partition("/")[0]


class Answer(NamedTuple):
    """What came of an obligation."""

    obligation: Obligation
    premises: tuple[str, ...] | None
    """Names of the premises that the goal was proved from; None if it was not proved."""
    milliseconds: float

    @property
    def proved(self) -> bool:
        """Was it?"""
        return self.premises is not None


def refutes(assertions: Iterable[Formula], work_limit: int = WORK_LIMIT) -> bool:
    """Does Z3 find that the assertions contradict each other?"""
    solver = new_solver(work_limit)
    solver.add(*assertions)
    return bool(solver.check() == z3.unsat)


def prove(obligation: Obligation, work_limit: int = WORK_LIMIT) -> Answer:
    """Try the lists of premises one after the other.

    Raises:
        KeyError: a list names a fact that the obligation has not.
    """
    begun = time.perf_counter()
    served: tuple[str, ...] | None = None
    for names in obligation.attempts:
        if refutes(_question(obligation, names), work_limit):
            served = names if len(names) <= MANY else _fewer(obligation, names, work_limit)
            break
    return Answer(obligation, served, 1000 * (time.perf_counter() - begun))


def _question(obligation: Obligation, names: Iterable[str]) -> list[Formula]:
    return [*(obligation.facts[name] for name in names), z3.Not(obligation.goal)]


def _fewer(obligation: Obligation, names: tuple[str, ...], work_limit: int) -> tuple[str, ...]:
    """Those of the premises that Z3 says it used, if they serve by themselves."""
    solver = new_solver(work_limit)
    for name in names:
        solver.assert_and_track(obligation.facts[name], name)
    solver.add(z3.Not(obligation.goal))
    if solver.check() != z3.unsat:
        return names
    used = {str(name.decl().name()) for name in solver.unsat_core()}
    fewer = tuple(name for name in names if name in used)
    return fewer if refutes(_question(obligation, fewer), work_limit) else names


def new_solver(work_limit: int = WORK_LIMIT) -> z3.Solver:
    """Z3 with the settings of all obligations.

    No models (`mbqi`), no settings of its own choice (`auto_config`), and instances only for terms that matter to the
    case at hand (`relevancy`).
    """
    solver = z3.Solver()
    solver.set("auto_config", False)
    # Else Z3 takes a Ctrl-C to itself and answers unknown, which would be taken for its verdict.
    solver.set("ctrl_c", False)
    solver.set("mbqi", False)
    solver.set("relevancy", 2)
    solver.set("random_seed", SEED)
    solver.set("rlimit", work_limit)
    return solver
