"""Requests about topics: KIP-455's two, AlterPartition of a partition's leader, CreateTopics.

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
"""In place of one of which nothing is told."""
_DEFAULT = -1
"""A number of partitions or replicas that is left to the controller: one."""


def _said(error: Error) -> str | None:
    return None if error is Error.NONE else f"The reference answers {error}."


async def alter_partition_reassignments(controller: Controller, request: Any) -> Mapping[str, Any]:
    """Starts, replaces, cancels; one result for each partition.  Rule: partition-reassign.per-partition."""
    targets = [
        (TopicPartition(topic.name, one.partition_index), None if one.replicas is None else tuple(one.replicas))
        for topic in request.topics
        for one in topic.partitions
    ]
    outcome = await controller.happen(AlterPartitionReassignments(controller.node.id, tuple(targets)))
    answer = _answer(outcome, AlterReassignmentsAnswer)
    return {
        "error_code": ERROR_CODES[answer.error],
        "error_message": _said(answer.error),
        "responses": [
            {"name": topic, "partitions": [_result(name, error) for name, error in results]}
            for topic, results in _by_topic(answer.results)
        ],
    }


def _by_topic(results: Iterable[Any]) -> Iterable[tuple[str, Iterable[Any]]]:
    return groupby(sorted(results, key=lambda one: one[0]), key=lambda one: one[0].topic)


def _result(name: TopicPartition, error: Error) -> Mapping[str, Any]:
    return {"partition_index": name.partition, "error_code": ERROR_CODES[error], "error_message": _said(error)}


def _answer(outcome: Outcome, kind: type[Any]) -> Any:
    return next(effect for effect in outcome.effects if isinstance(effect, kind))


async def list_partition_reassignments(controller: Controller, request: Any) -> Mapping[str, Any]:
    """R, AR and RR of what is being reassigned, and of partitions asked for by name.  Rule: partition-reassign.list."""
    asked: tuple[TopicPartition, ...] | None = None
    if request.topics is not None:
        asked = tuple([TopicPartition(one.name, index) for one in request.topics for index in one.partition_indexes])
    outcome = await controller.happen(ListPartitionReassignments(controller.node.id, asked))
    answer = _answer(outcome, ListReassignmentsAnswer)
    listed = [(one.partition, one) for one in answer.reassignments]
    return {
        "error_code": ERROR_CODES[answer.error],
        "error_message": _said(answer.error),
        "topics": [
            {"name": topic, "partitions": [_ongoing(one) for _, one in found]} for topic, found in _by_topic(listed)
        ],
    }


def _ongoing(one: Reassignment) -> Mapping[str, Any]:
    return {
        "partition_index": one.partition.partition,
        "replicas": one.replicas,
        "adding_replicas": one.adding,
        "removing_replicas": one.removing,
    }


async def alter_partition(controller: Controller, request: Any) -> Mapping[str, Any]:
    """What a broker that leads partitions says of their in-sync replicas.  Rule: partition-reassign.controller-only."""
    body: dict[str, Any] = {"error_code": 0, "topics": []}
    if not controller.node.leads:
        return body | {"error_code": NOT_CONTROLLER}
    broker = controller.image.brokers.get(request.broker_id)
    if broker is None or broker.epoch != request.broker_epoch:
        return body | {"error_code": STALE_BROKER_EPOCH}
    for topic in request.topics:
        name = controller.image.name_of(text_of(topic.topic_id))
        told = []
        for one in topic.partitions:
            where = TopicPartition(name or "", one.partition_index)
            in_sync = frozenset(state.broker_id for state in one.new_isr_with_epochs)
            event = AlterPartition(
                controller.node.id, request.broker_id, where, one.leader_epoch, one.partition_epoch, in_sync
            )
            outcome = await controller.happen(event)
            if outcome.state.controller != controller.node.id:
                return body | {"error_code": NOT_CONTROLLER}
            error = _answer(outcome, AlterPartitionAnswer).error
            code = UNKNOWN_TOPIC_ID if name is None else ERROR_CODES[error]
            told.append(_in_sync(where, outcome.state.partitions[where] if error is Error.NONE else _NONE, code))
        body["topics"].append({"topic_id": topic.topic_id, "partitions": told})
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
    """Topics with the replicas that are asked for, or brokers in turn; each is created alone."""
    results = []
    for asked in request.topics:
        topic_id = uuid4()

        def decide(
            image: Image, asked: Any = asked, topic_id: UUID = topic_id
        ) -> tuple[Sequence[bytes], Sequence[Assignment] | int]:
            replicas = _replicas(image, asked)
            if isinstance(replicas, int):
                return (), replicas
            text = text_of(topic_id)
            values = [encode_metadata_record("TopicRecord", name=asked.name, topicId=text)]
            values += [
                encode_metadata_record(
                    "ConfigRecord", resourceType=TOPIC, resourceName=asked.name, name=one.name, value=one.value
                )
                for one in asked.configs
            ]
            for index, one in enumerate(replicas):
                values.append(new_partition(text, index, Partition(one, frozenset(one), leader=one[0])))
            return () if request.validate_only else values, replicas

        results.append(_created(asked.name, topic_id, await controller.write(decide, NOT_CONTROLLER)))
    return {"topics": results}


def _created(name: str, topic_id: UUID, done: Sequence[Assignment] | int) -> Mapping[str, Any]:
    """The result of one topic: its replicas, or an error code."""
    told: dict[str, Any] = {"name": name, "error_message": None, "configs": []}
    if isinstance(done, int):
        return told | {"topic_id": None, "error_code": done}
    return told | {
        "topic_id": topic_id,
        "error_code": 0,
        "num_partitions": len(done),
        "replication_factor": len(done[0]),
    }


def _replicas(image: Image, asked: Any) -> Sequence[Assignment] | int:
    """The replicas of each partition of a new topic, or an error code."""
    if asked.name in image.topics:
        return TOPIC_ALREADY_EXISTS
    if _NAME.fullmatch(asked.name) is None or asked.name in (".", ".."):
        return INVALID_TOPIC_EXCEPTION
    if asked.assignments:
        given = {one.partition_index: tuple(one.broker_ids) for one in asked.assignments}
        found = [given[index] for index in sorted(given)]
        fits = sorted(given) == [*range(len(asked.assignments))] and all(
            one and len(set(one)) == len(one) and image.alive.issuperset(one) for one in found
        )
        return found if fits else INVALID_REPLICA_ASSIGNMENT
    count, factor = (1 if one == _DEFAULT else one for one in (asked.num_partitions, asked.replication_factor))
    brokers = sorted(image.alive)
    if not 0 < count <= _PARTITIONS_MAX:
        return INVALID_PARTITIONS
    if not 0 < factor <= len(brokers):
        return INVALID_REPLICATION_FACTOR
    return [tuple(brokers[(first + more) % len(brokers)] for more in range(factor)) for first in range(count)]
