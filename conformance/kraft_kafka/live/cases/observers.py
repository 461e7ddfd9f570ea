"""Observers, and how the voter set in the log decides which replicas are observers."""

import asyncio
from base64 import b64encode
from typing import Any

from kraft_kafka.live import bodies
from kraft_kafka.live.bench import QUICK, Bench, Inconclusive, Setup
from kraft_kafka.live.cases import case, same, seen, up_to_date
from kraft_kafka.live.process import DIRECTORIES, REPLICA
from kraft_kafka.live.states import follows
from kraft_kafka.live.wire_log import Event
from kraft_kafka.wire.decoding import Document
from kraft_kafka.wire.log_records import control_batch
from kraft_kafka.wire.schema import NULL_UUID
from kraft_reference.identity import ReplicaKey, VoterDetails
from kraft_reference.records import Record, RecordKind

OUTSIDE = Setup(QUICK, voters=(2, 3, 4))
INSIDE = Setup(QUICK)


def voters_batch(x: Bench, offset: int, epoch: int, voters: dict[int, str]) -> str:
    """Return a batch, in base64, with kraft.version 1 and a VotersRecord of these ids with their directories."""
    keys = frozenset(ReplicaKey(*voter) for voter in voters.items())
    details = tuple(VoterDetails(id_, f"127.0.0.1:{x.ports[id_]}", 0, 1) for id_ in voters)
    records = [Record(epoch, RecordKind.LEADER_CHANGE, 2), Record(epoch, RecordKind.KRAFT_VERSION, 1)]
    records.append(Record(epoch, RecordKind.VOTERS, 0, keys, details))
    return b64encode(control_batch(offset, records, 1, [*voters])).decode()


async def follows_with_voters(x: Bench, ids: tuple[int, ...]) -> int:
    """Make the replica follow 2 and append a voter set of these ids; return its old log end offset."""
    first = await follows(x, has_fetched=False)
    start, after, epoch = int(first.part["fetchOffset"]), len(x.log.events), x.epoch
    batch = voters_batch(x, start, epoch, {id_: DIRECTORIES[id_] for id_ in ids})
    x.serve(2, epoch, lambda offset, _: batch if offset == start else "")
    x.peers[2].end_silence()
    if await x.asked("Fetch", after=after, who=2, fetchOffset=start + 3, lastFetchedEpoch=epoch) is None:
        raise Inconclusive("it does not append the voter set")
    return start


async def silent_leader(x: Bench) -> int:
    """Make the leader answer no more Fetches; the other peers know no leader.  Return the next event's number."""
    x.on("Fetch", lambda _: None, (2,))
    await asyncio.sleep(0.1)
    return len(x.log.events)


@case(
    "observer/never-votes-for-itself",
    *("observer.never-nominates", "observer.states", "bootstrap.no-list-means-observer", "discovery.bootstrap"),
    *("identity.observer-definition", "voters.observer-discovery", "state.unattached.entry-timer"),
    setup=OUTSIDE,
)
async def never_nominates(x: Bench) -> None:
    """A controller that was formatted without voters fetches from the bootstrap servers, and asks for no votes."""
    fetch = seen(await x.asked("Fetch"), "a Fetch to a bootstrap server", "discovery.bootstrap")
    same(fetch.part["replicaDirectoryId"], x.process.directory_id(), "its directory id", "identity.could-become-voter")
    await asyncio.sleep(3 * x.setup.timeouts.election / 1000)
    same(
        len(x.all_asked("Vote")),
        0,
        "requests for votes",
        "observer.never-nominates",
        "bootstrap.no-list-means-observer",
    )


@case(
    "observer/finds-leader",
    *("voters.observer-discovery", "discovery.leader-endpoint-known", "discovery.bootstrap", "fetch.who-fetches"),
    setup=OUTSIDE,
)
async def finds_leader(x: Bench) -> None:
    """Told by a bootstrap server who leads, and where, it fetches there."""
    x.epoch += 5
    epoch, after = x.epoch, len(x.log.events)

    def names_leader(_: Event) -> Document:
        return bodies.fetch_answer(epoch, 2, bodies.NOT_LEADER, port=x.ports[2])

    x.on("Fetch", names_leader, (3, 4))
    x.serve(2, epoch, port=x.ports[2])
    fetch = await x.asked("Fetch", after=after, who=2, currentLeaderEpoch=epoch)
    seen(fetch, "a Fetch to the leader", "voters.observer-discovery", "discovery.leader-endpoint-known")


@case("observer/grants", "prevote.observer.answers", "vote.membership-not-checked", setup=OUTSIDE)
async def grants(x: Bench) -> None:
    """An observer answers votes as a voter does."""
    x.epoch += 5
    for is_pre_vote in (True, False):
        part = (await x.vote(2, x.epoch, is_pre_vote, up_to_date(x.epoch), to_directory=NULL_UUID)).part
        same((part["errorCode"], part["voteGranted"]), (bodies.NONE, True), f"error and grant, Pre-Vote {is_pre_vote}")


@case("observer/leader-silent", "observer.fetch-timeout", "observer.never-nominates", setup=OUTSIDE)
async def leader_silent(x: Bench) -> None:
    """An observer whose leader is silent fetches from a bootstrap server, and asks for no votes."""
    x.epoch += 5
    x.serve(2, x.epoch)
    await x.begin(2, x.epoch, to=-1, to_directory=NULL_UUID)
    if await x.asked("Fetch", who=2, currentLeaderEpoch=x.epoch) is None:
        raise Inconclusive("it does not follow")
    after = await silent_leader(x)
    other = await x.log.first(lambda event: x.is_asked(event, "Fetch") and event.peer != 2, 30.0, after)
    seen(other, "a Fetch to a bootstrap server", "observer.fetch-timeout")
    same(len(x.all_asked("Vote", after)), 0, "requests for votes", "observer.never-nominates")


@case(
    "voters/removed-by-record",
    *(
        "observer.becomes-non-voter",
        "remove-voter.removed-node-becomes-observer",
        "voters.effective-on-append",
    ),
    *("identity.voter-definition", "voters.record-replaces-set"),
    setup=INSIDE,
    is_fresh=True,
)
async def removed_by_record(x: Bench) -> None:
    """A voter that has read a voter set without itself asks for no votes when its leader is silent."""
    await follows_with_voters(x, (2, 3))
    after = await silent_leader(x)
    await asyncio.sleep(2.5 * x.setup.timeouts.fetch / 1000)
    same(len(x.all_asked("Vote", after)), 0, "requests for votes", "observer.becomes-non-voter")


@case(
    "voters/asks-new-set",
    "voters.effective-on-append",
    *("state.voters-set.own-majority", "voters.network-client-follows-set", "voters.endpoints-are-part-of-the-set"),
    setup=INSIDE,
    is_fresh=True,
)
async def asks_new_set(x: Bench) -> None:
    """The voters of an uncommitted record are those that it asks, at the endpoints of the record."""
    await follows_with_voters(x, (1, 2, 4))
    after = await silent_leader(x)
    vote = seen(await x.asked("Vote", after=after, who=4), "a Pre-Vote to the voter 4", "voters.effective-on-append")
    same(vote.part["voterDirectoryId"], DIRECTORIES[4], "the key that is addressed", "state.voters-set.own-majority")
    same(len(x.all_asked("Vote", after, 3)), 0, "requests to 3, which is no voter now", "voters.record-replaces-set")


@case(
    "voters/truncated",
    *("voters.truncation-reverts", "fetch.diverging.truncate"),
    setup=INSIDE,
    is_fresh=True,
)
async def truncated(x: Bench) -> None:
    """A voter set that is cut off counts no more: the one from before does."""
    start = await follows_with_voters(x, (1, 2, 4))
    x.epoch += 1
    epoch, after = x.epoch, len(x.log.events)

    async def diverge(event: Event) -> Any:
        if event.part["fetchOffset"] > start:
            return bodies.fetch_answer(epoch, 3, diverging=(max(0, epoch - 2), start))
        return None

    x.on("Fetch", diverge, (3,))
    await x.begin(3, epoch)
    if await x.asked("Fetch", after=after, who=3, fetchOffset=start, currentLeaderEpoch=epoch) is None:
        raise Inconclusive("it does not truncate")
    after = len(x.log.events)
    vote = await x.log.first(lambda event: x.is_asked(event, "Vote"), 30.0, after)
    seen(vote, "a Pre-Vote", "voters.truncation-reverts")
    await asyncio.sleep(0.5)
    recipients = {event.peer for event in x.all_asked("Vote", after)}
    same(4 in recipients, False, "whether 4 is asked, which is no voter any more", "voters.truncation-reverts")


@case(
    "voters/added-by-record",
    *("observer.becomes-voter", "voters.self-added-may-campaign", "identity.voter-definition"),
    setup=OUTSIDE,
    is_fresh=True,
)
async def added_by_record(x: Bench) -> None:
    """An observer that reads a voter set with its key is a voter: a silent leader makes it ask for Pre-Votes."""
    x.epoch += 5
    epoch = x.epoch
    own = x.process.directory_id()
    batch = voters_batch(x, 0, epoch, {REPLICA: own, 2: DIRECTORIES[2], 3: DIRECTORIES[3]})
    x.serve(2, epoch, lambda offset, _: batch if offset == 0 else "")
    await x.begin(2, epoch, to=-1, to_directory=NULL_UUID)
    if await x.asked("Fetch", who=2, fetchOffset=3, lastFetchedEpoch=epoch) is None:
        raise Inconclusive("it does not append the voter set")
    after = await silent_leader(x)
    vote = seen(await x.asked("Vote", after=after), "a Pre-Vote", "observer.becomes-voter")
    same(vote.part["replicaDirectoryId"], own, "its key", "voters.self-added-may-campaign")
