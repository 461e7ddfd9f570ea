"""Partitions are independent: in a random run each behaves as it does alone."""

from collections.abc import Iterable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraft_dev.partition_workload import random_configuration, random_run
from kraft_partitions.configuration import PartitionConfiguration
from kraft_partitions.decisions import PROFILES, ReassignmentProfile
from kraft_partitions.effects import (
    Effect,
    LeaderAndIsr,
    StopReplica,
    StorePartitions,
)
from kraft_partitions.events import (
    AlterPartition,
    AlterPartitionReassignments,
    CompleteReassignment,
    Event,
    WriteReassignPartitions,
)
from kraft_partitions.occurrence import PartitionOccurrence, happen
from kraft_partitions.partition import TopicPartition
from kraft_partitions.state import initial_state

EVENTS = 120


def events_of(configuration: PartitionConfiguration, seed: int) -> list[Event]:
    """Return the events of a random run without the old znode, which couples partitions and failovers."""
    run = random_run(configuration, seed, EVENTS)
    return [occurrence.event for occurrence in run if not isinstance(occurrence.event, WriteReassignPartitions)]


def run_of(configuration: PartitionConfiguration, events: Iterable[Event]) -> list[PartitionOccurrence]:
    state, occurrences = initial_state(configuration), []
    for sequence, event in enumerate(events, 1):
        occurrences.append(happen(sequence, state, event, configuration))
        state = occurrences[-1].state
    return occurrences


def about(name: TopicPartition, effects: Iterable[Effect]) -> list[object]:
    """Return the stored, sent and stopped data of one partition."""
    parts: list[object] = []
    for effect in effects:
        if isinstance(effect, StorePartitions):
            parts += [partition for other, partition in effect.partitions if other == name]
        elif isinstance(effect, LeaderAndIsr | StopReplica) and effect.partition == name:
            parts.append(effect)
    return parts


def of_one(name: TopicPartition, event: Event) -> Event | None:
    """Return the event restricted to this partition."""
    match event:
        case AlterPartitionReassignments():
            return replace(event, targets=tuple([target for target in event.targets if target[0] == name]))
        case AlterPartition() | CompleteReassignment():
            return event if event.partition == name else None
        case _:
            return event


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
@given(seed=st.integers(0, 2**32))
def test_a_partition_goes_its_way_whatever_the_others_do(profile: ReassignmentProfile, seed: int) -> None:
    """Rule: partition-reassign.per-partition."""
    configuration = random_configuration(seed, profile)
    events = events_of(configuration, seed)
    together = run_of(configuration, events)
    for name, replicas in configuration.assignments.items():
        alone = replace(configuration, assignments={name: replicas})
        left = [(occurrence, mine) for occurrence in together if (mine := of_one(name, occurrence.event)) is not None]
        apart = run_of(alone, [mine for _, mine in left])
        for (occurrence, _), other in zip(left, apart, strict=True):
            assert occurrence.state.partitions[name] == other.state.partitions[name]
            assert about(name, occurrence.effects) == about(name, other.effects)
