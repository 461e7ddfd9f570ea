"""Random runs against runs that must come to the same: other partitions, other controllers, other names, one by one."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraft_dev.partition_workload import random_configuration, random_run
from kraft_reference.partitions.configuration import PartitionConfiguration
from kraft_reference.partitions.decisions import KIP, PROFILES, ReassignmentProfile
from kraft_reference.partitions.effects import (
    AlterReassignmentsAnswer,
    Effect,
    LeaderAndIsr,
    StopReplica,
    StorePartitions,
)
from kraft_reference.partitions.errors import Error
from kraft_reference.partitions.events import (
    AlterPartition,
    AlterPartitionReassignments,
    BrokerFails,
    BrokerStarts,
    CompleteReassignment,
    ControllerFailover,
    Event,
    ListPartitionReassignments,
    WriteReassignPartitions,
)
from kraft_reference.partitions.occurrence import PartitionOccurrence, happen
from kraft_reference.partitions.partition import Partition, TopicPartition
from kraft_reference.partitions.properties import PartitionWatch
from kraft_reference.partitions.state import ControllerState, initial_state

EVENTS = 120
NOBODY = 99
"""A node that is never controller."""
SEEDS = st.integers(0, 2**32)
EVERY_PROFILE = pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)


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


# ---------------------------------------------------------------------------------------------------------
# Partitions are independent.  Rule: partition-reassign.per-partition.
# ---------------------------------------------------------------------------------------------------------


def of_one(name: TopicPartition, event: Event) -> Event | None:
    """What is left of an event where this is the only partition."""
    match event:
        case AlterPartitionReassignments():
            return replace(event, targets=tuple([one for one in event.targets if one[0] == name]))
        case AlterPartition() | CompleteReassignment():
            return event if event.partition == name else None
        case _:
            return event


@EVERY_PROFILE
@given(seed=SEEDS)
def test_a_partition_goes_its_way_whatever_the_others_do(profile: ReassignmentProfile, seed: int) -> None:
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


@EVERY_PROFILE
@given(seed=SEEDS)
def test_a_batch_is_its_requests_one_by_one(profile: ReassignmentProfile, seed: int) -> None:
    configuration = random_configuration(seed, profile)
    for occurrence, before in _with_states(run_of(configuration, events_of(configuration, seed)), configuration):
        event = occurrence.event
        if not isinstance(event, AlterPartitionReassignments):
            continue
        if len({name for name, _ in event.targets}) < len(event.targets) or not event.may_alter:
            continue
        state = before
        results: list[tuple[TopicPartition, Error]] = []
        done: list[object] = []
        for target in event.targets:
            one = happen(1, state, replace(event, targets=(target,)), configuration)
            state = one.state
            done += [effect for name in configuration.assignments for effect in about(name, one.effects)]
            results += results_of(one)
        assert state == occurrence.state
        assert results_of(occurrence) == results
        together = [effect for name in configuration.assignments for effect in about(name, occurrence.effects)]
        assert sorted(map(str, together)) == sorted(map(str, done))


def results_of(occurrence: PartitionOccurrence) -> list[tuple[TopicPartition, Error]]:
    answers = [effect for effect in occurrence.effects if isinstance(effect, AlterReassignmentsAnswer)]
    return [result for answer in answers for result in answer.results]


def _with_states(
    run: Sequence[PartitionOccurrence], configuration: PartitionConfiguration
) -> Iterable[tuple[PartitionOccurrence, ControllerState]]:
    before = initial_state(configuration)
    for occurrence in run:
        yield occurrence, before
        before = occurrence.state


# ---------------------------------------------------------------------------------------------------------
# Controllers are replaced at every point.  Rule: partition-reassign.persisted.
# ---------------------------------------------------------------------------------------------------------


def at(node: int, event: Event, controller: int) -> Event:
    """The same event where `controller` is what `node` was."""
    if isinstance(event, AlterPartitionReassignments | ListPartitionReassignments | AlterPartition):
        return replace(event, node=controller if event.node == node else NOBODY)
    return event


@EVERY_PROFILE
@given(seed=SEEDS)
def test_failovers_change_nothing_wherever_they_happen(profile: ReassignmentProfile, seed: int) -> None:
    configuration = random_configuration(seed, profile)
    random = Random(f"failovers {seed}")
    events = [event for event in events_of(configuration, seed) if not isinstance(event, ControllerFailover)]
    calm = run_of(configuration, [at(1, event, 1) for event in events])
    controller, interrupted, kept = 1, list[Event](), list[int]()
    for event in events:
        if random.random() < 0.5:
            controller = random.choice([node for node in configuration.controllers if node != controller])
            interrupted.append(ControllerFailover(controller))
        kept.append(len(interrupted))
        interrupted.append(at(1, event, controller))
    restless = run_of(configuration, interrupted)
    for one, index in zip(calm, kept, strict=True):
        other = restless[index]
        assert other.effects == one.effects
        assert other.refusal == one.refusal
        assert other.state.partitions == other.state.stored == one.state.stored
    watch = PartitionWatch(configuration)
    for occurrence in restless:
        watch.observe(occurrence)
    assert profile is not KIP or watch.violated == {}


# ---------------------------------------------------------------------------------------------------------
# Brokers have no rank.
# ---------------------------------------------------------------------------------------------------------


def _renamed_ids(ids: Iterable[int], names: dict[int, int]) -> tuple[int, ...]:
    return tuple([names.get(one, one) for one in ids])


def renamed(event: Event, names: dict[int, int]) -> Event:
    match event:
        case AlterPartitionReassignments():
            targets = [(name, None if ids is None else _renamed_ids(ids, names)) for name, ids in event.targets]
            return replace(event, targets=tuple(targets))
        case AlterPartition():
            in_sync = frozenset(names.get(i, i) for i in event.in_sync)
            return replace(event, broker=names.get(event.broker, event.broker), in_sync=in_sync)
        case BrokerFails() | BrokerStarts():
            return replace(event, broker=names.get(event.broker, event.broker))
        case _:
            return event


def renamed_partition(one: Partition, names: dict[int, int]) -> Partition:
    replicas, adding, removing = [_renamed_ids(ids, names) for ids in (one.replicas, one.adding, one.removing)]
    leader = None if one.leader is None else names[one.leader]
    in_sync = frozenset(names[i] for i in one.in_sync)
    return one._replace(replicas=replicas, in_sync=in_sync, adding=adding, removing=removing, leader=leader)


@given(seed=SEEDS, order=st.permutations(range(1, 7)))
def test_other_ids_of_brokers_give_the_same_run(seed: int, order: list[int]) -> None:
    """With the KIP's order; Kafka's has ascending ids in it."""
    configuration = random_configuration(seed)
    names = dict(zip(range(1, 7), order, strict=True))
    assignments = {name: _renamed_ids(ids, names) for name, ids in configuration.assignments.items()}
    events = events_of(configuration, seed)
    one = run_of(configuration, events)
    other = run_of(replace(configuration, assignments=assignments), [renamed(event, names) for event in events])
    for first, second in zip(one, other, strict=True):
        assert second.refusal == first.refusal
        for name, partition in first.state.partitions.items():
            assert second.state.partitions[name] == renamed_partition(partition, names)
