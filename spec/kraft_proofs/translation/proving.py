"""Proofs of the model's actions."""

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from kraft_proofs.induction.prover import Answer, Obligation, prove, refutes
from kraft_proofs.translation.acting import act
from kraft_proofs.translation.counterexample import counterexample
from kraft_proofs.translation.steps import LIMIT, obligations, others
from kraft_spec.models import model_directory
from kraft_spec.tlc.specification import Specification

_AUXILIARY = re.compile("/guard of |/voters/")
OTHERS = "others"
"""Name for the obligations that no step changes another replica than its own."""


class Proved(NamedTuple):
    """Result for an action.

    Attributes:
        action: Its name.
        steps: The sequences of the proof's steps that it maps to, with blanks between the steps.
        answers: Answers to its obligations.
        is_possible: True if no premises contradict each other, so that the action can happen in each case.
        counterexample: Diagnosis of the first unproved obligation: a line for each field.
    """

    action: str
    steps: tuple[str, ...]
    answers: tuple[Answer, ...]
    is_possible: bool
    counterexample: tuple[str, ...]

    @property
    def failing(self) -> tuple[Answer, ...]:
        """Unproved obligations."""
        return tuple(answer for answer in self.answers if not answer.proved)

    @property
    def holds(self) -> bool:
        """True if all obligations are proved, for an action that can happen."""
        return self.is_possible and not self.failing


def specification(directory: Path | None = None) -> Specification:
    """Return the whole parsed model, in the configuration of trace checking, whose overrides are not used.

    Raises:
        SpecificationError, JvmError, JarMissing, JarMismatch, JavaMissing: as `Specification`.
    """
    return Specification(directory or model_directory(), "Trace")


def prove_action(model: Specification, action: str, until: Callable[[Answer], bool] = lambda _: False) -> Proved:
    """Prove an action, or `OTHERS`.

    Args:
        model: The parsed model.
        action: Its name.
        until: Stop after an answer that satisfies this.

    Raises:
        UnsupportedError: The action uses an unsupported construct.
    """
    acted = None if action == OTHERS else act(model, action)
    listed = others() if acted is None else obligations(acted)
    answers: list[Answer] = []
    for obligation in listed:
        answers.append(prove(obligation, LIMIT))
        if until(answers[-1]):
            break
    failing = next((answer.obligation for answer in answers if not answer.proved), None)
    lines = () if acted is None or failing is None else counterexample(acted, failing)
    steps = dict.fromkeys(goal.name.split("/")[1] for goal in listed if not _AUXILIARY.search(goal.name))
    return Proved(action, tuple(steps), tuple(answers), acted is None or is_possible(listed), lines)


def is_possible(listed: Iterable[Obligation]) -> bool:
    """Return True if there is a case, and Z3 refutes the premises of none, without invariants and goal.

    The search is that of a proof: without a bound on instances.
    """
    cases = {goal.name.split("/")[1]: goal for goal in listed if not _AUXILIARY.search(goal.name)}
    return bool(cases) and not any(
        refutes((goal.facts[name] for name in goal.attempts[1]), LIMIT, (None,)) for goal in cases.values()
    )
