"""Diagnosis of a failed obligation: a state of the replica, a message, and the next state, as far as Z3 has them.

It only satisfies the premises without quantifiers: it shows where the proof gets stuck, and need not be reachable.
"""

from collections.abc import Callable, Iterator

import z3

from kraft_proofs.induction.prover import WORK_LIMIT, Obligation
from kraft_proofs.translation.acting import Acted
from kraft_proofs.translation.shapes import REPLICA_STATE
from kraft_proofs.translation.steps import has_quantifier
from kraft_proofs.translation.values import Value, scalars

_WORK_LIMIT = 10 * WORK_LIMIT
"""Limit for Z3; higher than for a proof, because it is used once, after a proof has failed."""


def counterexample(acted: Acted, obligation: Obligation) -> tuple[str, ...]:
    """Return a line for each field of the message and the replica, before and after; none if Z3 has no model."""
    # A separate context, because Z3's earlier queries affect its results within the limit.
    context = z3.Context()
    solver = z3.Solver(ctx=context)
    solver.set("rlimit", _WORK_LIMIT)
    solver.set("ctrl_c", False)
    premises = [fact for fact in obligation.facts.values() if not has_quantifier(fact)]
    solver.add(*(formula.translate(context) for formula in (*premises, z3.Not(obligation.goal))))
    if solver.check() != z3.sat:
        return ()
    model = solver.model()
    texts = {str(model.eval(text.translate(context))): str(text) for text in acted.translator.texts.values()}

    def describe(value: Value) -> str:
        parts = [model.eval(scalar.translate(context), model_completion=True) for scalar in scalars(value)]
        return ", ".join(texts.get(str(part), str(part)) for part in parts)

    return tuple(_list_fields(acted, describe))


def _list_fields(acted: Acted, describe: Callable[[Value], str]) -> Iterator[str]:
    for name, value in (acted.message or {}).items():
        if _is_plain(value):
            yield f"message.{name}: {describe(value)}"
    for name, shape in REPLICA_STATE.items():
        before, after = acted.before[name], acted.after[name]
        if isinstance(shape, z3.SortRef | tuple) and _is_plain(after):
            old, new = describe(before), describe(after)
            yield f"{name}: {old}" if old == new else f"{name}: {old} -> {new}"


def _is_plain(value: Value) -> bool:
    return all(isinstance(scalar, z3.ExprRef) for scalar in scalars(value))
