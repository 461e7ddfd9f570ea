"""Voter changes in the simulated cluster: loss of disks, agreement of voter sets, memory of a long run."""

from dataclasses import replace
from statistics import median

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kraft_mutants import load_catalogue
from kraft_mutants.catalogue import reference_edits
from kraft_mutants.replicas import edited_replicas
from kraft_reference.events import ReplaceDisk
from kraft_reference.identity import ReplicaKey
from kraft_simulation.membership import may_disagree
from kraft_simulation.plan import RunPlan, configuration_of
from kraft_simulation.simulation import Simulation
from kraft_simulation.survival import lost_voters, sets_to_come, survives_disk_loss
from kraft_simulation.workload import WORKLOADS

SEEDS = st.integers(min_value=0, max_value=2**64 - 1)


@given(seed=SEEDS)
@example(seed=33458)
def test_every_set_that_can_decide_keeps_a_majority_with_its_disks(seed: int) -> None:
    for name in ("crashes", "voter-changes", "auto-join", "static-voters", "upgrade"):
        preset = WORKLOADS[name]
        faults = replace(preset.faults, replace_disk_chance=0.9, crash_interval_ms=300)
        simulation = Simulation(configuration_of(preset, seed, 3), seed, preset.workload, faults, steps=250)
        replaced: set[int] = set()
        keys = {replica.state.key for replica in simulation.world.replicas.values()}
        for occurrence in simulation.run():
            if occurrence.state is not None:
                keys.add(occurrence.state.key)
            if isinstance(occurrence.event, ReplaceDisk):
                assert occurrence.replica_id is not None
                replaced.add(occurrence.replica_id)
                for voters in sets_to_come(simulation.world):
                    # The addition of a disk that no replica has, by mistake, results in no voter set.
                    if any(voter.directory_id is not None and voter not in keys for voter in voters):
                        continue
                    assert 2 * len(lost_voters(simulation.world, voters)) < len(voters)
        assert simulation.violation is None
        if preset.static_voters:
            assert replaced <= {4}


def test_a_static_voter_never_loses_its_disk() -> None:
    simulation = RunPlan(1, 3, 100, "static-voters").simulation()
    assert [survives_disk_loss(simulation.world, replica_id) for replica_id in (1, 2, 3, 4)] == [False] * 3 + [True]


A, B, C, D, E = (ReplicaKey(number, f"A{number}") for number in range(1, 6))


@pytest.mark.parametrize(
    ("before", "other", "expected"),
    [
        ({A, B, C}, {A, B, C}, False),
        ({A, B, C}, {A, B, C, D}, False),
        ({A, B, C, D}, {A, B, C}, False),
        ({A, B, C}, {A}, True),
        ({A, B, C, D}, {A, B}, False),
        ({A, B, C, D, E}, {A, B}, True),
        ({A, B, D}, {B, C, D}, True),
        ({A, B, C}, {C, D, E}, True),
        ({A}, {A, B}, False),
        ({A}, {B}, True),
        ({ReplicaKey(1), ReplicaKey(2), ReplicaKey(3)}, {A, B, C}, False),
        ({A, B, C}, {A, B, ReplicaKey(3, "B3")}, True),
    ],
)
def test_sets_that_differ_by_one_voter_agree(before: set[ReplicaKey], other: set[ReplicaKey], expected: bool) -> None:
    assert may_disagree(frozenset(before), frozenset(other)) is expected
    assert may_disagree(frozenset(other), frozenset(before)) is expected


# ---------------------------------------------------------------------------------------------------------
# A long run.
# ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("workload", ["snapshots", "chaos"])
def test_a_long_run_remembers_no_more_than_a_short_one(workload: str) -> None:
    simulation = RunPlan(1, 3, 30_000, workload).simulation()
    kept = [simulation.remembered() for occurrence in simulation.run() if occurrence.sequence % 1000 == 0]
    assert simulation.violation is None
    # Without discarding, the history and each disk would hold every committed record.
    assert simulation.world.committed_end > 4000
    assert max(kept) < 4000
    assert median(kept[15:]) < 2 * median(kept[:15])


@pytest.mark.parametrize(
    ("kept", "seed"),
    [
        ("longer-log-keeps-its-set", 1),
        ("loaded-snapshot-leaves-sets-at-its-end", 9),
        ("loaded-snapshot-leaves-sets-beyond-its-end", 46),
    ],
)
def test_a_run_reaches_a_voter_set_at_the_end_of_a_snapshot_and_beyond(kept: str, seed: int) -> None:
    """An uncommitted voter set survives the snapshot in a replica with one of three mutants, one for each place."""
    plan = RunPlan(seed, steps=600, workload="hasty-snapshots")
    edits = reference_edits(load_catalogue()[kept])
    right, wrong = plan.simulation(), plan.simulation(make_replica=edited_replicas(edits))
    for simulation in (right, wrong):
        for _ in simulation.run():
            pass
    assert right.violation is None
    assert wrong.violation is not None
    assert wrong.violation.property_name == "ConfigFollowsLog"
