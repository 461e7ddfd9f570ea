"""What the brokers and the controller of a simulated cluster do by themselves, in rounds.

In a round every partition takes one step if it can: its reassignment completes, else one replica that lags is in sync.
No bytes move and no time passes, so that the steps between the rounds are all that there is to see.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kraft_conformance.directories.partition_history import PartitionHistory
from kraft_reference.partitions.configuration import PartitionConfiguration
from kraft_reference.partitions.controller import due
from kraft_reference.partitions.events import AlterPartition, CompleteReassignment, Event
from kraft_reference.partitions.partition import Partition, TopicPartition, without
from kraft_reference.partitions.reassignment import may_complete
from kraft_reference.partitions.state import ControllerState


class Step(NamedTuple):
    """What one event made of one partition."""

    round: int
    """From 1; 0 for the request itself, and for the partition as it is before."""
    name: TopicPartition
    what: str
    partition: Partition
    """After the event."""


def next_event(state: ControllerState, configuration: PartitionConfiguration, name: TopicPartition) -> Event | None:
    """What a partition does next; None if it is at rest, or waits for brokers that are not alive.

    Adding replicas catch up before others, in their order.
    """
    if name in due(state, configuration):
        return CompleteReassignment(name)
    partition = state.partitions[name]
    if partition.leader is None:
        return None
    behind = [one for one in (*partition.adding, *partition.replicas) if one not in partition.in_sync]
    ready = next((one for one in behind if one in state.alive), None)
    if ready is None:
        return None
    epochs = (partition.leader_epoch, partition.partition_epoch)
    return AlterPartition(state.controller, partition.leader, name, *epochs, partition.in_sync | {ready})


def worked(history: PartitionHistory, rounds: int | None) -> Iterator[tuple[PartitionHistory, Step]]:
    """Each step with the history after it, for so many rounds, or until nothing happens by itself any more."""
    number = 0
    while rounds is None or number < rounds:
        number += 1
        before = history
        for name in sorted(history.state.partitions):
            event = next_event(history.state, history.configuration, name)
            if event is not None:
                old = history.state.partitions[name]
                history = history.worked_on(event)
                new = history.state.partitions[name]
                yield history, Step(number, name, change_in_words(old, new), new)
        if history is before:
            return


def change_in_words(before: Partition, after: Partition) -> str:
    """What a step of the cluster's own changed."""
    came = sorted(after.in_sync - before.in_sync)
    gone = without(before.replicas, after.replicas)
    words = [f"{listed(came)} in sync"] if came else []
    if before.is_reassigned and not after.is_reassigned:
        words.append("complete" + (f", {listed(gone)} stopped" if gone else ""))
    return "; ".join(words)


def waits_for(state: ControllerState, configuration: PartitionConfiguration, name: TopicPartition) -> str | None:
    """What a reassignment waits for, in words; None if there is none, or nothing keeps it from completing.

    Rules: partition-reassign.add-before-remove, partition-reassign.isr-never-empty.
    """
    partition = state.partitions[name]
    if not partition.is_reassigned or may_complete(partition, configuration):
        return None
    wanted = partition.adding if configuration.profile.completes_with == "adding" else partition.target
    missing = [one for one in wanted if one not in partition.in_sync]
    waiting = listed(missing) if missing else f"one of {listed(partition.target)}"
    dead = [one for one in missing or partition.target if one not in state.alive]
    if partition.leader is None:
        return f"waits for {waiting} to be in sync; nobody leads"
    return f"waits for {waiting} to be in sync" + (f"; not alive: {listed(dead)}" if dead else "")


def listed(ids: Iterable[int]) -> str:
    """Ids with commas, as Kafka's tools print them."""
    return ",".join(map(str, ids))
