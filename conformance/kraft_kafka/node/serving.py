"""Kafka's requests to a node: the reference answers those of the quorum and of operators, this module the others.

A request outside these APIs only ends its connection.
Rules: wire.negotiation, wire.describe-quorum-2, wire.add-voter, wire.remove-voter, wire.update-voter.
"""

import asyncio
import struct
from base64 import b64encode
from contextlib import suppress
from datetime import timedelta
from typing import Any

from kraft_kafka.node import apis, operators
from kraft_kafka.node.controller import Controller
from kraft_kafka.node.driver import Node
from kraft_kafka.node.exchanges import CLIENT, kafka_document, reference_message
from kraft_kafka.node.handing_on import response_of_leader
from kraft_kafka.wire.decoding import Document
from kraft_kafka.wire.error_codes import CODES, POSITION_OUT_OF_RANGE
from kraft_kafka.wire.errors import Reason, WireError
from kraft_kafka.wire.frames import Frame, decode_request, encode_frame, unsupported_api_versions
from kraft_kafka.wire.other_requests import decode_other_request, encode_other_response
from kraft_kafka.wire.schema import Kind, message_of
from kraft_kafka.wire.trace_links import TOPIC, TOPIC_ID, TRACED_NAMES, filled
from kraft_kafka.wire.translation import from_kafka
from kraft_reference.messages import (
    AddVoterRequest,
    Error,
    FetchResponse,
    FetchSnapshotRequest,
    FetchSnapshotResponse,
    Request,
)
from kraft_reference.roles import Role

_WAIT_MS_MAX = 500
"""Maximum wait of a Fetch without new data: shorter than any fetch timeout."""
_REPLICAS = (CLIENT, "raft-client-")
"""Client id prefixes of nodes, and of Kafka's controllers and brokers."""
_QUORUM = ("Vote", "BeginQuorumEpoch", "EndQuorumEpoch", "Fetch", "FetchSnapshot", "UpdateRaftVoter")
"""Requests that only replicas send; AddRaftVoter and RemoveRaftVoter may come from an operator too."""


class Serving:
    """Answers the frames that arrive at a node."""

    def __init__(self, node: Node, is_controller: bool = True) -> None:
        self._node, self._controller = node, Controller(node)
        self._others = apis.CONTROLLER if is_controller else apis.BROKER
        self._other_versions = apis.versions(self._others)
        self._handed_on = frozenset() if is_controller else apis.HANDED_ON

    async def respond(self, raw: bytes) -> bytes | None:
        """Return the response frame; None ends the connection."""
        key = struct.unpack_from(">h", raw, 4)[0] if len(raw) >= 6 else -1
        try:
            if key in self._handed_on and (response := await response_of_leader(self._node, raw)) is not None:
                return response
            if key in self._others:
                other = decode_other_request(raw, self._other_versions)
                fields = await self._others[key].answer(self._controller, other.body)
                return encode_other_response(other, {"throttle_time": timedelta(), **fields})
            frame = decode_request(raw, is_lenient=True)
            body = await self._respond_to(frame)
        except WireError:
            return unsupported_api_versions(raw, operators.api_keys(self._other_versions))
        if body is None:
            return None
        document = {"header": {"correlationId": frame.header["correlationId"]}, "body": body}
        return encode_frame(message_of(frame.message.api, Kind.RESPONSE), frame.version, document)[0]

    async def _respond_to(self, frame: Frame) -> Document | None:
        api, sender = frame.message.api, sender_of(frame)
        if api in _QUORUM and not _names_metadata_log(frame):
            refused = filled(TRACED_NAMES[f"{api}Response"], frame.version)
            listed = "responses" if "responses" in refused else "topics"
            return refused | {"errorCode": CODES[Error.INVALID_REQUEST], listed: []}
        if api == "FetchSnapshot":
            partitions = [partition for topic in frame.body["topics"] for partition in topic["partitions"]]
            if len(partitions) != 1 or partitions[0]["position"] < 0:
                return None
            if partitions[0]["position"] > 0:
                return self._respond_with_chunk(frame)
        if api in _QUORUM or (api in ("AddRaftVoter", "RemoveRaftVoter") and sender is not None):
            return await self._respond_to_replica(frame, sender)
        if api == "ApiVersions" and sender is not None and frame.header.get("clientId", "").startswith(CLIENT):
            await self._respond_to_replica(frame, sender)
        if api == "ApiVersions":
            return operators.api_versions(self._node, frame.version, self._other_versions)
        handler = operators.HANDLERS.get(api)
        return None if handler is None else await handler(self._node, frame)

    async def _respond_to_replica(self, frame: Frame, sender: int | None) -> Document | None:
        request = self._request(frame, sender)
        if isinstance(request, AddVoterRequest) and request.endpoint is not None:
            self._node.knows(request.voter.id, request.endpoint)
        response = await self._node.answer(request)
        if isinstance(response, FetchResponse) and not await self._is_in_time(frame, response):
            return None
        body: Document = kafka_document(response, frame.version)["body"]
        if isinstance(response, FetchResponse) and response.records:
            start = request.fetch_offset  # type: ignore[union-attr]
            records = self._node.disk.between(start, start + len(response.records))
            body["responses"][0]["partitions"][0]["records"] = b64encode(records).decode()
        if isinstance(response, FetchSnapshotResponse) and response.snapshot is not None:
            self._fill_chunk(body, frame, response.snapshot.id)
        return body

    def _request(self, frame: Frame, sender: int | None) -> Request:
        name = TRACED_NAMES[frame.message.name]
        fields = from_kafka(name, frame.version, frame.document)
        key = fields.get("replica_key") or fields.get("voter")
        source = fields.get("source", sender if key is None or sender is not None else key["id"])
        if name in ("VoteRequest", "FetchRequest", "FetchSnapshotRequest"):
            source = None if key is None else key["id"]
        if source is None:
            raise WireError(Reason.MISSING_FIELD, "$.source", "the id of a replica", "none")
        if name == "FetchRequest" and fields.get("last_epoch") is None:
            raise WireError(Reason.MISSING_FIELD, "$.last_epoch", "a Fetch of version 12 or later", str(frame.version))
        fields |= {"source": source, "destination": self._node.id}
        request: Any = reference_message(name, fields)
        return request  # type: ignore[no-any-return]

    async def _is_in_time(self, frame: Frame, response: FetchResponse) -> bool:
        """Long polling: delay a response without news until there are some; the next response has them.

        False if the leadership ended meanwhile; the connection then ends.  Rule: state.leader.higher-epoch.
        """
        has_news = response.records or response.error is not Error.NONE or response.snapshot_id is not None
        if has_news or response.diverging_epoch >= 0:
            return True
        state = self._node.replica.state
        led = (state.role, state.epoch)
        old = (state.log.end_offset, state.high_watermark)
        wait_s = min(frame.body["maxWaitMs"], _WAIT_MS_MAX) / 1000
        if response.high_watermark != state.high_watermark:
            return True
        with suppress(TimeoutError):
            async with asyncio.timeout(wait_s):
                while led == (state.role, state.epoch) and old == (state.log.end_offset, state.high_watermark):
                    self._node.changed.clear()
                    await self._node.changed.wait()
                    state = self._node.replica.state
        return led == (state.role, state.epoch)

    # Snapshots in chunks.

    def _fill_chunk(self, body: Document, frame: Frame, identifier: tuple[int, int]) -> None:
        requested, chunk = frame.body["topics"][0]["partitions"][0], body["topics"][0]["partitions"][0]
        raw = self._node.disk.snapshot_bytes[identifier]
        position = requested["position"]
        content = raw[position : position + min(max(frame.body["maxBytes"], 1), 2**20)]
        chunk["snapshotId"] = {"endOffset": identifier[0], "epoch": identifier[1]}
        chunk |= {"size": len(raw), "position": position, "unalignedRecords": b64encode(content).decode()}

    def _respond_with_chunk(self, frame: Frame) -> Document:
        """Answer a later chunk here: the reference only knows whole snapshots, and has answered for the first chunk."""
        request = self._request(frame, None)
        assert isinstance(request, FetchSnapshotRequest), "it was made of one"
        state, identifier = self._node.replica.state, (request.snapshot_end_offset, request.snapshot_epoch)
        leads = state.role is Role.LEADER and state.epoch == request.epoch
        has_it = identifier in self._node.disk.snapshot_bytes
        error = Error.NONE if leads and has_it else Error.SNAPSHOT_NOT_FOUND if leads else Error.NOT_LEADER_OR_FOLLOWER
        response = FetchSnapshotResponse(
            self._node.id, request.source, request.correlation_id, error, state.epoch, state.leader_id, None, None
        )
        body: Document = kafka_document(response, frame.version)["body"]
        position = frame.body["topics"][0]["partitions"][0]["position"]
        if error is Error.NONE and position < len(self._node.disk.snapshot_bytes[identifier]):
            self._fill_chunk(body, frame, identifier)
        elif error is Error.NONE:
            body["topics"][0]["partitions"][0]["errorCode"] = POSITION_OUT_OF_RANGE
        return body


def _names_metadata_log(frame: Frame) -> bool:
    """True if the request names the metadata partition only; an UpdateRaftVoter names none."""
    if frame.message.api == "UpdateRaftVoter":
        return True
    named = [
        (topic.get("topicId") or topic.get("topicName") or topic.get("topic") or topic.get("name"), index)
        for topic in frame.body["topics"]
        for index in [partition.get("partitionIndex", partition.get("partition")) for partition in topic["partitions"]]
    ]
    return named in ([(TOPIC, 0)], [(TOPIC_ID, 0)])


def sender_of(frame: Frame) -> int | None:
    """Return the replica that sent a request, from its client id; None for an operator."""
    client = frame.header.get("clientId") or ""
    for prefix in _REPLICAS:
        number = client.removeprefix(prefix)
        if number != client and number.isdecimal() and len(number) < 10:
            return int(number)
    return None
