"""Requests of a broker node to the leader: forwarded requests, and its own registration.

The broker holds no partitions, so it reports no in-sync replicas.
"""

import asyncio
from contextlib import closing, suppress
from typing import Any
from uuid import uuid4

from kraft_kafka.node.driver import Node
from kraft_kafka.node.exchanges import CLIENT
from kraft_kafka.node.metadata import METADATA_VERSION, METADATA_VERSION_MIN
from kraft_kafka.wire.connections import UNANSWERED, Connection
from kraft_kafka.wire.errors import WireError
from kraft_kafka.wire.other_requests import (
    OtherRequest,
    decode_other_response,
    encode_other_request,
    uuid_from,
)
from kraft_kafka.wire.translation import host_port, uuid_of

_REGISTRATION, _HEARTBEAT = (62, 4), (63, 1)
_PAUSE_S = 0.2
"""Heartbeat interval until the broker is alive."""
_HEARTBEAT_S = 2.0
"""Kafka's default of broker.heartbeat.interval.ms; its controllers fence a broker without heartbeats."""


async def response_of_leader(node: Node, raw: bytes) -> bytes | None:
    """Return the leader's response to a frame; None if there is no leader, or it does not respond."""
    endpoint = node.leader_endpoint
    if endpoint is None:
        return None
    with closing(Connection.to(endpoint, "")) as connection, suppress(*UNANSWERED):
        return await connection.exchange(raw)
    return None


async def live_as_broker(node: Node, ended: asyncio.Event) -> None:
    """Register at the leader, and send heartbeats until the node ends; the last one announces the shutdown."""
    incarnation, epoch = uuid4(), -1
    while not ended.is_set():
        is_alive = False
        if epoch < 0:
            epoch = getattr(await _ask(node, _REGISTRATION, _registration(node, incarnation)), "broker_epoch", -1)
        else:
            answer = await _ask(node, _HEARTBEAT, _heartbeat(node, epoch, is_ending=False))
            is_alive = answer is not None and not answer.is_fenced
        with suppress(TimeoutError):
            await asyncio.wait_for(ended.wait(), _HEARTBEAT_S if is_alive else _PAUSE_S)
    await _ask(node, _HEARTBEAT, _heartbeat(node, epoch, is_ending=True))


async def _ask(node: Node, api: tuple[int, int], body: dict[str, Any]) -> Any:
    request = OtherRequest(*api, 1, body)
    raw = await response_of_leader(node, encode_other_request(request, f"{CLIENT}{node.id}"))
    with suppress(WireError):
        return None if raw is None else decode_other_response(request, raw)
    return None


def _registration(node: Node, incarnation: Any) -> dict[str, Any]:
    own = node.configuration.replicas[node.id]
    levels = {"metadata.version": (METADATA_VERSION_MIN, METADATA_VERSION)}
    levels["kraft.version"] = own.min_version, own.max_version
    return {
        "broker_id": node.id,
        "cluster_id": node.disk.cluster_id,
        "incarnation_id": incarnation,
        "listeners": [{"name": "PLAINTEXT", **host_port(own.endpoint, "endpoint"), "security_protocol": 0}],
        "features": [
            {"name": name, "min_supported_version": low, "max_supported_version": high}
            for name, (low, high) in levels.items()
        ],
        "rack": None,
        "log_dirs": [uuid_from(uuid_of(node.disk.key.directory_id, "directory.id"))],
    }


def _heartbeat(node: Node, epoch: int, is_ending: bool) -> dict[str, Any]:
    return {
        "broker_id": node.id,
        "broker_epoch": epoch,
        "current_metadata_offset": node.replica.state.log.end_offset,
        "want_fence": False,
        "want_shut_down": is_ending,
    }
