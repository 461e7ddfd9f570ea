"""SQL on the tables of a run, as the command line answers it."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.commands import Captured
from tests.traces.pipeline.corpus import rejected

from kraft_cli.cli import main
from kraft_conformance import console
from kraft_conformance.exit_codes import ExitCode


def _files(output: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in output.rglob("*") if path.is_file()}


def test_rows_for_machines(shared: Any, whole_run: Path, capsys: Captured) -> None:
    query = "SELECT verdict, count(*) AS n FROM verdicts JOIN traces USING (trace_id) GROUP BY 1 ORDER BY 1"
    assert main(["pipeline", "sql", query, "--output", str(whole_run), "--json"]) == ExitCode.CONFORMANT
    answered = json.loads(capsys.readouterr().out)
    assert answered == {
        "columns": ["verdict", "n"],
        "rows": [["accepted", 8], ["inconclusive", 1], ["rejected", 1]],
        "whole": True,
    }


def test_bytes_lists_and_structs(shared: Any, whole_run: Path, capsys: Captured) -> None:
    query = "SELECT raw, differences, X'ff' FROM verdicts JOIN segments USING (trace_id) WHERE verdict = 'rejected'"
    assert main(["pipeline", "sql", query, "--output", str(whole_run), "--json"]) == ExitCode.CONFORMANT
    ((raw, differences, byte),) = json.loads(capsys.readouterr().out)["rows"]
    assert (raw.encode(), byte) == (rejected(), "\\xff")
    assert {"field", "expected", "actual"} == set(differences[0])


@pytest.mark.parametrize("query", ["SELECT * FROM traces", "SELECT source, verdict, events FROM verdicts"])
def test_a_narrow_screen(
    shared: Any, whole_run: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    monkeypatch.setattr(console.stdout, "width", 80)
    assert main(["pipeline", "sql", query, "-o", str(whole_run), "--rows", "1"]) == ExitCode.CONFORMANT
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[-1] == "the first 1 rows: --rows for more"


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELEC 1", "Syntax error at or near 'SELEC'"),
        ("", "Syntax error, unexpected empty statement"),
        ("SELECT epoc FROM events", "with name `epoc` cannot be resolved"),
        ("SELECT * FROM verdict", "The table or view `verdict` cannot be found"),
        ("DROP VIEW traces", "Syntax error at or near 'DROP'"),
        ("SET spark.sql.ansi.enabled=false", "Syntax error at or near 'SET'"),
        ("INSERT INTO traces SELECT * FROM traces", "Syntax error at or near 'INSERT'"),
        ("CREATE TABLE copied AS SELECT * FROM traces", "Syntax error at or near 'CREATE'"),
        ("SELECT 1 / (events - events) FROM traces", "Division by zero"),
    ],
)
def test_what_is_no_query_changes_nothing(
    shared: Any, whole_run: Path, capsys: Captured, query: str, message: str
) -> None:
    before = _files(whole_run)
    assert main(["pipeline", "sql", query, "--output", str(whole_run)]) == ExitCode.USAGE
    output = capsys.readouterr()
    assert (output.out, message in output.err, "== SQL ==" in output.err) == ("", True, False), output.err
    assert _files(whole_run) == before
