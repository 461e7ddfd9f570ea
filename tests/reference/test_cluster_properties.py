"""Each property of the simulated cluster is broken under its name: by a seeded mutant, or without a rule."""

from dataclasses import replace
from typing import Any

import pytest

from kraft_reference import snapshots
from kraft_reference.cluster.asking import EverybodyIsAsked
from kraft_reference.cluster.invariants import Invariants
from kraft_reference.cluster.plan import RunPlan
from kraft_reference.cluster.violation import Violation
from kraft_reference.cluster.world import World
from kraft_reference.effects import Send, StartTimer
from kraft_reference.events import ElectionTimeout, PollFetch, RequestTimeout
from kraft_reference.log import rebased, snapshot_at
from kraft_reference.outcome import Outcome
from kraft_spec.copies import ORIGINAL, Copy
from kraft_spec.edits import edited_texts, package_folder
from kraft_spec.experiments import reference_edits_without
from kraft_spec.experiments.playing import simulation_of
from kraft_spec.mutants import load_catalogue

MUTANTS = [
    ("answers-before-the-vote-is-on-disk", "calm", "DurableBeforeSend"),
    ("fetch-of-unsynced-records", "calm", "DurableBeforeSend"),
    ("pre-vote-casts-the-vote", "calm", "PreVoteIsPure"),
    ("records-from-the-wrong-offset", "calm", "OffsetEpochUnique"),
    ("round-without-the-own-grant", "calm", "TypeOk"),
    ("role-changes-against-the-table", "elections", "Assertion"),
    ("leader-lowers-the-high-watermark", "lossy", "HwMonotonic"),
    ("votes-twice", "storm", "VoteOncePerEpoch"),
    ("any-epoch-is-taken-over", "storm", "EpochMonotonic"),
    ("fetch-without-agreement", "storm", "LogMatching"),
    ("leader-counts-itself-twice", "storm", "LeaderCompleteness"),
    ("truncation-keeps-the-voters-set", "storm", "ConfigFollowsLog"),
    ("snapshot-holds-the-newest-set", "snapshots", "ConfigFollowsLog"),
    ("loaded-snapshot-leaves-the-level", "snapshots", "ConfigFollowsLog"),
    ("batches-are-torn", "upgrade", "ConfigFollowsLog"),
    ("pre-vote-needs-everybody", "crashes", "EventualLeader"),
    ("high-watermark-waits-for-all", "islands", "CommitProgress"),
    ("one-voter-is-never-asked-for-its-vote", "chaos", "EverybodyIsAsked"),
    ("epoch-is-announced-once", "partitions", "EverybodyIsAsked"),
    ("reached-target-is-not-cleared", "reassignments", "EventualChange"),
    ("joining-replica-asks-once", "auto-join", "EventualChange"),
    ("voter-reports-once", "upgrade", "EventualChange"),
]


def run(plan: Any) -> Violation | None:
    """What a plan of the reference, or of a copy of it, violates."""
    simulation = simulation_of(plan) if isinstance(plan, RunPlan) else plan.simulation()
    for _ in simulation.run():
        pass
    violation: Violation | None = simulation.violation
    return violation


def found(plan: Any, seeds: range, property_name: str) -> Any:
    """The plan with the first seed whose run breaks the property."""
    for one in (replace(plan, seed=seed) for seed in seeds):
        violation = run(one)
        if violation is not None and violation.property_name == property_name:
            return one
    raise AssertionError(f"{property_name} is not broken by a seed in {seeds}")


@pytest.mark.parametrize(("name", "workload", "property_name"), MUTANTS)
def test_a_mutant_breaks_a_property(name: str, workload: str, property_name: str) -> None:
    mutant = load_catalogue()[name]
    edits = (*reference_edits_without(mutant.switched_off), *[edit.as_edit() for edit in mutant.reference])
    texts = edited_texts(package_folder(ORIGINAL), edits)
    broken = Copy(f"_{ORIGINAL}_{name.replace('-', '_')}", texts=texts)
    found(broken.module("cluster.plan").RunPlan(0, 3, 600, workload), range(20), property_name)


def test_snapshots_of_what_is_not_committed_break_a_property(monkeypatch: pytest.MonkeyPatch) -> None:
    def of_everything(state: Any, _: int) -> Outcome:
        return Outcome(state._replace(log=rebased(state.log, snapshot_at(state.log, state.log.end_offset))))

    monkeypatch.setattr(snapshots, "after_take_snapshot", of_everything)
    found(RunPlan(0, 3, 600, "snapshots"), range(60), "StateMachineSafety")


@pytest.mark.parametrize(
    ("rule", "workload", "replicas", "seeds", "property_name"),
    [
        ("hw.monotonic", "lossy", 3, range(10), "HwMonotonic"),
        ("state.resigned.timeout", "storm", 3, range(10), "NotFollowerOfSelf"),
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
def test_without_a_rule_a_property_is_broken(
    rule: str, workload: str, replicas: int, seeds: range, property_name: str
) -> None:
    plan = found(RunPlan(0, replicas, 600, workload, switched_off=(rule,)), seeds, property_name)
    # The same run with the rule in force keeps everything.
    assert run(replace(plan, switched_off=())) is None


def started() -> World:
    """Voters that look for a leader, with two other bootstrap servers each."""
    return World(RunPlan(seed=1, workload="calm").configuration())


def test_who_looks_for_the_leader_at_one_server_only_is_found() -> None:
    world = started()
    asked = EverybodyIsAsked(world.configuration)
    searches = (world.happen(1, event) for _ in range(40) for event in (PollFetch(2), RequestTimeout(2)))
    violation = next(filter(None, map(asked.observe, searches)))
    assert violation.property_name == "EverybodyIsAsked"
    assert violation.message.endswith("none of them to bootstrap server 3")


def test_an_effect_out_of_its_order_is_found() -> None:
    world = started()
    invariants = Invariants(world.configuration, {one: world.state(one) for one in world.replicas})
    (sent,) = world.happen(2, PollFetch(1)).effects
    occurrence = world.happen(1, ElectionTimeout())
    late = occurrence._replace(effects=(*occurrence.effects, sent))
    assert [type(effect) for effect in late.effects] == [StartTimer, Send]
    violation = invariants.observe(late)
    assert violation is not None
    assert violation.message == "Send comes too late among the effects"
