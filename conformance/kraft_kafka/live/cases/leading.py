"""Behaviour of a Leader: its log, its followers, and the end of its leadership."""

import asyncio

from kraft_kafka.live import bodies
from kraft_kafka.live.bench import QUICK, Bench, Inconclusive, Setup
from kraft_kafka.live.cases import case, must, same, seen, up_to_date
from kraft_kafka.live.peers import NoAnswerError
from kraft_kafka.live.process import DIRECTORIES, REPLICA
from kraft_kafka.live.states import Copy, caught_up, fetch_on, leads
from kraft_kafka.live.wire_log import Way
from kraft_kafka.wire.log_records import records_of
from kraft_reference.records import RecordKind

TIMED = Setup(QUICK)


@case(
    "leader/start-of-epoch",
    *("state.leader.start-of-epoch", "wire.control-records", "wire.leader-change-message", "kraft-version.record-gate"),
)
async def start_of_epoch(x: Bench) -> None:
    """The first record of its epoch is a LeaderChangeMessage that names it, and the voters with their directories."""
    epoch = await leads(x)
    copy = await caught_up(x)
    first = next(batch for batch in copy.batches if batch.epoch == epoch)
    must(first.is_control, "a batch of control records", first.is_control, "state.leader.start-of-epoch")
    record = records_of(first)[0]
    same((record.kind, record.value), (RecordKind.LEADER_CHANGE, REPLICA), "its first record")


@case(
    "leader/first-records",
    *("state.leader.first-leader", "bootstrap.first-leader-writes-records", "voters.set-from-snapshot-and-log"),
    *("wire.voters-record", "bootstrap.multi-voter", "snapshot.bootstrap-checkpoint"),
    is_fresh=True,
)
async def first_records(x: Bench) -> None:
    """The first leader after formatting appends the kraft.version and the voters that it was formatted with."""
    await leads(x)
    copy = await caught_up(x)
    records = [record for batch in copy.batches if batch.is_control for record in records_of(batch)]
    kinds = [record.kind for record in records[:3]]
    expected = [RecordKind.LEADER_CHANGE, RecordKind.KRAFT_VERSION, RecordKind.VOTERS]
    same(kinds, expected, "the first control records", "state.leader.first-leader")
    same(records[1].value, 1, "the kraft.version", "bootstrap.first-leader-writes-records")
    keys = sorted((key.id, key.directory_id) for key in records[2].voters)
    same(keys, sorted((id_, DIRECTORIES[id_]) for id_ in x.setup.voters), "the voters", "wire.voters-record")
    ends = {voter.id: voter.endpoint for voter in records[2].details}
    same(ends, {id_: f"127.0.0.1:{x.ports[id_]}" for id_ in x.setup.voters}, "their endpoints", "wire.voters-record")


@case("leader/high-watermark", "hw.majority", "hw.own-epoch", "hw.monotonic")
async def high_watermark(x: Bench) -> None:
    """Without a fetch of another voter nothing is committed; one voter that has caught up is a majority of three."""
    await leads(x)
    copy = Copy()
    first = (await fetch_on(x, 2, copy)).part["highWatermark"]
    must(first < copy.offset, "a high watermark below the end of its log", first, "hw.majority", "hw.own-epoch")
    copy = await caught_up(x, 2, copy)
    other = Copy()
    await fetch_on(x, 3, other)
    must(other.high_watermark >= copy.high_watermark, "no lower one for 3", other.high_watermark, "hw.monotonic")


@case("leader/observers-do-not-count", "fetch.replica-key", "hw.majority", "identity.leader-tracks-by-key")
async def observers_do_not_count(x: Bench) -> None:
    """Fetches of an observer, and of a voter's id with another directory, commit nothing."""
    epoch = await leads(x)
    copy = Copy()
    await fetch_on(x, 4, copy)
    end = copy.offset
    for source, more in ((4, {}), (2, {"directory": bodies.OTHER_DIRECTORY})):
        for _ in range(3):
            answer = await x.fetch(source, epoch, copy.offset, copy.epoch, wait_ms=50, **more)
            mark = answer.part["highWatermark"]
            must(mark < end, f"a high watermark below {end}", mark, "fetch.replica-key", "hw.majority")
    await caught_up(x)


@case("leader/fetch-epochs", "fetch.leader-only", "wire.error-codes", "wire.fetch-17")
async def fetch_epochs(x: Bench) -> None:
    """A Fetch of a smaller or larger epoch is refused, each with its own error, and told who leads."""
    epoch = await leads(x)
    expected = {epoch - 1: bodies.FENCED_LEADER_EPOCH, epoch + 5: bodies.UNKNOWN_LEADER_EPOCH, epoch: bodies.NONE}
    for sent, code in expected.items():
        part = (await x.fetch(2, sent, 0, 0)).part
        same(part["errorCode"], code, f"the error of a Fetch of epoch {sent} at epoch {epoch}", "fetch.leader-only")
        leader = part["currentLeader"]
        if code:
            same((leader["leaderId"], leader["leaderEpoch"]), (REPLICA, epoch), "leader and epoch of the answer")


@case("leader/diverging", "fetch.leader-only", "wire.fetch-17")
async def diverging(x: Bench) -> None:
    """A Fetch from beyond the end of its log is told where the logs part, and may fetch from there."""
    epoch = await leads(x)
    copy = await caught_up(x)
    part = (await x.fetch(2, epoch, copy.offset + 50, epoch)).part
    divergence = part.get("divergingEpoch") or {}
    same((divergence.get("epoch"), divergence.get("endOffset")), (epoch, copy.offset), "where the logs part")
    part = (await x.fetch(2, epoch, copy.offset, epoch)).part
    same(
        (part["errorCode"], (part.get("divergingEpoch") or {}).get("epoch", -1)),
        (bodies.NONE, -1),
        "a Fetch from there",
    )


@case(
    "leader/observer-fetch",
    "identity.observer-definition",
    "fetch.leader-outside-set-serves",
    "identity.could-become-voter",
)
async def observer_fetch(x: Bench) -> None:
    """A replica that is no voter is given the log too."""
    await leads(x)
    copy = Copy()
    await fetch_on(x, 4, copy)
    must(copy.offset > 0, "records", copy.offset, "fetch.leader-outside-set-serves")


@case("leader/deposed", "state.leader.higher-epoch", "state.learn-higher-epoch.no-leader", "fetch.leader-only")
async def deposed(x: Bench) -> None:
    """A Leader that sees a larger epoch leads no longer, durably, and says so to who fetches."""
    await leads(x)
    x.epoch += 3
    answer = await x.vote(2, x.epoch, True, bodies_log := (0, 0))
    same(answer.part["leaderEpoch"], x.epoch, f"epoch of the answer to a Pre-Vote of a log {bodies_log}")
    part = (await x.fetch(2, x.epoch, 0, 0)).part
    same(part["errorCode"], bodies.NOT_LEADER, "the error of a Fetch", "state.leader.higher-epoch", "fetch.leader-only")
    state = x.quorum_state()
    same((state["leaderEpoch"], state["leaderId"]), (x.epoch, -1), "epoch and leader on disk")


@case(
    "leader/deposed-by-announcement",
    "state.leader.higher-epoch",
    "state.learn-higher-epoch.leader",
    "begin-quorum.accept",
)
async def deposed_by_begin(x: Bench) -> None:
    """A Leader that is told of a larger epoch's leader follows it."""
    await leads(x)
    x.epoch += 1
    after = len(x.log.events)
    x.serve(3, x.epoch)
    same((await x.begin(3, x.epoch)).part["errorCode"], bodies.NONE, "the error of the answer", "begin-quorum.accept")
    fetch = await x.asked("Fetch", after=after, who=3, currentLeaderEpoch=x.epoch)
    seen(fetch, "a Fetch to the new leader", "state.learn-higher-epoch.leader", "state.leader.higher-epoch")


@case("leader/stepped-down-by-answer", "begin-quorum.response", "state.leader.higher-epoch", setup=TIMED)
async def answer_deposes(x: Bench) -> None:
    """A Leader whose announcement is answered with a larger epoch leads no longer."""
    await leads(x)
    larger = x.epoch + 4
    x.on("BeginQuorumEpoch", lambda _: bodies.quorum_answer(larger, -1, bodies.FENCED_LEADER_EPOCH))
    x.on("Vote", lambda _: None)
    announcement = x.asked("BeginQuorumEpoch", after=len(x.log.events))
    if await announcement is None:
        raise Inconclusive("it announces itself no more")
    is_gone = await x.eventually(lambda: bool(x.quorum_state()["leaderEpoch"] >= larger))
    x.epoch = larger
    must(is_gone, f"epoch {larger} on disk", x.quorum_state(), "begin-quorum.response")


@case("leader/parked-fetch", "state.leader.higher-epoch")
async def parked_fetch(x: Bench) -> None:
    """A Fetch that waits for records is answered when its Leader is deposed."""
    epoch = await leads(x)
    copy = await caught_up(x)
    waiting = asyncio.ensure_future(x.fetch(2, epoch, copy.offset, copy.epoch, wait_ms=15_000))
    await asyncio.sleep(0.3)
    x.epoch += 1
    await x.vote(3, x.epoch, True, up_to_date(x.epoch))
    try:
        part = (await waiting).part
    except NoAnswerError as error:
        # Closing the connection ends the Fetch as well; no response at all does not.
        if isinstance(error.__cause__, TimeoutError):
            raise
        return
    codes = (bodies.NOT_LEADER, bodies.FENCED_LEADER_EPOCH)
    must(part["errorCode"] in codes, f"one of the errors {codes}", part["errorCode"], "state.leader.higher-epoch")


@case(
    "leader/check-quorum",
    "check-quorum.resign",
    "check-quorum.period",
    "end-quorum.send",
    "state.leader.resigns",
    setup=TIMED,
)
async def check_quorum(x: Bench) -> None:
    """A Leader that no majority fetches from resigns, no sooner than the fetch timeout, and tells the voters."""
    epoch = await leads(x)
    elected = next(event for event in x.log.events if event.api == "BeginQuorumEpoch" and event.way is Way.ASKED)
    vote = next(event for event in x.log.events[: elected.number] if event.api == "Vote" and event.way is Way.ANSWERED)
    ended = await x.asked("EndQuorumEpoch", leaderEpoch=epoch)
    event = seen(ended, "an EndQuorumEpoch", "check-quorum.resign", "end-quorum.send")
    passed = event.at - vote.at
    must(
        passed > x.setup.timeouts.fetch / 1000,
        "longer than the fetch timeout",
        f"{passed:.2f} s",
        "check-quorum.period",
    )
    listed = {candidate["candidateId"] for candidate in event.part["preferredCandidates"]}
    same(listed, {2, 3}, "the preferred candidates", "end-quorum.send")
    part = (await x.fetch(2, epoch, 0, 0)).part
    must(part["errorCode"] != bodies.NONE, "an error for who fetches", part["errorCode"], "check-quorum.resign")


@case("leader/check-quorum-kept", "check-quorum.resign", "check-quorum.counts-keys", setup=TIMED)
async def check_quorum_kept(x: Bench) -> None:
    """Fetches of one other voter of three keep a Leader."""
    epoch = await leads(x)
    copy, end = Copy(), asyncio.get_running_loop().time() + 4 * x.setup.timeouts.fetch / 1000
    while asyncio.get_running_loop().time() < end:
        await fetch_on(x, 2, copy, wait_ms=100)
        same(copy.error, bodies.NONE, "the error of a Fetch", "check-quorum.resign")
    same(len(x.all_asked("EndQuorumEpoch", leaderEpoch=epoch)), 0, "EndQuorumEpoch sent", "check-quorum.resign")


@case("leader/check-quorum-keys", "check-quorum.counts-keys", "fetch.replica-key", setup=TIMED)
async def check_quorum_keys(x: Bench) -> None:
    """Fetches of an observer do not keep a Leader."""
    epoch = await leads(x)
    copy = Copy()
    for _ in range(200):
        if x.all_asked("EndQuorumEpoch", leaderEpoch=epoch):
            return
        await fetch_on(x, 4, copy, wait_ms=100)
        if copy.error:
            break
    ended = await x.asked("EndQuorumEpoch", leaderEpoch=epoch)
    seen(ended, "an EndQuorumEpoch, though an observer fetches", "check-quorum.counts-keys")


@case("leader/preferred-order", "end-quorum.send", setup=TIMED)
async def preferred_order(x: Bench) -> None:
    """The voter that has fetched most comes first among the preferred candidates."""
    epoch = await leads(x)
    await caught_up(x, 3)
    ended = seen(await x.asked("EndQuorumEpoch", leaderEpoch=epoch), "an EndQuorumEpoch", "end-quorum.send")
    listed = [(key["candidateId"], key["candidateDirectoryId"]) for key in ended.part["preferredCandidates"]]
    same(listed, [(3, DIRECTORIES[3]), (2, DIRECTORIES[2])], "the preferred candidates", "end-quorum.send")


@case("leader/resigned", "vote.resigned.rejects", "prevote.resigned.grants", setup=TIMED)
async def resigned(x: Bench) -> None:
    """A Resigned replica refuses votes of the epoch it led, and grants Pre-Votes of it."""
    epoch = await leads(x)
    x.on("EndQuorumEpoch", lambda _: None)
    seen(await x.asked("EndQuorumEpoch", leaderEpoch=epoch), "an EndQuorumEpoch", "check-quorum.resign")
    pre = await x.vote(2, epoch, True, (epoch, 1_000_000))
    vote = await x.vote(3, epoch, False, up_to_date(epoch))
    if vote.part["leaderEpoch"] != epoch:
        raise Inconclusive("it has left the epoch already")
    same(vote.part["voteGranted"], False, "the vote", "vote.resigned.rejects")
    same(pre.part["voteGranted"], True, "the Pre-Vote", "prevote.resigned.grants")


@case("leader/resigned-timeout", "state.resigned.timeout", "state.epoch-monotonic", setup=TIMED)
async def resigned_timeout(x: Bench) -> None:
    """A Resigned replica goes on to the next epoch, without leader or vote."""
    epoch = await leads(x)
    x.on("Vote", lambda _: None)
    seen(await x.asked("EndQuorumEpoch", leaderEpoch=epoch), "an EndQuorumEpoch", "check-quorum.resign")
    is_next = await x.eventually(lambda: bool(x.quorum_state()["leaderEpoch"] > epoch))
    state = x.quorum_state()
    x.epoch = state["leaderEpoch"]
    must(is_next, "a larger epoch on disk", state, "state.resigned.timeout")
    actual = (state["leaderEpoch"], state["leaderId"], state["votedId"])
    same(actual, (epoch + 1, -1, -1), "epoch, leader and vote on disk", "state.resigned.timeout")


@case("leader/announces-again", "begin-quorum.resend", "begin-quorum.response", setup=TIMED)
async def announces_again(x: Bench) -> None:
    """A voter that does not fetch is announced to again; its answer is no fetch."""
    epoch = await leads(x)
    first = seen(await x.asked("BeginQuorumEpoch", who=3, leaderEpoch=epoch), "an announcement")
    again = await x.asked("BeginQuorumEpoch", after=first.number + 1, who=3, leaderEpoch=epoch)
    seen(again, "a second announcement to a voter that does not fetch", "begin-quorum.resend")
