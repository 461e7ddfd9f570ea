"""`kraft-spec prove mutants`, `premises`, `refinement` and `actions`, as a user sees them."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.conformance.commands import Captured, document, prove

from kraft_conformance.exit_codes import ExitCode
from kraft_proofs.induction import mutants
from kraft_proofs.induction.theory import theory

pytestmark = pytest.mark.usefixtures("elsewhere")


def test_a_mutant_is_shown_with_what_gives_it_away(capsys: Captured) -> None:
    code, result = document(capsys, "prove", "mutants", "change-before-own-epoch-commits")
    assert code == ExitCode.CONFORMANT
    assert result == [
        {
            "mutant": "change-before-own-epoch-commits",
            "sentence": "A leader writes a VotersRecord when the last one is committed, by whichever leader.",
            "rules": ["voters.epoch-committed-before-change"],
            "not_proved": "append/one-voter-change-at-a-time",
            "expected_not_proved": "append/one-voter-change-at-a-time",
            "breaks": "append/one-voter-change-at-a-time",
            "expected_breaks": "append/one-voter-change-at-a-time",
            "step": "append(leader=2, entry=0{1,2,3,4} 1 2{2,3,4})",
            "steps": 24,
            "rejected": True,
        }
    ]


def test_a_mutant_that_is_rejected_elsewhere_is_a_violation(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    known_differences = mutants.mutant("change-before-own-epoch-commits")
    monkeypatch.setattr(mutants, "MUTANTS", (replace(known_differences, name="renamed", fails="vote/log-matching"),))
    assert prove("mutants", "renamed") == ExitCode.VIOLATION
    displayed = capsys.readouterr()
    assert "0 of 1 mutants rejected where they should be" in displayed.out
    expected = "renamed: append/one-voter-change-at-a-time is not proved, expected vote/log-matching"
    assert expected in " ".join(displayed.err.split())


def test_the_premises_are_possible(capsys: Captured) -> None:
    code, results = document(capsys, "prove", "premises")
    assert (code, results["without_a_world"], results["untrue_in_its_world"], results["refuted"]) == (0, [], {}, [])
    assert results["worlds"].keys() == {action.name for action in theory().actions}
    assert results["asked"] > 400


def test_runs_are_explained_and_counted(capsys: Captured) -> None:
    words = ("refinement", "--workload", "elections", "--seeds", "2:3", "--invariants-every", "50")
    code, results = document(capsys, "prove", *words)
    assert (code, results["runs"], results["unexplained"]) == (ExitCode.CONFORMANT, 1, None)
    assert results["events"]["elections"] > 300
    assert results["steps"]["become-leader"] > 0
    assert results["states_evaluated"] > 5
    code, results = document(capsys, "prove", *words, "--mutant", "hw.own-epoch")
    assert code == ExitCode.VIOLATION
    assert "--mutant hw.own-epoch\nevent 287 HandleFetchRequest at replica 2" in results["unexplained"]


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


@pytest.mark.parametrize(
    ("scenarios", "runs_min", "states_min"),
    [
        (("disk-loss", "own-vote-before-known-leader"), 5, 5),
        pytest.param(("all",), 100, 500, marks=pytest.mark.nightly),
    ],
    ids=str,
)
def test_each_schedule_of_the_scenarios_is_explained_but_those_that_the_proof_excludes(
    capsys: Captured, scenarios: tuple[str, ...], runs_min: int, states_min: int
) -> None:
    words = [word for name in scenarios for word in ("--scenario", name)]
    code, results = document(capsys, "prove", "refinement", *words, "--invariants-every", "20")
    assert code == ExitCode.VIOLATION
    lines = results["unexplained"].splitlines()
    beyond = tuple(line for line in BEYOND_THE_PROOF if "all" in scenarios or line.split()[2] in scenarios)
    assert tuple(line for line in lines if line.startswith("kraft-spec")) == beyond
    assert results["runs"] > runs_min
    assert results["states_evaluated"] > states_min
    assert "majority-voted forbids become-leader" in results["unexplained"]


def test_the_list_of_actions_says_what_is_proved_and_why_the_rest_is_not(capsys: Captured) -> None:
    code, listed = document(capsys, "prove", "actions", "--list")
    assert code == ExitCode.CONFORMANT
    assert "HandleVoteRequest" in listed["proved"]
    assert listed["executed"]["DropMessage"] == "no replica acts"


def test_what_is_proved_of_actions_is_written_for_another_solver(capsys: Captured) -> None:
    code, (remaining,) = document(capsys, "prove", "actions", "others", "--smt2", "asked")
    assert (code, remaining["not_proved"]) == (ExitCode.CONFORMANT, [])
    assert len(list(Path("asked").glob("*.smt2"))) == remaining["obligations"] == 16
