"""The actions of the model, proved one by one."""

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
"""In place of an action: that no step changes another replica than its own."""


class Proved(NamedTuple):
    """What came of an action.

    Attributes:
        action: Its name.
        steps: The sequences of steps of the proof that it may amount to, with blanks between the steps.
        answers: To its obligations.
        is_possible: Whether nothing contradicts itself in the premises, so that the action can happen in each case.
        counterexample: Of the first obligation that is not proved: a line for each field.
    """

    action: str
    steps: tuple[str, ...]
    answers: tuple[Answer, ...]
    is_possible: bool
    counterexample: tuple[str, ...]

    @property
    def failing(self) -> tuple[Answer, ...]:
        """Those that are not proved."""
        return tuple(one for one in self.answers if not one.proved)

    @property
    def holds(self) -> bool:
        """Is all of it proved, of something that can happen?"""
        return self.is_possible and not self.failing


def specification(directory: Path | None = None) -> Specification:
    """The model, parsed: as a whole, with what a trace check replaces, of which nothing is used.

    Raises:
        SpecificationError, JvmError, JarMissing, JarMismatch, JavaMissing: as `Specification`.
    """
    return Specification(directory or model_directory(), "Trace")


def prove_action(model: Specification, action: str, until: Callable[[Answer], bool] = lambda _: False) -> Proved:
    """Prove an action, or `OTHERS`.

    Args:
        model: Of what.
        action: Its name.
        until: Stop after an answer of which this holds.

    Raises:
        UnsupportedError: The action uses what is not translated.
    """
    acted = None if action == OTHERS else act(model, action)
    listed = others() if acted is None else obligations(acted)
    answers: list[Answer] = []
    for obligation in listed:
        answers.append(prove(obligation, LIMIT))
        if until(answers[-1]):
            break
    failing = next((one.obligation for one in answers if not one.proved), None)
    shown = () if acted is None or failing is None else counterexample(acted, failing)
    steps = dict.fromkeys(one.name.split("/")[1] for one in listed if not _AUXILIARY.search(one.name))
    return Proved(action, tuple(steps), tuple(answers), acted is None or is_possible(listed), shown)


def is_possible(listed: Iterable[Obligation]) -> bool:
    """Whether there is a case, and Z3 finds no contradiction in the premises of any: without invariants and a goal.

    They are searched as for a proof: without a bound on instances.
    """
    cases = {one.name.split("/")[1]: one for one in listed if not _AUXILIARY.search(one.name)}
    return bool(cases) and not any(
        refutes((one.facts[name] for name in one.attempts[1]), LIMIT, (None,)) for one in cases.values()
    )
