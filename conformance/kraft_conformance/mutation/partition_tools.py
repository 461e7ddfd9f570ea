"""Tools that look for what is wrong with the reassignment of partitions: its scenarios, and its traces."""

from dataclasses import replace

from kraft_conformance.mutation.sighting import Sighting, Tally, Target
from kraft_reference.cluster.partition_workload import random_configuration, random_run
from kraft_reference.partitions.decisions import PROFILES
from kraft_reference.partitions.scenarios import PARTITION_SCENARIOS, PartitionScenarioFailure
from kraft_reference.partitions.scenarios import run as run_scenario

SEEDS = range(6)
EVENTS = 300


def play_partition_scenarios(target: Target, tally: Tally) -> Sighting | None:
    """Run every variant of S25 to S29: its rows, and the properties it is to violate."""
    for scenario in PARTITION_SCENARIOS:
        for variant in scenario.variants:
            tally.where = f"{scenario.name}/{variant.name}"
            off = variant.configuration.switched_off | target.switched_off
            broken = replace(variant, configuration=replace(variant.configuration, switched_off=off))
            try:
                tally.amount += len(run_scenario(scenario, broken).occurrences)
            except PartitionScenarioFailure as failure:
                return Sighting(f"expected {failure.subject} {failure.expected}, got {failure.actual}", tally.where)
    return None


def check_partition_traces(target: Target, tally: Tally) -> Sighting | None:
    """Random runs under every profile, each line judged by TLC; the model has all rules in force."""
    # Late: the checker is not needed by who plays scenarios only, and parses the model.
    from kraft_traces.partitions.checker import check_partition_occurrences

    for seed in SEEDS:
        for profile in PROFILES.values():
            tally.where = f"{profile.name}, seed {seed}"
            honest = random_configuration(seed, profile)
            run = random_run(replace(honest, switched_off=target.switched_off), seed, EVENTS)
            verdict = check_partition_occurrences(run, honest, tally.where)
            tally.amount += verdict.events
            if verdict.rejection is not None:
                rejection = verdict.rejection
                fields = ", ".join(dict.fromkeys(one.field for one in rejection.differences))
                words = fields or f"violates {', '.join(rejection.properties)}"
                said = f"{rejection.event}: {words}; rules {', '.join(rejection.rules[:2])}"
                return Sighting(said, f"{tally.where}, event {rejection.sequence}")
    return None
