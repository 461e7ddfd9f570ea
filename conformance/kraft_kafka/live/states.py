"""Initial states of cases; each function raises `Inconclusive` if the state is not reached."""

import asyncio
from base64 import b64decode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from kraft_kafka.live import bodies
from kraft_kafka.live.bench import Bench, Inconclusive
from kraft_kafka.live.peers import NoAnswerError
from kraft_kafka.live.process import REPLICA
from kraft_kafka.live.wire_log import Event
from kraft_kafka.wire.log_records import Batch, batches_of


async def unattached(x: Bench) -> int:
    """Make the replica Unattached in a new epoch without vote and leader, by a Pre-Vote of a larger epoch."""
    x.quiet()
    for _ in range(3):
        x.epoch += 1
        answer = await x.vote(2, x.epoch, True)
        epoch = int(answer.part.get("leaderEpoch", -1))
        if epoch == x.epoch and answer.part["leaderId"] == -1:
            return x.epoch
        x.epoch = max(x.epoch, epoch)
    raise Inconclusive(f"a Pre-Vote of epoch {x.epoch} was answered {answer.body}")


async def follows(x: Bench, leader: int = 2, *, has_fetched: bool = True) -> Event:
    """Make the replica follow a peer in a new epoch; return its first Fetch, which has its log end offset.

    Without `has_fetched` no Fetch is answered.
    """
    x.quiet()
    x.epoch += 1
    after = len(x.log.events)
    if has_fetched:
        x.serve(leader, x.epoch)
    else:
        x.on("Fetch", lambda _: None)
    answer = await x.begin(leader, x.epoch)
    if answer.part.get("errorCode") == bodies.FENCED_LEADER_EPOCH:
        # It was started before these peers, and knows a newer epoch.
        x.epoch = int(answer.part["leaderEpoch"])
        return await follows(x, leader, has_fetched=has_fetched)
    if answer.part.get("errorCode") != bodies.NONE:
        raise Inconclusive(f"BeginQuorumEpoch was answered {answer.body}")
    fetch = await x.asked("Fetch", after=after, who=leader, currentLeaderEpoch=x.epoch)
    if fetch is None:
        raise Inconclusive(f"it does not fetch from its leader {leader}")
    if has_fetched and await x.asked("Fetch", after=fetch.number + 1, who=leader) is None:
        raise Inconclusive(f"it does not fetch again from its leader {leader}")
    return fetch


async def leads(x: Bench) -> int:
    """Make the replica lead a new epoch: its leader ends and prefers it, so no timer is needed; return the epoch."""
    await follows(x)
    after = len(x.log.events)
    x.quiet()
    x.grant()
    x.end_silence()
    await x.end(2, x.epoch, [REPLICA, 3])
    announcement = await x.asked("BeginQuorumEpoch", after=after, leaderId=REPLICA)
    if announcement is None:
        raise Inconclusive("it does not become leader")
    x.epoch = int(announcement.part["leaderEpoch"])
    return x.epoch


async def candidate(x: Bench, *, is_elected: bool = False) -> Event:
    """Make the replica Candidate of a new epoch; return its first standard Vote, which is not answered."""
    await follows(x)
    after = len(x.log.events)
    x.quiet()
    x.on(
        "Vote",
        lambda event: bodies.vote_answer(True, event.part["replicaEpoch"]) if event.part["preVote"] else None,
    )
    if is_elected:
        x.grant()
    x.end_silence()
    await x.end(2, x.epoch, [REPLICA, 3])
    vote = await x.asked("Vote", after=after, preVote=False)
    if vote is None:
        raise Inconclusive("it does not become Candidate")
    x.epoch = int(vote.part["replicaEpoch"])
    return vote


async def prospective(x: Bench) -> Event:
    """Make the replica Prospective, after its leader has ended; return its first Pre-Vote, which is not answered."""
    await follows(x)
    after = len(x.log.events)
    x.quiet()
    await x.end(2, x.epoch, [REPLICA, 3])
    vote = await x.asked("Vote", after=after, preVote=True)
    if vote is None:
        raise Inconclusive("it does not become Prospective")
    return vote


@dataclass(slots=True)
class Copy:
    """A fetching peer's copy of the leader's log."""

    offset: int = 0
    epoch: int = 0
    """Epoch of its last record."""
    high_watermark: int = -1
    batches: tuple[Batch, ...] = ()
    error: int = 0


async def fetch_on(x: Bench, source: int, copy: Copy, **more: Any) -> Event:
    """Send a peer's Fetch from the end of its copy, and append the response's records."""
    answer = await x.fetch(source, x.epoch, copy.offset, copy.epoch, **more)
    part = answer.part
    copy.error = part["errorCode"] if part else answer.body["errorCode"]
    if copy.error:
        return answer
    copy.high_watermark = part["highWatermark"]
    for batch in batches_of(b64decode(part.get("records") or "")):
        if batch.end_offset > copy.offset:
            copy.offset, copy.epoch = batch.end_offset, batch.epoch
            copy.batches = (*copy.batches, batch)
    return answer


async def caught_up(x: Bench, source: int = 2, copy: Copy | None = None) -> Copy:
    """Fetch the whole log as a peer until the leader has committed a record of its epoch."""
    copy = copy or Copy()
    for _ in range(200):
        await fetch_on(x, source, copy, wait_ms=100)
        if copy.error:
            raise Inconclusive(f"a Fetch of replica {source} was answered with error {copy.error}")
        if copy.high_watermark >= copy.offset > 0 and copy.epoch == x.epoch:
            return copy
    raise Inconclusive(f"the high watermark stays at {copy.high_watermark}, the log ends at {copy.offset}")


@asynccontextmanager
async def fetching(x: Bench, *sources: int) -> AsyncIterator[dict[int, Copy]]:
    """Make these peers fetch continuously from the leader; yield their copies of its log."""
    copies = {id_: Copy() for id_ in sources}

    async def fetch_all(source: int) -> None:
        while not copies[source].error:
            try:
                await fetch_on(x, source, copies[source], wait_ms=100)
            except NoAnswerError:
                # On a busy machine a response may be late: a replica fetches again, on a new connection.
                x.peers[source].hang_up()
                await asyncio.sleep(0.1)

    tasks = [asyncio.ensure_future(fetch_all(id_)) for id_ in sources]
    try:
        yield copies
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
