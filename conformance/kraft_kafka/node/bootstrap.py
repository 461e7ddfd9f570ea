"""Replica ids of the bootstrap servers: the operator gives addresses, and the reference names replicas by id.

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
    """Endpoints of the bootstrap servers by id.

    A server that is written as the endpoint of a voter on disk is that voter.  Any other name may be that of a load
    balancer: the servers are then the voters that DescribeQuorum lists there.  A voter does not ask, because the other
    voters are on its disk; an observer with voters on its disk asks once.

    Returns:
        None if the node is told to end before a server answers.
    """
    on_disk = {one.id: one.endpoint for one in disk.state.log.voters[-1].details}
    on_disk |= {one.id: one.endpoint for one in properties.static_voters}
    wanted = [one for one in properties.bootstrap_servers if one != properties.endpoint]
    if not wanted or (named := _named(on_disk, wanted)):
        return named if wanted else {}
    if disk.key.id in on_disk:
        return _without(disk.key.id, on_disk)
    is_first = True
    while not (answers := await _voters(wanted, disk.key.id)) and not on_disk:
        if is_first:
            say(f"node {disk.key.id} waits for a bootstrap server to answer: {', '.join(wanted)}", console=stderr)
            is_first = False
        with suppress(TimeoutError):
            await asyncio.wait_for(ended.wait(), _PAUSE_S)
            return None
    return _named(answers, wanted) or _without(disk.key.id, answers or on_disk)


def _named(endpoints: Mapping[int, str], wanted: list[str]) -> dict[int, str]:
    """Those endpoints that are among the wanted ones."""
    return {number: endpoint for number, endpoint in endpoints.items() if endpoint in wanted}


def _without(own_id: int, endpoints: Mapping[int, str]) -> dict[int, str]:
    return {number: endpoint for number, endpoint in endpoints.items() if number != own_id}


async def _voters(servers: list[str], own_id: int) -> dict[int, str]:
    """Endpoints by id, from the servers that answer."""
    answers = await asyncio.gather(*(_voters_of(endpoint, own_id) for endpoint in servers))
    return {number: endpoint for answer in answers for number, endpoint in answer.items()}


async def _voters_of(endpoint: str, own_id: int) -> dict[int, str]:
    """Endpoints by id, from a server that knows; empty if it does not answer."""
    body = {"topics": metadata_topics({})}
    try:
        with closing(Connection.to(endpoint, f"{CLIENT}describes-{own_id}")) as connection:
            async with asyncio.timeout(_WAIT_S):
                answer = await connection.ask("DescribeQuorum", 2, body)
    except UNANSWERED:
        return {}
    return {
        one["nodeId"]: f"{listener['host']}:{listener['port']}"
        for one in answer.body["nodes"]
        for listener in one["listeners"]
    }
