"""Cost of the agent: CPU time of three controllers for the same writes, with and without it.

python -m kraft_dev.agent_cost [VERSION]
"""

import asyncio
import os
import sys
import tempfile
from pathlib import Path

from kraft_kafka.agent.building import agent_jar
from kraft_kafka.controllers import controller
from kraft_kafka.jars import Kafka
from kraft_kafka.whole.cluster import WholeCluster

WRITES = 1000
WARM_UP = 500
IDLE_S = 20
IDS = (1, 2, 3)


async def measure(kafka: Kafka, home: Path, options: tuple[str, ...]) -> tuple[float, float]:
    """Return the CPU seconds of the writes, and of the idle time after them."""
    cluster = WholeCluster(kafka, home, IDS, (), "", lambda _: None, options)
    async with cluster.opened():
        await cluster.start(*IDS)
        leader = (await cluster.leader(1, IDS)).leader
        await write(cluster, leader, WARM_UP)
        began = cpu_s(cluster)
        await write(cluster, leader, WRITES)
        written = cpu_s(cluster)
        await asyncio.sleep(IDLE_S)
        return written - began, cpu_s(cluster) - written


async def write(cluster: WholeCluster, leader: int, writes: int) -> None:
    """Write this number of records, one after the other."""
    for number in range(writes):
        reply = await cluster.operator.set_config(leader, "kraft.spec", number)
        assert reply.is_acknowledged, reply.text


def cpu_s(cluster: WholeCluster) -> float:
    """Return the CPU seconds of all controllers, user and system."""
    ticks = 0
    for process in cluster.processes.values():
        fields = Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Measure twice without and with the agent."""
    kafka = controller(sys.argv[1] if len(sys.argv) > 1 else "4.3.1")
    for name in ("without", "with", "without", "with"):
        with tempfile.TemporaryDirectory() as home:
            options = (f"-javaagent:{agent_jar()}={home}/traces",) if name == "with" else ()
            busy, idle = asyncio.run(measure(kafka, Path(home), options))
            traces = Path(home, "traces")
            size = sum(file.stat().st_size for file in traces.iterdir()) if traces.is_dir() else 0
        used = f"{busy:.2f} CPU s for {WRITES} writes, {idle:.2f} CPU s in {IDLE_S} idle s"
        print(f"{name} the agent: {used}, {size} bytes", flush=True)


if __name__ == "__main__":
    main()
