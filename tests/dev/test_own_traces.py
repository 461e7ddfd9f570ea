"""`python -m kraft_dev own-traces`: a sample of the nightly table of workloads, profiles and numbers of voters."""

import pytest

from kraft_conformance.exit_codes import ExitCode
from kraft_dev.cli import main
from kraft_dev.own_traces import VOTERS, OwnTrace, check_own_traces, plans
from kraft_reference.profile import KAFKA_PROFILES, PROFILES
from kraft_simulation.plan import RunPlan
from kraft_simulation.workload import WORKLOADS

AT_VERSION_0 = sorted(name for name, preset in WORKLOADS.items() if preset.static_voters)
"""Workloads in which voters report themselves to each leader."""


@pytest.mark.parametrize("profile", PROFILES)
def test_reports_of_five_voters_are_accepted_under_each_profile(profile: str) -> None:
    traces = list(check_own_traces(plans(AT_VERSION_0, [profile], [5], [0], steps=100)))
    assert {trace.plan.command_line(): trace.problem for trace in traces if trace.problem} == {}


@pytest.mark.slow
@pytest.mark.parametrize("profile", [profile.name for profile in KAFKA_PROFILES])
def test_a_sample_of_the_other_workloads_is_accepted_under_each_profile_of_kafka(profile: str) -> None:
    names = sorted(set(WORKLOADS) - set(AT_VERSION_0))
    runs = [RunPlan(1, VOTERS[number % 3], 100, workload, profile) for number, workload in enumerate(names)]
    traces = list(check_own_traces(runs))
    assert {trace.plan.command_line(): trace.problem for trace in traces if trace.problem} == {}


def test_a_rejected_trace_is_a_cell_a_line_and_an_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (plan,) = plans(["calm"], ["kip"], [3], [0], steps=20)
    rejected = OwnTrace(plan, 7, "event 8 violates IdentityBinding")
    monkeypatch.setattr("kraft_dev.commands.own_traces.check_own_traces", lambda runs: iter([rejected]))
    assert main(["own-traces", "--workload", "calm", "--profile", "kip", "--replicas", "3"]) == ExitCode.VIOLATION
    out = capsys.readouterr().out
    assert "1 of 1 rejected" in out
    assert f"{plan.command_line()}: event 8 violates IdentityBinding" in out.replace("\n", " ")
    assert main(["own-traces", "--profile", "kafka-9"]) == ExitCode.USAGE
