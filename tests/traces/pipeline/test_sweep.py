"""Sweeps: nothing is found wrong with the reference, and a mutant is, after a number of schedules that is its own."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.traces.pipeline.shell import pipeline
from tests.traces.pipeline.tables import rows_of

from kraft_traces.check import check_reader
from kraft_traces.pipeline import runs
from kraft_traces.pipeline.failures import InputError
from kraft_traces.pipeline.plans import VOTERS, Plans
from kraft_traces.pipeline.schemas import COVERAGE, SCHEDULES, VERDICTS
from kraft_traces.pipeline.session import SessionOptions
from kraft_traces.pipeline.sweep import cuts
from kraft_traces.reader import open_trace

OPTIONS = SessionOptions("local[2]")
MUTANT = "votes-twice"
RULE = "vote.once-per-epoch"


def test_each_seed_comes_with_each_profile_and_each_workload() -> None:
    plans = Plans(4, 2, ("calm", "chaos"), ("kip", "kafka-4"), steps=10, count=7)
    listed = [plans.plan(index) for index in range(len(plans))]
    assert [(plan.seed, plan.profile, plan.workload) for plan in listed] == [
        (4, "kip", "calm"),
        (4, "kip", "chaos"),
        (4, "kafka-4", "calm"),
        (4, "kafka-4", "chaos"),
        (5, "kip", "calm"),
        (5, "kip", "chaos"),
        (5, "kafka-4", "calm"),
    ]
    assert [plan.replicas for plan in listed] == [VOTERS[0]] * 4 + [VOTERS[1]] * 3
    with pytest.raises(InputError, match="no workload 'calmer'"):
        Plans(0, 1, ("calmer",))
    with pytest.raises(InputError, match="workload 'chaos' is named twice"):
        Plans(0, 1, ("chaos", "calm", "chaos"))


def test_jobs_grow_until_they_are_large_and_hold_every_unit_once() -> None:
    assert cuts(100, 8, 20) == [0, 8, 24, 44, 64, 84, 100]
    assert cuts(40, 20, 20) == [0, 20, 40]
    assert cuts(3, 8, 20) == [0, 3]


def test_a_sweep_counts_what_generate_and_validate_count(shared: Any, tmp_path: Path) -> None:
    plans = Plans(0, 1, ("calm", "elections", "storm"), ("kip", "kafka-4"), steps=40)
    document = runs.sweep(OPTIONS, plans, tmp_path / "swept")
    runs.generate(OPTIONS, plans, tmp_path / "made", resume=False)
    runs.validate(OPTIONS, tmp_path / "made", checking=runs.Checking())
    runs.coverage(OPTIONS, tmp_path / "made")
    assert document["sweep"] == {"schedules": 6, "failing": 0, "first": None, "mutant": None}
    assert (document["failures"], document["violations"], document["account"]["accepted"]) == ([], [], 6)
    for table in (VERDICTS, COVERAGE):
        assert rows_of(tmp_path / "swept", table) == rows_of(tmp_path / "made", table)


def test_a_mutant_is_found_and_named_and_its_schedule_fails_again(tmp_path: Path) -> None:
    options = ("--schedules", 200, "--steps", 200, "-w", "elections", "-w", "storm", "-p", "kip")
    swept = pipeline("sweep", *options, "--mutant", MUTANT, "-o", tmp_path / "out", "--master", "local[2]", "--json")
    assert swept.returncode == 1, swept.stderr
    document = json.loads(swept.stdout)
    schedules = sorted(rows_of(tmp_path / "out", SCHEDULES), key=lambda row: int(row["index"]))
    first = next(row["index"] for row in schedules if row["failed"]) + 1
    assert (document["sweep"]["first"], document["sweep"]["mutant"]) == (first, MUTANT)
    assert [row["index"] for row in schedules] == list(range(len(schedules)))
    assert len(schedules) < 200
    for group in document["failures"]:
        example = group["example"]
        # No command has the mutant in it, so none would show the failure again but that on the prefix.
        assert example["commands"] == [f"kraft-spec validate {example['prefix']}"]
        with open_trace(tmp_path / "out" / "report" / example["prefix"]) as reader:
            rejection = check_reader(reader).rejection
        assert rejection is not None
        assert (rejection.sequence, rejection.event) == (example["sequence"], group["event"])
    assert any(RULE in group["example"]["rules"] for group in document["failures"])
    assert document == json.loads((tmp_path / "out" / "report" / "report.json").read_bytes())
