"""Theorems: each is proved, and each weakening is refuted by exactly the recorded sets."""

from dataclasses import replace
from functools import cache

import pytest
from tests.spec.proofs.voters import key

from kraft_proofs.certificate import certifies
from kraft_proofs.kip642 import kip642_plan
from kraft_proofs.linear import Fact, at_most
from kraft_proofs.theorems import Counterexample, Theorem, theorem, theorems
from kraft_proofs.theorems.checking import Checked, check, refutes
from kraft_proofs.venn import Diagram
from kraft_spec.rules import load_registry

SLUGS = (
    "majorities-of-one-set",
    "majorities-of-neighbours",
    "same-set",
    "add-one",
    "remove-one",
    "replace-one-even",
    "add-two-even",
    "remove-two-even",
    "which-changes-intersect",
    "competing-changes",
    "own-epoch-first",
    "disk-replaced-in-two-steps",
    "leader-outside-not-counted",
    "leader-outside-counted",
    "plan-step",
    "plan-size",
    "plan-ends",
    "consecutive-sets",
    "resumed-plan",
)

WHOLE_NUMBERS_ONLY = {
    "replace-one-even": ["every"],
    "add-two-even": ["every"],
    "remove-two-even": ["every"],
    "which-changes-intersect": ["two-apart-even", "two-apart-odd-room"],
    "competing-changes": [
        "add-and-add-odd",
        "add-and-remove-odd",
        "remove-and-remove-odd",
        "add-and-add-even-room",
        "add-and-remove-even-room",
        "remove-and-remove-even-room",
    ],
    "leader-outside-counted": ["elected-by-new-even"],
}
"""Obligations that parity decides, so that no fractions add up to a contradiction."""


@cache
def checked(slug: str) -> Checked:
    return check(theorem(slug))


def test_the_slugs_are_permanent() -> None:
    assert tuple(entry.slug for entry in theorems()) == SLUGS


@pytest.mark.parametrize("slug", SLUGS)
def test_a_theorem_is_proved_and_its_weakenings_are_refuted_by_the_recorded_sets(slug: str) -> None:
    assert checked(slug).problems == ()
    assert checked(slug).weakenings, "a theorem shows that it cannot say more"


def test_whole_numbers_are_needed_for_parity_only() -> None:
    without = {
        slug: [obligation.case for obligation in checked(slug).obligations if obligation.certificate is None]
        for slug in SLUGS
        if None in checked(slug).certificate_rows
    }
    assert without == WHOLE_NUMBERS_ONLY


@pytest.mark.parametrize("slug", SLUGS)
def test_certificates_add_up_and_need_the_rows_of_their_core(slug: str) -> None:
    for stated, obligation in zip(theorem(slug).obligations, checked(slug).obligations, strict=True):
        if obligation.certificate is None:
            continue
        assert certifies(obligation.certificate, stated.problem)
        for fact in obligation.core:
            kept = tuple(part for part in obligation.certificate if part.fact != fact)
            assert not certifies(kept, stated.problem), f"{fact} is in the core, so the rows need it"


def test_the_rules_that_rest_on_theorems_exist_and_are_in_force() -> None:
    registry = load_registry()
    for entry in theorems():
        assert entry.rules, entry.slug
        assert [rule for rule in entry.rules if not registry[rule].is_active] == []


def test_names_are_unique_and_fit_for_files() -> None:
    for entry in theorems():
        cases = [obligation.case for obligation in entry.obligations]
        cases += [f"weakened-{weakening.name}" for weakening in entry.weakenings]
        assert len(set(cases)) == len(cases)
        for name in (entry.slug, *cases):
            assert name.replace("-", "").isalnum(), name
            assert name == name.lower()


def test_a_plan_reaches_the_bound_on_its_size() -> None:
    sets = theorem("plan-size").weakenings[0].counterexample.sets
    current, target, following = (frozenset(map(key, map(str, sets[name]))) for name in ("Current", "Target", "Next"))
    assert kip642_plan(current, target) == (current, following, target)
    assert len(following) == max(len(current), len(target)) + 1


ADD_ONE = theorem("add-one")
EVERY = ADD_ONE.obligations[0]
TWO_ADDED = ADD_ONE.weakenings[0]


def problems(wrong: Theorem) -> tuple[str, ...]:
    return check(wrong).problems


def test_a_theorem_about_nothing_is_not_proved() -> None:
    none = EVERY.also(at_most("fewer-than-none", EVERY.diagram.size(EVERY.diagram["New"]), -1))
    assert problems(replace(ADD_ONE, obligations=(none,))) == (
        "add-one--every: its premises contradict each other, so it says nothing",
    )


def test_two_facts_of_one_name_are_not_taken_for_one() -> None:
    twice = EVERY.also(Fact("one-added", ()))
    assert problems(replace(ADD_ONE, obligations=(twice,)))[0].startswith(
        "add-one--every: its core names facts that it does not have, or has twice: "
    )


def test_a_weakening_that_holds_is_no_weakening() -> None:
    holds = replace(TWO_ADDED, refuted=EVERY)
    core = "majority-of-old, majority-of-new, none-removed, one-added, no-replica-in-both"
    assert problems(replace(ADD_ONE, weakenings=(holds,))) == (f"add-one--two-added: proved all the same, by {core}",)


def test_another_counterexample_than_the_recorded_one_is_reported() -> None:
    larger = Counterexample({"Old": (1,), "New": (1, 2, 3), "OldMajority": (1,), "NewMajority": (1, 3)})
    counterexample = "Old={1} New={1,2,3} OldMajority={1} NewMajority={2,3}"
    assert not refutes(larger, TWO_ADDED.refuted)
    assert problems(replace(ADD_ONE, weakenings=(replace(TWO_ADDED, counterexample=larger),))) == (
        f"add-one--two-added: expected {larger}, found {counterexample}",
    )


def test_sets_that_the_diagram_rules_out_refute_nothing() -> None:
    outside = Counterexample({"Old": (1,), "New": (1, 2, 3), "OldMajority": (1, 4), "NewMajority": (2, 3)})
    assert not refutes(outside, TWO_ADDED.refuted)


def test_only_facts_that_are_there_can_be_left_out_or_changed() -> None:
    with pytest.raises(KeyError):
        EVERY.without("one-removed")
    with pytest.raises(KeyError):
        EVERY.instead(Fact("one-removed", ()))
    assert EVERY.instead(EVERY.denial) == EVERY
    with pytest.raises(KeyError):
        Diagram("Old")["New"]
