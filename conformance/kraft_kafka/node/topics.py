"""Topic requests: KIP-455's two, AlterPartition of a partition's leader, CreateTopics.

Rules: partition-reassign.admin-api, partition-reassign.list, partition-reassign.error-order.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any
from uuid import UUID, uuid4

from kraft_kafka.node.controller import TOPIC, Controller
from kraft_kafka.node.image import Image, new_partition
from kraft_kafka.wire.error_codes import (
    INVALID_PARTITIONS,
    INVALID_REPLICA_ASSIGNMENT,
    INVALID_REPLICATION_FACTOR,
    INVALID_TOPIC_EXCEPTION,
    NOT_CONTROLLER,
    STALE_BROKER_EPOCH,
    TOPIC_ALREADY_EXISTS,
    UNKNOWN_TOPIC_ID,
)
from kraft_kafka.wire.metadata_records import encode_metadata_record
from kraft_kafka.wire.other_requests import text_of
from kraft_partitions.effects import (
    AlterPartitionAnswer,
    AlterReassignmentsAnswer,
    ListReassignmentsAnswer,
    Reassignment,
)
from kraft_partitions.errors import ERROR_CODES, Error
from kraft_partitions.events import AlterPartition, AlterPartitionReassignments, ListPartitionReassignments
from kraft_partitions.outcome import Outcome
from kraft_partitions.partition import Assignment, Partition, TopicPartition

_NAME = re.compile(r"[A-Za-z0-9._-]{1,249}")
_PARTITIONS_MAX = 1_000
_NONE = Partition((), frozenset(), leader_epoch=-1, partition_epoch=-1)
"""Placeholder for a partition without a result."""
_DEFAULT = -1
"""Number of partitions or replicas for which the controller's default applies: 1."""


def _error_message(error: Error) -> str | None:
    return None if error is Error.NONE else f"The reference answers {error}."


async def alter_partition_reassignments(controller: Controller, request: Any) -> Mapping[str, Any]:
    """Start, replace or cancel reassignments; each partition has a result.  Rule: partition-reassign.per-partition."""
    targets = [
        (TopicPartition(topic.name, part.partition_index), None if part.replicas is None else tuple(part.replicas))
        for topic in request.topics
        for part in topic.partitions
    ]
    outcome = await controller.happen(AlterPartitionReassignments(controller.node.id, tuple(targets)))
    answer = _answer(outcome, AlterReassignmentsAnswer)
    return {
        "error_code": ERROR_CODES[answer.error],
        "error_message": _error_message(answer.error),
        "responses": [
            {"name": topic, "partitions": [_result(name, error) for name, error in results]}
            for topic, results in _by_topic(answer.results)
        ],
    }


def _by_topic(results: Iterable[Any]) -> Iterable[tuple[str, Iterable[Any]]]:
    return groupby(sorted(results, key=lambda entry: entry[0]), key=lambda entry: entry[0].topic)


def _result(name: TopicPartition, error: Error) -> Mapping[str, Any]:
    return {"partition_index": name.partition, "error_code": ERROR_CODES[error], "error_message": _error_message(error)}


def _answer(outcome: Outcome, kind: type[Any]) -> Any:
    return next(effect for effect in outcome.effects if isinstance(effect, kind))


async def list_partition_reassignments(controller: Controller, request: Any) -> Mapping[str, Any]:
    """List R, AR and RR of ongoing reassignments, or of the requested partitions.  Rule: partition-reassign.list."""
    wanted: tuple[TopicPartition, ...] | None = None
    if request.topics is not None:
        wanted = tuple([TopicPartition(part.name, n) for part in request.topics for n in part.partition_indexes])
    outcome = await controller.happen(ListPartitionReassignments(controller.node.id, wanted))
    answer = _answer(outcome, ListReassignmentsAnswer)
    listed = [(entry.partition, entry) for entry in answer.reassignments]
    return {
        "error_code": ERROR_CODES[answer.error],
        "error_message": _error_message(answer.error),
        "topics": [
            {"name": topic, "partitions": [_ongoing(entry) for _, entry in group]} for topic, group in _by_topic(listed)
        ],
    }


def _ongoing(reassignment: Reassignment) -> Mapping[str, Any]:
    return {
        "partition_index": reassignment.partition.partition,
        "replicas": reassignment.replicas,
        "adding_replicas": reassignment.adding,
        "removing_replicas": reassignment.removing,
    }


async def alter_partition(controller: Controller, request: Any) -> Mapping[str, Any]:
    """Change the in-sync replicas as the leading broker asks.  Rule: partition-reassign.controller-only."""
    body: dict[str, Any] = {"error_code": 0, "topics": []}
    if not controller.node.leads:
        return body | {"error_code": NOT_CONTROLLER}
    broker = controller.image.brokers.get(request.broker_id)
    if broker is None or broker.epoch != request.broker_epoch:
        return body | {"error_code": STALE_BROKER_EPOCH}
    for topic in request.topics:
        name = controller.image.name_of(text_of(topic.topic_id))
        results = []
        for part in topic.partitions:
            key = TopicPartition(name or "", part.partition_index)
            in_sync = frozenset(state.broker_id for state in part.new_isr_with_epochs)
            event = AlterPartition(
                controller.node.id, request.broker_id, key, part.leader_epoch, part.partition_epoch, in_sync
            )
            outcome = await controller.happen(event)
            if outcome.state.controller != controller.node.id:
                return body | {"error_code": NOT_CONTROLLER}
            error = _answer(outcome, AlterPartitionAnswer).error
            code = UNKNOWN_TOPIC_ID if name is None else ERROR_CODES[error]
            results.append(_in_sync(key, outcome.state.partitions[key] if error is Error.NONE else _NONE, code))
        body["topics"].append({"topic_id": topic.topic_id, "partitions": results})
    return body


def _in_sync(name: TopicPartition, partition: Partition, code: int) -> Mapping[str, Any]:
    return {
        "partition_index": name.partition,
        "error_code": code,
        "leader_id": -1 if partition.leader is None else partition.leader,
        "leader_epoch": partition.leader_epoch,
        "isr": [replica for replica in partition.replicas if replica in partition.in_sync],
        "partition_epoch": partition.partition_epoch,
    }


async def create_topics(controller: Controller, request: Any) -> Mapping[str, Any]:
    """Create each topic on its own, with the requested replicas or brokers in turn."""
    results = []
    for topic in request.topics:
        topic_id = uuid4()

        def decide(
            image: Image, topic: Any = topic, topic_id: UUID = topic_id
        ) -> tuple[Sequence[bytes], Sequence[Assignment] | int]:
            replicas = _assign_replicas(image, topic)
            if isinstance(replicas, int):
                return (), replicas
            text = text_of(topic_id)
            values = [encode_metadata_record("TopicRecord", name=topic.name, topicId=text)]
            values += [
                encode_metadata_record(
                    "ConfigRecord", resourceType=TOPIC, resourceName=topic.name, name=config.name, value=config.value
                )
                for config in topic.configs
            ]
            for index, ids in enumerate(replicas):
                values.append(new_partition(text, index, Partition(ids, frozenset(ids), leader=ids[0])))
            return () if request.validate_only else values, replicas

        results.append(_topic_result(topic.name, topic_id, await controller.write(decide, NOT_CONTROLLER)))
    return {"topics": results}


def _topic_result(name: str, topic_id: UUID, result: Sequence[Assignment] | int) -> Mapping[str, Any]:
    """Return the result of one topic from its replicas or error code."""
    fields: dict[str, Any] = {"name": name, "error_message": None, "configs": []}
    if isinstance(result, int):
        return fields | {"topic_id": None, "error_code": result}
    return fields | {
        "topic_id": topic_id,
        "error_code": 0,
        "num_partitions": len(result),
        "replication_factor": len(result[0]),
    }


def _assign_replicas(image: Image, topic: Any) -> Sequence[Assignment] | int:
    """Return the replicas of each partition of a new topic, or an error code."""
    if topic.name in image.topics:
        return TOPIC_ALREADY_EXISTS
    if _NAME.fullmatch(topic.name) is None or topic.name in (".", ".."):
        return INVALID_TOPIC_EXCEPTION
    if topic.assignments:
        assignments = {entry.partition_index: tuple(entry.broker_ids) for entry in topic.assignments}
        ordered = [assignments[index] for index in sorted(assignments)]
        fits = sorted(assignments) == [*range(len(topic.assignments))] and all(
            ids and len(set(ids)) == len(ids) and image.alive.issuperset(ids) for ids in ordered
        )
        return ordered if fits else INVALID_REPLICA_ASSIGNMENT
    count, factor = (1 if number == _DEFAULT else number for number in (topic.num_partitions, topic.replication_factor))
    brokers = sorted(image.alive)
    if not 0 < count <= _PARTITIONS_MAX:
        return INVALID_PARTITIONS
    if not 0 < factor <= len(brokers):
        return INVALID_REPLICATION_FACTOR
    return [tuple(brokers[(first + more) % len(brokers)] for more in range(factor)) for first in range(count)]
