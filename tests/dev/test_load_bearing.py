"""`python -m kraft_dev load-bearing`: the table of safety rules, and TLC on its lines."""

import dataclasses
from pathlib import Path

import pytest
from msgspec.structs import replace

from kraft_cli.cli import main as shows
from kraft_conformance.exit_codes import ExitCode
from kraft_dev.cli import main
from kraft_dev.commands.load_bearing import shown
from kraft_dev.load_bearing.evidence import not_as_recorded, verdict_counts
from kraft_dev.load_bearing.recorded import recorded_bytes, recorded_counterexample
from kraft_dev.load_bearing.searching import Found, hold
from kraft_mutants import Catalogue, Covered, Mutant, MutantError, Schedule, load_catalogue
from kraft_mutants.load_bearing import Row, rows, rows_about
from kraft_spec.rules import load_registry
from kraft_spec.rules.scope import load_scope

LISTED = rows(load_catalogue(), load_registry(), load_scope().outside)


def test_every_safety_rule_stands_in_the_list_once_or_more() -> None:
    outside = load_scope().outside
    safety = [rule.id for rule in load_registry() if rule.safety and rule.is_active and rule.id not in outside]
    assert list(dict.fromkeys(row.rule for row in LISTED)) == safety
    assert sum(verdict_counts(LISTED).values()) == len(safety)
    assert "NOT ACCOUNTED FOR" not in {row.reason for row in LISTED}


def test_a_rule_that_nobody_accounts_for_is_said_to_be_so() -> None:
    empty = rows(Catalogue((), ()), load_registry(), load_scope().outside)
    assert {(row.verdict, row.reason) for row in empty} == {("not modelled", "NOT ACCOUNTED FOR")}


def test_a_rule_with_one_counterexample_carries_weight_however_else_it_is_broken() -> None:
    covered = Mutant("a", ("vote.log-check",), "x", evidence=Covered(("vote.voter-key",), "because", ("smoke",)))
    broken = Mutant("b", ("vote.log-check",), "x", evidence=Schedule("ElectionSafety"))
    both = (Row("vote.log-check", covered, "because"), Row("vote.log-check", broken, ""))
    assert verdict_counts(both) == {"load-bearing": 1, "together": 0, "covered": 0, "not modelled": 0}
    assert verdict_counts(both[:1]) == {"load-bearing": 0, "together": 0, "covered": 1, "not modelled": 0}


def test_a_rule_broken_only_with_others_is_said_to_be() -> None:
    mutant = Mutant("a", ("vote.log-check", "vote.voter-key"), "x", evidence=Schedule("ElectionSafety", scenario="s/v"))
    row = Row("vote.log-check", mutant, "")
    assert (row.verdict, row.how) == ("together", "with vote.voter-key: scenario s/v: ElectionSafety")


@pytest.mark.parametrize("asked", ["add-voter", "add-voter.conditions-hold-at-append"])
def test_who_looks_up_add_voter_is_told_of_the_bug_of_single_changes(
    asked: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert shows(["rules", asked]) == ExitCode.CONFORMANT
    shown = " ".join(capsys.readouterr().out.split())
    assert "the bug of single-server changes together: with voters.epoch-committed-before-change: search of" in shown
    assert "LeaderCompleteness" in shown


def test_a_rule_is_told_of_mutants_that_break_it_together_with_others() -> None:
    about = rows_about("vote.known-leader.rejects", load_catalogue())
    assert {row.verdict for row in about} == {"covered", "together"}
    assert "lost-vote-and-known-leader" in {row.mutant.name for row in about if row.mutant is not None}


def test_every_safety_rule_of_voter_changes_is_said_to_carry_weight_or_why_not() -> None:
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
        assert "load-bearing" in {row.verdict for row in LISTED if row.rule == rule}, rule


@pytest.mark.nightly
def test_one_rule_is_run_and_recorded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["load-bearing", "vote.log-check", "--show", "--record-counterexamples", str(tmp_path)]
    assert main(asked) == ExitCode.CONFORMANT
    said = capsys.readouterr().out
    assert "ok   without vote.log-check (vote-without-log-check): LeaderCompleteness" in said
    assert said.endswith("violated: LeaderCompleteness\n\n")
    written = (tmp_path / "vote-without-log-check.json").read_bytes()
    assert written == recorded_bytes(recorded_counterexample("vote-without-log-check"))


@pytest.mark.nightly
def test_tlc_is_held_to_a_schedule_and_a_wrong_statement_is_found() -> None:
    mutant = load_catalogue()["answers-are-not-matched-to-requests"]
    held = hold(mutant)
    assert held.problem == ""
    assert "ElectionSafety" in held.violated
    with pytest.raises(MutantError, match="is not held to a schedule"):
        hold(load_catalogue()["vote-without-log-check"])


def test_a_counterexample_other_than_the_recorded_one_is_a_problem() -> None:
    mutant = load_catalogue()["vote-without-log-check"]
    recorded = recorded_counterexample(mutant.name)
    found = Found(mutant.name, "LeaderCompleteness", 14, "replication", "", recorded)
    assert not_as_recorded(mutant, found) == ""
    other = replace(recorded, steps=(*recorded.steps[:-1], recorded.steps[0]))
    assert not_as_recorded(mutant, dataclasses.replace(found, counterexample=other)).startswith("not the recorded")
    scheduled = load_catalogue()["answers-are-not-matched-to-requests"]
    assert not_as_recorded(scheduled, dataclasses.replace(found, counterexample=None)) == ""


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (("sample", "--profile", "raft"), "no profile 'raft', expected one of kip, kafka-4, kafka-4.1, kafka-4.0"),
        (
            ("answers-are-not-matched-to-requests", "--profile", "kafka-4"),
            "is no rule or mutant with a search in which kafka-4 decides",
        ),
        (("sample", "--profile", "kafka-4", "--record-counterexamples", "."), "those of kip"),
        (("nothing",), "'nothing' is no rule or mutant with evidence"),
        (("--show",), "which counterexamples?"),
        (("--record-counterexamples", "."), "which counterexamples?"),
    ],
)
def test_wrong_use_is_said(asked: tuple[str, ...], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["load-bearing", *asked]) == ExitCode.USAGE
    assert words in " ".join(capsys.readouterr().err.split())


def test_a_folder_that_is_not_there_is_named_before_anything_runs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["load-bearing", "sample", "--record-counterexamples", "/nowhere"]) == ExitCode.CANNOT_WRITE
    assert "there is no folder /nowhere to write to" in capsys.readouterr().err


def test_a_counterexample_that_is_a_schedule_is_named() -> None:
    mutant = load_catalogue()["answers-are-not-matched-to-requests"]
    found = Found(mutant.name, "ElectionSafety", 45, "late-pre-vote-grant/without-correlation", "")
    assert shown(mutant, found) == (
        "the counterexample is the schedule late-pre-vote-grant/without-correlation, up to its line 45\n"
    )


def test_a_covered_rule_has_nothing_to_show() -> None:
    mutant = next(one for one in load_catalogue().mutants if isinstance(one.evidence, Covered))
    assert shown(mutant, Found(mutant.name, "", 0, "smoke", "")) == "no counterexample\n"
