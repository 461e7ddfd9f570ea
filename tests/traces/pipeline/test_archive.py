"""A run beside earlier ones: what they have judged is not checked again, and nobody reads half a run."""

import json
import shutil
from hashlib import sha256
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.conformance.commands import Captured
from tests.traces.pipeline.corpus import BROKEN, good, rejected
from tests.traces.pipeline.tables import rows_of

from kraft_cli.cli import main
from kraft_conformance.exit_codes import ExitCode
from kraft_pipeline import runs
from kraft_pipeline.archive import Archive, Earlier
from kraft_pipeline.checking import Checking
from kraft_pipeline.failures import InputError, OutputError
from kraft_pipeline.known import Known
from kraft_pipeline.report.page import page
from kraft_pipeline.schemas import RUNS, TABLES, VERDICTS, TableSchema
from kraft_pipeline.session import SessionOptions
from kraft_pipeline.store import Workspace

MARK = 77
"""In the verdicts of the earlier run, where a check would never put it."""


@pytest.fixture
def archive(whole_run: Path, tmp_path: Path) -> Path:
    """An archive of one earlier run, `monday`, that found other things."""
    output = tmp_path / "monday"
    shutil.copytree(whole_run, output)
    for file in (output / "verdicts").glob("*.parquet"):
        table = pq.read_table(file)
        column = table.schema.get_field_index("candidates_max")
        marked = pa.array([MARK] * len(table), pa.int32())
        pq.write_table(table.set_column(column, table.schema.field(column), marked), file)
    document = json.loads((output / "report" / "report.json").read_bytes()) | {"failures": []}
    folder = tmp_path / "nights"
    Archive(folder).add(Workspace.finished(output), runs._row_of_run("monday", document, Checking()))
    return folder


def _asked(archive: Path, query: str, capsys: Captured) -> list[list[Any]]:
    capsys.readouterr()
    assert main(["pipeline", "sql", query, "--archive", str(archive), "--json"]) == ExitCode.CONFORMANT
    rows: list[list[Any]] = json.loads(capsys.readouterr().out)["rows"]
    return rows


def test_only_what_is_new_is_checked(
    shared: Any, whole_run: Path, archive: Path, tmp_path: Path, capsys: Captured
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    # A trace that stands elsewhere now, one that is twice there, one that is new, and one that is broken.
    (folder / "moved.jsonl").write_bytes(good(0, 40, "chaos") + rejected())
    (folder / "twice.jsonl").write_bytes(good(0, 40, "chaos"))
    (folder / "new.jsonl").write_bytes(good(9))
    (folder / "broken.jsonl").write_bytes(BROKEN["MALFORMED_JSON"]())
    output = tmp_path / "tuesday"
    words = ("run", "-i", folder, "-o", output, "--archive", archive)
    assert main(["pipeline", *map(str, words)]) == ExitCode.VIOLATION
    printed = capsys.readouterr().out

    account = json.loads((output / "pipeline.json").read_bytes())["account"]
    counted = {
        name: account[name] for name in ("traces_in", "accepted", "rejected", "traces_quarantined", "taken_over")
    }
    assert counted == {"traces_in": 5, "accepted": 3, "rejected": 1, "traces_quarantined": 1, "taken_over": 3}
    rows = {(Path(row["source"]).name, row["verdict"]): row for row in rows_of(output, VERDICTS)}
    assert {name: (row["taken_over"], row["candidates_max"] == MARK) for name, row in rows.items()} == {
        ("moved.jsonl", "accepted"): (True, True),
        ("moved.jsonl", "rejected"): (True, True),
        ("twice.jsonl", "accepted"): (True, True),
        ("new.jsonl", "accepted"): (False, False),
    }
    (before,) = [row for row in rows_of(whole_run, VERDICTS) if row["verdict"] == "rejected"]
    moved = rows["moved.jsonl", "rejected"]
    assert moved["line"] == before["line"] + good(0, 40, "chaos").count(b"\n")
    elsewhere = ("trace_id", "source", "line", "taken_over", "candidates_max")
    assert {name: moved[name] for name in VERDICTS.names if name not in elsewhere} == {
        name: before[name] for name in VERDICTS.names if name not in elsewhere
    }

    assert f"3 verdicts are those of earlier runs: 1 of the 1 runs in {archive}" in " ".join(printed.split())
    assert "against monday:" in printed
    assert "new failure in 1 traces:" in printed
    assert "transitions not seen any more:" in printed
    document = json.loads((output / "report" / "report.json").read_bytes())
    lost = document["regressions"]["coverage"]["transition"]
    assert lost
    assert set(lost) <= set(document["coverage"]["kinds"]["transition"]["never"])
    html = page(document)
    assert all(name.replace(">", "&gt;") in html for name in lost)

    query = "SELECT run, count(*), count_if(taken_over) FROM verdicts GROUP BY run ORDER BY run"
    assert _asked(archive, query, capsys) == [["monday", 10, 0], ["tuesday", 4, 3]]
    query = "SELECT run, accepted, rejected, quarantined FROM runs ORDER BY ended_ms"
    assert _asked(archive, query, capsys)[1] == ["tuesday", 3, 1, 1]
    for table in TABLES:
        files = Archive(archive).files(table, ["tuesday"])
        assert sum(pq.read_metadata(file).num_rows for file in files) == len(rows_of(output, table))


def test_nobody_reads_half_a_run_and_the_rest_is_appended_later(
    shared: Any, archive: Path, tmp_path: Path, capsys: Captured
) -> None:
    (tmp_path / "trace.jsonl").write_bytes(good(9))
    append = Archive._append

    def stops(self: Archive, table: TableSchema, *more: Any) -> None:
        if table is RUNS:
            raise KeyboardInterrupt
        append(self, table, *more)

    def run(output: Path, **options: Any) -> None:
        runs.run(SessionOptions(), [str(tmp_path / "trace.jsonl")], output, archive=archive, **options)

    with patch.object(Archive, "_append", stops), pytest.raises(KeyboardInterrupt):
        run(tmp_path / "tuesday")
    assert Archive(archive).files(VERDICTS, ["tuesday"])
    query = "SELECT DISTINCT run FROM verdicts ORDER BY run"
    assert _asked(archive, query, capsys) == [["monday"]]
    run(tmp_path / "tuesday", resume=True)
    assert _asked(archive, query, capsys) == [["monday"], ["tuesday"]]
    assert _asked(archive, "SELECT count(*) FROM verdicts WHERE run = 'tuesday'", capsys) == [[1]]
    with pytest.raises(OutputError, match="has a run monday already"):
        run(tmp_path / "other" / "monday")


def test_of_another_model_nothing_is_taken_over(archive: Path) -> None:
    now = Checking().as_dict()
    assert Earlier(Archive(archive), now).runs == ["monday"]
    for other in ({"spec_hash": "another"}, {"every": 7}, {"candidates_max": 7}):
        assert Earlier(Archive(archive), now | other).runs == []


def test_what_is_no_archive(tmp_path: Path) -> None:
    (tmp_path / "runs" / "_delta_log").mkdir(parents=True)
    (tmp_path / "runs" / "_delta_log" / f"{0:020}.json").write_text("no JSON")
    with pytest.raises(InputError, match="is not a readable archive"):
        Archive(tmp_path)
    with pytest.raises(OutputError, match="cannot name a run in an archive"):
        Archive(tmp_path / "none").check_name("to day", resume=False)


def test_bytes_that_were_judged_are_known_by_their_digest(spark: Any, archive: Path, tmp_path: Path) -> None:
    Earlier(Archive(archive), Checking().as_dict()).write_known(spark, tmp_path / "known")
    digests = Known(tmp_path / "known")
    assert sha256(rejected()).hexdigest() in digests
    assert sha256(b"something else").hexdigest() not in digests
    Earlier(Archive(tmp_path / "none"), Checking().as_dict()).write_known(spark, tmp_path / "nothing")
    assert sha256(rejected()).hexdigest() not in Known(tmp_path / "nothing")
