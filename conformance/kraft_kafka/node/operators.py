"""Requests of operators and their tools: API versions, the cluster, the quorum, voter changes, features."""

from collections.abc import Awaitable, Callable, Mapping

from kraft_kafka.node.driver import Node, wall_clock_ms
from kraft_kafka.node.metadata import METADATA_VERSION, METADATA_VERSION_MIN
from kraft_kafka.wire.decoding import Document
from kraft_kafka.wire.error_codes import CODES, UNKNOWN_TOPIC_OR_PARTITION
from kraft_kafka.wire.frames import Frame
from kraft_kafka.wire.schema import Kind, messages_by_key
from kraft_kafka.wire.trace_links import TOPIC
from kraft_kafka.wire.translation import directory_of, host_port, uuid_of
from kraft_reference.describe import ReplicaProgress, describe_quorum
from kraft_reference.events import AddVoter, RemoveVoter, UpdateFeatures
from kraft_reference.identity import ReplicaKey
from kraft_reference.messages import Error, Reply

_LISTENER = "CONTROLLER"


def api_keys(other_apis: Mapping[int, range]) -> list[Document]:
    """Return each API that a node serves, with its versions; `other_apis` are those outside the quorum's protocol.

    Rule: wire.negotiation.
    """
    requests = messages_by_key(Kind.REQUEST)
    listed = {key: (request.versions.low, request.versions.high) for key, request in requests.items()}
    listed |= {key: (versions[0], versions[-1]) for key, versions in other_apis.items()}
    return [{"apiKey": key, "minVersion": low, "maxVersion": high} for key, (low, high) in sorted(listed.items())]


def api_versions(node: Node, version: int, other_apis: Mapping[int, range]) -> Document:
    """Return the body of an ApiVersions response."""
    body: Document = {"errorCode": 0, "apiKeys": api_keys(other_apis)}
    if version >= 1:
        body["throttleTimeMs"] = 0
    if version >= 3:
        own = node.configuration.replicas[node.id]
        level = node.replica.state.log.kraft_version
        body["supportedFeatures"] = [
            {"name": "kraft.version", "minVersion": own.min_version, "maxVersion": own.max_version},
            {"name": "metadata.version", "minVersion": METADATA_VERSION_MIN, "maxVersion": METADATA_VERSION},
        ]
        body["finalizedFeaturesEpoch"] = max(0, node.replica.state.high_watermark)
        body["finalizedFeatures"] = [
            {"name": "kraft.version", "maxVersionLevel": level, "minVersionLevel": level},
            {
                "name": "metadata.version",
                "maxVersionLevel": METADATA_VERSION,
                "minVersionLevel": METADATA_VERSION,
            },
        ]
    return body


async def _describe_quorum(node: Node, frame: Frame) -> Document:
    """Rules: wire.describe-quorum-2, cli.describe-status, cli.describe-replication."""
    version = frame.version
    requested = [
        (topic["topicName"], part["partitionIndex"]) for topic in frame.body["topics"] for part in topic["partitions"]
    ]
    topics = [
        {"topicName": name, "partitions": [_partition(node, index, version, is_known=(name, index) == (TOPIC, 0))]}
        for name, index in requested
    ]
    body: Document = {"errorCode": 0, "topics": topics}
    if version >= 2:
        nodes = describe_quorum(node.replica.state, node.configuration, node.fetch_times, wall_clock_ms()).nodes
        listed = [
            {"nodeId": number, "listeners": [{"name": _LISTENER, **host_port(endpoint, "nodes")}]}
            for number, endpoint in nodes
        ]
        body |= {"errorMessage": None, "nodes": listed}
    return body


def _partition(node: Node, index: int, version: int, is_known: bool) -> Document:
    quorum = describe_quorum(node.replica.state, node.configuration, node.fetch_times, wall_clock_ms())
    code = CODES[quorum.error] if is_known else UNKNOWN_TOPIC_OR_PARTITION
    body: Document = {
        "partitionIndex": index,
        "errorCode": code,
        "leaderId": -1 if quorum.leader_id is None else quorum.leader_id,
        "leaderEpoch": quorum.leader_epoch,
        "highWatermark": quorum.high_watermark,
        "currentVoters": [_progress(progress, version) for progress in quorum.voters] if is_known else [],
        "observers": [_progress(progress, version) for progress in quorum.observers] if is_known else [],
    }
    return body | ({"errorMessage": None} if version >= 2 else {})


def _progress(progress: ReplicaProgress, version: int) -> Document:
    body: Document = {"replicaId": progress.key.id, "logEndOffset": progress.log_end_offset}
    if version >= 1:
        body |= {"lastFetchTimestamp": progress.last_fetch_ms, "lastCaughtUpTimestamp": progress.last_caught_up_ms}
    if version >= 2:
        body["replicaDirectoryId"] = uuid_of(progress.key.directory_id, "directory id")
    return body


async def _add_voter(node: Node, frame: Frame) -> Document:
    """Rules: cli.add-controller, wire.add-voter, add-voter.leader-only."""
    body = frame.body
    listed = [listener for listener in body["listeners"] if listener["name"] == _LISTENER] or body["listeners"]
    endpoint = f"{listed[0]['host']}:{listed[0]['port']}" if listed else None
    voter = ReplicaKey(body["voterId"], directory_of(body["voterDirectoryId"]))
    if endpoint is not None:
        node.knows(voter.id, endpoint)
    when_committed = body.get("ackWhenCommitted", True)
    reply = await node.ask(
        lambda number: AddVoter(number, voter, endpoint, body["timeoutMs"], when_committed, body["clusterId"])
    )
    return _change_response(reply)


async def _remove_voter(node: Node, frame: Frame) -> Document:
    """Rules: cli.remove-controller, wire.remove-voter, remove-voter.leader-only."""
    body = frame.body
    voter = ReplicaKey(body["voterId"], directory_of(body["voterDirectoryId"]))
    return _change_response(await node.ask(lambda number: RemoveVoter(number, voter, body["clusterId"])))


def _change_response(reply: Reply) -> Document:
    message = None if reply.error is Error.NONE else f"The reference answers {reply.error}."
    return {"throttleTimeMs": 0, "errorCode": CODES[reply.error], "errorMessage": message}


async def _update_features(node: Node, frame: Frame) -> Document:
    """Update kraft.version, the only feature that can change here.

    Rules: cli.features, kraft-version.upgrade-needs-all-voters.
    """
    error, text = Error.NONE, None
    for update in frame.body["featureUpdates"]:
        if update["feature"] != "kraft.version":
            error, text = Error.INVALID_REQUEST, f"{update['feature']} cannot be changed here, expected kraft.version"
            continue
        level = update["maxVersionLevel"]
        reply = await node.ask(lambda number, level=level: UpdateFeatures(number, level))  # type: ignore[misc]
        if reply.error is not Error.NONE:
            error, text = reply.error, f"The reference answers {reply.error}."
    body: Document = {"throttleTimeMs": 0, "errorCode": CODES[error], "errorMessage": text}
    if frame.version <= 1:
        names = [update["feature"] for update in frame.body["featureUpdates"]]
        body["results"] = [{"feature": name, "errorCode": CODES[error], "errorMessage": text} for name in names]
    return body


HANDLERS: Mapping[str, Callable[[Node, Frame], Awaitable[Document]]] = {
    "DescribeQuorum": _describe_quorum,
    "AddRaftVoter": _add_voter,
    "RemoveRaftVoter": _remove_voter,
    "UpdateFeatures": _update_features,
}
"""Handlers by API, without the requests of replicas and ApiVersions."""
