"""Liveness: checks hold, mutants loop, premises are satisfied, and fair behaviours exist."""

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
    report = run_mutated(find_check(name))
    assert report.as_expected, (report.report.outcome, report.report.violated, report.report.message)
    back = re.fullmatch(r"Back to state (\d+)", report.report.loop)
    assert back, report.report.loop
    loop = report.report.trace[int(back.group(1)) - 1 :]
    assert len(loop) > 2
    assert any("VoteResponse" in state.text and "granted |-> FALSE" in state.text for state in loop)


def test_without_the_fall_back_the_check_fails() -> None:
    """The same configuration, with all properties, on a model that never leaves a lost round."""
    broken = replace(find_check("liveness-removed-voter"), mutants=("state.prospective.lost.known-leader",))
    report = run_mutated(broken)
    assert report.report.outcome is Outcome.VIOLATION, report.report.message
    assert not report.as_expected


def test_every_property_holds_somewhere_and_is_violated_by_a_variant() -> None:
    ci = [check for check in LIVENESS if "ci" in check.groups]
    held = {name for check in ci if not check.violates for name in check.configuration.properties}
    broken = {check.violates for check in ci if check.violates}
    assert set(PROPERTIES) <= held
    assert set(PROPERTIES) <= broken


def test_a_variant_names_one_temporal_property() -> None:
    """TLC does not report which of several temporal properties is violated."""
    for check in LIVENESS:
        if check.violates:
            assert check.configuration.properties in ((check.violates,), ()), check.name


def test_nothing_cuts_a_behaviour_or_merges_states() -> None:
    """A constraint, a view or a symmetry could hide a loop or create one."""
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
    """Each conjunct but the first states: infinitely often not due, or infinitely often taken."""
    text = (model_directory() / "MCLivenessReassign.tla").read_text(encoding="utf-8")
    definition = re.search(r"^SpecOfReassignment ==\n((?:  .*\n)+)", text, flags=re.MULTILINE)
    assert definition is not None
    first, *fairness = [line.strip() for line in definition[1].splitlines()]
    often = re.compile(r"/\\ (\\A r \\in Cast : )?\[\]<>~\w+(\(r\))? \\/ \[\]<><<\w+(\(r\))?>>_variables")
    assert first == r"/\ Spec"
    assert [line for line in fairness if not often.fullmatch(line)] == []
    assert len(fairness) == 2
