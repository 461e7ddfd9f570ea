"""The benchmark measures what it says, on tiny sizes; how fast is no matter of a test."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kraft_dev.benchmark.checking import measure_checking, measure_log_length
from kraft_dev.benchmark.figure import Figure
from kraft_dev.benchmark.recording import Recording, mix, recording, short_traces, with_log_of
from kraft_dev.benchmark.simulating import measure_simulation
from kraft_dev.benchmark.usual_way import accepts, batch_folder, check_in_tlc
from kraft_dev.cli import main
from kraft_reference.cluster.plan import RunPlan
from kraft_reference.cluster.workload import WORKLOADS
from kraft_reference.scenarios import scenario
from kraft_spec.experiments.playing import play
from kraft_spec.tlc.model_report import Outcome
from kraft_traces.own import own_generator
from kraft_traces.writer import trace_bytes


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return batch_folder(tmp_path)


def altered(one: Recording, before: bytes, after: bytes) -> Recording:
    """The trace with the last place of `before` changed."""
    head, found, tail = one.content.rpartition(before)
    assert found, f"{before!r} is in the trace"
    return replace(one, content=head + after + tail)


def test_the_mix_has_a_trace_of_each_workload() -> None:
    assert [one.name for one in mix(30)] == [f"{name}-1" for name in WORKLOADS]


def test_short_traces_are_different_runs_of_the_length_asked_for() -> None:
    traces = list(short_traces(12, 40))
    assert [one.events for one in traces] == [40] * 12
    assert len({one.content for one in traces}) == 12


def test_a_run_ends_when_a_log_has_the_length_asked_for() -> None:
    lines = [json.loads(line) for line in with_log_of(20).content.splitlines()]
    ends = [line["state"]["log_end_offset"] for line in lines if "state" in line]
    assert ends[-1] == max(ends) >= 20
    assert max(ends[:-1]) < 20


def test_tlc_takes_a_client_request_that_the_replica_did_not_take(folder: Path) -> None:
    refused = recording(RunPlan(seed=12, steps=500, workload="upgrade"), 190)
    lines = [json.loads(line) for line in refused.content.splitlines()]
    assert [one["refusal"] for one in lines if one.get("event") == "RemoveVoter"] == ["NOT_RUNNING"]
    assert accepts(check_in_tlc(folder, refused), 190)


def test_what_is_measured_is_more_than_nothing() -> None:
    found = measure_checking(mix(20)[:2], every=7, warm_up=1, passes=1)
    found += [measure_log_length(with_log_of(15), 15), *measure_simulation(50, workloads=("calm", "chaos"))]
    assert all(one.value > 0 for one in found)
    assert found[-1].name == "trace of a simulation"
    assert found[-1].value > 100


def test_a_figure_is_set_against_its_target() -> None:
    assert Figure("speed", 30, 20, "events/s").is_reached
    assert not Figure("time", 30, 20, "s", at_most=True).is_reached
    assert Figure("size", 30, None).is_reached


@pytest.mark.nightly
def test_tlc_walks_through_a_trace_with_every_fault(folder: Path) -> None:
    one = recording(RunPlan(seed=3, steps=150, workload="chaos"), 150)
    assert accepts(check_in_tlc(folder, one, every=50), one.events)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("before", "after"),
    [(b'"searching":false', b'"searching":true'), (b'"role":"Follower"', b'"role":"Unattached"')],
)
def test_tlc_stops_at_a_line_with_a_wrong_field(folder: Path, before: bytes, after: bytes) -> None:
    one = recording(RunPlan(seed=1, steps=40, workload="calm"), 40)
    report = check_in_tlc(folder, altered(one, before, after))
    assert report.outcome is Outcome.DEADLOCK
    assert not accepts(report, one.events)


@pytest.mark.nightly
def test_tlc_judges_the_properties_of_a_line(tmp_path: Path) -> None:
    chosen = scenario("two-votes-after-forgotten-leader")
    broken = chosen.variant("without-memory")
    outcome = play(chosen, broken)
    lines = list(trace_bytes(outcome.occurrences, outcome.configuration, own_generator(), switched_off=broken.without))
    one = Recording(broken.name, len(lines) - 2, b"".join(lines))
    assert check_in_tlc(batch_folder(tmp_path, broken.without), one).outcome is Outcome.VIOLATION


@pytest.mark.nightly
def test_the_command_measures_everything_in_one_run(capsys: pytest.CaptureFixture[str]) -> None:
    sizes = ["--traces", "2", "--events", "25", "--sample", "1", "--mix-events", "20", "--log-length", "12"]
    assert main(["bench", *sizes, "--every", "10", "--json"]) == 0
    with_target = {one["name"] for one in json.loads(capsys.readouterr().out)["figures"] if one["target"]}
    assert with_target == {
        "trace checking, one core",
        "the same of other software",
        "against interpreting",
        "against TLC per trace, CPU time",
        "two checkers against one",
        "validate, short trace",
        "model check voters-truncation, against interpreting",
        "simulation, traced",
    }


def test_a_long_trace_is_measured_stretch_by_stretch(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--long-trace", "300", "--json"]) == 0
    figures = {one["name"]: one["value"] for one in json.loads(capsys.readouterr().out)["figures"]}
    assert figures["checked"] == 300
    # The checker says how far it is after each hundred.
    assert {"stretch 3", "Java heap after stretch 3", "last stretch / median stretch, CPU time"} <= figures.keys()
