"""Sweeps: nothing is found wrong with the reference, and what would be is reported."""

from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET
from msgspec.structs import replace
from tests.traces.pipeline.tables import rows_of

from kraft_pipeline import runs, sweep
from kraft_pipeline.failures import InputError
from kraft_pipeline.plans import VOTERS, Plans, source_of
from kraft_pipeline.schemas import COVERAGE, VERDICTS
from kraft_pipeline.session import SessionOptions
from kraft_simulation.occurrence import Occurrence
from kraft_simulation.plan import RunPlan
from kraft_traces.encode import event_line
from kraft_traces.lines import EventLine
from kraft_traces.own import own_generator
from kraft_traces.writer import trace_bytes

OPTIONS = SessionOptions("local[2]")


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


def _written(plan: RunPlan, folder: Path) -> None:
    simulation = plan.simulation()
    lines = trace_bytes(simulation.run(), simulation.configuration, own_generator(plan.seed, plan.workload))
    (folder / f"{source_of(plan).replace('/', '-')}.jsonl").write_bytes(b"".join(lines))


@pytest.mark.nightly
def test_a_sweep_counts_what_a_run_over_the_same_traces_counts(shared: Any, tmp_path: Path) -> None:
    plans = Plans(0, 1, ("calm", "elections", "storm"), ("kip", "kafka-4"), steps=40)
    document = runs.sweep(OPTIONS, plans, tmp_path / "swept")
    (tmp_path / "in").mkdir()
    for index in range(len(plans)):
        _written(plans.plan(index), tmp_path / "in")
    runs.run(OPTIONS, [str(tmp_path / "in")], tmp_path / "run")
    assert (document["failures"], document["violations"], document["account"]["accepted"]) == ([], [], 6)
    assert rows_of(tmp_path / "swept", COVERAGE) == rows_of(tmp_path / "run", COVERAGE)
    names = [name for name in VERDICTS.names if name not in ("trace_id", "source", "command")]
    swept, checked = (
        sorted(repr([row[name] for name in names]) for row in rows_of(tmp_path / folder, VERDICTS))
        for folder in ("swept", "run")
    )
    assert swept == checked
    commands = {row["source"]: row["command"] for row in rows_of(tmp_path / "swept", VERDICTS)}
    assert commands == {source_of(plan): plan.command_line() for plan in map(plans.plan, range(len(plans)))}


def test_a_wrong_step_is_rejected_and_only_what_comes_before_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(occurrence: Occurrence) -> EventLine:
        line = event_line(occurrence)
        if occurrence.sequence != 7:
            return line
        assert line.state is not UNSET
        assert line.state.epoch is not UNSET
        return replace(line, state=replace(line.state, epoch=line.state.epoch + 7))

    monkeypatch.setattr(sweep, "event_line", wrong)
    result = sweep.sweep_run(RunPlan(seed=0, steps=20, workload="calm"))
    row = result["verdict"]
    assert (row["verdict"], row["sequence"], row["field"]) == ("rejected", 7, "state.epoch")
    assert sum(tally["events"] for tally in result["tallies"]) == row["events"] == 6


def test_a_reference_that_raises_is_a_failure_that_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def raises(_plan: RunPlan) -> None:
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(sweep, "simulation_of", raises)
    result = sweep.sweep_run(RunPlan(seed=0, steps=20, workload="calm"))
    row = result["verdict"]
    assert (row["verdict"], row["kind"], row["field"]) == ("rejected", "raises", "ZeroDivisionError")
    assert (row["reason"], result["tallies"]) == ("ZeroDivisionError: by zero", [])
