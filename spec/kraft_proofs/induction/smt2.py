"""Obligations as SMT-LIB 2 texts, as printed by Z3: an obligation gives the same bytes on every run.

Each text asserts sufficient premises and the negated goal; a solver that answers `unsat` has proved it.
"""

import re
from collections.abc import Mapping

import z3

from kraft_proofs.induction.prover import Answer, premises


def questions(answers: tuple[Answer, ...]) -> Mapping[str, str]:
    """Return the text of each proved obligation, by the name of its file without `.smt2`."""
    return {file_name(answer.obligation.name): smt2(answer) for answer in answers if answer.proved}


def file_name(obligation: str) -> str:
    """Return the file name of an obligation, without its ending."""
    return "--".join(re.sub("[^a-z0-9]+", "-", part) for part in obligation.split("/"))


def smt2(answer: Answer) -> str:
    """Return the text of a proved obligation, with sufficient premises, each under its name."""
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
