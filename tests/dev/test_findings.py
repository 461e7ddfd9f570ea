"""The findings: each is reproduced as recorded."""

import json
import re
from dataclasses import replace

import pytest

from kraft_cli.cli import main
from kraft_conformance.exit_codes import ExitCode
from kraft_dev import findings as recording
from kraft_dev.findings import counterexample_of
from kraft_kafka.findings.finding import (
    Finding,
    FindingError,
    find_finding,
    findings_folder,
    load_findings,
    read_findings,
)
from kraft_kafka.findings.recognising import findings_in
from kraft_kafka.findings.showing import counterexample_file, verdict_on
from kraft_mutants.playing import play
from kraft_reference.events import Event, event_name
from kraft_simulation.failure import Failure
from kraft_simulation.plan import RunPlan
from kraft_simulation.scenarios.director import Director
from kraft_traces.check.verdict import RejectionKind, VerdictKind

FINDINGS = load_findings()
by_name = pytest.mark.parametrize("finding", FINDINGS, ids=lambda finding: finding.name)

TABLE = """
[[finding]]
name = "a"
title = "t"
where = "w"
rules = ["{rule}"]
says = ""
shows = ""
resolution = ""
schedule = "{schedule}"
violates = "{violates}"
counterexample = {counterexample}
who = ""
likelihood = ""
workaround = ""
release = ""
{decision}
"""
GOOD = {
    "rule": "vote.log-check",
    "decision": "",
    "schedule": "observer-that-refuses/refusal-lasts",
    "violates": "EventualLeader",
    "counterexample": '{ check = "liveness-refusal-lasts", property = "EventualLeader" }',
}


@by_name
def test_tlc_takes_its_schedule_up_to_the_violation(finding: Finding) -> None:
    scenario, variant = finding.variant()
    verdict = verdict_on(finding)
    liveness = {"EventualLeader", "NoPingPong", "EventuallyFetching", "CommitProgress", "ZombieBounded"}
    if finding.violates in liveness | {"", "NoNeedlessElection"}:
        assert verdict.kind is VerdictKind.ACCEPTED, scenario.name
    else:
        assert verdict.rejection is not None
        assert verdict.rejection.kind is RejectionKind.PROPERTY
        assert set(verdict.rejection.properties) & set(variant.violates)


def test_tlcs_counterexample_under_kafka_is_the_end_of_the_schedule_that_releases_are_run_by() -> None:
    """The schedule swaps replicas 1 and 2 of the model check, and crashes after a Fetch rather than within it."""
    finding = find_finding("own-vote-before-known-leader")
    steps = re.findall(r"(\w+) \(replica (\d)", counterexample_file(finding).read_text(encoding="utf-8"))
    played = play(*finding.variant()).occurrences
    events = [
        (event_name(occurrence.event), occurrence.replica_id)
        for occurrence in played
        if isinstance(occurrence.event, Event)
    ]
    crash = events.index(("Crash", 1))
    assert ("Restart", 1) in events[crash:]
    for in_slice, in_schedule in (("1", 2), ("2", 1)):
        wanted = [action for action, replica in steps if replica == in_slice]
        done = [action for action, replica in (*events[:crash], ("Restart", 1)) if replica == in_schedule]
        assert wanted == done[-len(wanted) :]


def test_nothing_is_recorded_that_is_no_finding() -> None:
    expected = {counterexample_file(finding).name for finding in FINDINGS}
    assert {file.name for file in findings_folder().iterdir()} == expected


def test_the_list_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["findings", "--json"]) == ExitCode.CONFORMANT
    listed = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in listed] == [finding.name for finding in FINDINGS]


def test_an_unknown_finding_is_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["findings", "nothing"]) == ExitCode.USAGE
    assert "no finding 'nothing'; there are observer-refuses-for-ever" in capsys.readouterr().err


def test_two_findings_of_one_name_are_refused() -> None:
    with pytest.raises(FindingError, match="two findings are called a"):
        read_findings((TABLE.format_map(GOOD) * 2).encode())


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("counterexample", "problem"),
    [
        ('{ check = "smoke", property = "EventualLeader" }', "TLC finds nothing violated, expected EventualLeader"),
        (
            '{ check = "liveness-observer-ahead", property = "EventualLeader" }',
            "TLC finds EventuallyFetching violated, expected EventualLeader",
        ),
    ],
)
def test_a_missing_or_different_counterexample_is_a_problem(counterexample: str, problem: str) -> None:
    (finding,) = read_findings(TABLE.format_map({**GOOD, "counterexample": counterexample}).encode())
    assert counterexample_of(finding)[1] == problem


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"rule": "no.rule"}, "finding a names 'no.rule', which is no rule"),
        ({"schedule": "nothing/x"}, "finding a: no scenario 'nothing'"),
        ({"schedule": "ping-pong/x"}, "finding a: scenario ping-pong has no variant 'x'"),
        ({"violates": "HwMonotonic"}, "refusal-lasts violates EventualLeader, not HwMonotonic"),
        ({"counterexample": '{ check = "nothing", property = "x" }'}, "finding a: no model check 'nothing'"),
        ({"counterexample": '{ mutant = "nothing", property = "x" }'}, "finding a: no mutant 'nothing'"),
        ({"counterexample": '{ property = "x" }'}, "finding a: counterexample: expected check or mutant"),
        (
            {"counterexample": '{ check = "smoke", mutant = "x", property = "x" }'},
            "finding a: counterexample: expected check or mutant",
        ),
        (
            {"decision": 'decision = { name = "observer_refusal", answer = "lasts", safe = "never" }'},
            "finding a: 'never' is no answer to observer_refusal; it has expires, lasts, timer-unused",
        ),
        (
            {"decision": 'decision = { name = "name", answer = "kip", safe = "kip" }'},
            "finding a: 'kip' is no answer to name; it has no answers, because it is no decision",
        ),
        ({"counterexample": '"x"'}, "findings.toml: Expected `object`, got `str` - at `$.finding[0].counterexample`"),
    ],
)
def test_a_wrong_table_is_refused_with_its_fault(changed: dict[str, str], words: str) -> None:
    with pytest.raises(FindingError) as raised:
        read_findings(TABLE.format_map({**GOOD, **changed}).encode())
    assert words in str(raised.value)


# -------------------------------------------------------------------------------------------------------------
# Failing runs.
# -------------------------------------------------------------------------------------------------------------


def failure_of(plan: RunPlan) -> Failure:
    """Return the failing run without shrinking: its moves until the faults end."""
    simulation = plan.simulation(keeps_schedule=True)
    occurrences = tuple(simulation.run())
    assert simulation.violation is not None
    moves = tuple(move for move in simulation.schedule if move.sequence <= plan.steps or move.lasts)
    return Failure(plan, simulation.violation, len(moves), moves, occurrences, simulation.violation)


KNOWN = RunPlan(seed=1402, replicas=3, steps=300, workload="auto-join", profile="kafka-4.1")


def test_a_failing_run_is_recognised_by_the_answer_that_it_comes_from() -> None:
    (finding,) = findings_in(failure_of(KNOWN))
    assert finding.name == "observer-refuses-for-ever"


def test_a_run_that_fails_with_any_answer_is_no_instance() -> None:
    failure = failure_of(KNOWN)
    # With this mutant the new voter also refuses the vote, regardless of its Pre-Vote.
    broken = replace(failure.plan, mutants=("vote.membership-not-checked",))
    assert findings_in(replace(failure, plan=broken)) == ()


def test_another_property_or_another_answer_is_no_instance() -> None:
    failure = failure_of(KNOWN)
    other = replace(failure.violation, property_name="ElectionSafety")
    assert findings_in(replace(failure, violation=other)) == ()
    assert findings_in(replace(failure, plan=replace(KNOWN, profile="kip"))) == ()


def test_a_restart_ends_the_refusal_of_the_observer() -> None:
    _, variant = find_finding("observer-refuses-for-ever").variant()
    director = Director("observer-refuses-for-ever", variant.configuration)
    variant.script(director)
    director.crash(3)
    director.restart(3)
    director.election_timeout(2)
    director.fetch_timeout(2)
    director.pre_vote(2, 3, "granted")
    director.vote(2, 3, "granted")
    director.roles("stopped", "L(5)", "U(5,voted=2)")


def test_an_unexpected_counterexample_is_not_recorded(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first = FINDINGS[0]
    recorded = counterexample_file(first).read_text(encoding="utf-8")
    monkeypatch.setattr(recording, "load_findings", lambda: (first,))
    monkeypatch.setattr(recording, "counterexample_of", lambda _: ("nonsense", "TLC finds nothing violated"))
    assert recording.record_all() == ExitCode.VIOLATION
    assert capsys.readouterr().err == f"{first.name}: TLC finds nothing violated\n"
    assert counterexample_file(first).read_text(encoding="utf-8") == recorded
