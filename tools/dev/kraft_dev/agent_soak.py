"""Soak of the agent and the watch: three controllers under kills, voter changes and rolling restarts.

python -m kraft_dev.agent_soak FOLDER [MINUTES] [VERSION] [MUTANT]

`kraft-spec watch --keep-going` follows the agent's files while the controllers run, and prints alerts, gaps and a
status every 10 s.
With a mutant of `kraft-spec kafka mutants` the watch must end with exit code 1, and without one with 0 or 2.
"""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from random import Random

from kraft_kafka.agent.building import agent_jar
from kraft_kafka.controllers import controller
from kraft_kafka.jars import Kafka
from kraft_kafka.live.process import LaunchError
from kraft_kafka.patching.patches import mutants, patched
from kraft_kafka.whole.cluster import NotReachedError, WholeCluster

IDS = (1, 2, 3)
WRITES = 20
"""Number of writes between two faults."""
_PAUSE_S = 12
"""Time before and after a fault."""
_STOP_S = 60


async def write(cluster: WholeCluster) -> None:
    """Write records, one after the other; a write may fail around an election."""
    for number in range(WRITES):
        at = IDS[number % len(IDS)]
        await cluster.operator.set_config(at, "kraft.spec", number)


async def kill_leader(cluster: WholeCluster, random: Random) -> None:
    """Kill -9 the leader, and start it again once another controller leads."""
    former = (await cluster.leader(random.choice(IDS), IDS)).leader
    cluster.kill(former)
    others = [id_ for id_ in IDS if id_ != former]
    await cluster.leader(others[0], others)
    await cluster.start(former)


async def kill_follower(cluster: WholeCluster, random: Random) -> None:
    """Kill -9 a follower while others write, and start it again."""
    leader = (await cluster.leader(random.choice(IDS), IDS)).leader
    follower = random.choice([id_ for id_ in IDS if id_ != leader])
    cluster.kill(follower)
    await cluster.operator.set_config(leader, "kraft.spec", follower)
    await cluster.start(follower)


async def change_voters(cluster: WholeCluster, random: Random) -> None:
    """Remove a follower from the voter set, and add it again when it has caught up."""
    leader = (await cluster.leader(random.choice(IDS), IDS)).leader
    follower = random.choice([id_ for id_ in IDS if id_ != leader])
    await cluster.remove_voter(leader, follower)
    await asyncio.sleep(5)
    await cluster.add_voter(leader, follower)


async def stopped(cluster: WholeCluster, id_: int) -> None:
    """Wait until a controller has stopped."""
    process = cluster.processes[id_]
    await cluster.wait_for(lambda: not process.is_alive, f"{id_} has not stopped", _STOP_S)


async def restart_all(cluster: WholeCluster, random: Random) -> None:
    """Stop each controller with SIGTERM and start it again, one after the other."""
    for id_ in random.sample(IDS, len(IDS)):
        process = cluster.processes[id_]
        if process.pid is not None:
            cluster.note(f"SIGTERM {id_}")
            os.killpg(process.pid, signal.SIGTERM)
            await stopped(cluster, id_)
        await cluster.start(id_)
        await cluster.leader(id_, IDS)


FAULTS = (kill_leader, change_voters, kill_follower, restart_all)


async def soak(folder: Path, minutes: float, kafka: Kafka) -> None:
    """Run the controllers for some minutes, with a fault after each batch of writes."""
    options = (f"-javaagent:{agent_jar()}={folder / 'traces'},rotate=2m",)
    say = partial(print, flush=True)
    cluster = WholeCluster(kafka, folder, IDS, (), "", say, options)
    end, random, turn = time.monotonic() + 60 * minutes, Random(0), 0
    async with cluster.opened():
        await cluster.start(*IDS)
        await cluster.leader(1, IDS)
        while time.monotonic() < end:
            await write(cluster)
            await asyncio.sleep(_PAUSE_S)
            try:
                await FAULTS[turn % len(FAULTS)](cluster, random)
            except (NotReachedError, LaunchError) as error:
                cluster.note(str(error))
            turn += 1
            await asyncio.sleep(_PAUSE_S)
            dead = [id_ for id_ in IDS if not cluster.processes[id_].is_alive]
            if dead:
                await cluster.start(*dead)


@contextmanager
def watched(folder: Path) -> Iterator[None]:
    """Follow the files with `kraft-spec watch`, and print its CPU time, memory and exit code at the end."""
    traces, program = folder / "traces", Path(sys.executable).with_name("kraft-spec")
    traces.mkdir()
    with subprocess.Popen([program, "watch", "--keep-going", "--state", folder / "state", traces]) as watch:
        try:
            yield
        finally:
            time.sleep(_PAUSE_S)
            watch.send_signal(signal.SIGTERM)
            _, status, used = os.wait4(watch.pid, 0)
            watch.returncode = os.waitstatus_to_exitcode(status)
            cpu_s, mib = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
            print(f"watch: {cpu_s:.1f} CPU s, {mib:.0f} MiB, exit code {watch.returncode}")


def main() -> int:
    """Run, and judge while they run."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True)
    minutes, version, mutant = (*sys.argv[2:], *("20", "4.3.1", "")[len(sys.argv) - 2 :])
    kafka = controller(version)
    if mutant:
        kafka = patched(kafka, mutants()[mutant])
    with watched(folder):
        asyncio.run(soak(folder, float(minutes), kafka))
    return 0


if __name__ == "__main__":
    sys.exit(main())
