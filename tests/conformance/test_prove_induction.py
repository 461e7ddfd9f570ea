"""`kraft-spec prove induction`, as a user sees it."""

import json
from pathlib import Path

import pytest
from msgspec import to_builtins
from tests.conformance.commands import Captured

from kraft_cli.cli import main
from kraft_conformance.exit_codes import ExitCode
from kraft_dev.proofs_cross_check import expected_answer
from kraft_proofs.induction.obligations import obligations
from kraft_proofs.induction.theory import theory
from kraft_proofs.induction.trust import CHECKED, REVIEWED


def prove(*words: str) -> int:
    """The exit code of `kraft-spec prove induction`."""
    return main(["prove", "induction", *words])


def test_a_table_says_what_was_proved_of_each_action(capsys: Captured) -> None:
    assert prove() == ExitCode.CONFORMANT
    displayed = capsys.readouterr().out
    count = len(obligations())
    assert f"{count} of {count} obligations proved, for any number of replicas" in displayed
    assert "become-leader" in displayed
    assert "replace-disk" in displayed
    assert "NOT PROVED" not in displayed


def test_one_action_and_one_obligation(capsys: Captured) -> None:
    assert prove("crash", "vote/vote-once-per-epoch", "--json") == ExitCode.CONFORMANT
    results = json.loads(capsys.readouterr().out)
    assert {result["obligation"] for result in results} == {
        obligation.name
        for obligation in obligations()
        if obligation.part == "crash" or obligation.name == "vote/vote-once-per-epoch"
    }
    assert {result["proved"] for result in results} == {True}
    assert all(result["premises"] and result["milliseconds"] > 0 for result in results)


def test_what_is_not_proved_is_named(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    about = theory()
    careless = about.with_action(about.action("vote").without("no-other-vote"))
    monkeypatch.setattr("kraft_proofs.induction.theory.theory", lambda _=None: careless)
    assert prove("vote") == ExitCode.VIOLATION
    captured = capsys.readouterr()
    assert "NOT PROVED" in captured.out
    assert "not proved: vote/vote-once-per-epoch\n" in captured.err
    assert prove("vote/vote-once-per-epoch", "--json") == ExitCode.VIOLATION
    (results,) = json.loads(capsys.readouterr().out)
    assert (results["proved"], results["premises"]) == (False, None)


@pytest.mark.nightly
def test_under_kafka_what_its_restart_breaks_is_not_proved_and_all_else_is(capsys: Captured) -> None:
    assert prove("--profile", "kafka-4") == ExitCode.VIOLATION
    text = capsys.readouterr().err
    assert [line for line in text.splitlines() if line.startswith("not proved")] == [
        "not proved: stand-again/candidate-log-is-older",
        "not proved: stand-again/one-log-per-candidacy",
        "not proved: stand-again/vote-once-per-epoch",
        "not proved: stand-again/votes-respect-acknowledged",
    ]
    assert "kraft-spec scenario own-vote-before-known-leader shows two leaders of one epoch" in text
    assert prove("--profile", "kafka-4", "--where-safe") == ExitCode.CONFORMANT
    assert "NOT PROVED" not in capsys.readouterr().out
    assert prove("--where-safe") == ExitCode.USAGE
    assert "--where-safe is of a profile that restarts by its own vote; kip does not" in capsys.readouterr().err
    assert prove("--profile", "kafka-9") == ExitCode.USAGE
    assert "no profile 'kafka-9'; there are kip, kafka-4" in capsys.readouterr().err


def test_the_list_is_all_names_and_proves_nothing(capsys: Captured) -> None:
    assert prove("--list") == ExitCode.CONFORMANT
    assert capsys.readouterr().out.splitlines() == [obligation.name for obligation in obligations()]
    assert prove("--list", "safety", "--json") == ExitCode.CONFORMANT
    assert json.loads(capsys.readouterr().out) == ["safety/committed-in-one-order", "safety/state-machine-safety"]


def test_each_obligation_becomes_a_file(tmp_path: Path) -> None:
    assert prove("quorums", "crash/log-ends-written", "--smt2", str(tmp_path / "asked")) == ExitCode.CONFORMANT
    files = sorted((tmp_path / "asked").iterdir())
    assert [file.name for file in files] == [
        "crash--log-ends-written.smt2",
        "quorums--majorities-of-neighbours.smt2",
        "quorums--majorities-of-one-set.smt2",
    ]
    assert {expected_answer(file, file.read_text(encoding="utf-8")) for file in files} == {"unsat"}


def test_who_checks_what_is_printed(capsys: Captured) -> None:
    assert prove("--trust", "--json") == ExitCode.CONFORMANT
    assert json.loads(capsys.readouterr().out) == {
        "machine": [to_builtins(item) for item in CHECKED],
        "human": [to_builtins(item) for item in REVIEWED],
    }
    assert prove("--trust") == ExitCode.CONFORMANT
    displayed = capsys.readouterr().out
    assert "What the machine proves" in displayed
    assert all(item.name in displayed for item in REVIEWED)
