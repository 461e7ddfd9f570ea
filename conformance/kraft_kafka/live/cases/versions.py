"""Versions of the messages, and malformed requests."""

from kraft_kafka.live import bodies
from kraft_kafka.live.bench import QUICK, Bench, Setup
from kraft_kafka.live.cases import case, must, same, seen, up_to_date
from kraft_kafka.live.process import REPLICA
from kraft_kafka.live.states import candidate, leads, unattached
from kraft_kafka.wire.schema import Kind, message_of

TIMED = Setup(QUICK)
NEEDED = {"Vote": 2, "BeginQuorumEpoch": 1, "EndQuorumEpoch": 1, "Fetch": 17, "FetchSnapshot": 1, "DescribeQuorum": 2}
NEEDED |= {"AddRaftVoter": 0, "RemoveRaftVoter": 0, "UpdateRaftVoter": 0}


@case(
    "versions/offered",
    "wire.api-keys",
    "wire.versions-negotiated",
)
async def offered(x: Bench) -> None:
    """ApiVersions offers the messages of the quorum in the versions that have keys and Pre-Votes."""
    for api, version in NEEDED.items():
        low, high = x.versions.get(message_of(api, Kind.REQUEST).key, (1, 0))
        must(low <= version <= high, f"{api} version {version}", f"versions {low} to {high}", "wire.api-keys")


@case("versions/kraft-version", "kraft-version.levels")
async def kraft_version(x: Bench) -> None:
    """ApiVersions says that kraft.version 0 and 1 are supported."""
    # Before version 4 the response omits features whose versions begin with 0.
    answer = await x.ask("ApiVersions", 4, {"clientSoftwareName": "kraft-spec-live", "clientSoftwareVersion": "1"})
    features = [feature for feature in answer.body.get("supportedFeatures", []) if feature["name"] == "kraft.version"]
    ranges = [(feature["minVersion"], feature["maxVersion"]) for feature in features]
    must(ranges and ranges[0][0] <= 1 <= ranges[0][1], "kraft.version 1 supported", ranges, "kraft-version.levels")


@case("versions/old-votes", "wire.vote-versions", "vote.voter-key", "identity.unknown-directory-matches-id")
async def old_votes(x: Bench) -> None:
    """Votes of versions 0 and 1 are decided: one without keys, and one without Pre-Vote."""
    for version in (0, 1):
        epoch = x.epoch = await unattached(x)
        body = bodies.vote(2, epoch, False, up_to_date(epoch))
        answer = await x.peers[2].ask("Vote", version, body)
        actual = (answer.part["errorCode"], answer.part["voteGranted"])
        same(actual, (bodies.NONE, True), f"error and grant of a vote of version {version}", "wire.vote-versions")


@case("versions/peer-without-pre-vote", "prevote.unsupported-version", "wire.negotiation", setup=TIMED)
async def old_peers(x: Bench) -> None:
    """Among peers without Pre-Vote it asks for votes of the next epoch at once, in version 1."""
    epoch = await unattached(x)
    for id_ in (2, 3):
        x.peers[id_].offered["Vote"] = (0, 1)
        await x.peers[id_].cut()
        await x.peers[id_].listen()
    try:
        event = seen(await x.asked("Vote"), "a request for a vote", "prevote.unsupported-version")
    finally:
        for id_ in (2, 3):
            x.peers[id_].offered["Vote"] = (0, 2)
            await x.peers[id_].cut()
            await x.peers[id_].listen()
    same(
        (event.version, event.part["replicaEpoch"]), (1, epoch + 1), "version and epoch", "prevote.unsupported-version"
    )
    x.epoch = epoch + 1


@case("versions/malformed-partition", "wire.common-errors")
async def malformed(x: Bench) -> None:
    """A vote about another topic is answered with an error, and changes nothing."""
    epoch = await unattached(x)
    body = bodies.vote(2, epoch + 9, False, up_to_date(epoch + 9))
    body["topics"][0]["topicName"] = "another"
    answer = await x.peers[2].ask("Vote", x.version("Vote", 2), body)
    codes = (answer.body["errorCode"], answer.part.get("errorCode", 0))
    must(any(codes), "an error", answer.body, "wire.common-errors")
    same(x.quorum_state()["leaderEpoch"], epoch, "the epoch on disk", "wire.common-errors")


@case("versions/log-epoch-bound", "prevote.request.last-epoch-bound", "prevote.request.check-order")
async def log_epoch(x: Bench) -> None:
    """A vote whose log is of its own epoch is malformed, a Pre-Vote is not; one of a larger epoch is, either way."""
    epoch = await unattached(x)
    answer = await x.vote(2, epoch, True, (epoch, 1_000_000))
    same((answer.part["errorCode"], answer.part["voteGranted"]), (bodies.NONE, True), "a Pre-Vote of its epoch's log")
    for is_pre_vote, last in ((False, epoch), (True, epoch + 1), (False, epoch + 1)):
        answer = await x.vote(2, epoch, is_pre_vote, (last, 1_000_000))
        code = answer.part.get("errorCode", answer.body["errorCode"])
        same(code, bodies.INVALID_REQUEST, f"the error of a log of {last} at {epoch}, Pre-Vote {is_pre_vote}")


@case(
    "versions/requests",
    "wire.quorum-rpcs-with-keys",
    "wire.vote-versions",
    "wire.begin-quorum",
    "wire.versions-negotiated",
)
async def requests(x: Bench) -> None:
    """It asks in the highest versions that it and its peers have."""
    await candidate(x, is_elected=True)
    begun = seen(await x.asked("BeginQuorumEpoch", leaderEpoch=x.epoch), "an announcement")
    same(begun.version, 1, "the version of BeginQuorumEpoch", "wire.begin-quorum")
    votes = {event.version for event in x.all_asked("Vote")}
    same(votes, {2}, "the versions of Vote", "wire.vote-versions")
    fetches = {event.version for event in x.all_asked("Fetch")}
    must(fetches <= {17}, "Fetch in version 17", fetches, "wire.versions-negotiated")


@case(
    "snapshot/errors",
    *("fetch.snapshot.bootstrap-not-served", "snapshot.bootstrap-checkpoint", "wire.fetch-snapshot-1"),
    "fetch.leader-only",
)
async def snapshot_errors(x: Bench) -> None:
    """The checkpoint of offset 0 is not served, nor one that there is not; epochs are checked as those of Fetch."""
    epoch = await leads(x)

    async def code(at: int, snapshot: tuple[int, int]) -> int:
        body = bodies.fetch_snapshot(2, at, snapshot)
        answer = await x.peers[2].ask("FetchSnapshot", x.version("FetchSnapshot", 1), body)
        error: int = answer.part["errorCode"] if answer.part else answer.body["errorCode"]
        return error

    error = await code(epoch, (0, 0))
    same(error, bodies.SNAPSHOT_NOT_FOUND, "the error for the checkpoint", "fetch.snapshot.bootstrap-not-served")
    same(await code(epoch, (epoch - 1, 123_456)), bodies.SNAPSHOT_NOT_FOUND, "the error for no snapshot")
    same(await code(epoch - 1, (1, 1)), bodies.FENCED_LEADER_EPOCH, "the error of a smaller epoch", "fetch.leader-only")
    same(await code(epoch + 1, (1, 1)), bodies.UNKNOWN_LEADER_EPOCH, "the error of a larger epoch", "fetch.leader-only")
    await x.vote(3, epoch + 1, True)
    x.epoch = epoch + 1
    same(await code(epoch + 1, (1, 1)), bodies.NOT_LEADER, f"the error at {REPLICA}, which leads no more")
