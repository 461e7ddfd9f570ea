"""Adding, removing and updating voters, at a Leader of three."""

import asyncio
from typing import Any

from kraft_kafka.live import bodies
from kraft_kafka.live.bench import Bench, Setup
from kraft_kafka.live.cases import case, must, same, seen
from kraft_kafka.live.process import DIRECTORIES, REPLICA
from kraft_kafka.live.states import Copy, caught_up, fetching, leads
from kraft_kafka.live.wire_log import Event
from kraft_kafka.wire.decoding import Document
from kraft_kafka.wire.log_records import records_of
from kraft_kafka.wire.schema import NULL_UUID
from kraft_reference.records import Record, RecordKind

ALONE = Setup(voters=(1,), peers=(2, 3, 4))


async def add(x: Bench, id_: int = 4, **more: Any) -> Event:
    """Send AddRaftVoter and return the response."""
    return await x.ask("AddRaftVoter", 1, bodies.add_voter(id_, x.ports.get(id_, 1), **more))


async def remove(x: Bench, id_: int, **more: Any) -> Event:
    """Send RemoveRaftVoter and return the response."""
    return await x.ask("RemoveRaftVoter", 0, bodies.remove_voter(id_, **more))


async def update(x: Bench, id_: int, **more: Any) -> Event:
    """Send a peer's UpdateRaftVoter, by default with its own port, and return the response."""
    fields: Document = {"epoch": x.epoch, "port": x.ports.get(id_, 1)} | more
    body = bodies.update_voter(id_, **fields)
    return await x.peers[2].ask("UpdateRaftVoter", x.version("UpdateRaftVoter", 0), body)


def newest_voters(copy: Copy) -> Record:
    """Return the last VotersRecord of a copy of the leader's log, or one without voters."""
    records = [record for batch in copy.batches if batch.is_control for record in records_of(batch)]
    voters_records = [record for record in records if record.kind is RecordKind.VOTERS]
    return voters_records[-1] if voters_records else Record(0, RecordKind.VOTERS, 0)


def ids(copy: Copy) -> set[int]:
    """Return the voter ids of its last VotersRecord."""
    return {key.id for key in newest_voters(copy).voters}


@case(
    "add/errors",
    *("add-voter.duplicate-id", "add-voter.well-formed", "add-voter.check-order", "wire.add-voter"),
    *("identity.directory-id-never-silently-replaced", "wire.common-errors"),
)
async def add_errors(x: Bench) -> None:
    """AddRaftVoter is refused for a foreign cluster, no listener, no directory, and an id that the set has."""
    await leads(x)
    copy = await caught_up(x)
    other = {"voterDirectoryId": bodies.OTHER_DIRECTORY}
    answer = await add(x, clusterId=bodies.OTHER_CLUSTER_ID)
    same(answer.body["errorCode"], bodies.INCONSISTENT_CLUSTER_ID, "the error of a foreign cluster")
    answer = await add(x, listeners=[])
    same(answer.body["errorCode"], bodies.INVALID_REQUEST, "the error without a listener", "add-voter.well-formed")
    answer = await add(x, 2)
    same(answer.body["errorCode"], bodies.DUPLICATE_VOTER, "the error of a voter", "add-voter.duplicate-id")
    answer = await add(x, 2, **other)
    same(answer.body["errorCode"], bodies.DUPLICATE_VOTER, "the error of its id with another directory")
    end = copy.offset
    copy = await caught_up(x, 2, copy)
    appended = [batch for batch in copy.batches if batch.base_offset >= end and batch.is_control]
    same(appended, [], "control records since then", "add-voter.duplicate-id")


@case("add/nothing-committed", "voters.epoch-committed-before-change", "add-voter.timeout")
async def add_uncommitted(x: Bench) -> None:
    """A Leader that has committed nothing of its epoch adds and removes no voter."""
    await leads(x)
    for answer in (await add(x, timeoutMs=500), await remove(x, 3)):
        same(answer.body["errorCode"], bodies.REQUEST_TIMED_OUT, f"the error of {answer.api}")


@case("add/no-directory", "add-voter.well-formed")
async def add_no_directory(x: Bench) -> None:
    """A voter without a directory id is not added."""
    await leads(x)
    await caught_up(x)
    answer = await add(x, voterDirectoryId=NULL_UUID)
    same(answer.body["errorCode"], bodies.INVALID_REQUEST, "the error without a directory", "add-voter.well-formed")


@case("add/unreachable", "add-voter.learn-versions", "add-voter.timeout")
async def add_unreachable(x: Bench) -> None:
    """A voter that does not answer ApiVersions is not added."""
    await leads(x)
    copy = await caught_up(x)
    await x.peers[4].cut()
    try:
        async with fetching(x, 2) as copies:
            answer = await add(x, timeoutMs=1500)
            same(answer.body["errorCode"], bodies.REQUEST_TIMED_OUT, "the error", "add-voter.learn-versions")
        copy = await caught_up(x, 2, copies[2])
        same(ids(copy), {1, 2, 3}, "the voters", "add-voter.learn-versions")
    finally:
        await x.peers[4].listen()


@case("add/version-not-supported", "add-voter.version-must-be-supported", "add-voter.learn-versions")
async def add_version(x: Bench) -> None:
    """A voter that does not support the kraft.version of the quorum is not added."""
    await leads(x)
    await caught_up(x)
    x.peers[4].kraft_versions = (0, 0)
    try:
        async with fetching(x, 2, 4) as copies:
            await x.eventually(lambda: copies[4].high_watermark >= copies[4].offset > 0)
            answer = await add(x)
    finally:
        x.peers[4].kraft_versions = (0, 1)
    same(answer.body["errorCode"], bodies.INVALID_REQUEST, "the error", "add-voter.version-must-be-supported")


@case(
    "add/done",
    *("add-voter.append-and-apply", "add-voter.reply-after-commit", "voters.at-most-one-difference"),
    *("voters.commit-by-new-set", "voters.effective-on-append", "add-voter.learn-versions", "wire.voters-record"),
    is_fresh=True,
)
async def added(x: Bench) -> None:
    """A voter that has caught up is added: its record commits by the new set, and then the request is answered."""
    await leads(x)
    await caught_up(x)
    start = len(x.log.events)
    async with fetching(x, 2, 4) as copies:
        await x.eventually(lambda: copies[4].high_watermark >= copies[4].offset > 0)
        answer = await add(x, timeoutMs=15_000)
        same(answer.body["errorCode"], bodies.NONE, "the error", "add-voter.reply-after-commit")
        await x.eventually(lambda: copies[4].high_watermark >= copies[4].offset)
        same(ids(copies[4]), {1, 2, 3, 4}, "the voters", "add-voter.append-and-apply")
    versions = await x.asked("ApiVersions", 0.0, start, 4)
    seen(versions, "ApiVersions to the new voter", "add-voter.learn-versions")
    details = {it.id: (it.endpoint, it.min_version, it.max_version) for it in newest_voters(copies[4]).details}
    same(details[4], (f"127.0.0.1:{x.ports[4]}", 0, 1), "its entry", "wire.voters-record", "add-voter.learn-versions")


@case(
    "add/uncommitted-then-next",
    *("voters.one-change-at-a-time", "add-voter.timeout", "add-voter.conditions-hold-at-append", "hw.monotonic"),
    is_fresh=True,
)
async def one_change(x: Bench) -> None:
    """While a change is not committed there is no other one."""
    await leads(x)
    copy = await caught_up(x)
    async with fetching(x, 4) as copies:
        await x.eventually(lambda: copies[4].high_watermark >= copies[4].offset > 0)
        answer = await add(x, timeoutMs=3000)
    same(answer.body["errorCode"], bodies.REQUEST_TIMED_OUT, "the error of an addition that does not commit")
    for other in (await remove(x, 3), await add(x, 5, timeoutMs=1000)):
        same(
            other.body["errorCode"],
            bodies.REQUEST_TIMED_OUT,
            f"the error of {other.api}",
            "voters.one-change-at-a-time",
        )
    part = (await x.fetch(2, x.epoch, 0, 0)).part
    must(part["highWatermark"] >= copy.high_watermark, "no lower high watermark", part["highWatermark"], "hw.monotonic")


@case("remove/errors", "remove-voter.exact-key", "remove-voter.check-order", "wire.remove-voter", "wire.common-errors")
async def remove_errors(x: Bench) -> None:
    """RemoveRaftVoter is refused for a foreign cluster, for a stranger, and for a voter's id with another directory."""
    await leads(x)
    await caught_up(x)
    answer = await remove(x, 3, clusterId=bodies.OTHER_CLUSTER_ID)
    same(answer.body["errorCode"], bodies.INCONSISTENT_CLUSTER_ID, "the error of a foreign cluster")
    answer = await remove(x, 4)
    same(answer.body["errorCode"], bodies.VOTER_NOT_FOUND, "the error of a stranger", "remove-voter.exact-key")
    answer = await remove(x, 3, voterDirectoryId=bodies.OTHER_DIRECTORY)
    same(answer.body["errorCode"], bodies.VOTER_NOT_FOUND, "the error of another directory", "remove-voter.exact-key")


@case(
    "remove/done",
    *("remove-voter.append-and-apply", "remove-voter.reply-after-commit", "voters.at-most-one-difference"),
    "voters.record-replaces-set",
    is_fresh=True,
)
async def removed(x: Bench) -> None:
    """A voter is removed: the record commits by what is left, and the request is answered; it may fetch on."""
    await leads(x)
    await caught_up(x)
    async with fetching(x, 2) as copies:
        answer = await remove(x, 3)
        same(answer.body["errorCode"], bodies.NONE, "the error", "remove-voter.reply-after-commit")
        await x.eventually(lambda: copies[2].high_watermark >= copies[2].offset)
        same(ids(copies[2]), {1, 2}, "the voters", "remove-voter.append-and-apply")
    part = (await x.fetch(3, x.epoch, 0, 0)).part
    same(part["errorCode"], bodies.NONE, "the error of a Fetch of the removed", "remove-voter.append-and-apply")


@case(
    "remove/leader",
    *("remove-voter.leader-removal", "hw.leader-excluded"),
    is_fresh=True,
)
async def remove_leader(x: Bench) -> None:
    """A Leader that removes itself counts the others alone, leads until the record commits, and then resigns."""
    epoch = await leads(x)
    copy = await caught_up(x)
    pending = asyncio.ensure_future(remove(x, REPLICA))
    async with fetching(x, 2) as copies:
        await x.eventually(lambda: copies[2].offset > copy.offset and ids(copies[2]) == {2, 3})
        await asyncio.sleep(0.5)
        same(copies[2].error, bodies.NONE, "the error of a Fetch", "remove-voter.leader-removal")
        mark, end = copies[2].high_watermark, copies[2].offset
        must(mark < end, f"a high watermark below {end} with one of two voters", mark, "hw.leader-excluded")
        same(len(x.all_asked("EndQuorumEpoch", leaderEpoch=epoch)), 0, "EndQuorumEpoch before the commit")
        async with fetching(x, 3):
            answer = await pending
            same(answer.body["errorCode"], bodies.NONE, "the error", "remove-voter.leader-removal")
            ended = await x.asked("EndQuorumEpoch", leaderEpoch=epoch)
            seen(ended, "an EndQuorumEpoch", "remove-voter.leader-removal")


@case(
    "update/errors",
    *("update-voter.not-a-membership-change", "update-voter.range-must-include-finalized", "update-voter.check-order"),
    *("update-voter.leader-only", "wire.update-voter"),
)
async def update_errors(x: Bench) -> None:
    """UpdateRaftVoter is refused for a foreign cluster, a smaller epoch, a stranger, and versions that do not do."""
    await leads(x)
    await caught_up(x)
    answer = await update(x, 2, clusterId=bodies.OTHER_CLUSTER_ID)
    same(answer.body["errorCode"], bodies.INCONSISTENT_CLUSTER_ID, "the error of a foreign cluster")
    answer = await update(x, 2, epoch=x.epoch - 1)
    same(
        answer.body["errorCode"], bodies.FENCED_LEADER_EPOCH, "the error of a smaller epoch", "update-voter.leader-only"
    )
    answer = await update(x, 4)
    same(answer.body["errorCode"], bodies.VOTER_NOT_FOUND, "the error of a stranger")
    answer = await update(x, 2, versions=(0, 0))
    code = answer.body["errorCode"]
    same(code, bodies.INVALID_REQUEST, "the error of versions without 1", "update-voter.range-must-include-finalized")
    answer = await update(x, 2, listeners=[])
    same(answer.body["errorCode"], bodies.INVALID_REQUEST, "the error without a listener", "update-voter.check-order")


@case(
    "update/done",
    *("update-voter.not-a-membership-change", "update-voter.reply-time", "voters.endpoints-are-part-of-the-set"),
    is_fresh=True,
)
async def updated(x: Bench) -> None:
    """A voter's new endpoint gets into the set, which has the same keys as before."""
    await leads(x)
    await caught_up(x)
    async with fetching(x, 3) as copies:
        answer = await update(x, 2, port=1)
        same(answer.body["errorCode"], bodies.NONE, "the error", "update-voter.reply-time")
        await x.eventually(lambda: any(voter.endpoint.endswith(":1") for voter in newest_voters(copies[3]).details))
        keys = {(key.id, key.directory_id) for key in newest_voters(copies[3]).voters}
        same(keys, {(id_, DIRECTORIES[id_]) for id_ in (1, 2, 3)}, "the keys", "update-voter.not-a-membership-change")
        ends = {voter.id: voter.endpoint for voter in newest_voters(copies[3]).details}
        same(ends[2], "127.0.0.1:1", "its endpoint", "voters.endpoints-are-part-of-the-set")


@case("update/non-leader", "update-voter.leader-only")
async def update_non_leader(x: Bench) -> None:
    """A replica that does not lead refuses UpdateRaftVoter."""
    x.epoch = (await leads(x)) + 1
    await x.vote(3, x.epoch, True)
    answer = await update(x, 2)
    same(answer.body["errorCode"], bodies.NOT_LEADER, "the error", "update-voter.leader-only")


@case("describe/leader", "wire.describe-quorum-2", "identity.leader-tracks-by-key", "wire.describe-quorum.leader-only")
async def describe(x: Bench) -> None:
    """A Leader describes the voters with keys, offsets and endpoints, and who fetches besides."""
    epoch = await leads(x)
    copy = await caught_up(x)
    await x.fetch(4, epoch, 0, 0)
    answer = await x.ask("DescribeQuorum", 2, bodies.describe_quorum())
    part = answer.part
    same((part["errorCode"], part["leaderId"], part["leaderEpoch"]), (bodies.NONE, REPLICA, epoch), "error and leader")
    keys = sorted((voter["replicaId"], voter["replicaDirectoryId"]) for voter in part["currentVoters"])
    same(keys, sorted((id_, DIRECTORIES[id_]) for id_ in (1, 2, 3)), "the voters", "wire.describe-quorum-2")
    ports = {node["nodeId"]: node["listeners"][0]["port"] for node in answer.body["nodes"]}
    same(ports, {id_: x.ports[id_] for id_ in (1, 2, 3)}, "their endpoints", "wire.describe-quorum-2")
    ends = {voter["replicaId"]: voter["logEndOffset"] for voter in part["currentVoters"]}
    must(ends[2] >= copy.offset - 1, "the offset that 2 has fetched", ends, "identity.leader-tracks-by-key")
    observers = [(node["replicaId"], node["replicaDirectoryId"]) for node in part["observers"]]
    must((4, DIRECTORIES[4]) in observers, "4 among the observers", observers, "identity.leader-tracks-by-key")


@case(
    "sole-voter/leads",
    *("state.sole-voter", "bootstrap.single-voter-elects-itself", "check-quorum.sole-voter", "bootstrap.standalone"),
    *("voters.never-empty",),
    setup=ALONE,
)
async def sole_voter(x: Bench) -> None:
    """The only voter leads without asking anybody, and does not remove itself."""

    async def is_leader() -> bool:
        part = (await x.ask("DescribeQuorum", 2, bodies.describe_quorum())).part
        return bool(part["errorCode"] == bodies.NONE and part["leaderId"] == REPLICA and part["highWatermark"] > 0)

    is_led = await x.eventually(is_leader)
    must(is_led, "it leads, and commits", x.quorum_state(), "state.sole-voter", "bootstrap.single-voter-elects-itself")
    answer = await remove(x, REPLICA)
    must(answer.body["errorCode"] != bodies.NONE, "an error", answer.body, "voters.never-empty")
    must(await is_leader(), "it still leads", x.quorum_state(), "voters.never-empty")
