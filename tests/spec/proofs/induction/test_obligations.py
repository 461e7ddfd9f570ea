import re
from collections import Counter

import pytest
import z3

from kraft_spec.models.running import next_actions
from kraft_spec.proofs.induction.abstraction import SEQUENCES, UNCHANGED, standing_for
from kraft_spec.proofs.induction.counting import DEFINITIONS, SENTENCES
from kraft_spec.proofs.induction.lemmas import LEMMAS, SCRIPTS
from kraft_spec.proofs.induction.obligations import obligations, prove_induction, select
from kraft_spec.proofs.induction.own_vote import where_safe
from kraft_spec.proofs.induction.premises import LISTED
from kraft_spec.proofs.induction.prover import Answer
from kraft_spec.proofs.induction.state import FUNCTIONS, any_state
from kraft_spec.proofs.induction.symbols import RIGID
from kraft_spec.proofs.induction.theory import Theory, theory
from kraft_spec.proofs.induction.trust import CHECKED, REVIEWED
from kraft_spec.rules import load_registry


@pytest.fixture(scope="module")
def answers() -> tuple[Answer, ...]:
    return prove_induction()


def test_every_obligation_is_proved(answers: tuple[Answer, ...]) -> None:
    assert [answer.obligation.name for answer in answers if not answer.proved] == []


def test_every_action_meets_every_invariant(answers: tuple[Answer, ...]) -> None:
    about = theory()
    names = Counter(answer.obligation.name for answer in answers)
    invariants = [invariant.name for invariant in about.invariants]
    expected = {f"start/{invariant}" for invariant in invariants}
    expected |= {f"{action.name}/{invariant}" for action in about.actions for invariant in invariants}
    expected |= {f"safety/{one.name}" for one in about.safety}
    expected |= {"quorums/majorities-of-one-set", "quorums/majorities-of-neighbours"}
    in_steps = {f"{name}/contradiction": name for name in SCRIPTS}
    goals = {in_steps.get(name, name) for name in names}
    lemmas = {f"{action}/{lemma[0]}" for action, listed in LEMMAS.items() for lemma in listed}
    assert set(names.values()) == {1}
    assert {name for name in goals if name.count("/") == 1} == expected | {name for name in lemmas if name in goals}
    assert all(name in goals or f"{name}/contradiction" in goals for name in lemmas)


@pytest.mark.parametrize("about", [theory(), where_safe()], ids=["kip", "own-vote"])
def test_the_last_step_denies_the_goal(about: Theory) -> None:
    """A script ends in a contradiction, and its denial is that of what the obligation says."""
    goals = {invariant.name: invariant.formula for invariant in about.invariants}
    steps = {obligation.name: obligation for obligation in obligations(about)}
    actions = {one.name for one in about.actions}
    for name in SCRIPTS:
        action, _, invariant = name.partition("/")
        if action not in actions:
            continue
        last = steps[f"{name}/contradiction"]
        assert z3.is_false(last.goal)
        assert last.facts["denied"].eq(z3.Not(goals[invariant](about.action(action).after)))
    for action, listed in LEMMAS.items():
        for lemma, said, _ in listed:
            one = steps.get(f"{action}/{lemma}") or steps[f"{action}/{lemma}/contradiction"]
            assert one.goal.eq(said(about.before)) or z3.is_false(one.goal)


def test_premises_say_which_facts_served(answers: tuple[Answer, ...]) -> None:
    served = {answer.obligation.name: answer.premises for answer in answers}
    assert served["become-leader/election-safety"] == ("election-safety", *_guard("become-leader"), _ONLY)
    assert all(set(answer.premises or ()) <= set(answer.obligation.facts) for answer in answers)


_ONLY = "new-leader-is-the-only-one"


def _guard(action: str) -> tuple[str, ...]:
    return tuple(theory().action(action).guard)


def test_an_action_uses_no_fact_about_the_state_after_it(answers: tuple[Answer, ...]) -> None:
    """The facts of an obligation are of the state before: else the induction would be circular."""
    about = theory()
    before = {invariant.name: invariant.formula(about.before) for invariant in about.invariants}
    for answer in answers:
        for name, fact in answer.obligation.facts.items():
            if name in before:
                assert fact.eq(before[name]), (answer.obligation.name, name)


def test_lists_of_premises_are_of_obligations_that_exist() -> None:
    listed = (*obligations(), *obligations(where_safe()))
    names = {obligation.name for obligation in listed}
    facts = {name for obligation in listed for name in obligation.facts}
    assert set(LISTED) <= names
    assert {premise for premises in LISTED.values() for premise in premises.split()} <= facts


def test_each_action_of_the_model_is_abstracted_or_changes_nothing() -> None:
    model = set(next_actions().values())
    assert set(SEQUENCES) | set(UNCHANGED) == model
    assert set(SEQUENCES) & set(UNCHANGED) == set()
    assert all(standing_for(action.name) for action in theory().actions)


def test_everything_has_a_sentence() -> None:
    about = theory()
    said = [
        *(invariant.sentence for invariant in (*about.invariants, *about.safety)),
        *(axiom.sentence for axiom in about.axioms),
        *(action.sentence for action in about.actions),
        *(symbol.sentence for symbol in RIGID.values()),
        *(signature.sentence for signature in FUNCTIONS.values()),
        *SENTENCES.values(),
    ]
    assert [sentence for sentence in said if not re.fullmatch(r"[A-Z].{15,}\.", sentence)] == []
    assert len(set(said)) == len(said)
    assert list(SENTENCES) == list(DEFINITIONS)
    assert set(FUNCTIONS) == set(any_state()._fields)


def test_rules_named_in_the_review_exist() -> None:
    registry = load_registry()
    named = [
        word
        for one in REVIEWED
        for word in re.findall(r"[a-z][a-z0-9-]*(?:\.[a-z0-9-]+)+", one.where)
        if not word.endswith((".py", ".tla"))
    ]
    assert named
    assert [rule for rule in named if rule not in registry] == []
    assert len({one.name for one in REVIEWED}) == len(REVIEWED)
    assert CHECKED


def test_obligations_are_selected_by_part_or_name() -> None:
    listed = obligations()
    assert {one.part for one in select(listed, ["crash", "safety"])} == {"crash", "safety"}
    assert [one.name for one in select(listed, ["vote/election-safety"])] == ["vote/election-safety"]
    assert len(select(listed, ["commit/later-leaders-keep-it"])) > 10
    assert select(listed, []) == listed
    with pytest.raises(KeyError, match="votes"):
        select(listed, ["votes"])
