"""Scripted runs of the theory: nothing breaks as it is, and what is broken is reported."""

import pytest

from kraft_proofs.induction.changes import changed
from kraft_proofs.induction.interpreter import Interpreter
from kraft_proofs.induction.mutants import Mutant, mutant
from kraft_proofs.induction.replays import moves, replay
from kraft_proofs.induction.theory import theory
from kraft_proofs.induction.vacuity import COURSE

THEORY = theory()
INTERPRETER = Interpreter(THEORY)
WITHOUT_THE_RULE = Interpreter(changed(THEORY, ["without append/epoch-is-committed"]))

SINGLE_SERVER = mutant("change-before-own-epoch-commits")
KIP_642 = mutant("change-before-own-epoch-commits-and-invariant-agrees")


@pytest.mark.parametrize("told", [SINGLE_SERVER, KIP_642], ids=["single-server", "kip-642"])
def test_a_change_before_the_own_epoch_is_committed_is_refused(told: Mutant) -> None:
    found = replay(INTERPRETER, told.cluster, moves(told.run))
    assert (found.breaches, str(found.refused), len(found.steps)) == ((), "append(leader=2)", 23)


@pytest.mark.parametrize(
    ("told", "elected", "committed"),
    [(SINGLE_SERVER, 32, 40), (KIP_642, 35, 43)],
    ids=["single-server", "kip-642"],
)
def test_without_the_rule_it_loses_what_was_committed(told: Mutant, elected: int, committed: int) -> None:
    found = replay(WITHOUT_THE_RULE, told.cluster, moves(told.run))
    assert found.refused is None
    assert [(one.number, one.step.action, one.names) for one in found.breaches] == [
        (24, "append", ("one-voter-change-at-a-time",)),
        (elected, "become-leader", ("leader-completeness",)),
        (committed, "commit", ("committed-in-one-order", "state-machine-safety")),
    ]


def test_the_scripted_course_is_possible_and_breaks_nothing() -> None:
    found = replay(INTERPRETER, *COURSE)
    assert (found.breaches, found.refused) == ((), None)
    assert INTERPRETER.broken_axioms(found.world) == ()
