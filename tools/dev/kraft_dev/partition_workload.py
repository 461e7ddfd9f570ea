"""Random runs of the controllers of `kraft_partitions`: requests of every kind among failures of every kind.

One seed, one run.
Half of the requests are valid; the others are wrong or late.
"""

from collections.abc import Callable, Iterator
from random import Random
from typing import NamedTuple

from kraft_partitions.configuration import PartitionConfiguration
from kraft_partitions.controller import REFERENCE, Controllers
from kraft_partitions.decisions import KIP, ReassignmentProfile
from kraft_partitions.events import (
    AlterPartition,
    AlterPartitionReassignments,
    BrokerFails,
    BrokerStarts,
    CompleteReassignment,
    ControllerFailover,
    DeleteTopic,
    Event,
    ListPartitionReassignments,
    WriteReassignPartitions,
)
from kraft_partitions.occurrence import PartitionOccurrence, happen
from kraft_partitions.partition import Assignment, TopicPartition
from kraft_partitions.state import ControllerState, initial_state

BROKERS = 6
NAMES = (TopicPartition("A", 0), TopicPartition("A", 1), TopicPartition("B", 0))
STRANGE_NAMES = (TopicPartition("A", 99), TopicPartition("missing", 0))


def random_configuration(seed: int, profile: ReassignmentProfile = KIP) -> PartitionConfiguration:
    """Return six brokers, three nodes, three partitions at random replicas; topic B may elect uncleanly in every third
    run.
    """
    random = Random(f"configuration {seed}")
    brokers = range(1, BROKERS + 1)
    return PartitionConfiguration(
        frozenset(brokers),
        {name: tuple(random.sample(brokers, random.randint(1, 3))) for name in NAMES},
        (1, 2, 3),
        frozenset({"B"}) if seed % 3 == 0 else frozenset(),
        profile,
    )


class _Now(NamedTuple):
    """Context from which the next event is chosen."""

    state: ControllerState
    configuration: PartitionConfiguration
    controllers: Controllers


def random_run(
    configuration: PartitionConfiguration, seed: int, events: int, controllers: Controllers = REFERENCE
) -> tuple[PartitionOccurrence, ...]:
    """Return a run with this many events."""
    return tuple(_occurrences(configuration, Random(f"run {seed}"), events, controllers))


def _occurrences(
    configuration: PartitionConfiguration, random: Random, events: int, controllers: Controllers
) -> Iterator[PartitionOccurrence]:
    state = initial_state(configuration)
    for sequence in range(1, events + 1):
        (chooser,) = random.choices(_CHOOSERS, _WEIGHTS)
        event = chooser(_Now(state, configuration, controllers), random)
        occurrence = happen(sequence, state, event, configuration, controllers)
        state = occurrence.state
        yield occurrence


# ---------------------------------------------------------------------------------------------------------
# Choosers, one for each event.


def _name(state: ControllerState, random: Random) -> TopicPartition:
    return random.choice([*STRANGE_NAMES, *sorted(state.partitions) * 6])


def _node(state: ControllerState, configuration: PartitionConfiguration, random: Random) -> int:
    return state.controller if random.random() < 0.9 else random.choice(configuration.controllers)


def _target(configuration: PartitionConfiguration, random: Random) -> Assignment:
    brokers = sorted(configuration.brokers)
    target = tuple(random.sample(brokers, random.randint(1, 3)))
    wrong = (target, (), (*target, -2), (*target, 99), (*target, target[0]))
    return random.choices(wrong, (12, 1, 1, 1, 1))[0]


def _alter(now: _Now, random: Random) -> Event:
    state, configuration, _ = now
    targets = tuple(
        [
            (_name(state, random), None if random.random() < 0.25 else _target(configuration, random))
            for _ in range(random.choice((1, 1, 1, 2, 3)))
        ]
    )
    return AlterPartitionReassignments(_node(state, configuration, random), targets, random.random() < 0.97)


def _list(now: _Now, random: Random) -> Event:
    names = None if random.random() < 0.5 else tuple(random.sample([*NAMES, *STRANGE_NAMES], random.randint(0, 3)))
    return ListPartitionReassignments(_node(now.state, now.configuration, random), names, random.random() < 0.95)


def _alter_partition(now: _Now, random: Random) -> Event:
    """Return an AlterPartition: mostly of one replica that has caught up or fallen behind, otherwise arbitrary."""
    state, configuration, _ = now
    name = _name(state, random)
    partition = state.partitions.get(name)
    if partition is None or partition.leader is None:
        some = frozenset(random.sample(range(1, BROKERS + 1), 2))
        return AlterPartition(state.controller, random.randint(1, BROKERS), name, 0, 0, some)
    behind = [replica for replica in partition.replicas if replica in state.alive and replica not in partition.in_sync]
    ahead = sorted(partition.in_sync - {partition.leader})
    if behind and random.random() < 0.8:
        in_sync = partition.in_sync | {random.choice(behind)}
    else:
        in_sync = partition.in_sync - set(random.sample(ahead, min(1, len(ahead))))
    if random.random() < 0.1:
        in_sync ^= {random.randint(1, BROKERS)}
    late = random.choices((0, -1, 1), (18, 1, 1))[0]
    late_epoch = random.choices((0, -1, 1), (18, 1, 1))[0]
    broker = partition.leader if random.random() < 0.95 else random.randint(1, BROKERS)
    epochs = (partition.leader_epoch + late_epoch, partition.partition_epoch + late)
    return AlterPartition(_node(state, configuration, random), broker, name, *epochs, in_sync)


def _complete(now: _Now, random: Random) -> Event:
    ready = now.controllers.due(now.state, now.configuration)
    return CompleteReassignment(random.choice(ready) if ready else _name(now.state, random))


def _fail(now: _Now, random: Random) -> Event:
    return BrokerFails(random.randint(1, BROKERS + 1))


def _start(now: _Now, random: Random) -> Event:
    dead = sorted(now.configuration.brokers - now.state.alive)
    return BrokerStarts(random.choice(dead) if dead else random.randint(1, BROKERS + 1))


def _fail_over(now: _Now, random: Random) -> Event:
    return ControllerFailover(random.randint(1, 4))


def _delete(now: _Now, random: Random) -> Event:
    return DeleteTopic(random.choice(("B", "missing")))


def _write_znode(now: _Now, random: Random) -> Event:
    names = random.sample([*NAMES, STRANGE_NAMES[0]], random.randint(1, 3))
    return WriteReassignPartitions(tuple([(name, _target(now.configuration, random)) for name in names]))


_Chooser = Callable[[_Now, Random], Event]
_CHOOSERS: tuple[_Chooser, ...] = (
    _alter,
    _list,
    _alter_partition,
    _complete,
    _fail,
    _start,
    _fail_over,
    _delete,
    _write_znode,
)
_WEIGHTS = (24, 4, 40, 10, 5, 9, 3, 0.3, 2)
