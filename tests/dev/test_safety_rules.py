"""`python -m kraft_dev mutants --tool evidence`: the table of safety rules, and TLC on its lines."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from kraft_cli.cli import main as shows
from kraft_conformance.exit_codes import ExitCode
from kraft_dev import results
from kraft_dev.cli import main
from kraft_dev.mutants import recorded
from kraft_dev.mutants.evidence import difference_from_recorded, verdict_counts
from kraft_dev.mutants.recorded import FOLDER, recorded_counterexample, recorded_text
from kraft_dev.mutants.searching import follow_schedule
from kraft_dev.mutants.tables import line_of
from kraft_dev.results import Cell
from kraft_mutants import Catalogue, Covered, Mutant, MutantError, Schedule, load_catalogue
from kraft_mutants.evidence import Row, rows, rows_about
from kraft_spec.rules import load_registry
from kraft_spec.rules.scope import load_scope

LISTED = rows(load_catalogue(), load_registry(), load_scope().outside)


def test_every_safety_rule_is_listed() -> None:
    outside = load_scope().outside
    safety = [rule.id for rule in load_registry() if rule.safety and rule.is_active and rule.id not in outside]
    assert list(dict.fromkeys(row.rule for row in LISTED)) == safety
    assert sum(verdict_counts(LISTED).values()) == len(safety)
    assert "NOT ACCOUNTED FOR" not in {row.reason for row in LISTED}


def test_a_rule_without_a_verdict_is_reported() -> None:
    empty = rows(Catalogue((), ()), load_registry(), load_scope().outside)
    assert {(row.verdict, row.reason) for row in empty} == {("not modelled", "NOT ACCOUNTED FOR")}


def test_a_rule_with_one_counterexample_carries_weight_however_else_it_is_broken() -> None:
    covered = Mutant("a", ("vote.log-check",), "x", evidence=Covered(("vote.voter-key",), "because", ("smoke",)))
    broken = Mutant("b", ("vote.log-check",), "x", evidence=Schedule("ElectionSafety"))
    both = (Row("vote.log-check", covered, "because"), Row("vote.log-check", broken, ""))
    assert verdict_counts(both) == {"alone": 1, "together": 0, "covered": 0, "not modelled": 0}
    assert verdict_counts(both[:1]) == {"alone": 0, "together": 0, "covered": 1, "not modelled": 0}


def test_a_rule_broken_only_with_others_has_the_verdict_together() -> None:
    mutant = Mutant("a", ("vote.log-check", "vote.voter-key"), "x", evidence=Schedule("ElectionSafety", scenario="s/v"))
    row = Row("vote.log-check", mutant, "")
    assert (row.verdict, row.how) == ("together", "with vote.voter-key: scenario s/v: ElectionSafety")


@pytest.mark.parametrize("query", ["add-voter", "add-voter.conditions-hold-at-append"])
def test_looking_up_add_voter_shows_the_bug_of_single_changes(query: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert shows(["rules", query]) == ExitCode.CONFORMANT
    output = " ".join(capsys.readouterr().out.split())
    assert "the bug of single-server changes together: with voters.epoch-committed-before-change: search of" in output
    assert "LeaderCompleteness" in output


def test_a_rule_lists_mutants_that_break_it_together_with_others() -> None:
    about = rows_about("vote.known-leader.rejects", load_catalogue())
    assert {row.verdict for row in about} == {"covered", "together"}
    assert "lost-vote-and-known-leader" in {row.mutant.name for row in about if row.mutant is not None}


def test_every_safety_rule_of_voter_changes_has_a_counterexample_or_a_reason() -> None:
    for rule in (
        "voters.epoch-committed-before-change",
        "voters.one-change-at-a-time",
        "hw.leader-excluded",
        "voters.truncation-reverts",
        "voters.at-most-one-difference",
        "voters.effective-on-append",
        "identity.replica-key",
        "bootstrap.sets-must-be-equal",
    ):
        assert "alone" in {row.verdict for row in LISTED if row.rule == rule}, rule


@pytest.mark.nightly
def test_one_rule_is_run_and_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(recorded, "FOLDER", tmp_path)
    assert main(["mutants", "vote.log-check", "--tool", "evidence", "--show", "--record"]) == ExitCode.CONFORMANT
    output = capsys.readouterr().out
    assert "ok   vote-without-log-check (vote.log-check): evidence: LeaderCompleteness after 14 states" in output
    assert "violated: LeaderCompleteness\n\n" in output
    written = (tmp_path / "vote-without-log-check.json").read_bytes()
    assert written == (FOLDER / "vote-without-log-check.json").read_bytes()


@pytest.mark.nightly
def test_tlc_follows_a_schedule_and_detects_a_wrong_statement() -> None:
    mutant = load_catalogue()["answers-are-not-matched-to-requests"]
    held = follow_schedule(mutant)
    assert held.problem == ""
    assert "ElectionSafety" in held.what
    with pytest.raises(MutantError, match="is not held to a schedule"):
        follow_schedule(load_catalogue()["vote-without-log-check"])


def test_a_counterexample_other_than_the_recorded_one_is_a_problem() -> None:
    mutant = load_catalogue()["vote-without-log-check"]
    before = recorded_counterexample(mutant.name)
    cell = Cell("evidence", True, "LeaderCompleteness", "replication", 14, counterexample=recorded_text(before))
    assert difference_from_recorded(mutant, cell) == ""
    other = replace(before, steps=(*before.steps[:-1], before.steps[0]))
    assert difference_from_recorded(mutant, replace(cell, counterexample=recorded_text(other))).startswith(
        "not the recorded"
    )
    scheduled = load_catalogue()["answers-are-not-matched-to-requests"]
    assert difference_from_recorded(scheduled, replace(cell, counterexample="")) == ""


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("sample", "--profile", "raft"), "no profile 'raft', expected one of kip, kafka-4, kafka-4.1, kafka-4.0"),
        (
            ("answers-are-not-matched-to-requests", "--profile", "kafka-4"),
            "none of evidence applies to answers-are-not-matched-to-requests where kafka-4 decides",
        ),
        (("sample", "--profile", "kafka-4", "--record"), "only kip can be recorded"),
        (("nothing",), "no mutant 'nothing'"),
    ],
)
def test_wrong_usage_is_reported(options: tuple[str, ...], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mutants", *options, "--tool", "evidence"]) == ExitCode.USAGE
    assert words in " ".join(capsys.readouterr().err.split())


def test_a_covered_rule_and_a_schedule_have_no_counterexample_of_their_own() -> None:
    schedule = Cell("evidence", True, "ElectionSafety", "late-pre-vote-grant/without-correlation", 45)
    held = results.Row("held", ("r",), cells=(schedule,))
    covered = results.Row("covered", ("r",), cells=(Cell("evidence", where="smoke"),))
    assert [line_of(held), line_of(covered)] == [
        "ok   held (r): evidence: ElectionSafety after 45 states in late-pre-vote-grant/without-correlation, 0 s",
        "ok   covered (r): evidence: no counterexample, as stated, in smoke, 0 s",
    ]
