"""Restarts after kill -9, pauses with SIGSTOP, and broken connections."""

import asyncio

from kraft_kafka.live import bodies
from kraft_kafka.live.bench import QUICK, Bench, Inconclusive, Setup
from kraft_kafka.live.cases import case, must, same, seen, up_to_date
from kraft_kafka.live.process import REPLICA
from kraft_kafka.live.states import candidate, caught_up, follows, leads, unattached

TIMED = Setup(QUICK)


@case("restart/leader", "durable.restart.was-leader", "vote.resigned.rejects")
async def leader(x: Bench) -> None:
    """A Leader that is killed never leads its epoch again, nor votes in it."""
    epoch = await leads(x)
    await caught_up(x)
    x.kill()
    after = len(x.log.events)
    x.quiet()
    await x.restart()
    part = (await x.fetch(2, epoch, 0, 0)).part
    same(part["errorCode"], bodies.NOT_LEADER, "the error of a Fetch", "durable.restart.was-leader")
    vote = (await x.vote(3, epoch, False, up_to_date(epoch))).part
    same(
        (vote["leaderEpoch"], vote["voteGranted"]), (epoch, False), "epoch and grant of a vote", "vote.resigned.rejects"
    )
    await asyncio.sleep(1.0)
    begun = x.all_asked("BeginQuorumEpoch", after)
    same(len(begun), 0, "announcements after the restart", "durable.restart.was-leader")


@case("restart/candidate", "durable.restart.voted-self", "vote.once-per-epoch", "state.candidate.entry")
async def restarted_candidate(x: Bench) -> None:
    """A Candidate that is killed has voted for itself: it votes for nobody else in that epoch."""
    await candidate(x)
    x.kill()
    state = x.quorum_state()
    actual = (state["leaderEpoch"], state["votedId"])
    same(actual, (x.epoch, REPLICA), "epoch and vote on disk", "state.candidate.entry")
    x.on("Vote", lambda _: None)
    await x.restart()
    part = (await x.vote(3, x.epoch, False, up_to_date(x.epoch))).part
    actual = (part["leaderEpoch"], part["voteGranted"])
    same(actual, (x.epoch, False), "epoch and grant of a vote", "durable.restart.voted-self", "vote.once-per-epoch")


@case("restart/without-file", "durable.restart.log-epoch", is_fresh=True)
async def without_file(x: Bench) -> None:
    """Without its quorum-state it begins in the epoch of its log."""
    epoch = await leads(x)
    await caught_up(x)
    x.kill()
    x.quiet()
    x.process.forget_quorum_state()
    await x.restart()
    part = (await x.vote(3, epoch - 1, True, (0, 0))).part
    actual = (part["errorCode"], part["leaderEpoch"])
    same(actual, (bodies.FENCED_LEADER_EPOCH, epoch), "error and epoch of the answer to an older Pre-Vote")


@case("restart/epoch", "durable.write-before-act", "state.epoch-monotonic", "durable.restart.known-leader")
async def epoch_kept(x: Bench) -> None:
    """An epoch that it was told of, and answered with, is that after kill -9."""
    epoch = x.epoch = await unattached(x) + 7
    await x.vote(2, epoch, True, up_to_date(epoch))
    x.kill()
    same(x.quorum_state()["leaderEpoch"], epoch, "the epoch on disk", "durable.write-before-act")
    await x.restart()
    part = (await x.vote(3, epoch - 1, True, (0, 0))).part
    same(part["leaderEpoch"], epoch, "the epoch of an answer", "state.epoch-monotonic")


@case("fault/paused-leader", "check-quorum.zombie-leader", "check-quorum.resign", "discovery.bootstrap", setup=TIMED)
async def paused(x: Bench) -> None:
    """A Leader that stands still while another is elected finds that one, and follows it."""
    epoch = await leads(x)
    await caught_up(x)
    x.process.pause()
    await asyncio.sleep(2 * x.setup.timeouts.fetch / 1000)
    x.quiet()
    x.epoch = epoch + 2
    refused = bodies.vote_answer(False, x.epoch, 3, bodies.FENCED_LEADER_EPOCH)
    ended = bodies.quorum_answer(x.epoch, 3, bodies.FENCED_LEADER_EPOCH)
    x.on("Vote", lambda _: refused)
    x.on("BeginQuorumEpoch", lambda _: ended)
    x.on("EndQuorumEpoch", lambda _: ended)
    x.serve(3, x.epoch)
    after = len(x.log.events)
    x.process.resume()
    fetch = await x.asked("Fetch", after=after, who=3, currentLeaderEpoch=x.epoch)
    seen(fetch, "a Fetch to the leader of the larger epoch", "check-quorum.zombie-leader")
    same(x.quorum_state()["leaderId"], 3, "the leader on disk", "check-quorum.zombie-leader")


@case("fault/paused-follower", "state.follower.fetch-timeout", "prevote.response.leader-wins-over-grant", setup=TIMED)
async def paused_follower(x: Bench) -> None:
    """A Follower that stood still for longer than its fetch timeout raises no epoch while its leader is there."""
    await follows(x)
    x.grant(pre_votes=False, votes=False)
    x.process.pause()
    await asyncio.sleep(1.5 * x.setup.timeouts.fetch / 1000)
    after = len(x.log.events)
    x.process.resume()
    fetch = await x.asked("Fetch", after=after + 1, who=2, currentLeaderEpoch=x.epoch)
    seen(fetch, "a Fetch to its leader", "state.follower.fetch-timeout")
    same(x.quorum_state()["leaderEpoch"], x.epoch, "the epoch on disk", "state.candidate-only-from-prospective")


@case("fault/leader-cut", "state.follower.fetch-timeout", "prevote.follower.refusal-expires", setup=TIMED)
async def leader_cut(x: Bench) -> None:
    """A Follower that cannot reach its leader asks for Pre-Votes in its epoch, and then grants them."""
    await follows(x)
    after = len(x.log.events)
    await x.peers[2].cut()
    try:
        vote = seen(await x.asked("Vote", after=after, who=3), "a Pre-Vote", "state.follower.fetch-timeout")
        actual = (vote.part["preVote"], vote.part["replicaEpoch"])
        same(actual, (True, x.epoch), "kind and epoch", "state.follower.fetch-timeout")
        part = (await x.vote(3, x.epoch, True, up_to_date(x.epoch))).part
        if part["leaderEpoch"] != x.epoch:
            raise Inconclusive("it has left the epoch already")
        must(part["voteGranted"], "a Pre-Vote granted", part, "prevote.follower.refusal-expires")
    finally:
        await x.peers[2].listen()


@case("fault/cut-while-asked", "vote.repeat-grant", "vote.persist-before-reply")
async def cut_asked(x: Bench) -> None:
    """A vote whose answer was lost is granted again when it is asked for again."""
    epoch = await unattached(x)
    await x.peers[2].ask_and_hang_up("Vote", x.version("Vote", 2), bodies.vote(2, epoch, False, up_to_date(epoch)))
    await x.eventually(lambda: bool(x.quorum_state()["votedId"] == 2))
    part = (await x.vote(2, epoch, False, up_to_date(epoch))).part
    same((part["errorCode"], part["voteGranted"]), (bodies.NONE, True), "error and grant", "vote.repeat-grant")
    part = (await x.vote(3, epoch, False, up_to_date(epoch))).part
    same(part["voteGranted"], False, "the vote for another", "vote.once-per-epoch")
