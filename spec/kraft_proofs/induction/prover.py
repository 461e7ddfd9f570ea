"""Ask Z3 whether facts prove a goal.

Quantifiers are instantiated by matching alone: no model is ever built, so the answer is "proved" or nothing.
An obligation is given everything that is known, and what is known names new things without end; so a search is bounded
in how deep instances may stand on terms of other instances, and the bound is raised when it finds nothing.

The limit is one of work, not of time: the same question gets the same answer on any machine.
"""

import time
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import z3

from kraft_proofs.induction.symbols import Formula

SEED = 0
DEPTHS = (4, 5, 6)
"""The bounds on instances that are tried, one after the other."""
WORK_LIMIT = 3_000_000
"""Z3's resource units for one search; the largest proof needs about a half."""
_SMALLEST_PART, _LITTLE_WORK = 4, 300_000
"""How many facts are left out together at least, and the limit of work with which it is tried whether they may be."""


class Obligation(NamedTuple):
    """A goal, and the facts that it may be proved from."""

    name: str
    """`part/invariant`, or `part/lemma/claim` for a step of a lemma."""
    facts: Mapping[str, Formula]
    goal: Formula
    attempts: tuple[tuple[str, ...], ...] = ()
    """Where all facts at once are too many: names of some, list by list, each tried without a bound on instances."""

    @property
    def part(self) -> str:
        """The action, or what else the obligation is about."""
        return self.name.partition("/")[0]


class Answer(NamedTuple):
    """What came of an obligation."""

    obligation: Obligation
    given: tuple[str, ...] | None
    """Names of the facts that it was proved from: all, or those of an attempt. None if it was not proved."""
    depth: int | None
    """The bound with which it was."""
    milliseconds: float

    @property
    def proved(self) -> bool:
        """Was it?"""
        return self.given is not None


def prove(obligation: Obligation, work_limit: int = WORK_LIMIT) -> Answer:
    """Search for a proof from all facts, or from those of each attempt."""
    begun = time.perf_counter()
    searches: list[tuple[tuple[str, ...], int | None]] = [(names, None) for names in obligation.attempts]
    if not searches:
        searches = [(tuple(obligation.facts), depth) for depth in DEPTHS]
    given, depth = next((one for one in searches if _follows(obligation, *one, work_limit)), (None, None))
    return Answer(obligation, given, depth, 1000 * (time.perf_counter() - begun))


def premises(answer: Answer) -> tuple[str, ...]:
    """Names of facts that suffice: those that Z3 says it used, if it finds the proof again when it has to say so.

    If not, what is not needed is left out, in ever smaller parts.
    """
    obligation, kept, depth, _ = answer
    if kept is None:
        return ()
    solver = _solver(depth, WORK_LIMIT)
    for name in kept:
        solver.assert_and_track(obligation.facts[name], name)
    solver.add(z3.Not(obligation.goal))
    if solver.check() == z3.unsat:
        core = {str(name.decl().name()) for name in solver.unsat_core()}
        used = tuple(name for name in kept if name in core)
        if _follows(obligation, used, depth, WORK_LIMIT):
            return used
    size = len(kept) // 2
    while size >= _SMALLEST_PART:
        for start in reversed(range(0, len(kept), size)):
            fewer = kept[:start] + kept[start + size :]
            kept = fewer if _follows(obligation, fewer, depth, _LITTLE_WORK) else kept
        size //= 2
    return kept


def refutes(assertions: Iterable[Formula], work_limit: int = WORK_LIMIT, depths: Iterable[int | None] = DEPTHS) -> bool:
    """Does Z3 find that the assertions contradict each other, with one of these bounds on instances?"""
    given = tuple(assertions)
    return any(_contradict(given, depth, work_limit) for depth in depths)


def _follows(obligation: Obligation, names: Iterable[str], depth: int | None, work_limit: int) -> bool:
    facts = (obligation.facts[name] for name in names)
    return _contradict((*facts, z3.Not(obligation.goal)), depth, work_limit)


def _contradict(assertions: Iterable[Formula], depth: int | None, work_limit: int) -> bool:
    solver = _solver(depth, work_limit)
    solver.add(*assertions)
    return bool(solver.check() == z3.unsat)


def _solver(depth: int | None, work_limit: int) -> z3.Solver:
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
    if depth is not None:
        solver.set("qi.eager_threshold", float(depth))
        solver.set("qi.lazy_threshold", float(depth))
    solver.set("random_seed", SEED)
    solver.set("rlimit", work_limit)
    return solver
