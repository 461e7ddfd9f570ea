"""Partitions and their reassignments as Kafka's tools print them, and the steps between.

Rules: cli.reassign-list, cli.topics-describe.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kraft_conformance.directories.partition_history import PartitionHistory
from kraft_conformance.directories.partition_requests import Result
from kraft_conformance.directories.partition_work import Step, listed, waits_for
from kraft_reference.partitions.effects import Reassignment
from kraft_reference.partitions.errors import ERROR_CODES
from kraft_reference.partitions.partition import Assignment, Partition, TopicPartition

NOTHING_RUNS = "No partition reassignments found."
SOME_RUN = "Current partition reassignments:"
UNCLEAN = "unclean.leader.election.enable"

_STEP_COLUMNS = ("Round", "Partition", "Step", "R", "I", "AR", "RR", "Leader")

# ---------------------------------------------------------------------------------------------------------
# kafka-reassign-partitions.
# ---------------------------------------------------------------------------------------------------------


def reassignment_line(one: Reassignment) -> str:
    """A running reassignment; adding and removing only if there are any."""
    words = [f"{one.partition}: replicas: {listed(one.replicas)}."]
    words += [f"adding: {listed(one.adding)}."] if one.adding else []
    words += [f"removing: {listed(one.removing)}."] if one.removing else []
    return " ".join(words)


def list_text(running: Sequence[Reassignment]) -> str:
    """--list.  Rule: cli.reassign-list."""
    if not running:
        return NOTHING_RUNS
    return "\n".join([SOME_RUN, *map(reassignment_line, running)])


def steps_text(steps: Iterable[Step]) -> str:
    """A table of the steps, R, I, AR and RR after each."""
    rows: list[tuple[str, ...]] = [_STEP_COLUMNS]
    for one in steps:
        part = one.partition
        lists = (part.replicas, sorted(part.in_sync), part.adding, part.removing)
        where = str(one.round) if one.round else ""
        rows.append((where, str(one.name), one.what, *[listed(ids) or "-" for ids in lists], _leader(part)))
    widths = [max(len(row[column]) for row in rows) for column in range(len(_STEP_COLUMNS))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    return "\n".join(line.rstrip() for line in lines)


def status_line(history: PartitionHistory, name: TopicPartition) -> str:
    """How far the reassignment of a partition is, as --verify says."""
    partition = history.state.partitions[name]
    now = f"replicas {listed(partition.replicas)}, in sync {listed(sorted(partition.in_sync))}"
    if not partition.is_reassigned:
        return f"{name}: at rest, {now}, leader {_leader(partition)}"
    waiting = waits_for(history.state, history.configuration, name) or "complete in the next round"
    return f"{name}: in progress, {now}; {waiting}"


def verified(history: PartitionHistory, name: TopicPartition, target: Assignment) -> tuple[str, str]:
    """How far a partition is on the way to a target: complete, in progress, other or unknown; and that in words."""
    partition = history.state.partitions.get(name)
    if partition is None:
        return "unknown", "there is no such partition"
    if partition.is_reassigned and partition.target == target:
        waiting = waits_for(history.state, history.configuration, name) or "complete in the next round"
        return "in progress", f"in progress; {waiting}"
    if partition.is_reassigned:
        return "other", f"another reassignment is in progress, to {listed(partition.target)}"
    if partition.replicas != target:
        return "other", f"replicas {listed(partition.replicas)}, expected {listed(target)}; nothing is in progress"
    return "complete", "complete"


# ---------------------------------------------------------------------------------------------------------
# kafka-topics.
# ---------------------------------------------------------------------------------------------------------


def topic_text(history: PartitionHistory, topic: str, running: Mapping[TopicPartition, Reassignment]) -> str:
    """--describe of a topic; the adding and removing replicas are those of the list.  Rule: cli.topics-describe."""
    partitions = partitions_of(history, topic)
    first, part = next(iter(partitions.items()))
    factor = len(part.replicas) - (len(running[first].adding) if first in running else 0)
    configs = f"{UNCLEAN}=true" if topic in history.configuration.unclean_topics else ""
    lines = [
        f"Topic: {topic}\tPartitionCount: {len(partitions)}\tReplicationFactor: {factor}\tConfigs: {configs}".rstrip()
    ]
    for name, part in partitions.items():
        cells = [
            f"\tTopic: {topic}",
            f"Partition: {name.partition}",
            f"Leader: {_leader(part)}",
            f"Replicas: {listed(part.replicas)}",
            f"Isr: {listed(sorted(part.in_sync))}",
        ]
        moving = running.get(name)
        cells += [f"Adding Replicas: {listed(moving.adding)}"] if moving and moving.adding else []
        cells += [f"Removing Replicas: {listed(moving.removing)}"] if moving and moving.removing else []
        lines.append("\t".join(cells))
    return "\n".join(lines)


def partitions_of(history: PartitionHistory, topic: str) -> dict[TopicPartition, Partition]:
    """The partitions of a topic in order; empty if there is no such topic."""
    return {name: one for name, one in sorted(history.state.partitions.items()) if name.topic == topic}


# ---------------------------------------------------------------------------------------------------------
# JSON.
# ---------------------------------------------------------------------------------------------------------


def partition_document(history: PartitionHistory, name: TopicPartition) -> dict[str, Any]:
    """A partition as JSON values."""
    return {
        **_document(name, history.state.partitions[name]),
        "waits_for": waits_for(history.state, history.configuration, name),
    }


def step_document(step: Step) -> dict[str, Any]:
    """A step as JSON values."""
    return {"round": step.round, "step": step.what, **_document(step.name, step.partition)}


def result_document(result: Result) -> dict[str, Any]:
    """The result of one partition of a request as JSON values."""
    return {
        "topic": result.name.topic,
        "partition": result.name.partition,
        "error": str(result.error),
        "error_code": ERROR_CODES[result.error],
        "message": result.said,
    }


def _document(name: TopicPartition, one: Partition) -> dict[str, Any]:
    return {
        "topic": name.topic,
        "partition": name.partition,
        "leader": one.leader,
        "replicas": list(one.replicas),
        "in_sync": sorted(one.in_sync),
        "adding": list(one.adding),
        "removing": list(one.removing),
    }


def _leader(partition: Partition) -> str:
    return "none" if partition.leader is None else str(partition.leader)
