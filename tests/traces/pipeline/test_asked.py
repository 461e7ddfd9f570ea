"""`kraft-spec pipeline sql` and `compare`: what the tables of a run answer, and what is worse than the night before."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.traces.pipeline.corpus import good, rejected

from kraft_conformance.cli import main
from kraft_conformance.exit_codes import ExitCode

Captured = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def nights(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """One of two accepted traces, and one in which the second is rejected."""
    from kraft_traces.pipeline import runs

    made = []
    for name, second in (("before", good(1, steps=300, workload="elections")), ("now", rejected())):
        folder = tmp_path_factory.mktemp(name)
        (folder / "1.jsonl").write_bytes(good())
        (folder / "2.jsonl").write_bytes(second)
        runs.run_in(spark, [str(folder / "*.jsonl")], folder / "out")
        made.append(folder / "out")
    return made[0], made[1]


def ask(capsys: Captured, *words: object) -> tuple[int, str, str]:
    code = main(["pipeline", *map(str, words)])
    shown = capsys.readouterr()
    return code, shown.out, shown.err


@pytest.mark.usefixtures("shared")
def test_a_question_is_answered_as_json_and_as_a_table(nights: tuple[Path, Path], capsys: Captured) -> None:
    question = "SELECT verdict, count(*) AS traces FROM verdicts GROUP BY verdict ORDER BY verdict"
    code, out, _ = ask(capsys, "sql", question, "--output", nights[1], "--json")
    assert code == ExitCode.CONFORMANT
    assert json.loads(out) == [{"verdict": "accepted", "traces": 1}, {"verdict": "rejected", "traces": 1}]
    _, out, _ = ask(capsys, "sql", question, "--output", nights[1], "--limit", 1)
    assert "1 rows, and more" in out
    assert "accepted" in out
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("SELECT nothing FROM verdicts", "nothing"),
        ("SELECT * FROM no_such_table", "no_such_table"),
        ("SELEKT 1", "SELEKT"),
        ("INSERT INTO verdicts SELECT * FROM verdicts", "expected a SELECT"),
        ("DROP VIEW verdicts", "expected a SELECT"),
        ("CREATE TABLE copy AS SELECT * FROM verdicts", "expected a SELECT"),
    ],
)
def test_what_is_no_question_is_refused_and_changes_nothing(
    nights: tuple[Path, Path], capsys: Captured, question: str, said: str
) -> None:
    before = {path: path.stat().st_mtime_ns for path in nights[0].rglob("*")}
    code, out, err = ask(capsys, "sql", question, "--output", nights[0])
    assert (code, out) == (ExitCode.USAGE, "")
    assert said in err
    assert "at org.apache" not in err
    assert {path: path.stat().st_mtime_ns for path in nights[0].rglob("*")} == before


def test_a_new_failure_and_lost_coverage_are_worse(nights: tuple[Path, Path], capsys: Captured) -> None:
    code, out, _ = ask(capsys, "compare", *nights)
    assert code == ExitCode.VIOLATION
    assert "new failure: " in out
    assert "not seen any more: " in out
    assert out.endswith("worse\n")
    code, out, _ = ask(capsys, "compare", nights[1], nights[1])
    assert code == ExitCode.CONFORMANT
    assert out.endswith("nothing is worse\n")
    code, out, _ = ask(capsys, "compare", nights[1], nights[0], "--json")
    found = json.loads(out)
    assert (code, found["worse"], found["new_failures"]) == (ExitCode.CONFORMANT, False, [])
    assert len(found["gone_failures"]) == 1


def test_what_is_no_run_cannot_be_compared(tmp_path: Path, nights: tuple[Path, Path], capsys: Captured) -> None:
    code, _, err = ask(capsys, "compare", nights[0], tmp_path)
    assert code == ExitCode.NO_INPUT
    assert f"{tmp_path}/report/report.json cannot be read" in err
