"""Runs of the simulated cluster: properties hold, runs are reproducible by their seed, and every event occurs."""

import hashlib
import os
import subprocess
import sys
from dataclasses import fields, is_dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference.checked_step import CheckedReplica

from kraft_reference.roles import Role
from kraft_simulation.liveness.remaining import remaining_of
from kraft_simulation.plan import RunPlan
from kraft_simulation.simulation import Simulation
from kraft_simulation.workload import WORKLOADS

SEEDS = st.integers(min_value=0, max_value=2**64 - 1)
WORKLOAD_NAMES = sorted(WORKLOADS)


def canonical(value: object) -> str:
    """Return a text that depends on the value alone: sets sorted, no addresses."""
    if isinstance(value, frozenset):
        return "{" + ",".join(sorted(canonical(element) for element in value)) + "}"
    if isinstance(value, dict):
        return "{" + ",".join(f"{canonical(key)}:{canonical(element)}" for key, element in value.items()) + "}"
    if isinstance(value, tuple):
        return "(" + ",".join(canonical(element) for element in value) + ")"
    if is_dataclass(value):
        named = (f"{field.name}={canonical(getattr(value, field.name))}" for field in fields(value))
        return f"{type(value).__name__}({','.join(named)})"
    return repr(value)


def digest(plan: RunPlan) -> str:
    """Return the digest of everything that a run yields, and of its end."""
    simulation = plan.simulation()
    sha256 = hashlib.sha256()
    for occurrence in simulation.run():
        sha256.update(canonical(occurrence).encode())
    sha256.update(f"{simulation.violation} {simulation.progress_at_ms}".encode())
    return sha256.hexdigest()


@pytest.mark.parametrize("workload", WORKLOAD_NAMES)
@settings(max_examples=max(6, settings().max_examples // 4))  # of each of some twenty workloads
@given(seed=SEEDS, voters=st.integers(3, 5), profile=st.sampled_from(("kip", "kafka-4")))
def test_invariants_hold_and_the_healed_cluster_makes_progress(
    workload: str, seed: int, voters: int, profile: str
) -> None:
    plan = RunPlan(seed, voters, 300, workload, profile)
    simulation = plan.simulation()
    last_time_ms = 0
    for number, occurrence in enumerate(simulation.run(), 1):
        assert occurrence.sequence == number
        assert occurrence.time_ms >= last_time_ms
        last_time_ms = occurrence.time_ms
    assert simulation.violation is None, plan.command_line()
    assert simulation.healed_at_ms is not None
    # A leader is promised unless a removed leader died before any other replica learned of the removal.
    if simulation.progress_at_ms is None:
        assert WORKLOADS[workload].workload.change_interval_ms
        assert simulation.lasting is not None
        lasting = simulation.lasting
        assert remaining_of(simulation.world, lasting.cuts, lasting.stopped).connected_majority() is None


@pytest.mark.parametrize(
    ("workload", "seed"),
    [
        pytest.param(name, seed, marks=() if number % 3 == seed else pytest.mark.nightly)
        for number, name in enumerate(WORKLOAD_NAMES)
        for seed in range(3)
    ],
)
def test_every_step_of_a_run_can_crash_and_sends_only_stored_state(workload: str, seed: int) -> None:
    plan = RunPlan(seed, 3 + seed, 300, workload)
    arguments = (plan.configuration(), seed, plan.preset().workload, plan.preset().faults)
    simulation = Simulation(*arguments, steps=300, make_replica=CheckedReplica)
    assert sum(1 for _ in simulation.run()) >= 300
    assert simulation.violation is None


@pytest.mark.parametrize("seeds", [range(2), pytest.param(range(2, 5), marks=pytest.mark.nightly)], ids=str)
@pytest.mark.parametrize("voters", [1, 2])
@pytest.mark.parametrize("workload", WORKLOAD_NAMES)
def test_small_clusters(workload: str, voters: int, seeds: range) -> None:
    for seed in seeds:
        simulation = RunPlan(seed, voters, 300, workload).simulation()
        assert sum(1 for _ in simulation.run()) >= 300
        assert simulation.violation is None


@pytest.mark.slow
def test_same_seed_same_run_under_any_hash_seed() -> None:
    program = (
        "from tests.reference.test_cluster_simulation import digest, WORKLOAD_NAMES, RunPlan\n"
        "for name in WORKLOAD_NAMES: print(name, digest(RunPlan(7, 4, 200, name)))"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for hash_seed in ("0", "4242")
    }
    assert len(printed) == 1
    assert len(printed.pop().splitlines()) == len(WORKLOADS)


def test_different_seeds_are_different_runs() -> None:
    assert len({digest(RunPlan(seed, 3, 200, "chaos")) for seed in range(4)}) == 4


def test_a_calm_cluster_elects_once() -> None:
    """Without faults the first leader stays and no replica raises the epoch.  NoNeedlessElection."""
    for seed in range(10):
        simulation = RunPlan(seed, 3, 800, "calm").simulation()
        epochs: list[int] = []
        for occurrence in simulation.run():
            state = occurrence.state
            if state is not None and state.role is Role.LEADER and state.epoch not in epochs:
                epochs.append(state.epoch)
        assert len(epochs) == 1


def test_a_plan_names_its_fault() -> None:
    with pytest.raises(ValueError, match="no workload 'none'"):
        RunPlan(1, workload="none").simulation()
    with pytest.raises(ValueError, match="no profile 'none'"):
        RunPlan(1, profile="none").simulation()
    with pytest.raises(ValueError, match="needs a voter"):
        RunPlan(1, replicas=0).simulation()
