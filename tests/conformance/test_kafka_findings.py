"""`kraft-spec kafka finding`, `--fix` and `--mutant`: findings on a release of Kafka, their fixes, and its mutants."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.conformance.commands import VERSION, Captured, assert_said, document, lines, newest_by_day, output
from tests.conformance.test_kafka_schedules import play

from kraft_conformance.adapters.reference import ReferenceAdapter
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.random_runs.seats import InProcess
from kraft_conformance.random_runs.table import Table
from kraft_dev.kafka_bugs import NAMED, VECTORS, markdown
from kraft_dev.results import SCHEMA, Cell, Measured, Result, Row
from kraft_kafka.adapter import command_line
from kraft_kafka.findings.finding import Finding, find_finding, load_findings
from kraft_kafka.jars import Kafka, KafkaUnavailableError
from kraft_kafka.patching.patches import fixes, mutants, patched, patches
from kraft_kafka.releases import releases
from kraft_kafka.showing import Ending, ShownOnKafka, show_on_kafka
from kraft_mutants.replicas import mutated_replicas
from kraft_reference.configuration import Configuration
from kraft_reference.replica import Replica
from kraft_reference.state import ReplicaState
from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.membership.unread_voters import read_at_restart, two_commit
from kraft_spec.rules import PROPERTIES, load_registry

FIRST = "own-vote-before-known-leader"
UNREAD = "unread-voters"
FIX = "leader-before-own-vote"

# -------------------------------------------------------------------------------------------------------------
# With the reference in Kafka's place.
# -------------------------------------------------------------------------------------------------------------


def known_leader_first(state: ReplicaState, configuration: Configuration) -> Replica:
    profile = replace(configuration.profile, name="a", restart_precedence="known-leader")
    return Replica(state, replace(configuration, profile=profile))


def shown(make: type[Replica] | object = Replica, name: str = FIRST) -> ShownOnKafka:
    seat = InProcess(lambda: ReferenceAdapter("kafka-4", make))  # type: ignore[arg-type]
    with Table((seat,), 10) as table:
        return show_on_kafka(find_finding(name), table)


def test_software_that_has_the_finding_shows_it() -> None:
    result = shown()
    assert (result.ending, result.leaders, result.lost) == (Ending.SHOWN, {1: (1, 2)}, (5, 6))
    assert result.verdict is not None
    assert result.verdict.rejection is not None
    assert "ElectionSafety" in result.verdict.rejection.properties
    assert len(result.trace) == 57 + 2, "the header, the lines up to the restart, and the end"


def test_software_with_the_leader_first_is_safe() -> None:
    result = shown(known_leader_first)
    assert (result.ending, result.leaders, result.lost) == (Ending.SAFE, {}, ())
    assert result.verdict is not None
    assert result.verdict.rejection is None


def test_software_that_leaves_the_rule_out_shows_what_the_schedule_says_of_it() -> None:
    result = shown(mutated_replicas(find_finding(UNREAD).variant()[1].mutants), UNREAD)
    assert (result.ending, result.leaders, result.lost) == (Ending.SHOWN, {3: (1, 4)}, (5, 6))
    assert "ElectionSafety" in result.violated
    assert shown(name=UNREAD).ending is Ending.SAFE


def test_software_that_does_neither_deviates_from_the_schedule() -> None:
    def never_fetched(state: ReplicaState, configuration: Configuration) -> Replica:
        profile = replace(configuration.profile, name="a", end_quorum_fetched_flag="cleared")
        return Replica(state, replace(configuration, profile=profile))

    result = shown(never_fetched, "hand-over-refused")
    assert (result.ending, result.verdict) == (Ending.DEVIATION, None)
    assert "hand-over-blocked/fetched-flag-kept, step" in result.deviation


# -------------------------------------------------------------------------------------------------------------
# The commands and the tables.
# -------------------------------------------------------------------------------------------------------------


def test_the_patches_are_the_fixes_of_findings_and_ten_mutants_at_least(capsys: Captured) -> None:
    assert [*fixes()] == [finding.fix for finding in load_findings() if finding.fix]
    assert len(mutants()) >= 10
    registry = load_registry()
    assert [rule for mutant in mutants().values() for rule in mutant.rules if rule not in registry] == []
    code, listed = document(capsys, "kafka", "mutants")
    assert (code, [row["name"] for row in listed]) == (ExitCode.CONFORMANT, [*patches()])


def test_wrong_names_are_refused(capsys: Captured) -> None:
    assert_said(capsys, ExitCode.USAGE, "no fix 'x'; there are leader-", "kafka", "run", "--fix", "x")
    assert_said(capsys, ExitCode.USAGE, "no mutant 'x'; there are votes-", "kafka", "run", "--mutant", "x")
    assert_said(capsys, ExitCode.USAGE, "no finding 'x'; there are observer-", "kafka", "finding", "x")
    text = "one of software without prevote.response.correlate"
    assert_said(capsys, ExitCode.NOTHING_JUDGED, text, "kafka", "finding", "late-grant-counted")


def test_the_page_counts_what_was_named() -> None:
    rows = (
        Row(
            "a",
            ("x.a", "x.b"),
            "does a",
            (
                Cell(VECTORS, True, where="v.1", amount=3, names=("x.c", "x.a")),
                Cell(NAMED, True, where="v.1", amount=2),
            ),
        ),
        Row(
            "b",
            ("x.b",),
            "does b",
            (Cell(VECTORS, True, where="v.2", amount=1, names=("x.c",)), Cell(NAMED)),
        ),
        Row("c", ("x.c",), "does c", (Cell(VECTORS), Cell(NAMED))),
    )
    page = markdown(
        Result(schema=SCHEMA, name="kafka-bugs", command="x", how="7 vectors", measured=Measured("a", "b"), rows=rows)
    )
    assert "2 of 3 mutants make vectors fail" in page
    assert "rules of some failure for 1 of them, and among those of the first failure for 1, so read" in page
    assert "| b | does b | x.b | 1 | none | v.2: x.c |" in page


# -------------------------------------------------------------------------------------------------------------
# Kafka.
# -------------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("kafka")
@pytest.mark.parametrize(
    ("finding", "leaders", "said_by_tlc"),
    [
        (
            FIRST,
            "replicas 1 and 2 have led epoch 1",
            "event 57 (Restart at replica 1): the step violates ElectionSafety",
        ),
        (
            UNREAD,
            "replicas 1 and 4 have led epoch 3",
            "event 85 (HandleFetchResponse at replica 1): the step violates ConfigFollowsLog",
        ),
    ],
)
def test_two_leaders_of_one_epoch_on_a_release(
    capsys: Captured, tmp_path: Path, finding: str, leaders: str, said_by_tlc: str
) -> None:
    trace = tmp_path / "found.jsonl"
    code, text = output(capsys, "kafka", "finding", finding, "--version", VERSION, "-o", str(trace))
    assert code == ExitCode.VIOLATION, text
    assert leaders in text
    assert said_by_tlc in text
    assert "the state in the end: it violates ElectionSafety" in text
    code, text = output(capsys, "validate", str(trace), "--prefixes", str(tmp_path))
    assert (code, said_by_tlc in text) == (ExitCode.VIOLATION, True), text
    assert PROPERTIES[said_by_tlc.split()[-1]].description in " ".join(text.split())


@pytest.mark.usefixtures("kafka")
@pytest.mark.parametrize("version", newest_by_day(releases()))
def test_every_release_keeps_a_set_that_outlives_its_record(capsys: Captured, version: str) -> None:
    code, text = output(capsys, "kafka", "finding", "outlived-voters-record", "--version", version)
    assert code == ExitCode.VIOLATION, text
    assert "\nlost: " in text


@pytest.mark.usefixtures("kafka")
def test_a_release_without_pre_vote_keeps_no_vote_beside_a_leader(capsys: Captured) -> None:
    code, text = output(capsys, "kafka", "finding", FIRST, "--version", "3.9.2")
    assert (code, "lines accepted" in text) == (ExitCode.CONFORMANT, True), text


@pytest.mark.usefixtures("kafka")
@pytest.mark.parametrize(
    "finding",
    [
        pytest.param(finding, id=finding.name, marks=[] if finding.name == UNREAD else pytest.mark.nightly)
        for finding in load_findings()
        if finding.fix
    ],
)
def test_the_fix_makes_it_safe(capsys: Captured, finding: Finding) -> None:
    code, text = output(capsys, "kafka", "finding", finding.name, "--version", VERSION, "--fix", finding.fix)
    assert (code, "lines accepted" in text) == (ExitCode.CONFORMANT, True), text


def told_of_the_other(d: Director) -> None:
    two_commit(d)
    d.step("N2 hears of e3: told to cut off what it has committed, its process ends")
    for replica_id in (1, 3):
        d.heal(replica_id, 2, 4, 5)
    d.request_timeout(1, 2)
    d.begin_quorum_epoch_timeout(1)
    d.begin_quorum_epoch(1, 2)
    d.fetch(2, 1)
    d.roles("L(3)", "stopped", "F(3,1)", "F(2,2)")


@pytest.mark.parametrize("script", [read_at_restart, told_of_the_other])
def test_what_else_becomes_of_unread_voters(kafka: Kafka, script: Callable[[Director], None]) -> None:
    _, variant = find_finding(UNREAD).variant()
    play(command_line(kafka, "state"), variant.configuration, script, mutated_replicas(variant.mutants))


@pytest.mark.usefixtures("kafka")
@pytest.mark.parametrize(("patch", "code"), [((), ExitCode.VIOLATION), (("--fix", FIX), ExitCode.CONFORMANT)])
def test_the_vector_of_the_fix(capsys: Captured, patch: tuple[str, ...], code: ExitCode) -> None:
    words = ("kafka", "run", "--version", VERSION, "-k", "restart.own-vote", "--profile", "kip", *patch)
    assert lines(capsys, *words)[0] == code


@pytest.mark.usefixtures("kafka")
@pytest.mark.parametrize(
    ("bug", "vector"),
    [
        ("votes-twice", "vote.once-per-epoch"),
        pytest.param("two-changes-at-once", "change.busy", marks=pytest.mark.nightly),
    ],
)
def test_a_mutant_is_seen_and_its_rule_named(capsys: Captured, bug: str, vector: str) -> None:
    words = ("kafka", "run", "--version", VERSION, "-k", vector)
    assert lines(capsys, *words)[0] == ExitCode.CONFORMANT
    code, results = lines(capsys, *words, "--mutant", bug)
    assert code == ExitCode.VIOLATION
    failed = next(result for result in results if result.get("status") == "fail")
    assert patches()[bug].rules[0] in failed["rules"][:3]


def test_a_patch_that_does_not_fit_is_named(kafka: Kafka) -> None:
    nowhere = replace(patches()[FIX], method="nothing")
    with pytest.raises(KafkaUnavailableError, match=rf"{FIX} does not fit QuorumState\.nothing of Kafka {VERSION}: "):
        patched(kafka, nowhere)
