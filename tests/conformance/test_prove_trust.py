"""`kraft-spec prove mutants`, `simulate`, `premises` and `refinement`, as a user sees them."""

import json
from typing import Any

import pytest
from msgspec.structs import replace
from tests.conformance.commands import Captured

from kraft_conformance.cli import main
from kraft_conformance.exit_codes import ExitCode
from kraft_spec.proofs.induction import interpreter, mutants
from kraft_spec.proofs.induction.changes import changed
from kraft_spec.proofs.induction.theory import theory

pytestmark = pytest.mark.usefixtures("elsewhere")


def answer(capsys: Captured, *words: str) -> tuple[int, Any]:
    """Exit code and JSON document of `kraft-spec prove`."""
    capsys.readouterr()
    code = main(["prove", *words, "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_a_mutant_is_shown_with_what_gives_it_away(capsys: Captured) -> None:
    code, document = answer(capsys, "mutants", "change-before-own-epoch-commits")
    assert code == ExitCode.CONFORMANT
    assert document == [
        {
            "mutant": "change-before-own-epoch-commits",
            "sentence": "A leader writes a VotersRecord when the last one is committed, by whichever leader.",
            "rules": ["voters.epoch-committed-before-change"],
            "not_proved": "append/one-voter-change-at-a-time/watermark-is-in-the-log",
            "expected_not_proved": "append/one-voter-change-at-a-time/watermark-is-in-the-log",
            "breaks": "append/one-voter-change-at-a-time",
            "expected_breaks": "append/one-voter-change-at-a-time",
            "step": "append(leader=2, entry=0{1,2,3,4} 1 2{2,3,4})",
            "steps": 24,
            "rejected": True,
        }
    ]


def test_a_mutant_that_is_rejected_elsewhere_is_a_violation(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    known = mutants.mutant("change-before-own-epoch-commits")
    monkeypatch.setattr(mutants, "MUTANTS", (replace(known, name="renamed", fails="vote/log-matching"),))
    assert main(["prove", "mutants", "renamed"]) == ExitCode.VIOLATION
    shown = capsys.readouterr()
    assert "0 of 1 mutants rejected where they should be" in shown.out
    expected = (
        "renamed: append/one-voter-change-at-a-time/watermark-is-in-the-log is not proved, expected vote/log-matching"
    )
    assert expected in " ".join(shown.err.split())


def test_runs_in_which_things_happen_and_nothing_breaks_are_conformant(capsys: Captured) -> None:
    code, document = answer(capsys, "simulate", "--states", "2000", "--seed", "4")
    assert (code, document["states"], document["broken"], document["never_happened"]) == (0, 2000, None, [])
    assert min(document["elections"], document["commits"], document["voter_changes"], *document["steps"].values()) > 0


def test_runs_in_which_too_little_happens_are_a_violation(capsys: Captured) -> None:
    assert main(["prove", "simulate", "--states", "3"]) == ExitCode.VIOLATION
    assert "never happened: " in capsys.readouterr().err


def test_a_broken_invariant_is_a_violation_with_its_run(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = interpreter.Interpreter(changed(theory(), ["without become-leader/majority-voted"]))
    monkeypatch.setattr(interpreter, "Interpreter", lambda about: broken)
    assert main(["prove", "simulate", "--states", "2000"]) == ExitCode.VIOLATION
    shown = capsys.readouterr().out
    assert "BROKEN: leader-has-majority" in " ".join(shown.split())
    assert "become-leader(candidate=" in shown.splitlines()[-1]


def test_the_premises_are_possible(capsys: Captured) -> None:
    code, document = answer(capsys, "premises")
    assert (code, document["without_a_world"], document["untrue_in_its_world"], document["refuted"]) == (0, [], {}, [])
    assert document["worlds"].keys() == {action.name for action in theory().actions}
    assert document["asked"] > 400


def test_runs_are_explained_and_counted(capsys: Captured) -> None:
    words = ("refinement", "--workload", "elections", "--seeds", "2:3", "--invariants-every", "50")
    code, document = answer(capsys, *words)
    assert (code, document["runs"], document["unexplained"]) == (ExitCode.CONFORMANT, 1, None)
    assert document["events"]["elections"] > 300
    assert document["steps"]["become-leader"] > 0
    assert document["states_evaluated"] > 5
    code, document = answer(capsys, *words, "--switch-off", "hw.own-epoch")
    assert code == ExitCode.VIOLATION
    assert "--switch-off hw.own-epoch\nevent 287 HandleFetchRequest at replica 2" in document["unexplained"]


BEYOND_THE_PROOF = (
    "kraft-spec scenario disk-loss --variant static-ids-without-pre-vote",
    "kraft-spec scenario disk-loss --variant static-ids-leader-crashes",
    "kraft-spec scenario disk-loss --variant vote-for-the-id",
    "kraft-spec scenario disk-loss --variant level-1-without-directory-ids",
    "kraft-spec scenario disk-loss --variant wrong-disk",
    "kraft-spec scenario s2b-lists-differ --variant wrong",
    "kraft-spec scenario own-vote-before-known-leader --variant wrong",
)
"""A disk that is replaced under its own key, other voters at each replica, and Kafka's restart as Candidate."""


def test_each_schedule_of_the_scenarios_is_explained_but_those_that_the_proof_excludes(capsys: Captured) -> None:
    code, document = answer(capsys, "refinement", "--scenario", "all", "--invariants-every", "400")
    assert code == ExitCode.VIOLATION
    lines = document["unexplained"].splitlines()
    assert tuple(line for line in lines if line.startswith("kraft-spec")) == BEYOND_THE_PROOF
    assert document["runs"] > 100
    assert "majority-voted forbids become-leader" in document["unexplained"]
