"""Behaviour of a replica in elections."""

import asyncio

from kraft_kafka.live import bodies
from kraft_kafka.live.bench import QUICK, WAIT_S, Bench, Inconclusive, Setup
from kraft_kafka.live.cases import case, must, same, seen
from kraft_kafka.live.process import DIRECTORIES, REPLICA
from kraft_kafka.live.states import candidate, follows, prospective, unattached
from kraft_kafka.live.wire_log import Event
from kraft_kafka.wire.decoding import Document

TIMED = Setup(QUICK)


@case(
    "election/pre-vote-first",
    "prevote.request.contents",
    "prevote.request.recipients",
    "state.unattached.election-timeout",
    "state.candidate-only-from-prospective",
    "wire.vote-versions",
    "discovery.election-endpoints",
    setup=TIMED,
)
async def pre_vote_first(x: Bench) -> None:
    """When its election timer fires, an Unattached voter asks each other voter for a Pre-Vote of its epoch."""
    epoch = await unattached(x)
    for peer in (2, 3):
        first = await x.asked("Vote", who=peer, replicaEpoch=epoch)
        event = seen(first, f"a Pre-Vote to voter {peer}", "prevote.request.recipients")
        part = event.part
        same((event.version, part["preVote"]), (2, True), "version and kind", "prevote.request.contents")
        addressed = (event.body["voterId"], part["voterDirectoryId"])
        same(addressed, (peer, DIRECTORIES[peer]), "the key that is addressed", "prevote.request.contents")
        own = (part["replicaId"], part["replicaDirectoryId"])
        same(own, (REPLICA, DIRECTORIES[REPLICA]), "its own key", "prevote.request.contents")
    state = x.quorum_state()
    same((state["leaderEpoch"], state["votedId"]), (epoch, -1), "epoch and vote on disk", "durable.soft-transitions")


@case(
    "election/no-epoch-without-grants",
    "state.prospective.lost.no-leader",
    "prevote.response.rejected",
    "state.candidate-only-from-prospective",
    "state.epoch-monotonic",
    setup=TIMED,
)
async def no_epoch_bump(x: Bench) -> None:
    """Refused Pre-Votes never raise the epoch."""
    epoch = await unattached(x)
    x.grant(pre_votes=False, votes=False)
    for _ in range(2):
        after = len(x.log.events)
        for peer in (2, 3):
            if await x.asked("Vote", after=after, who=peer) is None:
                raise Inconclusive("no second round of Pre-Votes")
        await asyncio.sleep(0.3)
    for event in x.all_asked("Vote"):
        actual = (event.part["preVote"], event.part["replicaEpoch"])
        same(actual, (True, epoch), "kind and epoch of a request", "state.candidate-only-from-prospective")


@case(
    "election/candidate",
    "state.prospective.to-candidate",
    "state.candidate.entry",
    "vote.request.contents",
    "prevote.response.majority",
    "durable.write-before-act",
)
async def becomes_candidate(x: Bench) -> None:
    """With Pre-Votes of a majority it asks for votes of the next epoch, and its own vote is on disk before."""
    await follows(x)
    old, after, states = x.epoch, len(x.log.events), [x.quorum_state()]
    x.quiet()

    def voted(event: Event) -> Document | None:
        if event.part["preVote"]:
            return bodies.vote_answer(event.peer == 3, event.part["replicaEpoch"])
        states.append(x.quorum_state())
        return None

    x.on("Vote", voted)
    await x.end(2, x.epoch, [REPLICA, 3])
    vote = await x.asked("Vote", after=after, preVote=False)
    event = seen(vote, "a request for a vote", "state.prospective.to-candidate")
    x.epoch += 1
    same(event.part["replicaEpoch"], old + 1, "the epoch of the Candidate", "state.candidate.entry")
    state = states[1]
    actual = (state["leaderEpoch"], state["votedId"], state.get("votedDirectoryId"), state["leaderId"])
    expected = (old + 1, REPLICA, DIRECTORIES[REPLICA], -1)
    same(actual, expected, "quorum-state when the request came", "state.candidate.entry", "durable.write-before-act")


@case(
    "election/elected",
    "state.candidate.to-leader",
    "begin-quorum.on-election",
    "begin-quorum.endpoint",
    "voters.begin-epoch-to-current-voters",
    "voters.no-begin-epoch-to-observers",
    "wire.begin-quorum",
    "voters.endpoints-are-part-of-the-set",
)
async def elected(x: Bench) -> None:
    """A Leader announces itself to each other voter, with the voter's key and its own endpoint, and is on disk."""
    await candidate(x, is_elected=True)
    for peer in (2, 3):
        begun = await x.asked("BeginQuorumEpoch", who=peer, leaderEpoch=x.epoch)
        event = seen(begun, f"an announcement to voter {peer}", "begin-quorum.on-election")
        actual = (event.part["leaderId"], event.body["voterId"], event.part["voterDirectoryId"])
        same(actual, (REPLICA, peer, DIRECTORIES[peer]), "leader and addressed key", "begin-quorum.on-election")
        ports = [endpoint["port"] for endpoint in event.body["leaderEndpoints"]]
        same(ports, [x.ports[REPLICA]], "the leader's endpoint", "begin-quorum.endpoint", "wire.begin-quorum")
    state = x.quorum_state()
    same((state["leaderEpoch"], state["leaderId"]), (x.epoch, REPLICA), "epoch and leader on disk")
    strangers = x.all_asked("BeginQuorumEpoch", who=4)
    same(len(strangers), 0, "announcements to what is no voter", "voters.no-begin-epoch-to-observers")


@case(
    "election/one-grant-enough", "state.candidate.to-leader", "vote.response.counting", "state.voters-set.own-majority"
)
async def one_grant(x: Bench) -> None:
    """One grant and its own vote elect it in a set of three; the third voter is silent."""
    await follows(x)
    after = len(x.log.events)
    x.quiet()
    x.grant(who=(3,))
    await x.end(2, x.epoch, [REPLICA, 3])
    begun = await x.asked("BeginQuorumEpoch", after=after, who=3)
    x.epoch = seen(begun, "an announcement", "state.candidate.to-leader", "vote.response.counting").part["leaderEpoch"]


@case("election/lost", "state.candidate.lost", "vote.response.counting", setup=TIMED)
async def lost(x: Bench) -> None:
    """A Candidate that is refused by a majority asks for Pre-Votes again, in the epoch that it has."""
    await unattached(x)
    x.grant(votes=False)
    first = seen(await x.asked("Vote", preVote=False), "a request for a vote")
    x.epoch = first.part["replicaEpoch"]
    x.grant(pre_votes=False, votes=False)
    again = await x.asked("Vote", after=first.number, preVote=True)
    event = seen(again, "a Pre-Vote after the election is lost", "state.candidate.lost")
    same(event.part["replicaEpoch"], x.epoch, "its epoch", "state.candidate.lost")
    state = x.quorum_state()
    same((state["leaderEpoch"], state["votedId"]), (x.epoch, REPLICA), "epoch and vote on disk", "state.candidate.lost")


@case(
    "election/candidate-timeout",
    "state.candidate.election-timeout",
    "state.candidate-only-from-prospective",
    setup=TIMED,
)
async def candidate_timeout(x: Bench) -> None:
    """A Candidate that nobody answers goes back to Pre-Votes, in the same epoch and with its vote."""
    await unattached(x)
    x.on("Vote", lambda event: bodies.vote_answer(True, event.part["replicaEpoch"]) if event.part["preVote"] else None)
    first = seen(await x.asked("Vote", preVote=False), "a request for a vote")
    x.epoch = first.part["replicaEpoch"]
    x.grant(pre_votes=False, votes=False)
    # A Pre-Vote of the previous epoch may still be in flight to the other voter.
    again = await x.asked("Vote", 2 * WAIT_S, after=first.number, preVote=True, replicaEpoch=x.epoch)
    seen(again, f"a Pre-Vote of epoch {x.epoch} after the timeout", "state.candidate.election-timeout")


@case(
    "election/finds-leader", "state.candidate.leader-equal-epoch", "begin-quorum.accept", "state.same-epoch-preserves"
)
async def finds_leader(x: Bench) -> None:
    """A Candidate that is told of the leader of its epoch follows it, and keeps its vote on disk."""
    await candidate(x)
    after = len(x.log.events)
    x.serve(3, x.epoch)
    same((await x.begin(3, x.epoch)).part["errorCode"], 0, "the error of the answer", "begin-quorum.accept")
    state = x.quorum_state()
    actual = (state["leaderEpoch"], state["leaderId"], state["votedId"])
    same(actual, (x.epoch, 3, REPLICA), "epoch, leader and vote on disk", "state.candidate.leader-equal-epoch")
    fetch = await x.asked("Fetch", after=after, who=3, currentLeaderEpoch=x.epoch)
    seen(fetch, "a Fetch to the leader", "state.candidate.leader-equal-epoch")


@case("election/answer-names-leader", "prevote.response.epoch-first", "state.learn-higher-epoch.leader", setup=TIMED)
async def answer_leader(x: Bench) -> None:
    """An answer to a Pre-Vote that has a larger epoch and its leader makes a Follower."""
    epoch = await unattached(x)
    x.epoch = epoch + 3

    def names_leader(_: Event) -> Document:
        x.serve(3, epoch + 3)
        return bodies.vote_answer(False, epoch + 3, 3, bodies.FENCED_LEADER_EPOCH)

    x.on("Vote", names_leader)
    fetch = await x.asked("Fetch", who=3, currentLeaderEpoch=epoch + 3)
    seen(fetch, "a Fetch to the leader that the answer names", "prevote.response.epoch-first")
    state = x.quorum_state()
    same((state["leaderEpoch"], state["leaderId"]), (epoch + 3, 3), "epoch and leader on disk")


@case("election/answer-larger-epoch", "prevote.response.epoch-first", "state.learn-higher-epoch.no-leader", setup=TIMED)
async def answer_epoch(x: Bench) -> None:
    """An answer with a larger epoch and no leader makes it Unattached there: its next Pre-Vote is of that epoch."""
    epoch = await unattached(x)
    x.epoch = epoch + 3
    x.on("Vote", lambda event: bodies.vote_answer(False, max(epoch + 3, event.part["replicaEpoch"])))
    again = await x.asked("Vote", replicaEpoch=epoch + 3)
    event = seen(again, "a Pre-Vote of the epoch that it was told", "prevote.response.epoch-first")
    must(event.part["preVote"], "a Pre-Vote", event.part, "prevote.response.epoch-first")


@case(
    "election/leader-wins-over-grant",
    "prevote.response.leader-wins-over-grant",
    "state.prospective.discovers-leader",
    setup=TIMED,
)
async def leader_wins(x: Bench) -> None:
    """A Prospective that gets a grant which names the leader of its epoch follows that leader."""
    epoch = await unattached(x)

    def names_leader(event: Event) -> Document:
        x.serve(3, epoch)
        return bodies.vote_answer(True, event.part["replicaEpoch"], 3)

    x.on("Vote", names_leader)
    if (vote := await x.asked("Vote", replicaEpoch=epoch)) is None:
        raise Inconclusive("it does not ask for Pre-Votes")
    fetch = await x.asked("Fetch", after=vote.number, who=3, currentLeaderEpoch=epoch)
    votes = x.all_asked("Vote", preVote=False)
    same(len(votes), 0, "requests for votes", "prevote.response.leader-wins-over-grant")
    seen(fetch, "a Fetch to the leader", "prevote.response.leader-wins-over-grant")
    same(x.quorum_state()["leaderId"], 3, "the leader on disk", "state.prospective.discovers-leader")


@case(
    "election/back-to-known-leader",
    "state.prospective.lost.known-leader",
    "state.prospective.entry",
    "prevote.response.rejected",
)
async def back_to_leader(x: Bench) -> None:
    """A Prospective that knows its leader and loses goes back to following it."""
    await prospective(x)
    after = len(x.log.events)
    x.serve(2, x.epoch)
    x.grant(pre_votes=False, votes=False)
    x.end_silence()
    fetch = await x.asked("Fetch", after=after, who=2, currentLeaderEpoch=x.epoch)
    seen(fetch, "a Fetch to the leader that it knew", "state.prospective.lost.known-leader")
    same(x.quorum_state()["leaderId"], 2, "the leader on disk", "state.prospective.entry")


@case("election/follower-timeout", "state.follower.fetch-timeout", "fetch.timer", setup=TIMED)
async def follower_timeout(x: Bench) -> None:
    """A Follower whose leader is silent asks for Pre-Votes, no sooner than the fetch timeout, in its epoch."""
    await follows(x)
    x.on("Fetch", lambda _: None, (2,))
    last = x.log.all(lambda event: event.peer == 2 and event.api == "Fetch")[-1]
    event = seen(await x.asked("Vote", after=last.number), "a Pre-Vote", "state.follower.fetch-timeout")
    same((event.part["preVote"], event.part["replicaEpoch"]), (True, x.epoch), "kind and epoch")
    answered = [e for e in x.log.events[: event.number] if (e.peer, e.api, e.way) == (2, "Fetch", "is told")]
    passed = event.at - answered[-2].at if len(answered) > 1 else event.at
    must(
        passed >= 0.9 * x.setup.timeouts.fetch / 1000,
        "no sooner than the fetch timeout",
        f"{passed:.2f} s",
        "fetch.timer",
    )
    state = x.quorum_state()
    same(
        (state["leaderEpoch"], state["leaderId"]),
        (x.epoch, 2),
        "epoch and leader on disk",
        "state.follower.fetch-timeout",
    )


@case("election/announcements-are-no-fetch", "fetch.timer", "begin-quorum.no-fetch-credit", setup=TIMED)
async def announcements_no_fetch(x: Bench) -> None:
    """Announcements do not keep a Follower from its fetch timeout."""
    await follows(x)
    x.on("Fetch", lambda _: None, (2,))
    for _ in range(100):
        if x.all_asked("Vote", replicaEpoch=x.epoch):
            return
        await x.begin(2, x.epoch)
        await asyncio.sleep(0.1)
    seen(None, "a Pre-Vote although its leader goes on announcing itself", "fetch.timer")


@case("election/preferred", "end-quorum.handle", "end-quorum.candidate-key")
async def preferred(x: Bench) -> None:
    """The first of the preferred candidates asks for Pre-Votes at once, no timer having fired."""
    event = await prospective(x)
    same((event.part["preVote"], event.part["replicaEpoch"]), (True, x.epoch), "kind and epoch", "end-quorum.handle")


@case("election/preferred-by-key", "end-quorum.candidate-key")
async def preferred_key(x: Bench) -> None:
    """An entry of the preferred candidates with its id and another directory is not its own."""
    await follows(x)
    after = len(x.log.events)
    await x.end(2, x.epoch, [REPLICA], directory=bodies.OTHER_DIRECTORY)
    vote = await x.asked("Vote", 2.0, after=after)
    same(vote and vote.part, None, "a Pre-Vote within two seconds", "end-quorum.candidate-key")


@case("election/fetches-no-more", "fetch.who-fetches")
async def fetches_no_more(x: Bench) -> None:
    """Neither a Prospective nor a Candidate fetches."""
    first = await prospective(x)
    await asyncio.sleep(0.5)
    fetches = x.all_asked("Fetch", after=first.number + 1)
    same(len(fetches), 0, "Fetches of a Prospective", "fetch.who-fetches")
