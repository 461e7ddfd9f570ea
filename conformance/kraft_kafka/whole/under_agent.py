"""Whole controllers with the agent inside: they elect, write, add a voter and lose their leader."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from kraft_kafka.jars import Kafka
from kraft_kafka.whole.cluster import Say, WholeCluster

_VOTERS, _NEW = (1, 2, 3), 4
_LAG_S = 60.0
_WRITES = range(10, 30)
"""Values that clients write while a voter is added: it lags then, and the leader adds it nevertheless."""


def record_controllers(kafka: Kafka, agent: Path, home: Path, say: Say) -> Path:
    """Run three controllers, and return the folder of the agent's files.

    Args:
        kafka: the Kafka of each controller.
        agent: the agent's jar.
        home: an empty folder.
        say: is called with each step.

    Raises:
        LaunchError: a controller cannot be formatted or started.
        NotReachedError: the controllers do not elect a leader, or the new one does not fetch.
        OSError: a port is taken, or the folder cannot be written.
    """
    traces = home / "traces"
    cluster = WholeCluster(kafka, home, _VOTERS, (_NEW,), "", say, (f"-javaagent:{agent}={traces}",))
    asyncio.run(_play(cluster, None))
    return traces


def record_attached(kafka: Kafka, attach: Callable[[int], None], home: Path, say: Say) -> None:
    """Run three controllers that get the agent when they have a leader and records.

    Args:
        kafka: the Kafka of each controller.
        attach: loads the agent into the process with this id.
        home: an empty folder.
        say: is called with each step.

    Raises:
        As `record_controllers`.
    """
    asyncio.run(_play(WholeCluster(kafka, home, _VOTERS, (_NEW,), "", say), attach))


async def _play(cluster: WholeCluster, attach: Callable[[int], None] | None) -> None:
    async with cluster.opened():
        await cluster.start(*_VOTERS)
        first = (await cluster.leader(_VOTERS[0], _VOTERS)).leader
        await cluster.operator.set_config(first, "kraft.spec", 1)
        await cluster.start(_NEW)
        end, own_end = cluster.processes[first].log_end, cluster.processes[_NEW].log_end
        await cluster.wait_for(lambda: own_end() == end() or None, f"{_NEW} lags behind the leader", _LAG_S)
        # Its next Fetch shows the leader that it has them.
        await asyncio.sleep(1)
        for id_, process in cluster.processes.items():
            if attach is not None and process.pid is not None:
                cluster.note(f"attach to {id_}")
                await asyncio.to_thread(attach, process.pid)
        writes = [cluster.operator.set_config(first, "kraft.spec", value) for value in _WRITES]
        await asyncio.gather(*writes, cluster.add_voter(first, _NEW))
        # A killed process would lose its newest lines.
        others = [id_ for id_ in (*_VOTERS, _NEW) if id_ != first]
        cluster.cut([first], others)
        second = await cluster.leader(others[0], others)
        await cluster.operator.set_config(second.leader, "kraft.spec", 2)
        cluster.heal()
        await cluster.shut_down()
