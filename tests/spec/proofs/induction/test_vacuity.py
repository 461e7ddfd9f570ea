"""The premises of the proof are satisfiable, and unsatisfiable premises would be reported."""

from collections.abc import Mapping

import pytest
import z3

from kraft_proofs.induction import counting
from kraft_proofs.induction.evaluator import Evaluator
from kraft_proofs.induction.interpreter import Interpreter
from kraft_proofs.induction.lemmas import LEMMAS
from kraft_proofs.induction.obligations import obligations
from kraft_proofs.induction.prover import Obligation, prove
from kraft_proofs.induction.symbols import QUORUM, VOTERS, forall, majority, variables
from kraft_proofs.induction.theory import theory
from kraft_proofs.induction.vacuity import is_of_counterexample, refuted_premises, witnesses
from kraft_proofs.induction.worlds import MEANINGS, Meaning, Replicas, all_sets
from kraft_proofs.venn import Region


def test_each_action_has_a_world_in_which_all_premises_are_true() -> None:
    about = theory()
    interpreter = Interpreter(about)
    worlds = witnesses(interpreter)
    assert worlds.keys() == {action.name for action in about.actions}
    for witness in worlds.values():
        assert interpreter.broken(witness.world) == ()
        assert interpreter.broken_axioms(witness.world) == ()
        assert len(witness.world.values["elected"]) >= 2


def test_a_guard_that_cannot_be_true_has_no_world() -> None:
    about = theory()
    crash = about.action("crash")
    impossible = about.with_action(crash._replace(guard={**crash.guard, "never": z3.BoolVal(False)}))
    assert "crash" not in witnesses(Interpreter(impossible))


def test_only_claims_about_a_counterexample_are_exempt() -> None:
    exempt = {obligation.name.rpartition("/")[0] for obligation in obligations() if is_of_counterexample(obligation)}
    assert exempt == {f"{action}/{lemma.name}" for action in ("become-leader", "commit") for lemma in LEMMAS[action]}


def test_premises_that_contradict_each_other_are_reported() -> None:
    facts = {"one": z3.Bool("it"), "other": z3.Not(z3.Bool("it"))}
    vacuous = Obligation("stand/anything", facts, z3.Bool("that"))
    assert prove(vacuous).proved
    assert refuted_premises([vacuous]) == ("stand/anything",)


def size_meaning(region: Region) -> Meaning:
    inside = [name in region for name in counting.DIAGRAM.names]

    def size(*sets: Replicas) -> int:
        within = [chosen for chosen, is_inside in zip(sets, inside, strict=True) if is_inside]
        outside = [chosen for chosen, is_inside in zip(sets, inside, strict=True) if not is_inside]
        return len(frozenset.intersection(*within).difference(*outside))

    return Meaning("How many replicas are in these sets and in no other of the four.", size)


SIZES: Mapping[str, Meaning] = {
    str(counting.size_of(region).name()): size_meaning(region) for region in counting.DIAGRAM.regions
}


def untrue_definitions(replicas: int) -> tuple[str, ...]:
    """Return the definitions behind the quorum axioms that fail for some sets of this many replicas; none should."""
    everyone = tuple(range(1, replicas + 1))
    sets = all_sets(everyone)
    evaluator = Evaluator({**MEANINGS, **SIZES})
    environment = {"Replica": everyone, "Quorum": sets, "Voters": sets}
    return tuple(name for name, formula in counting.DEFINITIONS.items() if not evaluator.value(formula)(environment))


@pytest.mark.parametrize("replicas", [1, 2, 3, pytest.param(4, marks=pytest.mark.nightly)])
def test_the_definitions_behind_the_quorum_axioms_are_true_of_sets(replicas: int) -> None:
    assert untrue_definitions(replicas) == ()


def test_an_untrue_definition_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    (quorum,), (voters,) = variables(QUORUM, "q"), variables(VOTERS, "v")
    every = forall((quorum, voters), majority(quorum, voters))
    monkeypatch.setattr(counting, "DEFINITIONS", {**counting.DEFINITIONS, "all-are-majorities": every})
    assert untrue_definitions(2) == ("all-are-majorities",)
