"""Runs of a finding's schedule, and of its control: the same with the fix in Kafka's classes."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from kraft_kafka.jars import Kafka
from kraft_kafka.showing import Ending
from kraft_kafka.whole.cluster import NotReachedError, Say, WholeCluster
from kraft_kafka.whole.schedules import SNAPSHOT_BYTES, WholeRun, outlived_record, own_vote, unread_voters

TRIES = 3
"""Tries to reach the decisive step; a schedule may miss it, for example if a vote does not split."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """A finding's schedule on whole controllers."""

    play: Callable[[WholeCluster], Awaitable[WholeRun]]
    voters: tuple[int, ...] = (1, 2, 3)
    others: tuple[int, ...] = ()
    """Controllers that are formatted without a voter set, and join later."""
    properties: str = ""


SCHEDULES: Mapping[str, Schedule] = {
    "own-vote-before-known-leader": Schedule(own_vote),
    "unread-voters": Schedule(unread_voters),
    "outlived-voters-record": Schedule(
        outlived_record,
        (1, 2),
        (3,),
        f"metadata.log.max.record.bytes.between.snapshots={SNAPSHOT_BYTES}\n"
        f"metadata.max.retention.bytes={SNAPSHOT_BYTES}\n",
    ),
}
"""By the finding's name."""


def run_schedule(schedule: Schedule, kafka: Kafka, home: Path, say: Say) -> WholeRun:
    """Play a schedule on a new cluster, and again if it misses its decisive step.

    Args:
        schedule: the schedule.
        kafka: the Kafka of each controller.
        home: a folder; each try has a subfolder.
        say: is called with each step.

    Raises:
        LaunchError: a controller cannot be formatted or started.
        OSError: a port is taken, or the folder cannot be written.
    """
    run = WholeRun(Ending.DEVIATION, "")
    for number in range(1, TRIES + 1):
        cluster = WholeCluster(
            kafka, home / f"try-{number}", schedule.voters, schedule.others, schedule.properties, say
        )
        try:
            return asyncio.run(_play(schedule, cluster))
        except NotReachedError as error:
            run = WholeRun(Ending.DEVIATION, str(error))
            say(f"the schedule was not followed: {error}")
    return run


async def _play(schedule: Schedule, cluster: WholeCluster) -> WholeRun:
    async with cluster.opened():
        return await schedule.play(cluster)
