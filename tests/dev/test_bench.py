"""Tests of the benchmark with tiny sizes; speed itself is not tested."""

import re

import pytest

from kraft_dev.benchmark.checking import measure_checking
from kraft_dev.benchmark.figure import Figure
from kraft_dev.benchmark.recording import record_workloads
from kraft_dev.benchmark.simulating import measure_simulation
from kraft_dev.cli import main
from kraft_simulation.workload import WORKLOADS


def test_the_mix_has_a_trace_of_each_workload() -> None:
    assert [recording.name for recording in record_workloads(30)] == [f"{name}-1" for name in WORKLOADS]


def test_measurements_are_positive() -> None:
    figures = measure_checking(record_workloads(20)[:2], every=7, warm_up=1, passes=1)
    assert all(figure.value > 0 for figure in (*figures, measure_simulation(50, workloads=("calm", "chaos"))))


def test_a_figure_is_set_against_its_target() -> None:
    assert Figure("speed", 30, 20, "events/s").is_reached
    assert not Figure("time", 30, 20, "s", at_most=True).is_reached
    assert Figure("size", 30, None).is_reached


@pytest.mark.nightly
def test_the_command_measures_everything_in_one_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--mix-events", "20", "--every", "10"]) == 0
    output = capsys.readouterr().out
    for name in (
        "trace checking, one core",
        "checking traces of other software, one core",
        "against interpreting",
        "validate, short trace",
        "model check voters-truncation, against interpreting",
        "simulation, traced",
    ):
        assert name in output


def test_a_long_trace_is_measured_stretch_by_stretch(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--long-trace", "300"]) == 0
    output = capsys.readouterr().out
    assert re.search(r"checked +│ +300 lines", output)
    # The checker reports progress every hundred events.
    for name in ("stretch 3", "Java heap after stretch 3", "last stretch / median stretch, CPU time"):
        assert name in output


@pytest.mark.nightly
def test_the_pipeline_is_measured_on_one_core_and_on_two(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pyspark")
    assert main(["bench", "--pipeline", "2"]) == 0
    output = capsys.readouterr().out
    for name in (
        "1,000 events, 2 cores",
        "10,000 events, 1 core: coverage",
        "2 cores against 1",
        "worker, most memory",
    ):
        assert name in output
