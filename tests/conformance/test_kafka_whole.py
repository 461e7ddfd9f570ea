"""Findings on whole controllers of Kafka: shown, absent with the fix, and the cure that the page gives to operators."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
from tests.conformance.adapter_builds import skipped_if_missing
from tests.conformance.commands import Captured

from kraft_cli.cli import main
from kraft_conformance.exit_codes import ExitCode
from kraft_kafka.controllers import controller
from kraft_kafka.jars import Kafka
from kraft_kafka.live.process import LaunchError
from kraft_kafka.whole.cluster import TIMEOUTS, WholeCluster
from kraft_kafka.whole.running import SCHEDULES
from kraft_kafka.whole.schedules import BURST, LONG_BURST, SNAPSHOT_BYTES, cut_off_in_a_burst
from kraft_kafka.wire.disk_files import snapshot_id
from kraft_kafka.wire.snapshot_files import decode_snapshot
from kraft_reference.log import Snapshot

VERSION = "4.3.1"
NO_VOTERS = Snapshot(0, 0, 0, frozenset(), ())

pytestmark = pytest.mark.nightly


@pytest.fixture(scope="module")
def whole_kafka() -> Kafka:
    with skipped_if_missing():
        return controller(VERSION)


@pytest.mark.usefixtures("whole_kafka")
@pytest.mark.parametrize("version", [VERSION, "4.4.0"])
@pytest.mark.parametrize("name", SCHEDULES)
def test_a_finding_is_shown_and_its_control_is_safe(capsys: Captured, name: str, version: str) -> None:
    code = main(["kafka", "finding", name, "--whole", "--version", version, "--json"])
    displayed = json.loads(capsys.readouterr().out)
    assert code == ExitCode.VIOLATION, displayed
    assert displayed["run"]["ending"] == "shown"
    assert displayed["run"]["lost"], "an acknowledged write is gone"
    assert displayed["run"]["divergences"], "the logs differ"
    assert displayed["control"]["ending"] == "safe"


def play(kafka: Kafka, home: Path, script: Callable[[WholeCluster], Awaitable[None]]) -> None:
    async def played() -> None:
        more = f"metadata.log.max.record.bytes.between.snapshots={SNAPSHOT_BYTES}\n"
        cluster = WholeCluster(kafka, home, (1, 2, 3), (), more, print)
        async with cluster.opened():
            await cluster.start(1, 2, 3)
            await script(cluster)

    asyncio.run(played())


async def truncated(cluster: WholeCluster) -> tuple[int, int, int]:
    """A former leader whose log was truncated, the leader, and the third controller, which is no voter any more."""
    former = (await cluster.leader(1, among=(1, 2, 3))).leader
    mark = cluster.mark(former)
    leader = await cut_off_in_a_burst(cluster, former, [*{1, 2, 3} - {former}], LONG_BURST)
    (third,) = {1, 2, 3} - {former, leader}
    cluster.heal()
    await cluster.wait_for_line(former, "Truncated to offset", mark)
    assert (await cluster.remove_voter(leader, third)).is_acknowledged
    offset = max(cluster.voters_read(leader))
    await cluster.wait_for(lambda: cluster.processes[former].log_end()[1] > offset, "the record is not fetched", 60)
    await asyncio.sleep(2)
    assert newest(cluster, former, mark) == set(), "the record is not read"
    return former, leader, third


def newest(cluster: WholeCluster, id_: int, since: int = 0) -> set[int]:
    read = cluster.voters_read(id_, since)
    return {*read[max(read)]} if read else set()


def voters_in(path: Path) -> set[int]:
    place = snapshot_id(path.name)
    assert place is not None
    snapshot = decode_snapshot(path.read_bytes(), *place, NO_VOTERS).snapshot
    return {voter.id for voter in snapshot.voters}


async def restarted(cluster: WholeCluster, id_: int) -> int:
    cluster.kill(id_)
    mark = cluster.mark(id_)
    await cluster.start(id_)
    await cluster.wait_for_line(id_, "Completed transition to Follower", mark)
    return mark


def test_a_restart_reads_the_voters_record_while_no_snapshot_has_been_taken(whole_kafka: Kafka, tmp_path: Path) -> None:
    async def script(cluster: WholeCluster) -> None:
        former, leader, _ = await truncated(cluster)
        assert newest(cluster, former, await restarted(cluster, former)) == {former, leader}

    play(whole_kafka, tmp_path / "cluster", script)


def test_a_snapshot_keeps_the_wrong_voters_and_a_new_disk_cures_it(whole_kafka: Kafka, tmp_path: Path) -> None:
    async def script(cluster: WholeCluster) -> None:
        former, leader, third = await truncated(cluster)
        await cluster.operator.write_burst(leader, BURST, 15_000)
        for id_, voters in ((former, {1, 2, 3}), (leader, {former, leader})):
            await cluster.wait_for(partial(cluster.checkpoints, id_), f"{id_} takes no snapshot", 60)
            assert voters_in(cluster.checkpoints(id_)[-1]) == voters
        assert newest(cluster, former, await restarted(cluster, former)) == {1, 2, 3}, "a restart is no cure"
        # The cure: stop it, remove it, format its disk anew, add it.
        cluster.kill(former)
        assert (await cluster.remove_voter(leader, former)).is_acknowledged
        process = cluster.processes[former]
        process.voters = (leader, third)
        process.format(TIMEOUTS)
        mark = cluster.mark(former)
        await cluster.start(former)
        await cluster.wait_for_line(former, "Completed transition to Follower", mark)
        assert (await cluster.add_voter(leader, former)).is_acknowledged
        await cluster.wait_for(
            lambda: newest(cluster, former, mark) == {former, leader}, "it does not read that it is a voter", 30
        )

    play(whole_kafka, tmp_path / "cluster", script)


def test_a_new_disk_that_is_told_that_its_own_id_leads_ends_the_process(whole_kafka: Kafka, tmp_path: Path) -> None:
    async def script(cluster: WholeCluster) -> None:
        leader = (await cluster.leader(1, among=(1, 2, 3))).leader
        item, other = sorted({1, 2, 3} - {leader})
        mark = cluster.mark(other)
        cluster.kill(item)
        cluster.kill(leader)
        # Alone it can elect nobody, and names the leader that it followed.
        await cluster.wait_for_line(other, "Completed transition to Prospective", mark)
        process = cluster.processes[leader]
        process.voters = (item, other)
        process.format(TIMEOUTS)
        mark = cluster.mark(leader)
        with suppress(LaunchError):
            await cluster.start(leader)
        await cluster.wait_for_line(leader, "IllegalStateException", mark)
        assert "maybeTransition" in cluster.logged(leader, mark)

    play(whole_kafka, tmp_path / "cluster", script)
