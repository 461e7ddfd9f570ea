"""Liveness: a check holds, broken protocols go round in a loop, premises are met, and fair behaviours exist."""

import re
from dataclasses import replace

import pytest

from kraft_mutants.models import mutated_model
from kraft_spec.models import CHECKS, find_check, model_directory, run_check
from kraft_spec.models.check import CheckReport, ModelCheck
from kraft_spec.tlc.model_report import Outcome

HEAP_MEGABYTES = 3072
PROPERTIES = (
    "EventualLeader",
    "NoPingPong",
    "EventuallyFetching",
    "CommitProgress",
    "ZombieBounded",
    "EverybodyIsAsked",
)
SPECIFICATIONS = ("Spec", "SpecOfChange", "SpecOfReassignment", "SpecOfAnnouncements", "SpecOfSearch")
LIVENESS = tuple(check for check in CHECKS if check.name.startswith("liveness"))


def run_mutated(check: ModelCheck) -> CheckReport:
    with mutated_model(check.mutants) as directory:
        return run_check(check, directory=directory, heap_megabytes=HEAP_MEGABYTES)


@pytest.mark.parametrize("name", ["liveness-no-fall-back", "liveness-refusal-lasts"])
def test_a_broken_protocol_goes_round_in_a_loop(name: str) -> None:
    found = run_mutated(find_check(name))
    assert found.as_expected, (found.report.outcome, found.report.violated, found.report.message)
    back = re.fullmatch(r"Back to state (\d+)", found.report.loop)
    assert back, found.report.loop
    loop = found.report.trace[int(back.group(1)) - 1 :]
    assert len(loop) > 2
    assert any("VoteResponse" in state.text and "granted |-> FALSE" in state.text for state in loop)


def test_without_the_fall_back_the_check_that_held_fails() -> None:
    """The same configuration, with all properties, on a model in which a lost round is not left."""
    broken = replace(find_check("liveness-removed-voter"), mutants=("state.prospective.lost.known-leader",))
    found = run_mutated(broken)
    assert found.report.outcome is Outcome.VIOLATION, found.report.message
    assert not found.as_expected


def test_every_property_holds_somewhere_and_is_violated_by_a_variant() -> None:
    ci = [check for check in LIVENESS if "ci" in check.groups]
    held = {name for check in ci if not check.violates for name in check.configuration.properties}
    broken = {check.violates for check in ci if check.violates}
    assert set(PROPERTIES) <= held
    assert set(PROPERTIES) <= broken


def test_a_variant_names_one_temporal_property() -> None:
    """TLC does not say which of several it found violated."""
    for check in LIVENESS:
        if check.violates:
            assert check.configuration.properties in ((check.violates,), ()), check.name


def test_nothing_cuts_a_behaviour_or_merges_states() -> None:
    """A constraint, a view or a symmetry could hide a loop or make one up."""
    for check in LIVENESS:
        assert not check.configuration.constraint, check.name
        assert not check.configuration.view, check.name
        assert check.configuration.specification in SPECIFICATIONS, check.name


@pytest.mark.parametrize(
    ("module", "definition"),
    [
        ("MCLivenessChange", r"SpecOfChange == Spec /\ ChangeFairness"),
        ("MCLivenessAsking", r"SpecOfAnnouncements == Spec /\ AnnouncementFairness"),
        ("MCLivenessAsking", r"SpecOfSearch == Spec /\ SearchFairness"),
    ],
)
def test_a_specification_with_more_fairness_cuts_nothing_else(module: str, definition: str) -> None:
    text = (model_directory() / f"{module}.tla").read_text(encoding="utf-8")
    assert definition in text.splitlines()


def test_the_fairness_of_reassignments_is_fairness_only() -> None:
    """Each conjunct but the first says: infinitely often not due, or infinitely often taken."""
    text = (model_directory() / "MCLivenessReassign.tla").read_text(encoding="utf-8")
    definition = re.search(r"^SpecOfReassignment ==\n((?:  .*\n)+)", text, flags=re.MULTILINE)
    assert definition is not None
    first, *fairness = [line.strip() for line in definition[1].splitlines()]
    often = re.compile(r"/\\ (\\A r \\in Cast : )?\[\]<>~\w+(\(r\))? \\/ \[\]<><<\w+(\(r\))?>>_variables")
    assert first == r"/\ Spec"
    assert [line for line in fairness if not often.fullmatch(line)] == []
    assert len(fairness) == 2
