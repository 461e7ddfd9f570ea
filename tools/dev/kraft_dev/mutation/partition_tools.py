"""Tools that look for what is wrong with the reassignment of partitions: its scenarios, and its traces."""

from kraft_dev.mutation.sighting import Sighting, Tally, Target
from kraft_dev.partition_workload import random_configuration, random_run
from kraft_reference.partitions.decisions import PROFILES
from kraft_reference.partitions.scenarios import PARTITION_SCENARIOS
from kraft_reference.scenarios import ScenarioFailure
from kraft_spec.edits import EditError
from kraft_spec.experiments.playing import play_partitions

SEEDS = range(6)
EVENTS = 300


def play_partition_scenarios(_target: Target, tally: Tally) -> Sighting | None:
    """Run every variant of S25 to S29: its rows, and the properties it is to violate."""
    for scenario in PARTITION_SCENARIOS:
        for variant in scenario.variants:
            tally.where = f"{scenario.name}/{variant.name}"
            try:
                tally.amount += len(play_partitions(scenario, variant).occurrences)
            except EditError:
                # The rule that the variant does without is broken already.
                continue
            except ScenarioFailure as failure:
                return Sighting(f"expected {failure.subject} {failure.expected}, got {failure.actual}", tally.where)
    return None


def check_partition_traces(_target: Target, tally: Tally) -> Sighting | None:
    """Random runs under every profile, each line judged by TLC; the model has all rules in force."""
    # Late: the checker is not needed by who plays scenarios only, and parses the model.
    from kraft_traces.partitions.checker import check_partition_occurrences

    for seed in SEEDS:
        for profile in PROFILES.values():
            tally.where = f"{profile.name}, seed {seed}"
            honest = random_configuration(seed, profile)
            run = random_run(honest, seed, EVENTS)
            verdict = check_partition_occurrences(run, honest, tally.where)
            tally.amount += verdict.events
            if verdict.rejection is not None:
                rejection = verdict.rejection
                fields = ", ".join(dict.fromkeys(one.field for one in rejection.differences))
                words = fields or f"violates {', '.join(rejection.properties)}"
                said = f"{rejection.event}: {words}; rules {', '.join(rejection.rules[:2])}"
                return Sighting(said, f"{tally.where}, event {rejection.sequence}")
    return None
