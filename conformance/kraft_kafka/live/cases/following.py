"""Behaviour of a Follower: its log, and the messages of its leader."""

from base64 import b64encode
from contextlib import suppress

from kraft_kafka.live import bodies
from kraft_kafka.live.bench import Bench, Inconclusive
from kraft_kafka.live.cases import case, must, same, seen, up_to_date
from kraft_kafka.live.peers import NoAnswerError
from kraft_kafka.live.process import DIRECTORIES, REPLICA
from kraft_kafka.live.states import follows, unattached
from kraft_kafka.live.wire_log import Event
from kraft_kafka.wire.decoding import Document
from kraft_kafka.wire.log_records import control_batch
from kraft_reference.records import Record, RecordKind


def leader_changes(offset: int, epoch: int, count: int) -> str:
    """Return batches of one LeaderChangeMessage each, of one epoch."""
    record = Record(epoch, RecordKind.LEADER_CHANGE, 2)
    return b64encode(b"".join(control_batch(offset + n, [record], 1, (1, 2, 3)) for n in range(count))).decode()


async def follows_with(x: Bench, count: int) -> tuple[int, int]:
    """Make the replica follow 2 and append `count` records of the epoch; return the old and new log end offset."""
    first = await follows(x, has_fetched=False)
    start = int(first.part["fetchOffset"])
    after, epoch = len(x.log.events), x.epoch
    x.serve(
        2,
        epoch,
        lambda offset, _: leader_changes(offset, epoch, start + count - offset) if offset < start + count else "",
    )
    x.peers[2].end_silence()
    fetch = await x.asked("Fetch", after=after, who=2, fetchOffset=start + count, lastFetchedEpoch=epoch)
    if fetch is None:
        raise Inconclusive("it does not append what its leader has")
    return start, start + count


@case(
    "follower/appends",
    "durable.flush-before-fetch",
    "voters.fetch-from-leader-outside-set",
    "wire.fetch-17",
)
async def appends(x: Bench) -> None:
    """It appends what its leader gives, and then fetches behind that, with its key; the records are in its files."""
    start, end = await follows_with(x, 2)
    fetch = x.all_asked("Fetch", who=2, fetchOffset=end)[0]
    same(fetch.part["lastFetchedEpoch"], x.epoch, "the epoch of its last record")
    same(fetch.part["replicaDirectoryId"], DIRECTORIES[REPLICA], "its directory id", "wire.fetch-17")
    same(
        x.process.log_end(), (x.epoch, end), f"the end of its log, which ended at {start}", "durable.flush-before-fetch"
    )


@case("follower/records-survive", "durable.flush-before-fetch", "durable.restart.known-leader")
async def records_survive(x: Bench) -> None:
    """Records behind which it has fetched survive kill -9, and it fetches from the leader that its file names."""
    _, end = await follows_with(x, 2)
    x.kill()
    same(x.process.log_end(), (x.epoch, end), "the end of its log", "durable.flush-before-fetch")
    after = len(x.log.events)
    await x.restart()
    fetch = await x.asked("Fetch", after=after, who=2, currentLeaderEpoch=x.epoch)
    event = seen(fetch, "a Fetch to the leader from before", "durable.restart.known-leader")
    same(event.part["fetchOffset"], end, "its offset", "durable.flush-before-fetch")


@case(
    "follower/restart-not-fetched",
    "durable.restart.known-leader",
    "fetch.fetched-flag",
    "prevote.follower.grants-before-fetch",
)
async def restart_not_fetched(x: Bench) -> None:
    """After a restart a Follower has not fetched yet: it grants Pre-Votes."""
    await follows(x)
    x.kill()
    x.on("Fetch", lambda _: None)
    await x.restart()
    answer = await x.vote(3, x.epoch, True, up_to_date(x.epoch))
    part = answer.part
    same((part["leaderEpoch"], part["leaderId"]), (x.epoch, 2), "epoch and leader", "durable.restart.known-leader")
    same(part["voteGranted"], True, "the Pre-Vote", "fetch.fetched-flag", "prevote.follower.grants-before-fetch")
    answer = await x.vote(3, x.epoch, False, up_to_date(x.epoch))
    same(answer.part["voteGranted"], False, "the vote", "vote.follower.rejects")


@case("follower/truncates", "fetch.diverging.truncate")
async def truncates(x: Bench) -> None:
    """Told where the logs part, it cuts its log there and fetches from there."""
    _, end = await follows_with(x, 3)
    old, x.epoch = x.epoch, x.epoch + 1
    after = len(x.log.events)

    def diverge(event: Event) -> Document | None:
        if event.part["fetchOffset"] == end:
            return bodies.fetch_answer(x.epoch, 3, diverging=(old, end - 1))
        return None

    x.on("Fetch", diverge, (3,))
    await x.begin(3, x.epoch)
    fetch = await x.asked("Fetch", after=after, who=3, fetchOffset=end - 1, currentLeaderEpoch=x.epoch)
    event = seen(fetch, f"a Fetch from {end - 1}, where the logs part", "fetch.diverging.truncate")
    same(event.part["lastFetchedEpoch"], old, "the epoch of its last record", "fetch.diverging.truncate")
    same(x.process.log_end(), (old, end - 1), "the end of its log", "fetch.diverging.truncate")


@case("follower/other-leader-of-epoch", "state.follower.larger-epoch-leader", is_fresh=True)
async def other_leader(x: Bench) -> None:
    """A second leader of its epoch is not followed."""
    await follows(x)
    after = len(x.log.events)
    with suppress(NoAnswerError):  # No rule says how to respond to a protocol violation.
        await x.begin(3, x.epoch)
    same(x.quorum_state()["leaderId"], 2, "the leader on disk", "state.follower.larger-epoch-leader")
    fetches = x.all_asked("Fetch", after, 3, currentLeaderEpoch=x.epoch)
    same(len(fetches), 0, "Fetches to the second leader", "state.follower.larger-epoch-leader")


@case(
    "follower/next-leader",
    "begin-quorum.accept",
    "state.learn-higher-epoch.leader",
    "voters.fetch-goes-to-known-leader",
)
async def next_leader(x: Bench) -> None:
    """Told of the leader of a larger epoch, it fetches there, and has it on disk before it answers."""
    await follows(x)
    x.epoch += 2
    after = len(x.log.events)
    x.serve(3, x.epoch)
    answer = await x.begin(3, x.epoch)
    state = x.quorum_state()
    same(answer.part["errorCode"], bodies.NONE, "the error of the answer", "begin-quorum.accept")
    actual = (state["leaderEpoch"], state["leaderId"], state["votedId"])
    same(actual, (x.epoch, 3, -1), "epoch, leader and vote on disk", "state.learn-higher-epoch.leader")
    fetch = await x.asked("Fetch", after=after, who=3, currentLeaderEpoch=x.epoch)
    seen(fetch, "a Fetch to the new leader", "voters.fetch-goes-to-known-leader")


@case("announcement/stale", "begin-quorum.stale", "end-quorum.stale", "state.epoch-monotonic")
async def stale(x: Bench) -> None:
    """A leader of a smaller epoch is told of the larger one, and changes nothing."""
    epoch = await unattached(x)
    for answer in (await x.begin(3, epoch - 1), await x.end(3, epoch - 1, [REPLICA])):
        actual = (answer.part["errorCode"], answer.part["leaderEpoch"])
        same(actual, (bodies.FENCED_LEADER_EPOCH, epoch), f"error and epoch of the answer to {answer.api}")
    same(x.quorum_state()["leaderEpoch"], epoch, "the epoch on disk", "state.epoch-monotonic")


@case("announcement/keeps-vote", "state.unattached.leader", "state.same-epoch-preserves", "begin-quorum.accept")
async def keeps_vote(x: Bench) -> None:
    """The leader of an epoch in which it has voted is followed, and the vote stays on disk beside it."""
    epoch = await unattached(x)
    await x.vote(2, epoch, False, up_to_date(epoch))
    x.serve(3, epoch)
    await x.begin(3, epoch)
    state = x.quorum_state()
    actual = (state["leaderEpoch"], state["leaderId"], state["votedId"])
    same(actual, (epoch, 3, 2), "epoch, leader and vote on disk", "state.same-epoch-preserves")


@case("announcement/voter-key", "begin-quorum.voter-key", "identity.addressed-to-key")
async def begin_voter_key(x: Bench) -> None:
    """An announcement to another key is answered with an error; its leader is learned all the same."""
    epoch = await unattached(x)
    x.serve(3, epoch)
    answer = await x.begin(3, epoch, to_directory=bodies.OTHER_DIRECTORY)
    codes = (bodies.INVALID_REQUEST, bodies.INVALID_VOTER_KEY)
    must(answer.part["errorCode"] in codes, f"one of the errors {codes}", answer.part["errorCode"])
    same(x.quorum_state()["leaderId"], 3, "the leader on disk", "begin-quorum.voter-key")


@case(
    "announcement/not-a-voter",
    "begin-quorum.membership-not-checked",
    "begin-quorum.endpoint",
    "voters.fetch-from-leader-outside-set",
)
async def begin_stranger(x: Bench) -> None:
    """A leader outside of its voter set is followed, at the endpoint that it gives."""
    epoch = await unattached(x)
    after = len(x.log.events)
    x.serve(4, epoch)
    same((await x.begin(4, epoch)).part["errorCode"], bodies.NONE, "the error of the answer")
    fetch = await x.asked("Fetch", after=after, who=4, currentLeaderEpoch=epoch)
    seen(fetch, "a Fetch to the leader's endpoint", "begin-quorum.endpoint", "voters.fetch-from-leader-outside-set")


@case(
    "follower/refuses-client",
    "fetch.leader-only",
    "add-voter.leader-only",
    "remove-voter.leader-only",
    "wire.describe-quorum.leader-only",
)
async def refuses_clients(x: Bench) -> None:
    """A Follower refuses requests that only a leader handles."""
    await follows(x)
    part = (await x.fetch(4, x.epoch, 0, 0)).part
    actual = (part["errorCode"], part["currentLeader"]["leaderId"])
    same(actual, (bodies.NOT_LEADER, 2), "error and leader of a Fetch", "fetch.leader-only")
    add = await x.ask("AddRaftVoter", 1, bodies.add_voter(4, x.ports[4]))
    same(add.body["errorCode"], bodies.NOT_LEADER, "the error of AddRaftVoter", "add-voter.leader-only")
    remove = await x.ask("RemoveRaftVoter", 0, bodies.remove_voter(3))
    same(remove.body["errorCode"], bodies.NOT_LEADER, "the error of RemoveRaftVoter", "remove-voter.leader-only")
    described = await x.ask("DescribeQuorum", 2, bodies.describe_quorum())
    same(
        described.part["errorCode"],
        bodies.NOT_LEADER,
        "the error of DescribeQuorum",
        "wire.describe-quorum.leader-only",
    )


@case("follower/leader-ends", "end-quorum.frees-followers")
async def leader_ends(x: Bench) -> None:
    """A Follower whose leader has ended grants Pre-Votes until it has fetched again."""
    await follows(x)
    x.on("Fetch", lambda _: None)
    await x.end(2, x.epoch, [3])
    answer = await x.vote(3, x.epoch, True, up_to_date(x.epoch))
    same(answer.part["voteGranted"], True, "the Pre-Vote", "end-quorum.frees-followers")


@case("follower/fenced", "fetch.response.common", "state.learn-higher-epoch.leader")
async def fenced(x: Bench) -> None:
    """An error of its leader that names a larger epoch's leader, and where that is, moves it there."""
    await follows(x)
    x.epoch += 2
    after = len(x.log.events)
    x.serve(3, x.epoch)
    response = bodies.fetch_answer(x.epoch, 3, bodies.FENCED_LEADER_EPOCH, port=x.ports[3])
    x.on("Fetch", lambda _: response, (2,))
    fetch = await x.asked("Fetch", after=after, who=3, currentLeaderEpoch=x.epoch)
    seen(fetch, "a Fetch to the leader that the answer names", "fetch.response.common")
    same(x.quorum_state()["leaderId"], 3, "the leader on disk", "state.learn-higher-epoch.leader")
