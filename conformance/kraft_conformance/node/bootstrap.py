"""Who stands behind the bootstrap servers: the operator gives their addresses, and the reference names replicas by id.

Rule: discovery.bootstrap.
"""

import asyncio
from collections.abc import Mapping
from contextlib import closing, suppress

from kraft_conformance.node.disk import Disk
from kraft_conformance.node.exchanges import CLIENT
from kraft_conformance.node.settings import NodeProperties
from kraft_conformance.wire.connections import UNANSWERED, Connection
from kraft_conformance.wire.trace_links import metadata_topics

_PAUSE_S = 0.2
_WAIT_S = 2.0


async def bootstrap_servers(properties: NodeProperties, disk: Disk, ended: asyncio.Event) -> Mapping[int, str] | None:
    """The endpoints of the bootstrap servers by id, as the voters on disk have them or DescribeQuorum says.

    Waits until one of them knows; None if the node is told to end before.
    """
    known = {one.endpoint: one.id for one in disk.state.log.voters[-1].details}
    known |= {one.endpoint: one.id for one in properties.static_voters}
    wanted = [one for one in properties.bootstrap_servers if one != properties.endpoint]
    while wanted and not any(one in known for one in wanted):
        for endpoint in wanted:
            known |= await _voters(endpoint, disk.key.id)
        if not any(one in known for one in wanted):
            with suppress(TimeoutError):
                await asyncio.wait_for(ended.wait(), _PAUSE_S)
                return None
    return {known[one]: one for one in wanted if one in known}


async def _voters(endpoint: str, own_id: int) -> dict[str, int]:
    """Ids by endpoint, from a server that knows; empty if it does not answer."""
    body = {"topics": metadata_topics({})}
    try:
        with closing(Connection.to(endpoint, f"{CLIENT}describes-{own_id}")) as connection:
            async with asyncio.timeout(_WAIT_S):
                answer = await connection.ask("DescribeQuorum", 2, body)
    except UNANSWERED:
        return {}
    listed = [(one["nodeId"], listener) for one in answer.body["nodes"] for listener in one["listeners"]]
    return {f"{listener['host']}:{listener['port']}": number for number, listener in listed}
