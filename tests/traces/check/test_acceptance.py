"""Lines of the simulated cluster are accepted, each with exactly one successor."""

import pytest
from tests.traces.check.alterations import line_of
from tests.traces.check.foreign import optional_places, without
from tests.traces.check.recorded import recorded

from kraft_simulation.plan import RunPlan
from kraft_simulation.workload import WORKLOADS
from kraft_traces.check import Verdict, VerdictKind, check_occurrences
from kraft_traces.check.checker import TraceChecker
from kraft_traces.check.model import trace_model

SEEDS = 48
"""Traces in a test run, two of each workload."""

SEEDS_NIGHTLY = 10_000
"""Traces in a nightly run."""


def plan(number: int, steps: int) -> RunPlan:
    """The n-th of a row of runs that takes the workloads in turn; every third has five voters."""
    workloads = sorted(WORKLOADS)
    replicas = 5 if number % 3 == 2 else 3
    return RunPlan(number, replicas=replicas, steps=steps, workload=workloads[number % len(workloads)])


def assert_accepted(run: RunPlan) -> Verdict:
    simulation = run.simulation()
    verdict = check_occurrences(simulation.run(), simulation.configuration, run.command_line())
    assert verdict.kind is VerdictKind.ACCEPTED, verdict
    assert verdict.candidates_max == 1
    assert simulation.violation is None
    return verdict


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_runs_of_the_cluster_are_accepted(part: int) -> None:
    for number in range(part, SEEDS, 4):
        assert_accepted(plan(number, steps=300))


@pytest.mark.nightly
@pytest.mark.parametrize("part", range(100))
def test_many_runs_of_the_cluster_are_accepted(part: int) -> None:
    for number in range(part, SEEDS_NIGHTLY, 100):
        assert_accepted(plan(number, steps=400))


@pytest.mark.parametrize("left_out", ["nothing", "ids", "sends", "cause"])
@pytest.mark.parametrize("workload", [pytest.param("chaos", marks=pytest.mark.nightly), "lossy"])
def test_messages_that_are_remembered_are_bounded_whatever_is_left_out(workload: str, left_out: str) -> None:
    trace = recorded(workload, 7, 600)
    checker = TraceChecker(trace_model(), trace.configuration, "trace", own=left_out == "nothing")
    for number, line in enumerate(trace.lines, 2):
        places = [place.path for place in optional_places(line)]
        match left_out:
            case "nothing":
                omitted = []
            case "ids":
                omitted = [path for path in places if path in (("message", "id"), ("cause",))]
            case "sends":
                omitted = [path for path in places if path == ("effects",)]
            case _:
                omitted = [path for path in places if path in (("message",), ("cause",))]
        assert checker.feed(number, line_of(without(line, *omitted))) is None
        if checker.is_over:
            break
        assert checker.messages_remembered < 100
    assert number > 100
