"""Catalogue of mutants: it names every safety rule, its edits fit, and TLC confirms its statements."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from msgspec.structs import replace

from kraft_dev.mutants.searching import MODULE, broken_configuration, search
from kraft_mutants import (
    Covered,
    Exhaustive,
    Mutant,
    MutantError,
    Schedule,
    load_catalogue,
    model_edits,
    read_catalogue,
    reference_edits,
)
from kraft_simulation.scenarios import scenario
from kraft_simulation.workload import WORKLOADS
from kraft_spec.edits import Edit, EditError, apply_edits, edited_packages, edited_texts
from kraft_spec.models import Configuration, find_check
from kraft_spec.rules import load_registry

HEAP_MEGABYTES = 3072
CATALOGUE = load_catalogue()
NAMES = [mutant.name for mutant in CATALOGUE.mutants]

QUICK = "refusals-count-as-votes"
"""Violates ElectionSafety in the smallest model check, in seconds."""

ENTRY = """
[[mutant]]
name = "a"
rules = ["vote.log-check"]
bug = "b"
extends = ["old-fetch-counts-by-id"]
"""


# ---------------------------------------------------------------------------------------------------------
# Contents.


def test_no_rule_is_accounted_for_twice() -> None:
    """`test_safety_rules` checks that no rule is missing."""
    broken = {mutant.rules[0] for mutant in CATALOGUE.mutants if mutant.evidence is not None}
    places = Counter([*broken, *(gap.rule for gap in CATALOGUE.not_modelled)])
    assert [rule for rule, number in places.items() if number > 1] == []


def test_evidence_names_only_existing_items() -> None:
    """Reading the catalogue does not check the names, which would load all checks and scenarios."""
    for mutant in CATALOGUE.mutants:
        match mutant.evidence:
            case Exhaustive(check=check, property=violated, properties=properties):
                assert {violated, *properties} <= set(find_check(check).configuration.checked), mutant.name
            case Covered(checks=checks):
                assert [find_check(check).name for check in checks] == list(checks)
            case Schedule(scenario=played) if played:
                of, _, variant = played.partition("/")
                assert scenario(of).variant(variant).name == variant
            case Schedule(workload=workload):
                assert workload in WORKLOADS, mutant.name


def test_a_covered_rule_names_others() -> None:
    for mutant in CATALOGUE.mutants:
        if isinstance(mutant.evidence, Covered):
            assert set(mutant.evidence.rules) - {mutant.rules[0]}, mutant.name
            assert mutant.evidence.checks, mutant.name
            assert set(mutant.evidence.rules) <= {rule.id for rule in load_registry()}, mutant.name


def test_the_sample_is_small_and_not_empty() -> None:
    assert 5 <= sum(mutant.sample for mutant in CATALOGUE.mutants) <= 20


@pytest.mark.parametrize("name", NAMES)
def test_edits_fit_and_the_edited_reference_is_python(name: str) -> None:
    mutant = CATALOGUE[name]
    changed = {
        path.name
        for path, text in edited_texts((*model_edits(mutant), *reference_edits(mutant))).items()
        if text != path.read_text(encoding="utf-8")
    }
    assert changed == {Path(edit.file).name for edit in (*model_edits(mutant), *reference_edits(mutant))}


def test_an_edited_reference_is_what_a_process_imports() -> None:
    mutant = CATALOGUE["own-vote-counts-twice"]
    look = "import inspect, kraft_reference.transitions as t; print(inspect.getsource(t.leader_if_majority))"
    with edited_packages(reference_edits(mutant)) as environment:
        process = subprocess.run(
            [sys.executable, "-c", look], env=environment, capture_output=True, text=True, check=True
        )
    assert "len(state.granted) + 1" in process.stdout


# ---------------------------------------------------------------------------------------------------------
# Rejected entries.
# ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (Edit("a.py", "three", "four"), "stands there 0 times"),
        (Edit("a.py", "one", "four"), "stands there 2 times"),
        (Edit("a.py", "two", "two"), "replaced by itself"),
        (Edit("b.py", "two", "four"), "there is no b.py"),
    ],
)
def test_an_edit_that_does_not_fit_is_an_error(tmp_path: Path, edit: Edit, message: str) -> None:
    (tmp_path / "a.py").write_text("one two one", encoding="utf-8")
    with pytest.raises(EditError, match=message):
        apply_edits(tmp_path, [edit])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (ENTRY.replace("vote.log-check", "vote.of-the-dead"), "names 'vote.of-the-dead', which is no rule"),
        (ENTRY.replace("old-fetch", "no-fetch"), "no mutant 'no-fetch-counts-by-id'"),
        (ENTRY + ENTRY, "two mutants are called a"),
        (ENTRY.replace('"vote.log-check"', ""), "names no rule"),
        (ENTRY.replace("extends", "sample = true #"), "changes nothing"),
        (ENTRY.replace("bug", "bugs"), "unknown field `bugs`"),
        (ENTRY + '[mutant.evidence]\nby = "guess"\n', "guess"),
        ('[[not_modelled]]\nrule = "vote.of-the-dead"\nreason = "r"\n', "not_modelled names 'vote.of-the-dead'"),
        ("[[mutant", "table.toml"),
    ],
)
def test_a_malformed_table_is_an_error(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "table.toml").write_text(text, encoding="utf-8")
    with pytest.raises(MutantError, match=message) as caught:
        read_catalogue(tmp_path)
    assert "table.toml" in str(caught.value)


def test_two_tables_may_not_share_a_name(tmp_path: Path) -> None:
    for name in ("first.toml", "second.toml"):
        (tmp_path / name).write_text(ENTRY, encoding="utf-8")
    with pytest.raises(MutantError, match=r"second\.toml: two mutants are called a"):
        read_catalogue(tmp_path)


def test_an_unknown_mutant_is_an_error_that_names_near_ones() -> None:
    with pytest.raises(MutantError, match=f"close ones: {QUICK}"):
        CATALOGUE["refusal-counts-as-vote"]


def test_bounds_replace_the_slices() -> None:
    of_slice = Configuration(
        "MCElection",
        replaces={"MayCrash": "Never", "MayAppend": "Never"},
        invariants=("TypeOk", "DeadHaveNoEffect"),
        properties=("LocalForms",),
    )
    bounds = Exhaustive("smoke", "TypeOk", 2, constants={"MayCrash": "Yes"}, initial="Later")
    expected = Configuration(
        MODULE, init="Later", replaces={"MayCrash": "Yes", "MayAppend": "Never"}, invariants=("TypeOk",)
    )
    assert broken_configuration(of_slice, bounds) == expected


# ---------------------------------------------------------------------------------------------------------
# Stated results.
# ---------------------------------------------------------------------------------------------------------


def stated_wrongly(by: Exhaustive | Covered) -> Mutant:
    return replace(CATALOGUE[QUICK], evidence=by, sample=True)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("by", "problem"),
    [
        (Exhaustive("smoke", "LogMatching", 16), "expected a violation of LogMatching, found one of ElectionSafety"),
        (Exhaustive("smoke", "ElectionSafety", 15), "expected a counterexample of 15 states, found one of 16"),
        (Covered(("vote.log-check",), "it is not", ("smoke",)), "smoke violates ElectionSafety after 16 states"),
    ],
)
def test_a_wrong_statement_is_a_problem(by: Exhaustive | Covered, problem: str) -> None:
    cell = search(stated_wrongly(by), heap_megabytes=HEAP_MEGABYTES)
    assert cell.problem
    assert problem in cell.problem


@pytest.mark.nightly
@pytest.mark.parametrize(("profile", "violated"), [("kip", ""), ("kafka-4", "ElectionSafety")])
def test_a_profile_decides_in_a_broken_model(profile: str, violated: str) -> None:
    harmless = replace(CATALOGUE[QUICK], model=(), evidence=Exhaustive("voters-known-leader", "ElectionSafety", 7))
    cell = search(harmless, profile=profile, heap_megabytes=HEAP_MEGABYTES)
    assert cell.what == violated


@pytest.mark.nightly
def test_a_counterexample_that_is_not_there_is_a_problem() -> None:
    harmless = replace(
        CATALOGUE["candidate-still-awaits-pre-votes"],
        evidence=Exhaustive("crash-candidate", "ElectionSafety", 16, properties=("ElectionSafety",)),
        sample=True,
    )
    cell = search(harmless, heap_megabytes=HEAP_MEGABYTES)
    assert cell.problem.startswith("expected a violation of ElectionSafety, found ok")
    assert cell.where == "crash-candidate"
