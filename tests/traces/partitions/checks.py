"""Checks in a process of its own: TLC keeps one specification in a process, and this is not the quorum's."""

import json

from kraft_dev.partition_workload import random_configuration, random_run
from kraft_mutants.playing import play_partitions
from kraft_mutants.replicas import mutated_controllers
from kraft_partitions.decisions import PROFILES
from kraft_partitions.properties import PartitionWatch
from kraft_partitions.scenarios import PARTITION_SCENARIOS, run
from kraft_traces.partitions.checker import PartitionVerdict, check_partition_occurrences, check_partition_reader
from kraft_traces.partitions.encode import encode_trace
from kraft_traces.partitions.reader import partition_trace_of_bytes

Change = tuple[int, tuple[str | int, ...], object]
"""A line from 0, the header; the path of a field in it; what is written there."""

Judged = tuple[int | None, set[str]]
"""The sequence of the first violating line, if any, and what it violates."""


def scenario_verdicts() -> dict[tuple[str, str], PartitionVerdict]:
    """The verdict on every variant of every scenario."""
    return {
        (scenario.name, variant.name): check_partition_occurrences(
            play_partitions(scenario, variant).occurrences,
            variant.configuration,
            f"{scenario.name}/{variant.name}",
            variant.mutants,
        )
        for scenario in PARTITION_SCENARIOS
        for variant in scenario.variants
    }


def random_verdicts(seeds: range, events: int) -> dict[tuple[int, str], PartitionVerdict]:
    """The verdict on written and read random runs of each profile."""
    verdicts = {}
    for seed in seeds:
        for profile in PROFILES.values():
            configuration = random_configuration(seed, profile)
            trace = b"".join(encode_trace(configuration, random_run(configuration, seed, events), seed))
            verdicts[seed, profile.name] = check_partition_reader(partition_trace_of_bytes(trace, "run.jsonl"))
    return verdicts


def planted_verdicts(changes: list[list[Change]]) -> list[PartitionVerdict]:
    """The verdict on the trace of s25-normal/right-fail-over with one list of fields changed after the other."""
    scenario = PARTITION_SCENARIOS[0]
    variant = scenario.variant("right-fail-over")
    texts = list(encode_trace(variant.configuration, run(scenario, variant).occurrences))
    verdicts = []
    for planted in changes:
        lines = [json.loads(text) for text in texts]
        for number, path, value in planted:
            place = lines[number]
            for step in path[:-1]:
                place = place[step]
            place[path[-1]] = value
        trace = "\n".join([json.dumps(line) for line in lines]).encode()
        verdicts.append(check_partition_reader(partition_trace_of_bytes(trace, "planted.jsonl")))
    return verdicts


def verdicts_without(rules: list[str], seeds: range, events: int) -> dict[str, PartitionVerdict]:
    """The first rejection of runs that leave out a rule and do not say so."""
    verdicts = {}
    for rule in rules:
        for seed in seeds:
            configuration = random_configuration(seed)
            run = random_run(configuration, seed, events, mutated_controllers((rule,)))
            verdicts[rule] = check_partition_occurrences(run, configuration, rule)
            if not verdicts[rule].accepted:
                break
    return verdicts


def first_violations(rules: list[str], seeds: range, events: int) -> dict[tuple[str, int], tuple[Judged, Judged]]:
    """Return the first violations by the reference and by TLC in runs that omit a rule and record it."""
    violations: dict[tuple[str, int], tuple[Judged, Judged]] = {}
    for rule in rules:
        for seed in seeds:
            configuration = random_configuration(seed)
            run = random_run(configuration, seed, events, mutated_controllers((rule,)))
            watch = PartitionWatch(configuration)
            for occurrence in run:
                watch.observe(occurrence)
            first = min(watch.violated.values(), default=None)
            ours = (first, {name for name, sequence in watch.violated.items() if sequence == first})
            rejection = check_partition_occurrences(run, configuration, rule, (rule,)).rejection
            theirs = (None, set()) if rejection is None else (rejection.sequence, set(rejection.properties))
            violations[rule, seed] = (ours, theirs)
    return violations
