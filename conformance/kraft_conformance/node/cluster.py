"""What Kafka's tools ask of any server of a cluster before they ask what they came for.  Rule: cli.admin-routing."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from kraft_conformance.node.driver import Node
from kraft_conformance.wire.error_codes import MISMATCHED_ENDPOINT_TYPE
from kraft_conformance.wire.other_requests import OtherRequest

_DESCRIBE_CLUSTER = 60
_CONTROLLERS = 2
VERSIONS: Mapping[int, range] = {_DESCRIBE_CLUSTER: range(1, 3)}
"""The versions that are served, by API key: from KIP-919 on a request says that it asks for controllers."""


def answer_other(node: Node, request: OtherRequest) -> Mapping[str, Any]:
    """The body of a response, by kio's names."""
    assert request.key == _DESCRIBE_CLUSTER, "it is the one that `VERSIONS` has"
    is_right = request.body.endpoint_type == _CONTROLLERS
    state = node.replica.state
    nodes = {details.id: details.endpoint for details in state.log.voters[-1].details}
    leader = state.leader_id if state.leader_id in nodes else -1
    return {
        "throttle_time": timedelta(),
        "error_code": 0 if is_right else MISMATCHED_ENDPOINT_TYPE,
        "error_message": None if is_right else "expected endpoint type 2: this is a controller",
        "endpoint_type": _CONTROLLERS,
        "cluster_id": node.disk.cluster_id,
        "controller_id": leader,
        "brokers": [_server(number, endpoint) for number, endpoint in nodes.items()] if is_right else [],
    }


def _server(number: int, endpoint: str) -> dict[str, Any]:
    host, _, port = endpoint.rpartition(":")
    return {"broker_id": number, "host": host, "port": int(port), "rack": None, "is_fenced": False}
