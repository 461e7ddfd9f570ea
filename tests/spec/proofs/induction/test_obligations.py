import re
from collections import Counter

import pytest

from kraft_proofs.induction.abstraction import SEQUENCES, UNCHANGED, standing_for
from kraft_proofs.induction.counting import DEFINITIONS, SENTENCES
from kraft_proofs.induction.lemmas import LEMMAS
from kraft_proofs.induction.obligations import obligations, select
from kraft_proofs.induction.state import FUNCTIONS, any_state
from kraft_proofs.induction.symbols import RIGID
from kraft_proofs.induction.theory import theory
from kraft_proofs.induction.trust import CHECKED, REVIEWED
from kraft_spec.models.running import next_actions
from kraft_spec.rules import load_registry


def test_every_action_meets_every_invariant() -> None:
    """test_prove_induction.py checks that each obligation is proved."""
    about = theory()
    names = Counter(obligation.name for obligation in obligations())
    invariants = [invariant.name for invariant in about.invariants]
    expected = {f"start/{invariant}" for invariant in invariants}
    expected |= {f"{action.name}/{invariant}" for action in about.actions for invariant in invariants}
    expected |= {f"safety/{invariant.name}" for invariant in about.safety}
    expected |= {"quorums/majorities-of-one-set", "quorums/majorities-of-neighbours"}
    assert set(names.values()) == {1}
    assert {name for name in names if name.count("/") == 1} == expected
    of_lemmas = {name.rpartition("/")[0] for name in names if name.count("/") == 2}
    listed = {f"{action}/{lemma.name}" for action, lemmas in LEMMAS.items() for lemma in lemmas}
    assert of_lemmas == {name for name in listed if name.partition("/")[0] in {action.name for action in about.actions}}


def test_an_action_uses_no_fact_about_the_state_after_it() -> None:
    """The facts of an obligation are of the state before: else the induction would be circular."""
    about = theory()
    before = {invariant.name: invariant.formula(about.before) for invariant in about.invariants}
    for obligation in obligations():
        for name, fact in obligation.facts.items():
            if name in before:
                assert fact.eq(before[name]), (obligation.name, name)


def test_each_action_of_the_model_is_abstracted_or_changes_nothing() -> None:
    model = set(next_actions().values())
    assert set(SEQUENCES) | set(UNCHANGED) == model
    assert set(SEQUENCES) & set(UNCHANGED) == set()
    assert all(standing_for(action.name) for action in theory().actions)


def test_everything_has_a_sentence() -> None:
    about = theory()
    sentences = [
        *(invariant.sentence for invariant in (*about.invariants, *about.safety)),
        *(axiom.sentence for axiom in about.axioms),
        *(action.sentence for action in about.actions),
        *(symbol.sentence for symbol in RIGID.values()),
        *(signature.sentence for signature in FUNCTIONS.values()),
        *SENTENCES.values(),
    ]
    assert [sentence for sentence in sentences if not re.fullmatch(r"[A-Z].{15,}\.", sentence)] == []
    assert len(set(sentences)) == len(sentences)
    assert list(SENTENCES) == list(DEFINITIONS)
    assert set(FUNCTIONS) == set(any_state()._fields)


def test_rules_named_in_the_review_exist() -> None:
    registry = load_registry()
    named = [
        word
        for reviewed in REVIEWED
        for word in re.findall(r"[a-z][a-z0-9-]*(?:\.[a-z0-9-]+)+", reviewed.where)
        if not word.endswith((".py", ".tla"))
    ]
    assert named
    assert [rule for rule in named if rule not in registry] == []
    assert len({reviewed.name for reviewed in REVIEWED}) == len(REVIEWED)
    assert CHECKED


def test_obligations_are_selected_by_part_or_name() -> None:
    listed = obligations()
    assert {obligation.part for obligation in select(listed, ["crash", "safety"])} == {"crash", "safety"}
    assert [obligation.name for obligation in select(listed, ["vote/election-safety"])] == ["vote/election-safety"]
    assert len(select(listed, ["commit/later-leaders-keep-it"])) == 9
    assert select(listed, []) == listed
    with pytest.raises(KeyError, match="votes"):
        select(listed, ["votes"])
