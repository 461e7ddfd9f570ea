"""A failing run is reproduced by one command line, replayed and shrunk."""

import shlex

import pytest

from kraft_mutants.playing import failure_of, simulation_of
from kraft_mutants.replicas import mutated_replicas
from kraft_simulation.lasting import lasting_faults_in
from kraft_simulation.plan import RunPlan
from kraft_simulation.schedule import replay
from kraft_simulation.shrink import replay_checked, shrink
from kraft_simulation.violation import Violation
from kraft_simulation.workload import WORKLOADS
from kraft_simulation.world import World


def run(plan: RunPlan) -> Violation | None:
    simulation = simulation_of(plan)
    for _ in simulation.run():
        pass
    return simulation.violation


def failing_plan(workload: str, rule: str, property_name: str, *, steps: int) -> RunPlan:
    """Return the first run without a rule that violates the property; it may violate others as well."""
    for seed in range(100):
        plan = RunPlan(seed, 3, steps, workload, mutants=(rule,))
        violation = run(plan)
        if violation is not None and violation.property_name == property_name:
            return plan
    raise AssertionError(f"no seed breaks {property_name}")


def test_a_failure_shrinks_to_a_schedule_that_repeats_it() -> None:
    plan = failing_plan("storm", "vote.voter-key", "IdentityBinding", steps=1000)
    make_replica = mutated_replicas(plan.mutants)
    failure = failure_of(plan)
    assert failure is not None
    assert failure.violation == run(plan)
    assert len(failure.schedule) * 4 < failure.moves
    assert len(failure.occurrences) == len(failure.schedule)
    assert [occurrence.sequence for occurrence in failure.occurrences] == list(range(1, len(failure.schedule) + 1))
    replayed = replay_checked(plan.configuration(), failure.schedule, make_replica)
    assert replayed.violation == failure.shrunk_violation
    assert replayed.occurrences == failure.occurrences
    assert failure.shrunk_violation.property_name == failure.violation.property_name
    for left_out in range(len(failure.schedule)):
        shorter = failure.schedule[:left_out] + failure.schedule[left_out + 1 :]
        violation = replay_checked(plan.configuration(), shorter, make_replica).violation
        assert violation is None or violation.property_name != failure.violation.property_name
    report = failure.report()
    assert plan.command_line() in report.splitlines()[1]
    assert "ReplaceDisk" in report


def test_a_lasting_cut_is_part_of_the_schedule_that_shrinks() -> None:
    """The zombie leader needs its cuts, so the shrunk schedule must state that they last."""
    plan = failing_plan("islands", "check-quorum.resign", "ZombieBounded", steps=300)
    failure = failure_of(plan)
    assert failure is not None
    assert failure.violation == run(plan)
    assert "ms in vain for" in failure.violation.message
    assert "links cut for good" in failure.violation.message
    assert len(failure.schedule) * 4 < failure.moves
    lasting = lasting_faults_in(failure.schedule)
    zombie = failure.shrunk_violation.replica_id
    assert lasting
    assert lasting.cuts <= {link for link in lasting.cuts if zombie in link} or lasting.stopped
    replayed = simulation_of(plan, seed=plan.seed)
    for _ in replayed.run(prefix=failure.schedule):
        pass
    assert replayed.lasting == lasting
    assert f"never mended: {lasting}" in failure.report()
    assert plan.command_line() in failure.report()


def test_a_run_without_failure_has_nothing_to_investigate() -> None:
    assert failure_of(RunPlan(1, 3, 200, "chaos")) is None


@pytest.mark.parametrize("workload", sorted(WORKLOADS))
def test_a_schedule_replays_to_the_same_occurrences(workload: str) -> None:
    plan = RunPlan(5, 3, 500, workload)
    simulation = plan.simulation(keeps_schedule=True)
    occurrences = list(simulation.run())
    replayed = [occurrence for _, occurrence in replay(World(plan.configuration()), simulation.schedule)]
    assert replayed == occurrences


def test_shrinking_what_does_not_fail_changes_nothing() -> None:
    simulation = RunPlan(5, 3, 100, "calm").simulation(keeps_schedule=True)
    for _ in simulation.run():
        pass
    assert shrink(simulation.schedule, lambda _: None) == simulation.schedule


def test_a_simulation_keeps_its_schedule_only_when_asked() -> None:
    with pytest.raises(ValueError, match="keeps no schedule"):
        assert RunPlan(1).simulation().schedule


def test_the_line_that_repeats_a_run_has_all_that_decides_it() -> None:
    plan = RunPlan(12, 5, 345, "storm", "kafka-4", ("hw.own-epoch", "fetch.replica-key"))
    words = shlex.split(plan.command_line())
    assert words[:2] == ["kraft-spec", "simulate"]
    options = dict(zip(words[2:12:2], words[3:12:2], strict=True))
    assert options == {
        "--seed": "12",
        "--replicas": "5",
        "--steps": "345",
        "--workload": "storm",
        "--profile": "kafka-4",
    }
    assert words[12:] == ["--mutant", "fetch.replica-key", "--mutant", "hw.own-epoch"]
