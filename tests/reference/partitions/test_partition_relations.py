"""Partitions are independent: each goes its way in a random run as it does alone."""

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
    """Of a random run; the old znode couples partitions, and failovers with what has been asked, so it is left out."""
    run = random_run(configuration, seed, EVENTS)
    return [one.event for one in run if not isinstance(one.event, WriteReassignPartitions)]


def run_of(configuration: PartitionConfiguration, events: Iterable[Event]) -> list[PartitionOccurrence]:
    state, occurrences = initial_state(configuration), []
    for sequence, event in enumerate(events, 1):
        occurrences.append(happen(sequence, state, event, configuration))
        state = occurrences[-1].state
    return occurrences


def about(name: TopicPartition, effects: Iterable[Effect]) -> list[object]:
    """What is stored, told and stopped of one partition."""
    found: list[object] = []
    for effect in effects:
        if isinstance(effect, StorePartitions):
            found += [one for other, one in effect.partitions if other == name]
        elif isinstance(effect, LeaderAndIsr | StopReplica) and effect.partition == name:
            found.append(effect)
    return found


def of_one(name: TopicPartition, event: Event) -> Event | None:
    """What is left of an event where this is the only partition."""
    match event:
        case AlterPartitionReassignments():
            return replace(event, targets=tuple([one for one in event.targets if one[0] == name]))
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
        left = [(one, mine) for one in together if (mine := of_one(name, one.event)) is not None]
        apart = run_of(alone, [mine for _, mine in left])
        for (one, _), other in zip(left, apart, strict=True):
            assert one.state.partitions[name] == other.state.partitions[name]
            assert about(name, one.effects) == about(name, other.effects)
