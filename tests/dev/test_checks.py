"""Every check detects a mutant, and the declared fields of a trace are complete."""

from collections import Counter

import msgspec
import pytest
from tests.traces.places import EVENT, declared_fields, document_of, fields_there, other_values, plain

from kraft_dev.mutants.checked import Aside, Detected, Listed, another_run, check_problems, load_checks, problem_of
from kraft_dev.mutants.checks import LAYERS, Check, all_checks, model_checks, simulator_checks
from kraft_mutants import load_catalogue
from kraft_simulation.plan import RunPlan
from kraft_traces.encode import event_line

LISTED = load_checks()
CATALOGUE = load_catalogue()

STARTS_NO_JVM = "simulator"
"""Layer of checks whose recorded runs every push repeats; of the others it repeats one."""


def problems(checks: tuple[Check, ...] = (), listed: Listed = LISTED) -> list[str]:
    return list(check_problems(checks or all_checks(), CATALOGUE, listed))


def test_every_check_detects_a_mutant() -> None:
    assert problems() == []


@pytest.mark.parametrize("layer", LAYERS)
def test_a_check_without_a_mutant_is_reported(layer: str) -> None:
    unproven = Check(layer, "NothingEverHappens", "invariant")  # type: ignore[arg-type]
    assert problems((*all_checks(), unproven)) == [f"{layer} NothingEverHappens: detects no mutant"]


def test_evidence_for_no_check_and_of_no_mutant_is_reported() -> None:
    wrong = msgspec.structs.replace(
        LISTED,
        detected=(*LISTED.detected, msgspec.structs.replace(LISTED.detected[0], mutant="nobody")),
        aside=(*LISTED.aside, Aside("model", "NoSuchInvariant", "because")),
    )
    messages = problems(listed=wrong)
    assert len(messages) == 2
    assert all("but the check or the mutant does not exist" in problem for problem in messages)


def test_the_checks_are_those_of_the_sources() -> None:
    by_layer = Counter(check.layer for check in all_checks())
    assert all(by_layer[layer] >= 14 for layer in LAYERS)
    kinds = {check.name: check.kind for check in model_checks()}
    assert kinds["TypeOk"] == "invariant"
    assert kinds["HwMonotonic"] == "action property"
    assert {check.name for check in simulator_checks()} >= {"Assertion", "LeaderCompleteness", "DurableBeforeSend"}


# `mutants --tool checks` repeats the other runs each night.
@pytest.mark.parametrize(
    "detected",
    [
        pytest.param(entry, id=f"{entry.layer}-{entry.check}-{entry.mutant}")
        for entry in LISTED.detected
        if entry.layer == STARTS_NO_JVM or entry.check == "RoleChange"
    ],
)
def test_a_recorded_run_still_violates_its_property(detected: Detected) -> None:
    assert problem_of(detected) == ""


def test_a_run_that_shows_something_else_is_reported() -> None:
    entry = next(entry for entry in LISTED.detected if (entry.layer, entry.check) == ("simulator", "Assertion"))
    assert problem_of(msgspec.structs.replace(entry, check="HwMonotonic")).endswith(
        "violates Assertion, not HwMonotonic"
    )
    beside = msgspec.structs.replace(entry, beside=("TypeOk",))
    assert problem_of(beside).endswith("violates Assertion, not Assertion beside TypeOk")
    calm = msgspec.structs.replace(entry.run, workload="calm", steps=20)
    assert "violates nothing" in problem_of(msgspec.structs.replace(entry, run=calm))


def test_every_field_that_a_line_has_is_declared() -> None:
    declared = set(declared_fields(EVENT))
    simulation = RunPlan(3, steps=200, workload="chaos").simulation()
    for occurrence in simulation.run():
        document = document_of(event_line(occurrence))
        for place in fields_there(document, EVENT):
            composed = isinstance(_value(document, place.path), dict | list)
            assert composed or place.field in declared, place


def _value(document: object, path: tuple[str | int, ...]) -> object:
    value = document
    for step in path:
        value = value[step]  # type: ignore[index]  # the path is one of this document
    return value


def test_other_values_are_other_and_near() -> None:
    kinds = {field.encode_name: field.type for field in EVENT.fields}  # type: ignore[attr-defined]  # it is a structure
    assert list(other_values(plain(kinds["sequence"]), 5, False)) == [6, 4, 999]
    assert next(other_values(plain(kinds["event"]), "Poll", False)) != "Poll"


def test_another_run_replaces_one_that_no_longer_detects_the_mutant() -> None:
    entry = next(entry for entry in LISTED.detected if (entry.layer, entry.check) == ("simulator", "Assertion"))
    calm = msgspec.structs.replace(entry.run, workload="calm", steps=20)
    run = another_run(msgspec.structs.replace(entry, run=calm), seeds=3)
    assert run is not None
    assert problem_of(msgspec.structs.replace(entry, run=run)) == ""
