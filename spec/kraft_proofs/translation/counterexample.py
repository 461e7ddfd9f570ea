"""Where an obligation fails: a state of the replica, a message, and what becomes of it, as far as Z3 has them.

It is one that the premises without quantifiers allow: it shows where the proof gets stuck, and is no run.
"""

from collections.abc import Callable, Iterator

import z3

from kraft_proofs.induction.prover import WORK_LIMIT, Obligation
from kraft_proofs.translation.acting import Acted
from kraft_proofs.translation.shapes import REPLICA_STATE
from kraft_proofs.translation.steps import has_quantifier
from kraft_proofs.translation.values import Value, scalars

_WORK_LIMIT = 10 * WORK_LIMIT
"""Of Z3; more than for a proof, because it is asked for once, where a proof has failed."""


def counterexample(acted: Acted, obligation: Obligation) -> tuple[str, ...]:
    """A line for each field of the message, and for each of the replica with its values before and after; or none."""
    # Of its own, because what else Z3 has been asked before changes what it finds within the limit.
    context = z3.Context()
    solver = z3.Solver(ctx=context)
    solver.set("rlimit", _WORK_LIMIT)
    solver.set("ctrl_c", False)
    premises = [one for one in obligation.facts.values() if not has_quantifier(one)]
    solver.add(*(one.translate(context) for one in (*premises, z3.Not(obligation.goal))))
    if solver.check() != z3.sat:
        return ()
    found = solver.model()
    texts = {str(found.eval(one.translate(context))): str(one) for one in acted.translator.texts.values()}

    def shown(value: Value) -> str:
        parts = [found.eval(one.translate(context), model_completion=True) for one in scalars(value)]
        return ", ".join(texts.get(str(one), str(one)) for one in parts)

    return tuple(_lines(acted, shown))


def _lines(acted: Acted, shown: Callable[[Value], str]) -> Iterator[str]:
    for name, value in (acted.message or {}).items():
        if _is_plain(value):
            yield f"message.{name}: {shown(value)}"
    for name, shape in REPLICA_STATE.items():
        before, after = acted.before[name], acted.after[name]
        if isinstance(shape, z3.SortRef | tuple) and _is_plain(after):
            old, new = shown(before), shown(after)
            yield f"{name}: {old}" if old == new else f"{name}: {old} -> {new}"


def _is_plain(value: Value) -> bool:
    return all(isinstance(one, z3.ExprRef) for one in scalars(value))
