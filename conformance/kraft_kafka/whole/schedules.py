"""The schedules of three findings on whole controllers: links that are cut, kill -9, and an operator's requests."""

import asyncio
from base64 import b64decode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kraft_kafka.showing import Ending
from kraft_kafka.whole.cluster import NotReachedError, WholeCluster
from kraft_kafka.whole.evidence import (
    Divergence,
    TwoLeaders,
    Write,
    divergences,
    lost_writes,
    write_at_both,
)
from kraft_kafka.whole.links import FETCH, VOTE, Request
from kraft_kafka.whole.operator import Quorum, Reply
from kraft_kafka.wire.frames import decode_request, decode_response
from kraft_kafka.wire.log_records import batches_of, records_of
from kraft_kafka.wire.schema import Kind, message_of

BURST, BURST_MS = 300, 4_000
"""Records that a leader appends while it is cut off, and how long their client waits."""
LONG_BURST = 2_000
"""Records of a log that must be longer than a snapshot of `BURST` records and more."""
SNAPSHOT_BYTES = 20_000
"""Bytes of records after which a controller takes a snapshot: fewer than a burst has."""
_SAFE_S = 24.0
"""Time without a second leader that counts as safe: four fetch timeouts."""
_SETTLE_S = 15.0


@dataclass(frozen=True, slots=True)
class WholeRun:
    """The result of a schedule."""

    ending: Ending
    reason: str
    """Reason for the ending, in a sentence."""
    two_leaders: TwoLeaders | None = None
    divergences: tuple[Divergence, ...] = ()
    lost: tuple[Write, ...] = ()
    """Acknowledged writes that the cluster finally lacks."""
    ended: Mapping[int, str] = field(default_factory=dict)
    """Reason that a controller's process ended, by its id."""


async def unread_voters(cluster: WholeCluster) -> WholeRun:
    """A former leader truncates its log, does not read its own removal, and leads with the old voter set.

    Raises:
        NotReachedError: the cluster does not reach the decisive step.
    """
    await cluster.start(1, 2, 3)
    former, followers = await _find_leader_and_followers(cluster, (1, 2, 3))
    mark = cluster.mark(former)
    leader = await cut_off_in_a_burst(cluster, former, followers, BURST)
    (ally,) = {*followers} - {leader}
    cluster.heal()
    await cluster.wait_for_line(former, "Truncated to offset", mark)
    _require(await cluster.remove_voter(leader, former))
    has_read = await _reads_newest_voters(cluster, former, leader, mark)
    return await _lead_by_two_sets(cluster, former, ally, leader, has_read)


async def outlived_record(cluster: WholeCluster) -> WholeRun:
    """A former leader loads a snapshot that replaces its own voter change, keeps that voter set, and leads with it.

    A leader answers a Fetch with a snapshot id if the epoch of the follower's log is older than that of the leader's
    earliest snapshot, and with a diverging epoch otherwise.  So controller 3's earliest snapshot must be of the epoch
    that it leads.  It joins late, and so has no checkpoint 0-0; where its formatting wrote one, as in 4.4, retention
    deletes it within a minute.

    Raises:
        NotReachedError: the cluster does not reach the decisive step.
    """
    is_3_alone = False

    def passes(request: Request) -> bool:
        return not (is_3_alone and request.api == VOTE and request.source != 3)

    cluster.links.passes = passes
    await cluster.start(1, 2)
    former, (ally,) = await _find_leader_and_followers(cluster, (1, 2))
    await cluster.start(3)
    await cluster.wait_for_line(3, "Completed transition to FollowerState")
    _require(await cluster.add_voter(former, 3))
    await cluster.wait_for(lambda: cluster.voters_read(3), "controller 3 does not read that it is a voter", 60)
    is_3_alone = True
    cluster.cut([former], [ally, 3])
    removal = asyncio.create_task(
        cluster.operator.remove_voter(former, 3, cluster.processes[3].directory_id(), BURST_MS)
    )
    own = frozenset((former, ally))
    await cluster.wait_for(
        lambda: own in cluster.voters_read(former).values(), f"controller {former} does not remove 3", 60
    )
    cluster.note(f"{former}, cut off, has appended the removal of 3")
    burst = asyncio.create_task(cluster.operator.write_burst(former, LONG_BURST, BURST_MS))
    await cluster.leader(3, among=(3,))
    is_3_alone = False
    await asyncio.gather(removal, burst)
    _require(await cluster.remove_voter(3, former))
    _require(await cluster.operator.write_burst(3, BURST, 15_000))
    await cluster.wait_for(lambda: cluster.checkpoints(3), "controller 3 takes no snapshot", 60)
    cluster.note(f"3 has the snapshot {cluster.checkpoints(3)[-1].name}")
    await cluster.wait_for(lambda: not cluster.has_first_checkpoint(3), "retention does not delete 3's 0-0", 180)
    mark = cluster.mark(former)
    cluster.heal()
    await cluster.wait_for_line(former, "Fully truncated the log", mark)
    cluster.note(f"{former} has loaded the snapshot {cluster.checkpoints(former)[-1].name}")
    has_read = await _reads_newest_voters(cluster, former, 3, mark)
    return await _lead_by_two_sets(cluster, former, ally, 3, has_read)


async def own_vote(cluster: WholeCluster) -> WholeRun:
    """The last voter restarts as leader of the epoch that another controller still leads.

    Raises:
        NotReachedError: the cluster does not reach the decisive step.
    """
    split = _SplitVote()
    cluster.links.passes = split.passes
    await cluster.start(1, 2, 3)
    leader = await cluster.leader(2, among=(2,))
    split.is_over = True
    await cluster.wait_for(
        lambda: _names_leader_and_own_vote(cluster.processes[1].quorum_state(), 2, 1),
        "controller 1 has not voted for itself in the epoch that 2 leads",
        10,
    )
    cluster.note(f"1 stood in epoch {leader.epoch} and lost: its quorum-state names leader 2 and its own vote")
    _require(await cluster.remove_voter(2, 3))
    cluster.kill(3)
    has_record = _watch_for_voters_record(cluster)
    removal = asyncio.create_task(cluster.remove_voter(2, 2))
    try:
        await asyncio.wait_for(has_record.wait(), 30)
    except TimeoutError:
        raise NotReachedError("controller 1 fetches no voters record in 30 s") from None
    await asyncio.sleep(0.5)
    cluster.note("1 has fetched the removal of 2, and cannot tell")
    cluster.kill(1)
    for number in range(2):
        await cluster.operator.set_config(2, "message.max.bytes", 2_222_222 + number, 1_500)
    cluster.note("2 has appended two writes that it has not acknowledged")
    await cluster.start(1)
    again = await cluster.leader(1, among=(1,))
    if again.epoch != leader.epoch:
        removal.cancel()
        return WholeRun(Ending.SAFE, f"controller 1 leads epoch {again.epoch}, not epoch {leader.epoch} of 2")
    still = await cluster.operator.quorum(2)
    if still is None or (still.leader, still.epoch) != (2, leader.epoch):
        raise NotReachedError("controller 2 no longer leads")
    two = await write_at_both(cluster, again, still, timeout_ms=1_500)
    removal.cancel()
    cluster.heal()
    ended = await _settle(cluster)
    await cluster.leader(1, among=(1,))
    differ = divergences(cluster, 1, 2)
    _require(await cluster.add_voter(1, 2))
    await asyncio.sleep(2)
    _require(await cluster.remove_voter(1, 1))
    cluster.kill(1)
    try:
        await cluster.leader(2, among=(2,), seconds=20)
    except NotReachedError:
        # It has truncated its log and not read its own addition (finding unread-voters).
        cluster.note("2 does not know that it is a voter (finding unread-voters)")
        cluster.kill(2)
        await cluster.start(2)
        await cluster.leader(2, among=(2,))
    lost = await lost_writes(cluster, two.writes, 2)
    return WholeRun(
        Ending.SHOWN, f"controllers 1 and 2 led epoch {leader.epoch} at the same time", two, differ, lost, ended
    )


# Steps that schedules share.


def _require(reply: Reply) -> None:
    if not reply.is_acknowledged:
        raise NotReachedError(f"the operator got {reply.text}")


async def _find_leader_and_followers(cluster: WholeCluster, voters: Sequence[int]) -> tuple[int, tuple[int, ...]]:
    leader = (await cluster.leader(voters[0], among=voters)).leader
    return leader, tuple(voter for voter in voters if voter != leader)


async def cut_off_in_a_burst(cluster: WholeCluster, former: int, followers: Sequence[int], records: int) -> int:
    """Cut a leader off while it appends, and return the leader of the other voters."""
    cluster.cut([former], followers)
    burst = asyncio.create_task(cluster.operator.write_burst(former, records, BURST_MS))
    leader = (await cluster.leader(followers[0], among=followers)).leader
    cluster.note(f"the burst of {records} records at {former}: {(await burst).text}")
    return leader


async def _reads_newest_voters(cluster: WholeCluster, former: int, leader: int, mark: int) -> bool:
    """True if a controller reads the leader's newest voters record, which its log contains."""
    offset = max(cluster.voters_read(leader))
    await cluster.wait_for(
        lambda: cluster.processes[former].log_end()[1] > offset, f"controller {former} does not fetch {offset}", 60
    )
    await asyncio.sleep(2)
    newest = cluster.voters_read(leader)[offset]
    has_read = newest in cluster.voters_read(former, mark).values()
    cluster.note(f"{former} has the voters record at offset {offset}, and has {'' if has_read else 'NOT '}read it")
    return has_read


async def _lead_by_two_sets(cluster: WholeCluster, former: int, ally: int, leader: int, has_read: bool) -> WholeRun:
    """Cut the leader off from the former leader and its ally, remove the ally, and await a second leader."""
    cluster.cut([leader], [former, ally])
    _require(await cluster.remove_voter(leader, ally))
    try:
        second = await cluster.leader(former, among=(former, ally), seconds=_SAFE_S)
    except NotReachedError:
        if not has_read:
            raise
        return WholeRun(Ending.SAFE, f"controller {former} reads the voters record, and no second leader comes")
    first = await cluster.operator.quorum(leader)
    if first is None or first.leader != leader:
        raise NotReachedError(f"controller {leader} no longer leads")
    two = await write_at_both(cluster, first, second)
    differ = divergences(cluster, leader, second.leader)
    cluster.heal()
    ended = await _settle(cluster)
    last = await _find_any_leader(cluster)
    lost = await lost_writes(cluster, two.writes, last.leader)
    reason = f"controllers {leader} and {second.leader} were active at the same time"
    if not two.both_acknowledged:
        raise NotReachedError(f"{reason}, and did not both acknowledge a write")
    return WholeRun(Ending.SHOWN, reason, two, differ, lost, ended)


async def _find_any_leader(cluster: WholeCluster) -> Quorum:
    """Return the newest leader, as any running controller sees it."""
    alive = [id_ for id_, process in cluster.processes.items() if process.is_alive]
    for id_ in alive:
        try:
            return await cluster.leader(id_, among=alive, seconds=_SETTLE_S)
        except NotReachedError:
            continue
    raise NotReachedError("nobody leads in the end")


async def _settle(cluster: WholeCluster) -> dict[int, str]:
    """Wait until healed links take effect; restart each controller that ends, once, and return the reasons."""
    ended: dict[int, str] = {}
    running = [id_ for id_, process in cluster.processes.items() if process.is_alive]
    end = asyncio.get_running_loop().time() + _SETTLE_S
    while asyncio.get_running_loop().time() < end:
        for id_ in running:
            if not cluster.processes[id_].is_alive and id_ not in ended:
                ended[id_] = _find_last_fault(cluster.logged(id_))
                cluster.note(f"the process of {id_} has ended: {ended[id_]}")
                await cluster.start(id_)
                end = asyncio.get_running_loop().time() + _SETTLE_S
        await asyncio.sleep(0.2)
    return ended


def _find_last_fault(log: str) -> str:
    """Return the exception of the last fatal fault in a log."""
    lines = log.splitlines()
    at = max((number for number, line in enumerate(lines) if "Encountered fatal fault" in line), default=None)
    return lines[at + 1] if at is not None and at + 1 < len(lines) else "its log does not say why"


def _names_leader_and_own_vote(quorum_state: Mapping[str, object], leader: int, own: int) -> bool:
    return quorum_state["leaderId"] == leader and quorum_state["votedId"] == own


class _SplitVote:
    """Drops requests so that 1 stands for election and loses, and 2 leads that epoch with the vote of 3.

    No other controller learns 1's epoch from a Vote request or a Fetch response, so 2 stands in the same epoch.
    """

    def __init__(self) -> None:
        self.is_over = False
        self._has_1_stood = False

    def passes(self, request: Request) -> bool:
        if self.is_over or request.api not in (VOTE, FETCH):
            return True
        if request.api == FETCH:
            return request.destination != 1
        if request.source == 2:
            return self._has_1_stood and request.destination == 3
        if request.source != 1 or self._has_1_stood:
            return False
        vote = decode_request(request.frame, is_lenient=True).body["topics"][0]["partitions"][0]
        self._has_1_stood = not vote["preVote"]
        return not self._has_1_stood


def _watch_for_voters_record(cluster: WholeCluster) -> asyncio.Event:
    """Return an event that is set once 1 has received the voters record of itself alone; then cut its links to 2."""
    received = asyncio.Event()

    def on_response(request: Request, frame: bytes) -> None:
        if request.api != FETCH or (request.source, request.destination) != (1, 2) or received.is_set():
            return
        response = decode_response(frame, message_of("Fetch", Kind.RESPONSE), request.version, is_lenient=True)
        raw = "".join(p["records"] or "" for topic in response.body["responses"] for p in topic["partitions"])
        records = [record for batch in batches_of(b64decode(raw)) if batch.is_control for record in records_of(batch)]
        if any({voter.id for voter in record.voters} == {1} for record in records):
            cluster.cut([1], [2])
            received.set()

    cluster.links.on_response = on_response
    return received
