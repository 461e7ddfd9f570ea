"""Obligations as SMT-LIB 2 texts, in Z3's own writing: the same obligation is the same bytes on every run.

Each text asserts premises that suffice and the denial of the goal; any solver that answers `unsat` has proved it.
"""

import re
from collections.abc import Mapping

import z3

from kraft_proofs.induction.prover import Answer, premises


def questions(answers: tuple[Answer, ...]) -> Mapping[str, str]:
    """The text of each obligation that was proved, by the name of its file without `.smt2`."""
    return {file_name(one.obligation.name): smt2(one) for one in answers if one.proved}


def file_name(obligation: str) -> str:
    """The obligation's name as that of a file, without its ending."""
    return "--".join(re.sub("[^a-z0-9]+", "-", part) for part in obligation.split("/"))


def smt2(answer: Answer) -> str:
    """What was proved, with premises that suffice, each under its name."""
    obligation = answer.obligation
    asserted = {name: obligation.facts[name] for name in premises(answer)}
    asserted["the denial of the goal"] = z3.Not(obligation.goal)
    solver = z3.Solver()
    solver.add(*asserted.values())
    lines = ["; expect: unsat", f"; {obligation.name}", "(set-logic UFLIA)"]
    lines.append(solver.sexpr().partition("(assert")[0].rstrip())
    for name, fact in asserted.items():
        lines += [f"; {name}", f"(assert {fact.sexpr()})"]
    return "\n".join([*lines, "(check-sat)", ""])
