"""Requests outside the quorum's protocol, by the role of the node that serves them."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

from kraft_kafka.node import brokers, cluster, configs, topics
from kraft_kafka.node.controller import Controller


class Api(NamedTuple):
    """Versions and handler of an API."""

    versions: range
    answer: Callable[[Controller, Any], Awaitable[Mapping[str, Any]]]
    """Maps a request's body to its response's body without the throttle time, both by kio's names."""


_ANY = {
    19: Api(range(5, 8), topics.create_topics),
    32: Api(range(1, 5), configs.describe_configs),
    44: Api(range(2), configs.incremental_alter_configs),
    45: Api(range(1), topics.alter_partition_reassignments),
    46: Api(range(1), topics.list_partition_reassignments),
}
CONTROLLER: Mapping[int, Api] = {
    **_ANY,
    56: Api(range(3, 4), topics.alter_partition),
    60: Api(range(1, 3), cluster.describe_controllers),
    62: Api(range(4, 5), brokers.broker_registration),
    63: Api(range(1, 2), brokers.broker_heartbeat),
}
"""APIs that a controller serves, by API key."""
BROKER: Mapping[int, Api] = {
    **_ANY,
    3: Api(range(4, 14), cluster.metadata),
    35: Api(range(1, 5), cluster.describe_log_dirs),
    60: Api(range(1, 3), cluster.describe_brokers),
}
"""APIs that a broker serves; the versions are those of any node."""
HANDED_ON = frozenset({19, 44, 45, 46, 55, 57, 80, 81})
"""APIs that a broker forwards to the leader: changes, and state that only the leader has.  Rule: cli.admin-routing."""


def versions(apis: Mapping[int, Api]) -> Mapping[int, range]:
    """Return the served versions, by API key."""
    return {key: api.versions for key, api in apis.items()}
