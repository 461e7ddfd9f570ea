"""Partition traces: every honest run is accepted, and what is planted is rejected by field and rule."""

import pytest
from tests.spec.own_process import in_own_process
from tests.traces.partitions.checks import (
    Change,
    first_violations,
    planted_verdicts,
    random_verdicts,
    scenario_verdicts,
    verdicts_without,
)

from kraft_dev.partition_workload import random_configuration, random_run
from kraft_mutants import omittable_partition_rules
from kraft_partitions.decisions import KAFKA_4
from kraft_partitions.scenarios import PARTITION_SCENARIOS
from kraft_traces.check.verdict import RejectionKind
from kraft_traces.partitions.encode import configuration_of, header_of


def test_the_model_says_of_every_scenario_what_the_scenario_says() -> None:
    verdicts = in_own_process(scenario_verdicts)
    for scenario in PARTITION_SCENARIOS:
        for variant in scenario.variants:
            verdict = verdicts[scenario.name, variant.name]
            violated = set(variant.violates) - {"EventuallyCompletes"}
            unkept = set(verdict.given_up) | (set(verdict.rejection.properties) if verdict.rejection else set())
            assert bool(unkept) == bool(violated), (variant.name, verdict)
            assert unkept <= violated
            if verdict.rejection is not None:
                assert verdict.rejection.kind is RejectionKind.PROPERTY
                assert set(verdict.rejection.rules) & set(variant.mutants)


@pytest.mark.parametrize("seeds", [range(3), pytest.param(range(3, 12), marks=pytest.mark.nightly)], ids=str)
def test_random_runs_are_accepted(seeds: range) -> None:
    verdicts = in_own_process(random_verdicts, seeds, 250)
    assert {key: verdict.events for key, verdict in verdicts.items() if verdict.accepted} == dict.fromkeys(
        verdicts, 250
    )
    assert all(not verdict.given_up for (_, profile), verdict in verdicts.items() if profile == "kip")
    assert any(verdict.given_up for (_, profile), verdict in verdicts.items() if profile == "kafka-4")


ROW = {"partition": ["A", 0], "replicas": [1, 4, 3, 2], "adding": [4], "removing": [1]}
PLANTED: list[tuple[list[Change], str, str, int]] = [
    ([(1, ("effects", 0, "partitions", 0, "adding"), [])], "store[A-0].adding", "partition-reassign.persisted", 2),
    (
        [(1, ("state", "partitions", 0, "replicas"), [4, 3, 2])],
        "partitions[A-0].replicas",
        "partition-reassign.start",
        2,
    ),
    ([(1, ("effects", 1, "replicas"), [1, 2, 3])], "leader_and_isr", "partition-reassign.mixed-versions", 2),
    ([(1, ("effects", 1, "version"), 2)], "leader_and_isr", "partition-reassign.leader-and-isr-fields", 2),
    ([(1, ("effects", 5, "results", 0, 1), "NOT_CONTROLLER")], "answer", "partition-reassign.error-order", 2),
    ([(2, ("state", "controller"), 1)], "controller", "partition-reassign.controller-only", 3),
    ([(2, ("refusal",), "ALREADY_SO")], "refusal", "partition-reassign.persisted", 3),
    ([(3, ("effects", 0, "reassignments"), [])], "answer", "partition-reassign.list", 4),
    (
        [(7, ("state", "partitions", 0, "leader"), 1)],
        "partitions[A-0].leader",
        "partition-reassign.leader-in-removing",
        8,
    ),
    (
        [(7, ("state", "partitions", 0, "in_sync"), [3, 4])],
        "partitions[A-0].in_sync",
        "partition-reassign.isr-never-empty",
        8,
    ),
    ([(7, ("state", "alive"), [1, 2, 3])], "alive", "partition-reassign.complete-in-one-step", 8),
    ([(4, ("state", "partitions", 0, "in_sync"), [4, 1, 2, 3])], "state.partitions[0].in_sync", "", 5),
    ([(4, ("event", "in_sync"), [1, 2, 3, 4, 4])], "event.in_sync", "", 5),
    ([(1, ("effects", 0, "partitions", 0, "in_sync"), [1, 2, 3, 3])], "effects[0].partitions[0].in_sync", "", 2),
    ([(3, ("effects", 0, "reassignments"), [ROW, ROW])], "effects[0].reassignments", "", 4),
    ([(2, ("state", "legacy"), [[["A", 0], [1]], [["A", 0], [1]]])], "state.legacy", "", 3),
]


def test_what_is_planted_is_rejected_by_field_and_rule() -> None:
    verdicts = in_own_process(planted_verdicts, [changes for changes, *_ in PLANTED])
    for (_, field, rule, line), verdict in zip(PLANTED, verdicts, strict=True):
        assert verdict.rejection is not None, field
        assert verdict.rejection.line == line
        assert field in [difference.field for difference in verdict.rejection.differences]
        assert not rule or rule in verdict.rejection.rules, verdict.rejection
        assert verdict.rejection.headline().startswith(f"planted.jsonl:{line}: event {line - 1} ")


def test_a_rule_that_is_left_out_explains_the_line() -> None:
    rules = list(omittable_partition_rules())
    assert len(rules) == 11
    verdicts_by_rule = in_own_process(verdicts_without, rules, range(6), 250)
    assert [rule for rule in rules if verdicts_by_rule[rule].accepted] == []
    explained = [
        r for r in rules if (explanation := verdicts_by_rule[r].rejection) is not None and r in explanation.explained_by
    ]
    # What a deposed node knows is in no line, so that its writing explains nothing.
    assert explained == [rule for rule in rules if rule != "partition-reassign.controller-only"]


@pytest.mark.nightly
def test_reference_and_model_see_the_same_violations() -> None:
    """Two statements of each property, one in Python and one in TLA+."""
    rules = list(omittable_partition_rules())
    violations = in_own_process(first_violations, rules, range(4), 150)
    assert [(key, pair) for key, pair in violations.items() if pair[0] != pair[1]] == []
    properties = {name for (_, names), _ in violations.values() for name in names}
    assert properties >= {
        "CancelRestores",
        "CompletesAsAsked",
        "InSyncNeverBelow",
        "LeaderIsReplica",
        "ListsAreConsistent",
    }
    assert properties >= {"ReplicasAreBrokers", "ReplicasGrowBeforeTheyShrink", "StoredIsWhole"}


def test_a_header_stands_for_its_configuration() -> None:
    for seed in range(5):
        configuration = random_configuration(seed, KAFKA_4)
        assert configuration_of(header_of(configuration, seed)) == configuration
        assert random_run(configuration, seed, 50) == random_run(configuration, seed, 50)
