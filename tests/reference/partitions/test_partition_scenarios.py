"""S25 to S29: every variant runs with its outcome, and a scenario with a wrong expectation fails by name."""

import pytest

from kraft_mutants.playing import play_partitions
from kraft_mutants.replicas import mutated_controllers
from kraft_partitions.decisions import PROFILES
from kraft_partitions.scenarios import (
    PARTITION_SCENARIOS,
    PartitionScenario,
    PartitionVariant,
    partition_scenario,
    run,
)
from kraft_partitions.scenarios.scenario import cluster
from kraft_partitions.scenarios.stage import PartitionStage
from kraft_simulation.scenarios import ScenarioFailure
from kraft_spec.rules import load_registry

VARIANTS = [
    pytest.param(scenario, variant, id=f"{scenario.name}-{variant.name}")
    for scenario in PARTITION_SCENARIOS
    for variant in scenario.variants
]


@pytest.mark.parametrize(("scenario", "variant"), VARIANTS)
def test_a_variant_runs_with_its_outcome_twice_the_same(scenario: PartitionScenario, variant: PartitionVariant) -> None:
    first, second = play_partitions(scenario, variant), play_partitions(scenario, variant)
    assert first == second
    assert tuple(sorted(first.violated)) == variant.violates
    assert [occurrence.sequence for occurrence in first.occurrences] == list(range(1, len(first.occurrences) + 1))


def test_names_rules_and_profiles_exist() -> None:
    registry = load_registry()
    assert [scenario.number for scenario in PARTITION_SCENARIOS] == ["S25", "S26", "S27", "S28", "S29"]
    for scenario in PARTITION_SCENARIOS:
        assert partition_scenario(scenario.number.lower()) is partition_scenario(scenario.name) is scenario
        assert scenario.variants[0].name.startswith("right")
        assert len({variant.name for variant in scenario.variants}) == len(scenario.variants)
        off = {rule for variant in scenario.variants for rule in variant.mutants}
        assert {*scenario.rules, *off} <= set(registry.by_id)
        for variant in scenario.variants:
            assert scenario.variant(variant.name) is variant
            assert bool(variant.violates) == (not variant.name.startswith("right"))
    with pytest.raises(KeyError, match="no scenario 's30'"):
        partition_scenario("s30")
    with pytest.raises(KeyError, match="has no variant 'none'"):
        PARTITION_SCENARIOS[0].variant("none")
    assert set(PROFILES) == {"kip", "kafka-4"}


def test_every_safety_rule_has_a_variant_without_it() -> None:
    safety = {rule.id for rule in load_registry() if rule.safety and rule.id.startswith("partition-reassign.")}
    off = {r for scenario in PARTITION_SCENARIOS for variant in scenario.variants for r in variant.mutants}
    assert len(safety) == 11
    assert off == safety


@pytest.mark.parametrize(("scenario", "variant"), [each for each in VARIANTS if "right" in str(each.id)])
def test_no_safety_rule_is_idle(scenario: PartitionScenario, variant: PartitionVariant) -> None:
    """The rules cause the outcome of a right variant: without some of them a row differs."""
    off = frozenset(rule for rule in scenario.rules if load_registry()[rule].safety)
    if not off or variant.name in ("right-reordered", "right-batch"):
        return
    assert any(_fails(scenario, variant, rule) for rule in off)


def _fails(scenario: PartitionScenario, variant: PartitionVariant, without: str) -> bool:
    try:
        run(scenario, variant, mutated_controllers((without,)))
    except ScenarioFailure:
        return True
    return False


def test_an_event_without_a_row_fails() -> None:
    stage = PartitionStage("unchecked", cluster(4))
    stage.step("1")
    stage.alter(4, 3, 2)
    with pytest.raises(ScenarioFailure, match=r"step '1': the row after an event"):
        stage.complete()


def test_a_wrong_row_names_the_difference() -> None:
    stage = PartitionStage("wrong", cluster(4))
    with pytest.raises(ScenarioFailure) as caught:
        stage.row("[1,2]", "[1,2,3]", "[]", "[]")
    assert caught.value.expected == "[1,2] | [1,2,3] | [] | []"
    assert caught.value.actual == "[1,2,3] | [1,2,3] | [] | []"


def test_a_leader_adds_only_replicas_that_it_was_sent() -> None:
    mixed = partition_scenario("s25").variant("wrong-mixed-versions")
    stage = PartitionStage("told", mixed.configuration, mutated_controllers(mixed.mutants))
    mixed.script(stage)
    with pytest.raises(ScenarioFailure, match="replicas that the leader was told of"):
        stage.in_sync(1, 2, 3, 4)
