"""The reference's requests over TCP, and their responses as messages of the reference.

A message has its correlation id on the wire, so that the traces of two processes use the same id.
"""

from base64 import b64decode
from typing import NamedTuple

import msgspec

from kraft_kafka.wire.connections import Connection
from kraft_kafka.wire.decoding import Document
from kraft_kafka.wire.errors import Reason, WireError
from kraft_kafka.wire.frames import Frame
from kraft_kafka.wire.log_records import Batch, batches_of, records_of
from kraft_kafka.wire.reading import ELEMENTS_MAX
from kraft_kafka.wire.snapshot_files import decode_snapshot
from kraft_kafka.wire.trace_links import kafka_name
from kraft_kafka.wire.translation import from_kafka, to_kafka
from kraft_reference.configuration import Timeouts
from kraft_reference.log import Snapshot
from kraft_reference.messages import FetchSnapshotRequest, Message, Request, VoteRequest
from kraft_traces.message_types import TRACED_MESSAGES
from kraft_traces.messages import complete_message, traced_message
from kraft_traces.values import traced_record, traced_snapshot

CLIENT = "kraft-spec-node-"
"""Prefix of a node's client id, before its replica id; it identifies senders of requests without a sender field."""
VERSIONS = {
    "Vote": 2,
    "BeginQuorumEpoch": 1,
    "EndQuorumEpoch": 1,
    "Fetch": 17,
    "FetchSnapshot": 1,
    # Before version 4 Kafka omits features that begin at level 0, such as kraft.version.
    "ApiVersions": 4,
    "AddRaftVoter": 0,
    "RemoveRaftVoter": 0,
    "UpdateRaftVoter": 0,
}
"""Versions that a node sends; every controller since Apache Kafka 4.0 supports them.  Rule: wire.negotiation."""
_FETCH_WAIT_MS = 500
"""The value of Kafka's raft client."""
_SNAPSHOT_BYTES_MAX = 2**26
"""Larger snapshots are rejected, because a snapshot is decoded in memory."""
_CHUNK_BYTES = 2**20
"""Bytes of a snapshot in one response."""


class Received(NamedTuple):
    """A message, with its payload that the reference does not read."""

    message: Message
    batches: tuple[Batch, ...] = ()
    """Batches of a Fetch response."""
    snapshot: bytes | None = None
    """The whole snapshot file, of a FetchSnapshot response."""


def fetch_wait_ms(timeouts: Timeouts) -> int:
    """Return the maximum wait of a Fetch: Kafka's, but always shorter than the request and fetch timeouts."""
    return min(_FETCH_WAIT_MS, timeouts.request_timeout_ms // 2, timeouts.fetch_timeout_ms // 2)


def kafka_document(message: Message, version: int) -> Document:
    """Return the JSON of a message's frame, without record and snapshot bytes, which the reference does not have."""
    traced = msgspec.to_builtins(traced_message("0.0", message))
    return to_kafka({name: value for name, value in traced.items() if name != "id"}, version)[1]


def reference_message(name: str, fields: Document) -> Message:
    """Return the message with a traced message's fields; fields that a version lacks have their defaults.

    Raises:
        WireError: a value is outside the protocol.
    """
    kind = TRACED_MESSAGES[name]
    present = {field: fields[field] for field in kind.__struct_fields__ if field in fields}
    try:
        return complete_message(msgspec.convert({"type": name, **present}, kind))
    except (msgspec.ValidationError, ValueError) as error:
        raise WireError(Reason.WRONG_TYPE, "$", f"a {name}", str(error)) from None


async def exchange(
    connection: Connection, request: Request, static: Snapshot, at_hand: Document, wait_ms: int
) -> Received:
    """Send a request of the reference, and return the response.

    Args:
        connection: the connection to its destination.
        request: the request.
        static: the voters of a snapshot without voters.
        wait_ms: maximum wait of a Fetch without new data; shorter than the caller's timeout.
        at_hand: values for fields that Kafka's response lacks, such as the epoch of an AddRaftVoter response.

    Raises:
        OSError, EOFError, WireError: as `Connection.ask`.
    """
    request_name = type(request).__name__
    name = request_name.replace("Request", "Response")
    api = kafka_name(request_name).removesuffix("Request")
    version = VERSIONS[api]
    body = kafka_document(request, version)["body"]
    if isinstance(request, FetchSnapshotRequest):
        return await _fetch_snapshot(connection, request, body, static)
    if api == "Fetch":
        body |= {"maxWaitMs": wait_ms, "maxBytes": 8 * 2**20}
    answer = await connection.ask(api, version, body, request.correlation_id)
    fields = at_hand | _fields(name, version, answer, request)
    batches: tuple[Batch, ...] = ()
    if api == "Fetch":
        batches, fields["records"] = fetched(answer.body)
    if isinstance(request, VoteRequest):
        # Kafka's response has no such field, so it comes from the request.
        fields["pre_vote"] = request.pre_vote
    return Received(reference_message(name, fields), batches)


def _fields(name: str, version: int, answer: Frame, request: Request) -> Document:
    fields = from_kafka(name, version, answer.document)
    return fields | {
        "source": request.destination,
        "destination": request.source,
        "correlation_id": request.correlation_id,
    }


def fetched(body: Document) -> tuple[tuple[Batch, ...], list[Document]]:
    """Return the batches of a Fetch response, and their records as a trace has them; none with a top-level error.

    Raises:
        WireError: a batch is damaged, or there are more records than a frame may have.
    """
    partitions = [partition for topic in body["responses"] for partition in topic["partitions"]]
    batches = tuple(batches_of(b"".join(b64decode(partition.get("records") or "") for partition in partitions)))
    if (count := sum(batch.end_offset - batch.base_offset for batch in batches)) > ELEMENTS_MAX:
        raise WireError(Reason.BAD_LENGTH, "body.responses", f"up to {ELEMENTS_MAX} records", str(count))
    records = [record for batch in batches for record in records_of(batch)]
    return batches, [msgspec.to_builtins(traced_record(record)) for record in records]


async def _fetch_snapshot(
    connection: Connection, request: FetchSnapshotRequest, body: Document, static: Snapshot
) -> Received:
    """Fetch the whole snapshot, chunk by chunk."""
    raw = bytearray()
    while True:
        partition = body["topics"][0]["partitions"][0]
        partition["position"] = len(raw)
        body["maxBytes"] = _CHUNK_BYTES
        number = request.correlation_id if not raw else None
        answer = await connection.ask("FetchSnapshot", VERSIONS["FetchSnapshot"], body, number)
        fields = _fields("FetchSnapshotResponse", VERSIONS["FetchSnapshot"], answer, request)
        if fields.get("error", "NONE") != "NONE":
            return Received(reference_message("FetchSnapshotResponse", fields))
        piece = answer.body["topics"][0]["partitions"][0]
        if piece["position"] != len(raw) or piece["size"] > _SNAPSHOT_BYTES_MAX:
            expected = f"the piece at {len(raw)} of at most {_SNAPSHOT_BYTES_MAX} bytes"
            raise WireError(Reason.OUT_OF_RANGE, "body", expected, f"{piece['position']} of {piece['size']}")
        content = b64decode(piece["unalignedRecords"] or "")
        raw += content
        if len(raw) >= piece["size"] or not content:
            break
    snapshot = decode_snapshot(bytes(raw), request.snapshot_end_offset, request.snapshot_epoch, static).snapshot
    fields["snapshot"] = msgspec.to_builtins(traced_snapshot(snapshot))
    return Received(reference_message("FetchSnapshotResponse", fields), snapshot=bytes(raw))
