"""Proofs with Z3 of a goal from facts.

Quantifiers are instantiated by matching only: no model is built, so the result is "proved" or unknown.
An obligation has all facts, and their instances create new terms without end. So each search bounds the depth of
instances on terms of other instances, and raises the bound if it finds no proof.

The limit counts work, not time, so the result is the same on any machine.
"""

import time
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import z3

from kraft_proofs.induction.symbols import Formula

SEED = 0
DEPTHS = (4, 5, 6)
"""Bounds on instances, tried in this order."""
WORK_LIMIT = 3_000_000
"""Z3's resource units for one search; the largest proof needs about a half."""
_SMALLEST_PART, _LITTLE_WORK = 4, 300_000
"""Smallest number of facts to omit together, and the limit of work for that attempt."""


class Obligation(NamedTuple):
    """A goal, and the facts that it may be proved from."""

    name: str
    """`part/invariant`, or `part/lemma/claim` for a step of a lemma."""
    facts: Mapping[str, Formula]
    goal: Formula
    attempts: tuple[tuple[str, ...], ...] = ()
    """Lists of fact names, if all facts at once are too many; each is tried without a bound on instances."""

    @property
    def part(self) -> str:
        """Action or other subject of the obligation."""
        return self.name.partition("/")[0]


class Answer(NamedTuple):
    """Result of an obligation."""

    obligation: Obligation
    given: tuple[str, ...] | None
    """Names of the facts of the proof: all, or those of an attempt. None if it was not proved."""
    depth: int | None
    """Bound on instances of the proof."""
    milliseconds: float

    @property
    def proved(self) -> bool:
        """True if a proof was found."""
        return self.given is not None


def prove(obligation: Obligation, work_limit: int = WORK_LIMIT) -> Answer:
    """Search for a proof from all facts, or from those of each attempt."""
    begun = time.perf_counter()
    searches: list[tuple[tuple[str, ...], int | None]] = [(names, None) for names in obligation.attempts]
    if not searches:
        searches = [(tuple(obligation.facts), depth) for depth in DEPTHS]
    used, depth = next((search for search in searches if _follows(obligation, *search, work_limit)), (None, None))
    return Answer(obligation, used, depth, 1000 * (time.perf_counter() - begun))


def premises(answer: Answer) -> tuple[str, ...]:
    """Return names of sufficient facts: Z3's unsatisfiable core, if Z3 finds the proof again with tracked facts.

    Otherwise omit facts that are not needed, in ever smaller groups.
    """
    obligation, kept, depth, _ = answer
    if kept is None:
        return ()
    solver = _new_solver(depth, WORK_LIMIT)
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
    """Return True if Z3 finds that the assertions contradict each other, with one of these bounds on instances."""
    formulas = tuple(assertions)
    return any(_contradict(formulas, depth, work_limit) for depth in depths)


def _follows(obligation: Obligation, names: Iterable[str], depth: int | None, work_limit: int) -> bool:
    facts = (obligation.facts[name] for name in names)
    return _contradict((*facts, z3.Not(obligation.goal)), depth, work_limit)


def _contradict(assertions: Iterable[Formula], depth: int | None, work_limit: int) -> bool:
    solver = _new_solver(depth, work_limit)
    solver.add(*assertions)
    return bool(solver.check() == z3.unsat)


def _new_solver(depth: int | None, work_limit: int) -> z3.Solver:
    """Return a Z3 solver with the settings of all obligations.

    No models (`mbqi`), no automatic settings (`auto_config`), and instances only for relevant terms (`relevancy`).
    """
    solver = z3.Solver()
    solver.set("auto_config", False)
    # Otherwise Z3 handles Ctrl-C itself and returns unknown, which would look like its verdict.
    solver.set("ctrl_c", False)
    solver.set("mbqi", False)
    solver.set("relevancy", 2)
    if depth is not None:
        solver.set("qi.eager_threshold", float(depth))
        solver.set("qi.lazy_threshold", float(depth))
    solver.set("random_seed", SEED)
    solver.set("rlimit", work_limit)
    return solver
