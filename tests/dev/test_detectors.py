"""No check and no field is there for nothing; and one that were would be reported."""

from collections import Counter
from dataclasses import replace

import msgspec
import pytest

from kraft_dev.detectors.checks import LAYERS, Check, all_checks, model_checks, simulator_checks
from kraft_dev.detectors.evidence import Aside, Blind, Detected, load_evidence, problem_of
from kraft_dev.detectors.fields import lies_of_traces, wanted_fields
from kraft_dev.detectors.lies import Lie
from kraft_dev.detectors.observability import mutant_rows, mutants_section
from kraft_dev.detectors.places import EVENT, declared_fields, document_of, fields_there, other_values, plain
from kraft_dev.detectors.table import DetectorRow, Fields, check_rows, field_rows, markdown
from kraft_dev.grading.table import load_table
from kraft_dev.mutation.killers import load_killers
from kraft_dev.results import Measured
from kraft_reference.cluster.plan import RunPlan
from kraft_spec.mutants import load_catalogue
from kraft_traces.encode import event_line

EVIDENCE = load_evidence()
CATALOGUE = load_catalogue()

SAMPLE = ("NoPingPong", "DurableBeforeSend", "Assertion")
"""Simulator properties whose recorded runs every push repeats."""
LINE_SAMPLE = ("RoleChange",)
"""The same for the properties of trace lines: each starts a JVM."""


@pytest.fixture(scope="module")
def lies() -> dict[str, Lie]:
    return lies_of_traces()


def problems(rows: tuple[DetectorRow, ...]) -> list[str]:
    return [f"{row.check.layer} {row.check.name}: {row.problem}" for row in rows if row.problem]


def test_every_check_detects_a_mutant_or_a_switched_off_rule() -> None:
    assert problems(check_rows(all_checks(), CATALOGUE, EVIDENCE)) == []


def test_a_check_without_a_mutant_is_reported() -> None:
    for layer in LAYERS:
        unproven = Check(layer, "NothingEverHappens", "invariant")
        assert problems(check_rows((*all_checks(), unproven), CATALOGUE, EVIDENCE)) == [
            f"{layer} NothingEverHappens: no mutant and no switched-off rule that it detects"
        ]


def test_evidence_for_no_check_and_of_no_mutant_is_reported() -> None:
    wrong = msgspec.structs.replace(
        EVIDENCE,
        detected=(*EVIDENCE.detected, msgspec.structs.replace(EVIDENCE.detected[0], mutant="nobody")),
        aside=(*EVIDENCE.aside, Aside("model", "NoSuchInvariant", "because")),
    )
    found = problems(check_rows(all_checks(), CATALOGUE, wrong))
    assert len(found) == 2
    assert all("does not exist" in problem for problem in found)


def test_without_its_mutants_a_property_detects_nothing() -> None:
    fewer = msgspec.structs.replace(
        CATALOGUE, mutants=tuple(one for one in CATALOGUE.mutants if one.name != "leader-without-quorum-campaigns")
    )
    assert "model RoleChange: no mutant and no switched-off rule that it detects" in problems(
        check_rows(all_checks(), fewer, EVIDENCE)
    )


def test_the_checks_are_those_of_the_sources() -> None:
    by_layer = Counter(check.layer for check in all_checks())
    assert all(by_layer[layer] >= 14 for layer in LAYERS)
    kinds = {check.name: check.kind for check in model_checks()}
    assert kinds["TypeOk"] == "invariant"
    assert kinds["HwMonotonic"] == "action property"
    assert {check.name for check in simulator_checks()} >= {"Assertion", "LeaderCompleteness", "DurableBeforeSend"}


def _sample() -> list[Detected]:
    in_ci = {("simulator", name) for name in SAMPLE} | {("trace line", name) for name in LINE_SAMPLE}
    return [one for one in EVIDENCE.detected if (one.layer, one.check) in in_ci]


def _id(detected: Detected) -> str:
    return f"{detected.layer}-{detected.check}-{detected.mutant}"


@pytest.mark.parametrize("detected", _sample(), ids=_id)
def test_a_recorded_run_shows_what_it_is_recorded_for(detected: Detected) -> None:
    assert problem_of(detected) == ""


@pytest.mark.nightly
@pytest.mark.parametrize("detected", EVIDENCE.detected, ids=_id)
def test_every_recorded_run_shows_what_it_is_recorded_for(detected: Detected) -> None:
    assert problem_of(detected) == ""


def test_a_run_that_shows_something_else_is_reported() -> None:
    one = next(one for one in EVIDENCE.detected if (one.layer, one.check) == ("simulator", "Assertion"))
    assert problem_of(msgspec.structs.replace(one, check="HwMonotonic")).endswith("violates Assertion, not HwMonotonic")
    beside = msgspec.structs.replace(one, beside=("TypeOk",))
    assert problem_of(beside).endswith("violates Assertion, not Assertion beside TypeOk")
    calm = msgspec.structs.replace(one.run, workload="calm", steps=20)
    assert "violates nothing" in problem_of(msgspec.structs.replace(one, run=calm))


@pytest.mark.nightly
def test_no_field_lies_unseen(lies: dict[str, Lie]) -> None:
    rows = field_rows(wanted_fields(), lies, EVIDENCE.blind)
    assert [f"{row.field}: {row.problem}" for row in rows if row.problem] == []


@pytest.mark.nightly
def test_what_sees_a_lie_says_where(lies: dict[str, Lie]) -> None:
    assert all(lie.names and all(lie.names) for lie in lies.values() if lie.seen_by)
    direct = sum(lie.direct for lie in lies.values())
    assert direct > len(lies) * 3 // 4


@pytest.mark.nightly
def test_a_field_that_no_run_has_or_nobody_sees_is_reported(lies: dict[str, Lie]) -> None:
    wanted = (*wanted_fields(), "state.mood")
    (row,) = (row for row in field_rows(wanted, lies, EVIDENCE.blind) if row.problem)
    assert (row.field, row.problem) == ("state.mood", "no run has it, so that it cannot lie")
    unseen = {**lies, "state.epoch": replace(lies["state.epoch"], seen_by="", names=())}
    (row,) = (row for row in field_rows(wanted_fields(), unseen, EVIDENCE.blind) if row.problem)
    assert (row.field, row.problem) == ("state.epoch", "nobody sees that it lies")


@pytest.mark.nightly
def test_a_reason_for_a_field_that_is_seen_is_stale(lies: dict[str, Lie]) -> None:
    stale = (*EVIDENCE.blind, Blind("state.epoch", "nobody looks"), Blind("state.mood", "nobody looks"))
    found = {row.field: row.problem for row in field_rows(wanted_fields(), lies, stale) if row.problem}
    assert found == {
        "state.epoch": "is listed as blind, and its first lie is seen",
        "state.mood": "is listed as blind, and is no field",
    }


@pytest.mark.nightly
def test_a_blind_field_is_really_not_seen(lies: dict[str, Lie]) -> None:
    for blind in EVIDENCE.blind:
        assert not lies[blind.field].seen_by or lies[blind.field].unseen, blind


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


def test_more_than_unit_tests_see_every_mutant() -> None:
    rows = mutant_rows(CATALOGUE, load_table(), load_killers())
    assert {row.mutant for row in rows if row.rules} == {mutant.name for mutant in CATALOGUE.mutants}
    assert [f"{row.mutant}: {row.problem}" for row in rows if row.problem] == []
    assert all(row.level or row.by or row.reason for row in rows)


def test_a_mutant_that_only_unit_tests_see_is_reported() -> None:
    graded = load_table()
    first, second, third, *rest = graded.seeded
    unseen = [
        msgspec.structs.replace(one, wire=None, effects=None, state=None, history=None, random=None)
        for one in (first, third)
    ]
    fewer = msgspec.structs.replace(graded, seeded=(*unseen, *rest))
    rows = mutant_rows(CATALOGUE, fewer, {third.mutant: "edges"})
    assert {row.mutant: row.problem for row in rows if row.problem} == {
        first.mutant: "nobody sees it, but for unit tests"
    }
    by = {row.mutant: row.by for row in rows}
    assert (by[second.mutant], by[third.mutant]) == ("not graded yet", "the tool edges")
    assert any("| nobody sees it, but for unit tests |" in line for line in mutants_section(rows))


@pytest.mark.nightly
def test_the_page_names_every_check_and_field(lies: dict[str, Lie]) -> None:
    checks = check_rows(all_checks(), CATALOGUE, EVIDENCE)
    fields = field_rows(wanted_fields(), lies, EVIDENCE.blind)
    text = markdown(checks, mutant_rows(CATALOGUE, load_table(), load_killers()), Fields(Measured("", ""), fields))
    assert all(f"| {row.check.name} |" in text for row in checks)
    assert all(f"| `{field}` |" in text for field in wanted_fields())
