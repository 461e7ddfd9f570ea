"""Parts of the pipeline that need no session of Spark."""

import zipfile
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from kraft_pipeline import session as sessions
from kraft_pipeline.coverage import everything
from kraft_pipeline.failures import MasterUnreachableError, OutputError
from kraft_pipeline.observed import FAULTS
from kraft_pipeline.schemas import FILES
from kraft_pipeline.shipping import archive_of_packages
from kraft_pipeline.store import Workspace
from kraft_pipeline.units import files_of_unit, open_unit, planned_units, unit_file, write_plan
from kraft_spec.action_rules import EVENT_OPERATORS
from kraft_traces.vocabulary import EVENTS


@pytest.mark.parametrize(
    ("master", "expected"),
    [
        ("local", "local[1,8]"),
        ("local[2]", "local[2,8]"),
        ("local[*]", "local[*,8]"),
        ("local[2,1]", "local[2,1]"),
        ("spark://a:7077", "spark://a:7077"),
    ],
)
def test_a_local_master_tries_again_as_a_cluster_does(master: str, expected: str) -> None:
    assert sessions._with_retries(master) == expected


def test_a_master_s_address_is_read() -> None:
    with pytest.raises(MasterUnreachableError, match="expected spark://HOST:PORT, got 'host'"):
        sessions._check_reachable("spark://host")
    with pytest.raises(MasterUnreachableError) as raised:
        sessions._check_reachable("spark://127.0.0.1:1,127.0.0.1:2")
    assert "127.0.0.1:1: " in str(raised.value)
    assert "127.0.0.1:2: " in str(raised.value)
    sessions._check_reachable("local[2]")


def test_the_words_of_an_error_are_those_of_the_worker() -> None:
    trace = 'Job aborted\n  File "x.py", line 1\nRuntimeError: the workers import another reference\n\tat java.lang'
    assert sessions._first_words(Exception(trace)) == "RuntimeError: the workers import another reference"
    assert sessions._first_words(Exception("Job aborted\nCaused by: java.io.IOException: full\nx")) == (
        "Caused by: java.io.IOException: full"
    )


def test_the_archive_holds_the_packages_and_the_same_bytes_each_time(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    first, second = (archive_of_packages(tmp_path / name) for name in ("one", "two"))
    assert first.read_bytes() == second.read_bytes()
    with zipfile.ZipFile(first) as archive:
        names = archive.namelist()
    for name in ("kraft_spec/tla/Trace.tla", "kraft_pipeline/checking.py", "kraft_reference/replica.py"):
        assert name in names
    assert not [name for name in names if "__pycache__" in name]


def test_neighbours_share_a_unit_and_the_heaviest_come_first(tmp_path: Path) -> None:
    plan = tmp_path / "plan.parquet"
    files = [{"name": name, "bytes": size} for name, size in zip("abcdefg", (2, 2, 9, 1, 0, 1, 4), strict=True)]
    write_plan(plan, files, 4, 1)
    units = ["".join(file["name"] for file in files_of_unit(plan, unit)) for unit in range(planned_units(plan))]
    assert units == ["c", "ab", "g", "def"]
    write_plan(plan, files, 100, 3)
    assert planned_units(plan) >= 3
    write_plan(plan, [], 4, 1)
    assert planned_units(plan) == 0


def test_the_rows_of_a_unit_are_there_whole_or_not_at_all(tmp_path: Path) -> None:
    row = {"source": "a.jsonl", "bytes": 1, "lines": 1, "traces": 1}
    with pytest.raises(ZeroDivisionError), open_unit(tmp_path, 3, (FILES,)) as write:
        write(FILES, row | {"bytes": 1 // 0})
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
    for _ in range(2):
        with open_unit(tmp_path, 3, (FILES,)) as write:
            write(FILES, row)
    assert pq.read_table(unit_file(tmp_path, FILES, 3)).to_pylist() == [row]


def test_everything_that_can_be_covered_has_a_name() -> None:
    named = everything()
    assert set(named["action"]) == set(EVENTS) == set(EVENT_OPERATORS)
    assert set(FAULTS) <= set(EVENTS)
    faults = {name for name, shape in EVENTS.items() if shape.cause and shape.cause.source in ("fault", "network")}
    assert faults - {"HealLink"} == set(FAULTS)
    assert all(names for names in named.values())


def test_a_manifest_of_another_format_is_refused(tmp_path: Path) -> None:
    output = tmp_path / "out"
    output.mkdir()
    (output / "pipeline.json").write_text('{"format": "kraft-pipeline/9"}')
    with pytest.raises(OutputError, match="has format 'kraft-pipeline/9', expected 'kraft-pipeline/1'"):
        Workspace.finished(output)
    (output / "pipeline.json").write_text("no JSON")
    with pytest.raises(OutputError, match="cannot be read"):
        Workspace.finished(output)


def test_a_finished_run_cannot_be_resumed_and_an_empty_folder_may_be_filled(tmp_path: Path) -> None:
    output = tmp_path / "out"
    output.mkdir()
    parameters: dict[str, Any] = {"input": ["a"]}
    workspace = Workspace.begin(output, parameters, resume=False)
    workspace.finish()
    assert Workspace.finished(output).facts()["parameters"] == parameters
    with pytest.raises(OutputError, match="is finished: there is nothing to resume"):
        Workspace.begin(output, parameters, resume=True)
