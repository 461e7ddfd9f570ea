"""Cost of the agent: CPU time of three controllers for the same writes, with and without it.

python -m kraft_dev.agent_cost [VERSION]
"""

import asyncio
import re
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from kraft_kafka.agent.building import agent_jar
from kraft_kafka.controllers import controller
from kraft_kafka.jars import Kafka
from kraft_kafka.whole.cluster import WholeCluster

WRITES = 1000
WARM_UP = 500
IDLE_S = 20
IDS = (1, 2, 3)
Seconds = dict[str, float]
"""CPU seconds by group of threads."""
GROUPS = {"raft": r"kafka-\d+-raft-io", "agent": "kraft-spec", "JIT": r"C[12] Comp", "GC": "(G1|VM|GC) "}
"""Patterns of the first 15 characters of threads' names, by group; the JIT also compiles the agent."""


async def measure(kafka: Kafka, home: Path, options: tuple[str, ...]) -> tuple[Seconds, Seconds]:
    """Return the CPU seconds by thread of the writes, and of the idle time after them."""
    cluster = WholeCluster(kafka, home, IDS, (), "", lambda _: None, options)
    async with cluster.opened():
        await cluster.start(*IDS)
        leader = (await cluster.leader(1, IDS)).leader
        await write(cluster, leader, WARM_UP)
        began = cpu_s(cluster)
        await write(cluster, leader, WRITES)
        written = cpu_s(cluster)
        await asyncio.sleep(IDLE_S)
        return difference(began, written), difference(written, cpu_s(cluster))


async def write(cluster: WholeCluster, leader: int, writes: int) -> None:
    """Write this number of records, one after the other."""
    for number in range(writes):
        reply = await cluster.operator.set_config(leader, "kraft.spec", number)
        assert reply.is_acknowledged, reply.text


def cpu_s(cluster: WholeCluster) -> Seconds:
    """Return the CPU seconds of all controllers by group of threads."""
    seconds: Seconds = dict.fromkeys((*GROUPS, "other"), 0.0)
    for process in cluster.processes.values():
        for task in Path(f"/proc/{process.pid}/task").iterdir():
            # A thread may end in between.
            with suppress(OSError):
                name = (task / "comm").read_text(encoding="utf-8").strip()
                used_ns = int((task / "schedstat").read_text(encoding="utf-8").split()[0])
                group = next((group for group, pattern in GROUPS.items() if re.match(pattern, name)), "other")
                seconds[group] += used_ns / 1e9
    return seconds


def difference(before: Seconds, after: Seconds) -> Seconds:
    """Return the seconds between two measurements."""
    return {group: after[group] - before[group] for group in after}


def shown(seconds: Seconds) -> str:
    """Return the sum and the share of each group."""
    groups = ", ".join(f"{group} {seconds[group]:.2f}" for group in (*GROUPS, "other"))
    return f"{sum(seconds.values()):.2f} CPU s ({groups})"


def main() -> None:
    """Measure twice without and with the agent."""
    kafka = controller(sys.argv[1] if len(sys.argv) > 1 else "4.3.1")
    for name in ("without", "with", "without", "with"):
        with tempfile.TemporaryDirectory() as home:
            options = (f"-javaagent:{agent_jar()}={home}/traces",) if name == "with" else ()
            busy, idle = asyncio.run(measure(kafka, Path(home), options))
            traces = Path(home, "traces")
            size = sum(file.stat().st_size for file in traces.iterdir()) if traces.is_dir() else 0
        print(f"{name} the agent, {WRITES} writes: {shown(busy)}", flush=True)
        print(f"{name} the agent, {IDLE_S} idle s: {shown(idle)}; {size} bytes", flush=True)


if __name__ == "__main__":
    main()
