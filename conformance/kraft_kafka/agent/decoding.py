"""Kafka's bytes in the agent's lines as the values of a trace."""

from base64 import b64decode
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from kraft_kafka.agent.raw import RawMessage, RawSnapshot
from kraft_kafka.node.exchanges import fetched
from kraft_kafka.wire.decoding import Document, decoded
from kraft_kafka.wire.log_records import Batch, records_of
from kraft_kafka.wire.reading import Bytes
from kraft_kafka.wire.schema import Kind, messages_by_key
from kraft_kafka.wire.snapshot_files import decode_snapshot
from kraft_kafka.wire.trace_links import TRACED_NAMES
from kraft_kafka.wire.translation import from_kafka
from kraft_reference.identity import ReplicaKey
from kraft_reference.log import Snapshot
from kraft_traces.values import traced_record, traced_snapshot

_BY_NAME = {
    message.name: message for kind in (Kind.REQUEST, Kind.RESPONSE) for message in messages_by_key(kind).values()
}


def message_fields(raw: RawMessage) -> Document | None:
    """Return a message's fields by their names in a trace; None for a message outside the quorum's protocol.

    Raises:
        WireError: the bytes are no such message.
    """
    if raw.bytes is None or raw.name not in TRACED_NAMES:
        return None
    body = _body(raw)
    fields = from_kafka(TRACED_NAMES[raw.name], raw.version, {"header": {}, "body": body})
    if raw.name == "FetchResponse" and body["responses"] and not raw.skipped:
        _, fields["records"] = fetched(body)
    return fields


def _body(raw: RawMessage) -> Document:
    content = b64decode(raw.bytes or "")
    # The bytes lack records in a file; their size alone counts here.
    content = content[: raw.skipped_at] + bytes(raw.skipped) + content[raw.skipped_at :]
    return decoded(_BY_NAME[raw.name], raw.version, Bytes(content, is_lenient=True), "body")


def batches_in(raw: RawMessage) -> tuple[Batch, ...]:
    """Return the batches of a Fetch response.

    Raises:
        WireError: a batch is damaged.
    """
    return fetched(_body(raw))[0]


def snapshot_piece(raw: RawMessage) -> tuple[int, int, int] | None:
    """Return position, length and total size of the piece in a FetchSnapshot response; None if it has none."""
    body = _body(raw)
    if not body["topics"]:
        return None
    piece = body["topics"][0]["partitions"][0]
    return piece["position"], len(b64decode(piece["unalignedRecords"] or "")), piece["size"]


def snapshot_position(raw: RawMessage) -> int:
    """Return the position of the piece that a FetchSnapshot request asks for; 0 for another request."""
    if raw.name != "FetchSnapshotRequest":
        return 0
    body = _body(raw)
    position: int = body["topics"][0]["partitions"][0]["position"]
    return position


def piece_of(raw: RawMessage) -> bytes:
    """Return the bytes of the piece in a FetchSnapshot response; none if it has no piece."""
    body = _body(raw)
    return b64decode(body["topics"][0]["partitions"][0]["unalignedRecords"] or "") if body["topics"] else b""


def records_of_batches(batches: Sequence[Batch]) -> list[Document]:
    """Return the records of batches as a trace has them.

    Raises:
        WireError: the records are damaged.
    """
    return [msgspec.to_builtins(traced_record(record)) for batch in batches for record in records_of(batch)]


def snapshot_in(raw: RawSnapshot, static: Snapshot) -> Snapshot:
    """Return a snapshot; one without voters has those of `static`.

    Raises:
        WireError: the bytes are no snapshot.
    """
    return decode_snapshot(b64decode(raw.bytes), raw.end_offset, raw.epoch, static).snapshot


def snapshot_fields(snapshot: Snapshot) -> dict[str, Any]:
    """Return a snapshot as a trace has it."""
    fields: dict[str, Any] = msgspec.to_builtins(traced_snapshot(snapshot))
    return fields


def key_of(key: Mapping[str, Any]) -> ReplicaKey:
    """Return the key that a line shows."""
    return ReplicaKey(key["id"], key["directory_id"])
