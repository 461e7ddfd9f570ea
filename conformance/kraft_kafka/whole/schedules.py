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
"""The same where the log has to be longer than a snapshot that is made of `BURST` records and more."""
SNAPSHOT_BYTES = 20_000
"""Bytes of records after which a controller takes a snapshot: fewer than those of a burst."""
_SAFE_S = 24.0
"""How long no second leader has to come: four fetch timeouts."""
_SETTLE_S = 15.0


@dataclass(frozen=True, slots=True)
class WholeRun:
    """What became of a schedule."""

    ending: Ending
    reason: str
    """What the ending rests on, in a sentence."""
    two_leaders: TwoLeaders | None = None
    divergences: tuple[Divergence, ...] = ()
    lost: tuple[Write, ...] = ()
    """Acknowledged writes that the cluster no longer has in the end."""
    ended: Mapping[int, str] = field(default_factory=dict)
    """Why the process of a controller has ended, by its id."""


async def unread_voters(cluster: WholeCluster) -> WholeRun:
    """A former leader truncates its log, is removed, does not read that, and leads by the voter set of before.

    Raises:
        NotReachedError: the cluster does not come to the decisive step.
    """
    await cluster.start(1, 2, 3)
    former, others = await _leader_and_others(cluster, (1, 2, 3))
    mark = cluster.mark(former)
    leader = await cut_off_in_a_burst(cluster, former, others, BURST)
    (ally,) = {*others} - {leader}
    cluster.heal()
    await cluster.wait_for_line(former, "Truncated to offset", mark)
    _need(await cluster.remove_voter(leader, former))
    has_read = await _reads_newest_voters(cluster, former, leader, mark)
    return await _lead_by_two_sets(cluster, former, ally, leader, has_read)


async def outlived_record(cluster: WholeCluster) -> WholeRun:
    """A former leader loads a snapshot in place of its own voter change, keeps that voter set, and leads by it.

    The earliest snapshot of controller 3 is of the epoch that it leads: a leader answers a Fetch with a snapshot if the
    epoch of the follower's log is older than that of its own earliest snapshot, and with a diverging epoch otherwise.
    Controller 3 joins late, and so has no checkpoint 0-0; where its formatting wrote one, as in 4.4, retention deletes
    it within a minute.

    Raises:
        NotReachedError: the cluster does not come to the decisive step.
    """
    is_3_alone = False

    def passes(request: Request) -> bool:
        return not (is_3_alone and request.api == VOTE and request.source != 3)

    cluster.links.passes = passes
    await cluster.start(1, 2)
    former, (ally,) = await _leader_and_others(cluster, (1, 2))
    await cluster.start(3)
    await cluster.wait_for_line(3, "Completed transition to FollowerState")
    _need(await cluster.add_voter(former, 3))
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
    _need(await cluster.remove_voter(3, former))
    _need(await cluster.operator.write_burst(3, BURST, 15_000))
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
        NotReachedError: the cluster does not come to the decisive step.
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
    _need(await cluster.remove_voter(2, 3))
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
    _need(await cluster.add_voter(1, 2))
    await asyncio.sleep(2)
    _need(await cluster.remove_voter(1, 1))
    cluster.kill(1)
    try:
        await cluster.leader(2, among=(2,), seconds=20)
    except NotReachedError:
        # It has truncated its log and not read its own addition: finding unread-voters.
        cluster.note("2 does not know that it is a voter (finding unread-voters)")
        cluster.kill(2)
        await cluster.start(2)
        await cluster.leader(2, among=(2,))
    lost = await lost_writes(cluster, two.writes, 2)
    return WholeRun(
        Ending.SHOWN, f"controllers 1 and 2 led epoch {leader.epoch} at the same time", two, differ, lost, ended
    )


# Steps that schedules share.


def _need(reply: Reply) -> None:
    if not reply.is_acknowledged:
        raise NotReachedError(f"the operator got {reply.text}")


async def _leader_and_others(cluster: WholeCluster, voters: Sequence[int]) -> tuple[int, tuple[int, ...]]:
    leader = (await cluster.leader(voters[0], among=voters)).leader
    return leader, tuple(voter for voter in voters if voter != leader)


async def cut_off_in_a_burst(cluster: WholeCluster, former: int, others: Sequence[int], records: int) -> int:
    """Cut a leader off while it appends, and return who leads the others then."""
    cluster.cut([former], others)
    burst = asyncio.create_task(cluster.operator.write_burst(former, records, BURST_MS))
    leader = (await cluster.leader(others[0], among=others)).leader
    cluster.note(f"the burst of {records} records at {former}: {(await burst).text}")
    return leader


async def _reads_newest_voters(cluster: WholeCluster, former: int, leader: int, mark: int) -> bool:
    """True if a controller reads the newest voters record of the leader, which it has in its log."""
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
    """Cut the leader off from the former leader and its ally, and remove the ally: who leads then?"""
    cluster.cut([leader], [former, ally])
    _need(await cluster.remove_voter(leader, ally))
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
    last = await _any_leader(cluster)
    lost = await lost_writes(cluster, two.writes, last.leader)
    reason = f"controllers {leader} and {second.leader} were active at the same time"
    if not two.both_acknowledged:
        raise NotReachedError(f"{reason}, and did not both acknowledge a write")
    return WholeRun(Ending.SHOWN, reason, two, differ, lost, ended)


async def _any_leader(cluster: WholeCluster) -> Quorum:
    """The newest leader, as any controller that runs sees it."""
    alive = [id_ for id_, process in cluster.processes.items() if process.is_alive]
    for id_ in alive:
        try:
            return await cluster.leader(id_, among=alive, seconds=_SETTLE_S)
        except NotReachedError:
            continue
    raise NotReachedError("nobody leads in the end")


async def _settle(cluster: WholeCluster) -> dict[int, str]:
    """Let the healed links take effect; start each controller whose process ends once more, and return why it ended."""
    ended: dict[int, str] = {}
    running = [id_ for id_, process in cluster.processes.items() if process.is_alive]
    end = asyncio.get_running_loop().time() + _SETTLE_S
    while asyncio.get_running_loop().time() < end:
        for id_ in running:
            if not cluster.processes[id_].is_alive and id_ not in ended:
                ended[id_] = _last_fault(cluster.logged(id_))
                cluster.note(f"the process of {id_} has ended: {ended[id_]}")
                await cluster.start(id_)
                end = asyncio.get_running_loop().time() + _SETTLE_S
        await asyncio.sleep(0.2)
    return ended


def _last_fault(log: str) -> str:
    """The exception of the last fatal fault in a log."""
    lines = log.splitlines()
    at = max((number for number, line in enumerate(lines) if "Encountered fatal fault" in line), default=None)
    return lines[at + 1] if at is not None and at + 1 < len(lines) else "its log does not say why"


def _names_leader_and_own_vote(quorum_state: Mapping[str, object], leader: int, own: int) -> bool:
    return quorum_state["leaderId"] == leader and quorum_state["votedId"] == own


class _SplitVote:
    """Loses requests so that 1 stands and loses, and 2 leads that epoch with the vote of 3.

    No other controller learns the epoch of 1 from a Vote or from the response to a Fetch, so that 2 stands in the same.
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
    """An event that is set once 1 has received the voters record that names it alone; then its links to 2 are cut."""
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
