"""A run beside an earlier one: what that has judged is not checked again, and what is worse than there is said."""

import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.conformance.commands import Captured
from tests.traces.pipeline.corpus import BROKEN, good, rejected
from tests.traces.pipeline.tables import rows_of

from kraft_conformance.cli import main
from kraft_conformance.exit_codes import ExitCode
from kraft_traces.pipeline import runs
from kraft_traces.pipeline.earlier import Earlier
from kraft_traces.pipeline.report.page import page
from kraft_traces.pipeline.schemas import VERDICTS

MARK = 77
"""In the verdicts of the earlier run, where a check would never put it."""


@pytest.fixture(scope="module")
def earlier(whole_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output of an earlier run that found other things."""
    output = tmp_path_factory.mktemp("earlier") / "out"
    shutil.copytree(whole_run, output)
    for file in (output / "verdicts").glob("*.parquet"):
        table = pq.read_table(file)
        column = table.schema.get_field_index("candidates_max")
        marked = pa.array([MARK] * len(table), pa.int32())
        pq.write_table(table.set_column(column, table.schema.field(column), marked), file)
    figures = output / "report" / "report.json"
    figures.write_text(json.dumps(json.loads(figures.read_bytes()) | {"failures": []}))
    return output


def test_only_what_is_new_is_checked(
    shared: Any, whole_run: Path, earlier: Path, tmp_path: Path, capsys: Captured
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    # A trace that stands elsewhere now, one that is twice there, one that is new, and one that is broken.
    (folder / "moved.jsonl").write_bytes(good(0, 40, "chaos") + rejected())
    (folder / "twice.jsonl").write_bytes(good(0, 40, "chaos"))
    (folder / "new.jsonl").write_bytes(good(9))
    (folder / "broken.jsonl").write_bytes(BROKEN["MALFORMED_JSON"]())
    output = tmp_path / "out"
    words = ("run", "-i", folder, "-o", output, "--since", earlier, "--compare", earlier)
    assert main(["pipeline", *map(str, words)]) == ExitCode.VIOLATION
    said = capsys.readouterr().out

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
    found = rows["moved.jsonl", "rejected"]
    assert found["line"] == before["line"] + good(0, 40, "chaos").count(b"\n")
    elsewhere = ("trace_id", "source", "line", "taken_over", "candidates_max")
    assert {name: found[name] for name in VERDICTS.names if name not in elsewhere} == {
        name: before[name] for name in VERDICTS.names if name not in elsewhere
    }

    assert f"3 verdicts are those of {earlier}" in said
    assert "new failure in 1 traces:" in said
    assert "transitions not seen any more:" in said
    assert "validate: " in said
    document = json.loads((output / "report" / "report.json").read_bytes())
    lost = document["regressions"]["coverage"]["transition"]
    assert lost
    assert set(lost) <= set(document["coverage"]["kinds"]["transition"]["never"])
    (checked,) = [one["events"] for one in document["throughput"] if one["stage"] == "validate"]
    assert checked == good(9).count(b"\n") - 2
    shown = page(document)
    assert all(name.replace(">", "&gt;") in shown for name in lost)


def test_of_another_model_nothing_is_taken_over(whole_run: Path) -> None:
    now = runs.Checking().as_dict()
    assert Earlier.of(whole_run, now).differs == ()
    assert Earlier.of(whole_run, now | {"spec_hash": "another", "every": 7}).differs == ("every", "spec_hash")
