"""Whole runs on Spark: the tables say what reading each trace by itself says, however the work is cut and stopped."""

import json
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow.parquet as pq
import pytest
from tests.traces.pipeline.corpus import BROKEN, good
from tests.traces.pipeline.tables import all_tables, rows_of

from kraft_pipeline import runs
from kraft_pipeline.accounting import account
from kraft_pipeline.checking import Checking
from kraft_pipeline.coverage import everything
from kraft_pipeline.failures import AccountingError, InputError, OutputError
from kraft_pipeline.ingest import INTAKE_TABLES
from kraft_pipeline.plans import Plans
from kraft_pipeline.schemas import (
    COVERAGE,
    EVENTS,
    FILES,
    QUARANTINE,
    TABLES,
    TRACES,
    VERDICTS,
    TableSchema,
)
from kraft_pipeline.session import SessionOptions
from kraft_pipeline.store import Workspace
from kraft_pipeline.units import run_units
from kraft_traces.check import check_reader
from kraft_traces.reader import trace_of_bytes

OPTIONS = SessionOptions("local[2]")
STOPS = ("verdicts", "coverage")


def test_verdicts_are_those_of_each_trace_by_itself(whole_run: Path, corpus: Path) -> None:
    by_source = {Path(row["source"]).name: row for row in rows_of(whole_run, VERDICTS)}
    for file in sorted(corpus.glob("*.jsonl")):
        if not file.read_bytes():
            continue
        verdict = check_reader(trace_of_bytes(file.read_bytes(), str(file)))
        row = by_source[file.name]
        assert (row["verdict"], row["events"], row["reason"], row["candidates_max"]) == (
            verdict.kind,
            verdict.events,
            verdict.reason,
            verdict.candidates_max,
        )
        rejection = verdict.rejection
        if rejection is None:
            assert (row["kind"], row["line"], row["rules"], row["differences"]) == (None, None, [], [])
            continue
        assert (row["kind"], row["line"], row["sequence"], row["event"], row["replica"], row["role"]) == (
            rejection.kind,
            rejection.line,
            rejection.sequence,
            rejection.event,
            rejection.replica,
            rejection.role,
        )
        assert row["rules"] == list(dict.fromkeys(rejection.explained_by + rejection.rules))
        assert row["differences"] == [
            {"field": difference.field, "expected": str(difference.expected), "actual": str(difference.actual)}
            for difference in rejection.differences
        ]


@pytest.mark.parametrize("table", [EVENTS, VERDICTS], ids=lambda path: path.name)
def test_a_row_that_is_gone_does_not_add_up(shared: Any, whole_run: Path, tmp_path: Path, table: TableSchema) -> None:
    output = tmp_path / "out"
    shutil.copytree(whole_run, output)
    account(shared, Workspace.finished(output))
    file = max((output / table.name).glob("*.parquet"), key=lambda path: path.stat().st_size)
    pq.write_table(pq.read_table(file).slice(1), file)
    with pytest.raises(AccountingError, match=r"does not add up: read \d+ lines and \d+ traces, but"):
        account(shared, Workspace.finished(output))


def test_the_account_counts_every_line_and_every_trace_once(whole_run: Path, corpus: Path) -> None:
    account = json.loads((whole_run / "pipeline.json").read_text())["account"]
    contents = [file.read_bytes() for file in corpus.rglob("*.jsonl")]
    contents.append(good(1) + good(2))
    lines = sum(content.count(b"\n") + (not content.endswith(b"\n") and content != b"") for content in contents)
    (cut,) = [row for row in rows_of(whole_run, FILES) if row["source"].endswith("cut.jsonl.gz")]
    broken = len(BROKEN)
    assert account == {
        "files": len(contents) + 1,
        "lines_in": lines + cut["lines"],
        "other_lines": account["other_lines"],
        "events": len(rows_of(whole_run, EVENTS)),
        "lines_quarantined": sum(row["lines"] for row in rows_of(whole_run, QUARANTINE)),
        # Two broken ones hold a good trace besides; the line beyond the default limit is too short for it.
        "traces_in": 6 + broken + 2 + 2 + 1 + 1,
        "accepted": 4 + 2 + 2,
        "rejected": 1,
        "inconclusive": 1,
        "traces_quarantined": broken + 1 + 1,
        "taken_over": 0,
    }
    assert account["other_lines"] == 2 * len(rows_of(whole_run, TRACES)) - 1


def test_no_trace_is_in_two_places_and_tables_have_their_columns(whole_run: Path) -> None:
    tables = all_tables(whole_run)
    assert set(tables) == {table.name for table in TABLES}
    for table in TABLES:
        assert all(tuple(row) == table.names for row in tables[table.name])
    checked = Counter(row["trace_id"] for row in tables["verdicts"])
    assert set(checked.values()) == {1}
    assert set(checked) == {row["trace_id"] for row in tables["traces"]}
    assert not set(checked) & {row["trace_id"] for row in tables["quarantine"]}


def test_coverage_counts_what_the_steps_of_the_model_show(whole_run: Path) -> None:
    steps = {row["trace_id"]: row["events"] for row in rows_of(whole_run, VERDICTS)}
    workload = {row["trace_id"]: row["workload"] for row in rows_of(whole_run, VERDICTS)}
    actions: Counter[tuple[str, str]] = Counter()
    transitions: Counter[tuple[str, str]] = Counter()
    for row in rows_of(whole_run, EVENTS):
        if row["sequence"] <= steps[row["trace_id"]]:
            actions[row["event"], workload[row["trace_id"]]] += 1
            if row["role_before"] != row["role_after"] and row["role_after"] is not None:
                transitions[f"{row['role_before']} -> {row['role_after']}", workload[row["trace_id"]]] += 1
    coverage = rows_of(whole_run, COVERAGE)
    counted = {
        kind: {(row["name"], row["workload"]): row["events"] for row in coverage if row["kind"] == kind}
        for kind in everything()
    }
    for kind, seen in (("action", actions), ("transition", transitions)):
        assert {key: events for key, events in counted[kind].items() if events} == dict(seen)
    for kind, names in everything().items():
        assert {name for name, _ in counted[kind]} == set(names)
    assert len(coverage) == sum(len(of_kind) for of_kind in counted.values())


@pytest.mark.nightly
def test_the_tables_do_not_depend_on_how_the_work_is_cut(
    shared: Any, whole_run: Path, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    units = {table.name: len(list((whole_run / table.name).iterdir())) for table in INTAKE_TABLES}
    assert set(units.values()) != {1}
    monkeypatch.setattr("kraft_pipeline.units.UNITS_PER_CORE", 0.5)
    runs.run(OPTIONS, [str(corpus)], tmp_path / "out")
    assert [len(list((tmp_path / "out" / table.name).iterdir())) for table in INTAKE_TABLES] == [1] * len(units)
    assert all_tables(tmp_path / "out") == all_tables(whole_run)


class _StoppedError(Exception):
    pass


@pytest.mark.parametrize("stage", ["ingest", *(pytest.param(name, marks=pytest.mark.nightly) for name in STOPS)])
def test_a_run_that_was_stopped_goes_on_and_ends_with_the_same_tables(
    shared: Any, whole_run: Path, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str
) -> None:
    made: list[tuple[str, int]] = []

    def runs_half(session: Any, name: str, units: Sequence[int], *more: Any) -> None:
        stops = stage == name and not resumed
        some = units[: len(units) // 2] if stops else units
        run_units(session, name, some, *more)
        made.extend((name, unit) for unit in some)
        if stops:
            raise _StoppedError

    def fails(self: Workspace, table: TableSchema, rows: Any) -> None:
        if stage == table.name and not resumed:
            raise _StoppedError
        write(self, table, rows)

    resumed, write, output = False, Workspace.write, tmp_path / "out"
    monkeypatch.setattr("kraft_pipeline.store.run_units", runs_half)
    monkeypatch.setattr(Workspace, "write", fails)
    with pytest.raises(_StoppedError):
        runs.run(OPTIONS, [str(corpus)], output)
    assert not output.exists()
    resumed = True
    with pytest.raises(OutputError, match="--resume"):
        runs.run(OPTIONS, [str(corpus)], output)
    runs.run(OPTIONS, [str(corpus)], output, resume=True)
    # Nothing that was there is made again.
    assert set(Counter(made).values()) == {1}
    assert all_tables(output) == all_tables(whole_run)
    assert not (tmp_path / "out.unfinished").exists()
    assert not list(output.rglob(".*"))


@contextmanager
def stopped_at(method: str) -> Iterator[None]:
    """Stop a run where it calls this method of its workspace."""
    with patch.object(Workspace, method, side_effect=_StoppedError), pytest.raises(_StoppedError):
        yield


def test_a_run_is_taken_up_with_the_same_input_and_options_only(shared: Any, tmp_path: Path) -> None:
    output = tmp_path / "out"
    copy = tmp_path / "trace.jsonl"
    copy.write_bytes(good())
    with stopped_at("finish_tables"):
        runs.run(OPTIONS, [str(copy)], output)
    with pytest.raises(OutputError, match="begun with every 500, not 7"):
        runs.run(OPTIONS, [str(copy)], output, resume=True, checking=Checking(every=7))
    copy.write_bytes(good(1))
    with pytest.raises(InputError, match="has changed"):
        runs.run(OPTIONS, [str(copy)], output, resume=True)


def test_an_unfinished_run_of_another_command_is_not_taken_up(shared: Any, tmp_path: Path) -> None:
    output = tmp_path / "out"
    with stopped_at("finish_tables"):
        runs.sweep(OPTIONS, Plans(0, 1, ("calm",), steps=20), output)
    (tmp_path / "trace.jsonl").write_bytes(good())
    with pytest.raises(OutputError, match="an unfinished run of `pipeline sweep`, not of `pipeline run`"):
        runs.run(OPTIONS, [str(tmp_path / "trace.jsonl")], output, resume=True)
