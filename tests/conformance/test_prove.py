"""`kraft-spec prove transition` and `prove plan`, as a user sees them."""

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import z3
from tests.conformance.commands import Captured, document, prove

from kraft_conformance.exit_codes import ExitCode
from kraft_dev.proofs_cross_check import expected_answer

pytestmark = pytest.mark.usefixtures("elsewhere")


def answer(capsys: Captured, *words: str) -> tuple[int, dict[str, Any]]:
    """Exit code and JSON document of `kraft-spec prove`."""
    return document(capsys, "prove", *words)


def test_a_disk_replaced_in_one_step_is_unsafe_though_the_ids_are_the_same(capsys: Captured) -> None:
    words = ("transition", "--from", "1-A,2-B,3-C", "--to", "1-A,2-B,3@D")
    code, results = answer(capsys, *words)
    assert code == ExitCode.VIOLATION
    assert results["majorities"] == {
        "answer": "counterexample",
        "old_quorum": ["1-A", "3-C"],
        "new_quorum": ["2-B", "3-D"],
        "rechecked": True,
    }
    assert answer(capsys, "transition", "--from", "1,2,3", "--to", "1,2,3")[0] == ExitCode.CONFORMANT


def test_a_proof_as_json(capsys: Captured) -> None:
    code, results = answer(capsys, "transition", "--from", "2,1", "--to", "3,1,2")
    assert code == ExitCode.CONFORMANT
    assert (results["old"], results["new"], results["passes"]) == (["1", "2"], ["1", "2", "3"], True)
    assert results["majorities"]["answer"] == "proved"
    assert results["majorities"]["rechecked"] is True
    assert [fact["fact"] for fact in results["majorities"]["core"]][-1] == "disjoint"
    assert {part["times"] for part in results["majorities"]["certificate"]} == {"1"}
    assert results["protocol"]["allowed"] is True
    assert results["protocol"]["change"] == "adds 3"


def test_a_plan_of_ones_own_is_refused_with_reasons(capsys: Captured) -> None:
    words = ("plan", "--from", "1,2,3", "--via", "1,2,4", "--to", "1,2,4,5")
    code, results = answer(capsys, *words)
    assert (code, results["passes"], len(results["reasons"])) == (ExitCode.VIOLATION, False, 2)
    allowed = ("plan", "--from", "1,2", "--via", "1,2,3", "--via", "2,3", "--to", "2,3,4", "--leader", "1")
    assert prove(*allowed) == ExitCode.CONFORMANT
    assert "step 2 removes the leader 1" in capsys.readouterr().out
    assert prove("plan", "--from", "1,2", "--to", "2,1") == ExitCode.CONFORMANT
    assert "0 VotersRecords: nothing is to be done" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("plan", "code"),
    [
        ("1,2,3 -> 1-A,2,3 -> 1-A,2-B,3 -> 1-A,2-B,3,4-D", 0),
        ("1,2,3 -> 1-A,2,3 -> 1-A,2-B,3 -> 1-A,2-B,3,4-D -> 1-A,2-B,4-D", 0),
        ("1,2,3 -> 1-A,2-B,3-C", 0),
        ("1,2 -> 1-A,2-B", 0),
        ("1 -> 1-A", 0),
        ("1,2 -> 1-A,2-B -> 1-A,2-B,3-C", 0),
        ("1,2-B -> 1-A,2-B", 0),
        # A directory id that is known cannot be dropped.
        ("1-A,2-B,3-C -> 1,2,3", 1),
        ("1-A,2 -> 1-A,2-B -> 1,2-B", 1),
        ("1,2-B -> 1-A,2-B -> 1-A,2", 1),
        ("1-A,2-B -> 1-A,2-B,3-C -> 1-A,3-C -> 1,3-C", 1),
    ],
)
def test_directory_ids_are_filled_in_first_by_the_upgrade_or_one_by_one(plan: str, code: int, capsys: Captured) -> None:
    sets = plan.split(" -> ")
    found_code, results = answer(capsys, "plan", "--from", sets[0], "--to", sets[-1])
    assert (found_code, [",".join(each) for each in results["sets"]]) == (code, sets)
    assert [(step["old"], step["new"]) for step in results["steps"]] == list(pairwise(results["sets"]))
    if len(sets) == 2:
        assert answer(capsys, "transition", "--from", sets[0], "--to", sets[1]) == (code, results["steps"][0])


def test_a_replaced_disk_costs_one_voter_and_the_bounds_stay_those_of_kip_642(capsys: Captured) -> None:
    words = ("plan", "--from", "1-A,2-B", "--to", "1-A,2-C")
    assert prove(*words) == ExitCode.CONFORMANT
    expected = "size:     1 to 2 voters, one below KIP-642's bounds of 2 to 3, because 2 changes its disk\n"
    assert expected in capsys.readouterr().out
    _, results = answer(capsys, *words)
    measured = [results[name] for name in ("sizes", "bounds", "is_bounded", "disks_below_bounds")]
    assert measured == [[1, 2], [2, 3], False, [2]]


def test_voters_come_from_files(tmp_path: Path, capsys: Captured) -> None:
    Path("old.txt").write_text("# the racks\n1-A\n\n2@B   # second\n3-C\n")
    Path("new.json").write_text('[{"id": 1, "directory_id": "A"}, "2-B", {"id":3,"directory_id":"C"}, "4-D"]\n')
    code, results = answer(capsys, "transition", "--from", "@old.txt", "--to", f"@{tmp_path / 'new.json'}")
    assert code == ExitCode.CONFORMANT
    assert (results["old"], results["new"]) == (["1-A", "2-B", "3-C"], ["1-A", "2-B", "3-C", "4-D"])
    Path("ids.json").write_text(' [3, {"id":1,"directory_id":null}, "2"]')
    assert answer(capsys, "transition", "--from", "@ids.json", "--to", "1,2,3")[1]["old"] == ["1", "2", "3"]


def test_thousands_of_voters(capsys: Captured) -> None:
    Path("old.txt").write_text("".join(f"{number}\n" for number in range(5_000)))
    Path("new.txt").write_text("".join(f"{number}\n" for number in range(1, 5_002)))
    assert prove("transition", "--from", "@old.txt", "--to", "@new.txt") == ExitCode.VIOLATION
    displayed = capsys.readouterr().out
    assert "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 4988 more -> 1, 2," in displayed
    assert "2501 of 5001" in displayed


@pytest.mark.parametrize(
    ("leader", "message"),
    [("9", "--leader: 9 is none of the voters 1, 2"), ("1,2", "--leader: 1, 2, expected one voter"), ("x", "--leader")],
)
def test_a_wrong_leader(leader: str, message: str, capsys: Captured) -> None:
    assert prove("plan", "--from", "1,2", "--to", "1", "--leader", leader) == ExitCode.USAGE
    assert message in capsys.readouterr().err


def test_the_questions_are_exported_for_another_solver() -> None:
    assert prove("plan", "--from", "1,2,3", "--to", "4,5,6", "--smt2", "deep/plan") == ExitCode.CONFORMANT
    files = sorted(Path("deep/plan").iterdir())
    assert [file.name for file in files] == [f"step-{number}.smt2" for number in range(1, 7)]
    assert prove("transition", "--from", "1,2,3", "--to", "1,2,4", "--smt2", "deep") == ExitCode.VIOLATION
    for file, expected in [*((file, "unsat") for file in files), (Path("deep/transition.smt2"), "sat")]:
        solver = z3.Solver()
        solver.from_file(str(file))
        assert str(solver.check()) == expected_answer(file, file.read_text()) == expected


def test_the_output_does_not_depend_on_the_order_of_hashes() -> None:
    words = ["prove", "plan", "--from", "1-A,2-B,3-C,7-G", "--to", "3-Z,9-A,8-B,1-A", "--json"]
    code = f"from kraft_cli.cli import main; main({words!r})"
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, env=os.environ | {"PYTHONHASHSEED": seed}, check=True
        ).stdout
        for seed in ("0", "1")
    }
    assert len(outputs) == 1
