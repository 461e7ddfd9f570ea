"""Replica ids of the bootstrap servers: the operator configures addresses, but the reference names replicas by id.

Rule: discovery.bootstrap.
"""

import asyncio
from collections.abc import Mapping
from contextlib import closing, suppress

from kraft_conformance.console import say, stderr
from kraft_kafka.node.disk import Disk
from kraft_kafka.node.exchanges import CLIENT
from kraft_kafka.node.settings import NodeProperties
from kraft_kafka.wire.connections import UNANSWERED, Connection
from kraft_kafka.wire.trace_links import metadata_topics

_PAUSE_S = 0.2
_WAIT_S = 2.0


async def bootstrap_servers(properties: NodeProperties, disk: Disk, ended: asyncio.Event) -> Mapping[int, str] | None:
    """Return the endpoints of the bootstrap servers by id.

    A server whose address is the endpoint of a voter on disk is that voter.  Any other address may be a load
    balancer's: the servers are then the voters that DescribeQuorum lists there.  A voter sends no DescribeQuorum,
    because its disk has the other voters; an observer with voters on its disk sends one.

    Returns:
        None if the node has to end before a server responds.
    """
    on_disk = {voter.id: voter.endpoint for voter in disk.state.log.voters[-1].details}
    on_disk |= {voter.id: voter.endpoint for voter in properties.static_voters}
    wanted = [server for server in properties.bootstrap_servers if server != properties.endpoint]
    if not wanted or (selected := _select(on_disk, wanted)):
        return selected if wanted else {}
    if disk.key.id in on_disk:
        return _without(disk.key.id, on_disk)
    is_first = True
    while not (described := await _describe_all(wanted, disk.key.id)) and not on_disk:
        if is_first:
            say(f"node {disk.key.id} waits for a bootstrap server to answer: {', '.join(wanted)}", console=stderr)
            is_first = False
        with suppress(TimeoutError):
            await asyncio.wait_for(ended.wait(), _PAUSE_S)
            return None
    return _select(described, wanted) or _without(disk.key.id, described or on_disk)


def _select(endpoints: Mapping[int, str], wanted: list[str]) -> dict[int, str]:
    """Return the wanted endpoints among these."""
    return {number: endpoint for number, endpoint in endpoints.items() if endpoint in wanted}


def _without(own_id: int, endpoints: Mapping[int, str]) -> dict[int, str]:
    return {number: endpoint for number, endpoint in endpoints.items() if number != own_id}


async def _describe_all(servers: list[str], own_id: int) -> dict[int, str]:
    """Return endpoints by id, from all servers that respond."""
    answers = await asyncio.gather(*(_describe(endpoint, own_id) for endpoint in servers))
    return {number: endpoint for answer in answers for number, endpoint in answer.items()}


async def _describe(endpoint: str, own_id: int) -> dict[int, str]:
    """Return endpoints by id from a server's DescribeQuorum response; empty if it does not respond."""
    body = {"topics": metadata_topics({})}
    try:
        with closing(Connection.to(endpoint, f"{CLIENT}describes-{own_id}")) as connection:
            async with asyncio.timeout(_WAIT_S):
                answer = await connection.ask("DescribeQuorum", 2, body)
    except UNANSWERED:
        return {}
    return {
        node["nodeId"]: f"{listener['host']}:{listener['port']}"
        for node in answer.body["nodes"]
        for listener in node["listeners"]
    }
