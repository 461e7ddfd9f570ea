"""The theorems as questions for any solver: SMT-LIB 2 texts that say which answer to expect."""

from kraft_spec.proofs.linear import Problem
from kraft_spec.proofs.theorems.data import Theorem

EVERY = "every"
"""The case of a theorem that has only one; its file is named after the theorem alone."""


def questions(theorem: Theorem) -> dict[str, str]:
    """Each obligation and each weakening of a theorem as a text, by the name of its file without `.smt2`.

    The first line of a text is the answer to expect: `; expect: unsat` of what is proved, `; expect: sat` of what is
    refuted. The texts are the same bytes on every run.
    """
    asked: dict[str, str] = {}
    for obligation in theorem.obligations:
        name = theorem.slug if obligation.case == EVERY else f"{theorem.slug}--{obligation.case}"
        asked[name] = _text("unsat", name, theorem.statement, obligation.problem)
    for weakening in theorem.weakenings:
        name = f"{theorem.slug}--weakened-{weakening.name}"
        asked[name] = _text("sat", name, f"Weakened: {weakening.change}.", weakening.refuted.problem)
    return asked


def _text(answer: str, name: str, says: str, problem: Problem) -> str:
    return f"; expect: {answer}\n; {says}\n{problem._replace(name=name).smt2()}"
