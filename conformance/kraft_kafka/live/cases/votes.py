"""Responses to Vote requests, by role."""

from kraft_kafka.live import bodies
from kraft_kafka.live.bench import Bench, Inconclusive
from kraft_kafka.live.cases import case, must, same, up_to_date
from kraft_kafka.live.process import DIRECTORIES, REPLICA
from kraft_kafka.live.states import candidate, caught_up, follows, leads, prospective, unattached
from kraft_kafka.live.wire_log import Event
from kraft_kafka.wire.schema import NULL_UUID

OLD_LOG = (0, 0)


def granted(answer: Event, is_granted: bool, what: str, *rules: str) -> None:
    """Judge a Vote response without an error."""
    part = answer.part
    actual = (part.get("errorCode", answer.body.get("errorCode")), part.get("voteGranted"))
    same(actual, (bodies.NONE, is_granted), f"error and grant of {what}", *rules)


@case("pre-vote/unattached", "prevote.unattached.grants", "prevote.grant.multiple", "prevote.reply.contents")
async def pre_vote_unattached(x: Bench) -> None:
    """An Unattached replica grants Pre-Votes to several replicas, and again."""
    epoch = await unattached(x)
    for source in (2, 3, 2):
        answer = await x.vote(source, epoch, True, up_to_date(epoch))
        granted(answer, True, f"the Pre-Vote of {source}", "prevote.unattached.grants", "prevote.grant.multiple")
        same((answer.part["leaderEpoch"], answer.part["leaderId"]), (epoch, -1), "epoch and leader of the answer")


@case(
    "pre-vote/nothing-recorded", "prevote.grant.no-side-effects", "prevote.grant.multiple", "durable.soft-transitions"
)
async def pre_vote_nothing(x: Bench) -> None:
    """A granted Pre-Vote writes nothing, and leaves the vote of the epoch free."""
    epoch = await unattached(x)
    before = x.quorum_state()
    granted(await x.vote(2, epoch, True, up_to_date(epoch)), True, "the Pre-Vote")
    same(x.quorum_state(), before, "quorum-state after a Pre-Vote", "prevote.grant.no-side-effects")
    granted(await x.vote(3, epoch, False, up_to_date(epoch)), True, "the vote", "prevote.grant.no-side-effects")
    granted(await x.vote(2, epoch, True, up_to_date(epoch)), True, "a Pre-Vote after it", "prevote.grant.multiple")


@case(
    "pre-vote/higher-epoch",
    "prevote.request.higher-epoch",
    "state.learn-higher-epoch.no-leader",
    "state.epoch-monotonic",
)
async def pre_vote_higher(x: Bench) -> None:
    """A Pre-Vote of a larger epoch is judged there, and the epoch is on disk before the answer."""
    x.epoch = await unattached(x) + 4
    answer = await x.vote(3, x.epoch, True, up_to_date(x.epoch))
    state = x.quorum_state()
    granted(answer, True, "a Pre-Vote of a larger epoch")
    same(answer.part["leaderEpoch"], x.epoch, "epoch of the answer", "prevote.request.higher-epoch")
    actual = (state["leaderEpoch"], state["leaderId"], state["votedId"])
    same(actual, (x.epoch, -1, -1), "epoch, leader and vote on disk", "state.learn-higher-epoch.no-leader")


@case(
    "vote/once-per-epoch",
    "vote.once-per-epoch",
    "vote.repeat-grant",
    "vote.decision-order",
    "vote.request.higher-epoch",
)
async def vote_once(x: Bench) -> None:
    """Its vote of an epoch goes to one candidate; the next epoch has another vote."""
    epoch = await unattached(x)
    granted(await x.vote(2, epoch, False, up_to_date(epoch)), True, "the vote for 2")
    granted(await x.vote(3, epoch, False, up_to_date(epoch)), False, "the vote for 3", "vote.once-per-epoch")
    granted(await x.vote(2, epoch, False, OLD_LOG), True, "the same vote again", "vote.repeat-grant")
    x.epoch += 1
    answer = await x.vote(3, x.epoch, False, up_to_date(x.epoch))
    granted(answer, True, "the vote of the next epoch", "vote.request.higher-epoch")


@case("vote/by-key", "vote.once-per-epoch", "identity.replica-key", "identity.voted-key-persisted")
async def vote_by_key(x: Bench) -> None:
    """A candidate with the id of the one that has the vote, and another directory, does not get it."""
    epoch = await unattached(x)
    granted(await x.vote(2, epoch, False, up_to_date(epoch)), True, "the vote for 2")
    state = x.quorum_state()
    actual = (state["votedId"], state.get("votedDirectoryId"))
    same(actual, (2, DIRECTORIES[2]), "the vote on disk", "identity.voted-key-persisted")
    answer = await x.vote(2, epoch, False, up_to_date(epoch), directory=bodies.OTHER_DIRECTORY)
    granted(answer, False, "the vote for 2 with another directory", "identity.replica-key", "vote.once-per-epoch")


@case(
    "vote/durable",
    "vote.persist-before-reply",
    "durable.write-before-act",
    "durable.fields-v1",
    "wire.quorum-state",
    "vote.once-per-epoch",
    "identity.voted-key-persisted",
)
async def vote_durable(x: Bench) -> None:
    """A vote that was answered survives kill -9."""
    epoch = await unattached(x)
    granted(await x.vote(2, epoch, False, up_to_date(epoch)), True, "the vote for 2")
    x.kill()
    state = x.quorum_state()
    fields = {"leaderId": -1, "leaderEpoch": epoch, "votedId": 2, "votedDirectoryId": DIRECTORIES[2], "data_version": 1}
    same(state, fields, "quorum-state", "vote.persist-before-reply", "durable.fields-v1")
    await x.restart()
    answer = await x.vote(3, epoch, False, up_to_date(epoch))
    granted(answer, False, "the vote for 3 after the restart", "vote.once-per-epoch", "vote.persist-before-reply")
    granted(await x.vote(2, epoch, False, up_to_date(epoch)), True, "the vote for 2 again", "vote.repeat-grant")


@case("vote/stale-epoch", "vote.request.stale-epoch", "prevote.request.stale-epoch", "state.epoch-monotonic")
async def vote_stale(x: Bench) -> None:
    """Both kinds of request of a smaller epoch are refused, and the answer names the epoch."""
    epoch = await unattached(x)
    for is_pre_vote in (False, True):
        answer = await x.vote(3, epoch - 1, is_pre_vote, up_to_date(epoch - 1))
        actual = (answer.part.get("errorCode"), answer.part.get("voteGranted"), answer.part.get("leaderEpoch"))
        same(actual, (bodies.FENCED_LEADER_EPOCH, False, epoch), f"the answer, Pre-Vote {is_pre_vote}")


@case("vote/log-check", "vote.log-check", "prevote.request.log-check", "prevote.unattached.grants")
async def vote_log(x: Bench) -> None:
    """A log that ends before its own gets neither kind of vote, one that ends at the same place both."""
    await leads(x)
    await caught_up(x)
    # Its controller may have appended more: once it is deposed, its Fetch has its log end offset.
    after = len(x.log.events)
    fetch = await x.asked("Fetch", after=after, currentLeaderEpoch=await unattached(x))
    if fetch is None:
        raise Inconclusive("it does not fetch as Unattached")
    end = (fetch.part["lastFetchedEpoch"], fetch.part["fetchOffset"])
    for log, is_granted in (((end[0], end[1] - 1), False), ((end[0] - 1, end[1] + 99), False), (end, True)):
        epoch = x.epoch = await unattached(x)
        answer = await x.vote(3, epoch, True, log)
        granted(answer, is_granted, f"the Pre-Vote of a log {log}, its own ends {end}", "prevote.request.log-check")
        answer = await x.vote(3, epoch, False, log)
        granted(answer, is_granted, f"the vote of a log {log}, its own ends {end}", "vote.log-check")


@case("vote/refused-takes-epoch", "vote.request.higher-epoch", "vote.log-check")
async def vote_refused(x: Bench) -> None:
    """A vote that is refused for its log still moves the replica to its epoch, without a vote."""
    await leads(x)
    await caught_up(x)
    x.epoch += 1
    answer = await x.vote(3, x.epoch, False, OLD_LOG)
    granted(answer, False, "the vote of an old log", "vote.log-check")
    actual = (answer.part["leaderEpoch"], answer.part["leaderId"])
    same(actual, (x.epoch, -1), "epoch and leader of the answer", "vote.request.higher-epoch")
    granted(await x.vote(2, x.epoch, False, up_to_date(x.epoch)), True, "the vote of a good log in that epoch")


@case("vote/follower", "vote.follower.rejects", "prevote.follower.rejects-after-fetch", "prevote.reply.contents")
async def vote_follower(x: Bench) -> None:
    """A Follower that has fetched refuses both kinds, and names its leader."""
    await follows(x)
    for is_pre_vote, rule in ((False, "vote.follower.rejects"), (True, "prevote.follower.rejects-after-fetch")):
        answer = await x.vote(3, x.epoch, is_pre_vote, up_to_date(x.epoch))
        granted(answer, False, f"the vote at a Follower, Pre-Vote {is_pre_vote}", rule)
        same(answer.part["leaderId"], 2, "the leader of the answer", rule)


@case(
    "pre-vote/follower-before-fetch",
    "prevote.follower.grants-before-fetch",
    "begin-quorum.no-fetch-credit",
    "fetch.fetched-flag",
    "vote.follower.rejects",
)
async def follower_before(x: Bench) -> None:
    """A Follower that has only been told of its leader grants Pre-Votes, though no votes."""
    await follows(x, has_fetched=False)
    same((await x.begin(2, x.epoch)).part["errorCode"], 0, "the error of a second announcement")
    answer = await x.vote(3, x.epoch, True, up_to_date(x.epoch))
    granted(answer, True, "the Pre-Vote", "prevote.follower.grants-before-fetch", "begin-quorum.no-fetch-credit")
    same(answer.part["leaderId"], 2, "the leader of the answer")
    granted(await x.vote(3, x.epoch, False, up_to_date(x.epoch)), False, "the vote", "vote.follower.rejects")


@case("vote/leader", "vote.leader.rejects", "prevote.leader.rejects", "wire.vote-response")
async def vote_leader(x: Bench) -> None:
    """A Leader refuses both kinds of its epoch, and names itself with its endpoint."""
    epoch = await leads(x)
    for is_pre_vote, rule in ((False, "vote.leader.rejects"), (True, "prevote.leader.rejects")):
        answer = await x.vote(2, epoch, is_pre_vote, up_to_date(epoch))
        granted(answer, False, f"the vote at the Leader, Pre-Vote {is_pre_vote}", rule)
        same(answer.part["leaderId"], REPLICA, "the leader of the answer", rule)
        ports = [node["port"] for node in answer.body.get("nodeEndpoints", [])]
        same(ports, [x.ports[REPLICA]], "the leader's endpoint in the answer", "wire.vote-response", rule)


@case("vote/candidate", "vote.candidate.rejects", "prevote.candidate.grants")
async def vote_candidate(x: Bench) -> None:
    """A Candidate has spent its vote, and grants Pre-Votes."""
    await candidate(x)
    answer = await x.vote(2, x.epoch, False, up_to_date(x.epoch))
    granted(answer, False, "the vote at a Candidate", "vote.candidate.rejects")
    answer = await x.vote(2, x.epoch, True, up_to_date(x.epoch))
    granted(answer, True, "the Pre-Vote at a Candidate", "prevote.candidate.grants")


@case("pre-vote/prospective", "prevote.prospective.grants")
async def vote_prospective(x: Bench) -> None:
    """A Prospective grants Pre-Votes."""
    await prospective(x)
    answer = await x.vote(3, x.epoch, True, up_to_date(x.epoch))
    granted(answer, True, "the Pre-Vote at a Prospective", "prevote.prospective.grants")


@case("vote/known-leader", "vote.known-leader.rejects", "state.prospective.entry", "state.same-epoch-preserves")
async def vote_known_leader(x: Bench) -> None:
    """A Prospective that knows the leader of its epoch refuses votes of it."""
    await prospective(x)
    answer = await x.vote(3, x.epoch, False, up_to_date(x.epoch))
    granted(answer, False, "the vote", "vote.known-leader.rejects")
    same(answer.part["leaderId"], 2, "the leader of the answer", "state.prospective.entry")


@case("vote/voter-key", "vote.voter-key", "identity.addressed-to-key")
async def vote_voter_key(x: Bench) -> None:
    """A vote that is addressed to another key is not granted: an error answers it."""
    epoch = await unattached(x)
    wrong_directory = await x.vote(2, epoch, False, up_to_date(epoch), to_directory=bodies.OTHER_DIRECTORY)
    wrong_id = await x.vote(2, epoch, False, up_to_date(epoch), to=3)
    for answer in (wrong_directory, wrong_id):
        must(not answer.part["voteGranted"], "no vote", answer.part, "vote.voter-key")
        is_error = answer.part["errorCode"] in (bodies.INVALID_REQUEST, bodies.INVALID_VOTER_KEY)
        must(is_error, "an error that says so", answer.part["errorCode"], "identity.addressed-to-key")
    answer = await x.vote(3, epoch, False, up_to_date(epoch), to=-1, to_directory=NULL_UUID)
    granted(answer, True, "a vote without an addressed key, in an epoch where none was given", "vote.voter-key")


@case(
    "vote/not-a-voter",
    "vote.membership-not-checked",
    "prevote.observer.answers",
    "vote.inconsistent-voter-set-gone",
)
async def vote_stranger(x: Bench) -> None:
    """A replica that is in no voter set gets both kinds of vote."""
    epoch = await unattached(x)
    for is_pre_vote in (True, False):
        answer = await x.vote(4, epoch, is_pre_vote, up_to_date(epoch))
        granted(answer, True, f"the vote of a replica outside of the set, Pre-Vote {is_pre_vote}")


@case("vote/cluster-id", "wire.common-errors", "bootstrap.same-cluster-id")
async def cluster_id(x: Bench) -> None:
    """A foreign cluster id is answered at top level and changes nothing; without one a vote is decided."""
    epoch = await unattached(x)
    other = {"cluster_id": bodies.OTHER_CLUSTER_ID}
    answers = [await x.vote(2, epoch + 1, False, up_to_date(epoch), **other), await x.begin(2, epoch + 1, **other)]
    answers += [await x.end(2, epoch + 1, [1], **other), await x.fetch(2, epoch, 0, 0, **other)]
    for answer in answers:
        same(answer.body["errorCode"], bodies.INCONSISTENT_CLUSTER_ID, f"error of {answer.api}", "wire.common-errors")
    if x.epoch != epoch:
        raise Inconclusive("the epoch of the case moved")
    answer = await x.vote(2, epoch, False, up_to_date(epoch), cluster_id=None)
    granted(answer, True, "a vote without a cluster id, in the old epoch", "wire.common-errors")
