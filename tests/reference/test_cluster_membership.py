"""Voter changes, snapshots and upgrades in the simulated cluster: each property is broken once, under its name."""

from collections.abc import Callable
from dataclasses import replace
from statistics import median
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraft_reference import pending_changes, polling, replication, snapshots
from kraft_reference.cluster.membership import may_disagree
from kraft_reference.cluster.plan import RunPlan, configuration_of
from kraft_reference.cluster.simulation import Simulation
from kraft_reference.cluster.survival import lost_voters, sets_to_come, survives_disk_loss
from kraft_reference.cluster.violation import Violation
from kraft_reference.cluster.workload import WORKLOADS
from kraft_reference.events import (
    ReplaceDisk,
)
from kraft_reference.identity import ReplicaKey
from kraft_reference.log import Log, Snapshot, rebased, snapshot_at, truncate
from kraft_reference.outcome import Outcome
from kraft_reference.quorum_reassignment import next_steps
from kraft_reference.replica import Replica
from kraft_spec.experiments import simulation_of

Plant = Callable[[pytest.MonkeyPatch], None]
SEEDS = st.integers(min_value=0, max_value=2**64 - 1)


def ended(plan: RunPlan) -> Simulation:
    simulation = simulation_of(plan)
    for _ in simulation.run():
        pass
    return simulation


def found(seeds: range, replicas: int, workload: str, property_name: str, **plan: Any) -> tuple[RunPlan, Violation]:
    """The first run that breaks the property."""
    for seed in seeds:
        one = RunPlan(seed, replicas, 600, workload, **plan)
        violation = ended(one).violation
        if violation is not None and violation.property_name == property_name:
            return one, violation
    raise AssertionError(f"{property_name} is not broken by a seed in {seeds}")


# ---------------------------------------------------------------------------------------------------------
# Rules switched off.
# ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "workload", "replicas", "seeds", "property_name"),
    [
        ("voters.one-change-at-a-time", "hasty-changes", 4, range(10), "OnePendingChange"),
        ("voters.one-change-at-a-time", "hasty-changes", 4, range(10), "ConfigOverlap"),
        ("voters.epoch-committed-before-change", "hasty-changes", 4, range(45, 60), "ConfigOverlap"),
        ("hw.leader-excluded", "hasty-changes", 4, range(35, 45), "LeaderCompleteness"),
        ("reassign.single-member-steps", "reassignments", 3, range(10), "ConfigOverlap"),
        ("reassign.cancel-by-new-target", "reassignments", 3, range(10), "ConfigOverlap"),
        ("reassign.request-new-target", "reassignments", 4, range(12, 18), "OnePendingChange"),
        ("fetch.replica-key", "storm", 3, range(10), "IdentityBinding"),
        ("vote.voter-key", "storm", 3, range(10), "IdentityBinding"),
    ],
)
def test_a_switched_off_rule_breaks_a_property(
    rule: str, workload: str, replicas: int, seeds: range, property_name: str
) -> None:
    plan, _ = found(seeds, replicas, workload, property_name, switched_off=(rule,))
    # The same run with the rule in force keeps everything.
    assert ended(replace(plan, switched_off=())).violation is None


# ---------------------------------------------------------------------------------------------------------
# Bugs planted.
# ---------------------------------------------------------------------------------------------------------


def _snapshots_hold_the_newest_set(patch: pytest.MonkeyPatch) -> None:
    def newest(log: Log, end_offset: int) -> Snapshot:
        return snapshot_at(log, end_offset)._replace(voters=log.voters[-1].voters, details=log.voters[-1].details)

    patch.setattr(snapshots, "snapshot_at", newest)


def _snapshots_hold_the_newest_level(patch: pytest.MonkeyPatch) -> None:
    def newest(log: Log, end_offset: int) -> Snapshot:
        return snapshot_at(log, end_offset)._replace(kraft_version=0)

    patch.setattr(snapshots, "snapshot_at", newest)


def _snapshots_of_everything(patch: pytest.MonkeyPatch) -> None:
    def everything(state: Any, end_offset: int) -> Outcome:
        end = state.log.end_offset
        return Outcome(state._replace(log=rebased(state.log, snapshot_at(state.log, end))))

    patch.setattr(snapshots, "after_take_snapshot", everything)


def _a_snapshot_lowers_the_high_watermark(patch: pytest.MonkeyPatch) -> None:
    original = snapshots.after_fetch_snapshot_response

    def forgetful(state: Any, configuration: Any, response: Any, draw: Any) -> Outcome:
        outcome = original(state, configuration, response, draw)
        if outcome.state.log.base is state.log.base:
            return outcome
        return outcome._replace(state=outcome.state._replace(high_watermark=0))

    patch.setattr(snapshots, "after_fetch_snapshot_response", forgetful)


def _the_log_survives_a_snapshot(patch: pytest.MonkeyPatch) -> None:
    def kept(state: Any, end_offset: int) -> Outcome:
        after = rebased(state.log, snapshot_at(state.log, end_offset))
        return Outcome(state._replace(log=after._replace(voters=state.log.voters[:1])))

    patch.setattr(snapshots, "after_take_snapshot", kept)


def _batches_are_torn(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(replication, "batch_end", lambda _, end: end)


def _levels_survive_truncation(patch: pytest.MonkeyPatch) -> None:
    def kept(log: Log, end_offset: int) -> Log:
        return truncate(log, end_offset)._replace(versions=log.versions)

    patch.setattr(replication, "truncate", kept)


def _additions_are_never_appended(patch: pytest.MonkeyPatch) -> None:
    def never(outcome: Outcome, *_: Any) -> Outcome:
        return outcome

    patch.setattr(replication, "advanced", never)
    patch.setattr(pending_changes, "advanced", never)


def _steps_are_never_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Replica, "next_steps", lambda _: frozenset())


def _the_last_to_remove_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    def and_does_not_hand_over(replica: Replica) -> Any:
        state = replica.state
        steps = next_steps(state)
        return steps if state.key.id in (state.target or ()) else steps - {None}

    monkeypatch.setattr(Replica, "next_steps", and_does_not_hand_over)


def _nobody_joins(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(polling, "join_request", lambda *_: None)


def _nobody_reports(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(polling, "report_request", lambda *_: None)


PLANTED: dict[str, tuple[Plant, str, str]] = {
    "snapshots hold the newest set": (_snapshots_hold_the_newest_set, "snapshots", "ConfigFollowsLog"),
    "snapshots hold level 0": (_snapshots_hold_the_newest_level, "snapshots", "ConfigFollowsLog"),
    "snapshots of everything": (_snapshots_of_everything, "snapshots", "StateMachineSafety"),
    "a snapshot lowers the high watermark": (_a_snapshot_lowers_the_high_watermark, "snapshots", "HwMonotonic"),
    "old sets survive a snapshot": (_the_log_survives_a_snapshot, "snapshots", "ConfigFollowsLog"),
    "batches are torn": (_batches_are_torn, "upgrade", "ConfigFollowsLog"),
    "levels survive truncation": (_levels_survive_truncation, "upgrade", "ConfigFollowsLog"),
    "additions are never appended": (_additions_are_never_appended, "voter-changes", "EventualChange"),
    "steps are never taken": (_steps_are_never_taken, "reassignments", "EventualChange"),
    "the last to remove stays": (_the_last_to_remove_stays, "reassignments", "EventualChange"),
    "nobody joins": (_nobody_joins, "auto-join", "EventualChange"),
    "nobody reports": (_nobody_reports, "upgrade", "EventualChange"),
}


@pytest.mark.parametrize("bug", sorted(PLANTED))
def test_a_planted_bug_is_found_under_its_name(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plant, workload, property_name = PLANTED[bug]
    plant(monkeypatch)
    found(range(60), 3, workload, property_name)


# ---------------------------------------------------------------------------------------------------------
# What happens in these runs.
# ---------------------------------------------------------------------------------------------------------


@given(seed=SEEDS)
def test_every_set_that_can_decide_keeps_a_majority_with_its_disks(seed: int) -> None:
    for name in ("crashes", "voter-changes", "auto-join", "static-voters", "upgrade"):
        preset = WORKLOADS[name]
        faults = replace(preset.faults, replace_disk_chance=0.9, crash_interval_ms=300)
        simulation = Simulation(configuration_of(preset, seed, 3), seed, preset.workload, faults, steps=250)
        replaced: set[int] = set()
        for occurrence in simulation.run():
            if isinstance(occurrence.event, ReplaceDisk):
                assert occurrence.replica_id is not None
                replaced.add(occurrence.replica_id)
                for voters in sets_to_come(simulation.world):
                    assert 2 * len(lost_voters(simulation.world, voters)) < len(voters)
        assert simulation.violation is None
        if preset.static_voters:
            assert replaced <= {4}


def test_a_static_voter_never_loses_its_disk() -> None:
    simulation = RunPlan(1, 3, 100, "static-voters").simulation()
    assert [survives_disk_loss(simulation.world, replica_id) for replica_id in (1, 2, 3, 4)] == [False] * 3 + [True]


A, B, C, D, E = (ReplicaKey(number, f"A{number}") for number in range(1, 6))


@pytest.mark.parametrize(
    ("one", "other", "expected"),
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
def test_sets_that_differ_by_one_voter_agree(one: set[ReplicaKey], other: set[ReplicaKey], expected: bool) -> None:
    assert may_disagree(frozenset(one), frozenset(other)) is expected
    assert may_disagree(frozenset(other), frozenset(one)) is expected


# ---------------------------------------------------------------------------------------------------------
# A long run.
# ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("workload", ["snapshots", "chaos"])
def test_a_long_run_remembers_no_more_than_a_short_one(workload: str) -> None:
    simulation = RunPlan(1, 3, 30_000, workload).simulation()
    kept = [simulation.remembered() for occurrence in simulation.run() if occurrence.sequence % 1000 == 0]
    assert simulation.violation is None
    # Without forgetting, every committed record would be there once for the history and once for each disk.
    assert simulation.world.committed_end > 4000
    assert max(kept) < 4000
    assert median(kept[15:]) < 2 * median(kept[:15])
