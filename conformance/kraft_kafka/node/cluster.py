"""Metadata requests that Kafka's tools send to any server before their actual request.  Rule: cli.admin-routing."""

from collections.abc import Mapping
from typing import Any

from kraft_kafka.node.controller import Controller
from kraft_kafka.node.image import Broker, Image
from kraft_kafka.wire.error_codes import (
    LEADER_NOT_AVAILABLE,
    MISMATCHED_ENDPOINT_TYPE,
    UNKNOWN_TOPIC_ID,
    UNKNOWN_TOPIC_OR_PARTITION,
)
from kraft_kafka.wire.other_requests import text_of, uuid_from
from kraft_partitions.partition import Partition

_BROKERS, _CONTROLLERS = 1, 2
"""Endpoint types, which requests name since KIP-919."""


async def describe_controllers(controller: Controller, request: Any) -> Mapping[str, Any]:
    """Serve DescribeCluster at a controller: the voters."""
    state = controller.node.replica.state
    nodes = {details.id: details.endpoint.rpartition(":") for details in state.log.voters[-1].details}
    leader = state.leader_id if state.leader_id in nodes else -1
    servers = [_server(number, host, int(port)) for number, (host, _, port) in nodes.items()]
    return _cluster(controller, request, _CONTROLLERS, leader, servers)


async def describe_brokers(controller: Controller, request: Any) -> Mapping[str, Any]:
    """Serve DescribeCluster at a broker: the brokers that are alive."""
    brokers = _alive(controller.image)
    servers = [_server(number, broker.host, broker.port, broker.rack) for number, broker in brokers.items()]
    return _cluster(controller, request, _BROKERS, min(brokers, default=-1), servers)


def _cluster(
    controller: Controller, request: Any, own_type: int, leader: int, servers: list[dict[str, Any]]
) -> Mapping[str, Any]:
    is_own_type = request.endpoint_type == own_type
    role = "broker" if own_type == _BROKERS else "controller"
    return {
        "error_code": 0 if is_own_type else MISMATCHED_ENDPOINT_TYPE,
        "error_message": None if is_own_type else f"expected endpoint type {own_type}: this is a {role}",
        "endpoint_type": own_type,
        "cluster_id": controller.node.disk.cluster_id,
        "controller_id": leader,
        "brokers": servers if is_own_type else [],
    }


def _server(number: int, host: str, port: int, rack: str | None = None) -> dict[str, Any]:
    return {"broker_id": number, "host": host, "port": port, "rack": rack, "is_fenced": False}


def _alive(image: Image) -> Mapping[int, Broker]:
    return {number: image.brokers[number] for number in sorted(image.alive)}


async def metadata(controller: Controller, request: Any) -> Mapping[str, Any]:
    """Serve Metadata at a broker, which names a broker as controller because it forwards requests to the leader."""
    image = controller.image
    brokers = [{"node_id": id_, "host": b.host, "port": b.port, "rack": b.rack} for id_, b in _alive(image).items()]
    if request.topics is None:
        topics = [_topic(image, name) for name in sorted(image.topics)]
    else:
        topics = [_requested_topic(image, topic) for topic in request.topics]
    return {
        "brokers": brokers,
        "cluster_id": controller.node.disk.cluster_id,
        "controller_id": min(image.alive, default=-1),
        "topics": topics,
        "error_code": 0,
    }


def _requested_topic(image: Image, request: Any) -> Mapping[str, Any]:
    """Return the topic of a name, or of an id if the request has no name."""
    if request.name is not None:
        return _topic(image, request.name)
    topic_id = request.topic_id
    name = image.name_of(text_of(topic_id))
    if name is None:
        return {"error_code": UNKNOWN_TOPIC_ID, "name": None, "topic_id": topic_id, "partitions": []}
    return _topic(image, name)


def _topic(image: Image, name: str) -> Mapping[str, Any]:
    if name not in image.topics:
        return {"error_code": UNKNOWN_TOPIC_OR_PARTITION, "name": name, "topic_id": None, "partitions": []}
    by_index = {key.partition: partition for key, partition in sorted(image.partitions.items()) if key.topic == name}
    partitions = [_partition(image, index, partition) for index, partition in by_index.items()]
    return {"error_code": 0, "name": name, "topic_id": uuid_from(image.topics[name]), "partitions": partitions}


def _partition(image: Image, index: int, partition: Partition) -> Mapping[str, Any]:
    return {
        "error_code": 0 if partition.leader is not None else LEADER_NOT_AVAILABLE,
        "partition_index": index,
        "leader_id": -1 if partition.leader is None else partition.leader,
        "leader_epoch": partition.leader_epoch,
        "replica_nodes": partition.replicas,
        "isr_nodes": [replica for replica in partition.replicas if replica in partition.in_sync],
        "offline_replicas": [replica for replica in partition.replicas if replica not in image.alive],
    }


async def describe_log_dirs(controller: Controller, request: Any) -> Mapping[str, Any]:
    """Describe a broker's data folder, which holds no replicas.  Kafka's tools of 4.3 ask for it."""
    folder = {"error_code": 0, "log_dir": str(controller.node.disk.folder), "topics": []}
    return {"error_code": 0, "results": [folder]}
