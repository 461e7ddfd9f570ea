"""Scripted runs of the theory: the original breaks no invariant, and each mutant's violation is reported."""

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


@pytest.mark.parametrize("mutant", [SINGLE_SERVER, KIP_642], ids=["single-server", "kip-642"])
def test_a_change_before_the_own_epoch_is_committed_is_refused(mutant: Mutant) -> None:
    replayed = replay(INTERPRETER, mutant.cluster, moves(mutant.run))
    assert (replayed.breaches, str(replayed.refused), len(replayed.steps)) == ((), "append(leader=2)", 23)


@pytest.mark.parametrize(
    ("mutant", "elected", "committed"),
    [(SINGLE_SERVER, 32, 40), (KIP_642, 35, 43)],
    ids=["single-server", "kip-642"],
)
def test_without_the_rule_committed_records_are_lost(mutant: Mutant, elected: int, committed: int) -> None:
    replayed = replay(WITHOUT_THE_RULE, mutant.cluster, moves(mutant.run))
    assert replayed.refused is None
    assert [(breach.number, breach.step.action, breach.names) for breach in replayed.breaches] == [
        (24, "append", ("one-voter-change-at-a-time",)),
        (elected, "become-leader", ("leader-completeness",)),
        (committed, "commit", ("committed-in-one-order", "state-machine-safety")),
    ]


def test_the_scripted_course_is_possible_and_breaks_nothing() -> None:
    replayed = replay(INTERPRETER, *COURSE)
    assert (replayed.breaches, replayed.refused) == ((), None)
    assert INTERPRETER.broken_axioms(replayed.world) == ()
