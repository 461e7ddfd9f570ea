"""The requests that the quorum does not know, by the role of the node that is asked."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

from kraft_kafka.node import brokers, cluster, configs, topics
from kraft_kafka.node.controller import Controller


class Api(NamedTuple):
    """One API."""

    versions: range
    answer: Callable[[Controller, Any], Awaitable[Mapping[str, Any]]]
    """The body of a response, but for its throttle time, to that of a request, both by kio's names."""


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
"""What a controller serves, by API key."""
BROKER: Mapping[int, Api] = {
    **_ANY,
    3: Api(range(4, 14), cluster.metadata),
    35: Api(range(1, 5), cluster.describe_log_dirs),
    60: Api(range(1, 3), cluster.describe_brokers),
}
"""What a broker serves; the versions are those of any node."""
HANDED_ON = frozenset({19, 44, 45, 46, 55, 57, 80, 81})
"""What a broker asks the leader for: changes, and what only the leader knows.  Rule: cli.admin-routing."""


def versions(apis: Mapping[int, Api]) -> Mapping[int, range]:
    """The versions that are served, by API key."""
    return {key: one.versions for key, one in apis.items()}
