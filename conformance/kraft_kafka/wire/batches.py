"""Control records in the log's format: batches of magic 2, in which each record's key has its type.

The JSON of a batch has Kafka's names.  In the JSON of a record `key` is `{"version": ..., "type": ...}` and `value` the
message of that type, in the version of its first field.
Rules: wire.control-records, wire.voters-record, wire.leader-change-message.
"""

from collections.abc import Sequence
from typing import Any

from crc32c import crc32c

from kraft_kafka.wire.decoding import Document, decoded
from kraft_kafka.wire.encoding import encoded, signed_varint, whole_number
from kraft_kafka.wire.errors import Reason, WireError
from kraft_kafka.wire.reading import Bytes
from kraft_kafka.wire.schema import Kind, Message, messages_by_key

CONTROL = 0x20
"""The attribute bit of a batch of control records."""

BATCH_HEADER = (
    ("baseOffset", "int64"),
    ("batchLength", "int32"),
    ("partitionLeaderEpoch", "int32"),
    ("magic", "int8"),
    ("crc", "uint32"),
    ("attributes", "int16"),
    ("lastOffsetDelta", "int32"),
    ("baseTimestamp", "int64"),
    ("maxTimestamp", "int64"),
    ("producerId", "int64"),
    ("producerEpoch", "int16"),
    ("baseSequence", "int32"),
)
"""Header fields in order, before the number of records."""

_BEFORE_CRC = 5
"""Header fields before and including the checksum, which covers everything after it."""

_DERIVED = ("batchLength", "crc", "lastOffsetDelta")
"""Fields computed from the records; a document may omit them, but must not contradict them."""

DEFAULTS = {
    "baseOffset": 0,
    "partitionLeaderEpoch": 0,
    "magic": 2,
    "attributes": CONTROL,
    "baseTimestamp": 0,
    "maxTimestamp": 0,
    "producerId": -1,
    "producerEpoch": -1,
    "baseSequence": -1,
}
"""Defaults of a control batch, which has no producer because the quorum's leader appends it."""


def batch_of(message: Message, value: Document) -> Document:
    """Return the JSON of a batch with this record alone."""
    return {"records": [{"key": {"version": 0, "type": message.key}, "value": value}]}


def encode_batch(document: Any) -> bytes:
    """Encode a batch.

    Raises:
        WireError: the document is no batch of control records.
    """
    if not isinstance(document, dict):
        raise WireError(Reason.WRONG_TYPE, "$", "an object", type(document).__name__)
    names = [name for name, _ in BATCH_HEADER]
    if extra := sorted(document.keys() - {*names, "records"}):
        raise WireError(
            Reason.UNKNOWN_FIELD, f"$.{extra[0]}", f"one of {', '.join([*names, 'records'])}", "another field"
        )
    records = document.get("records")
    if not isinstance(records, list) or not records:
        raise WireError(Reason.WRONG_TYPE, "$.records", "an array of one record or more", "another value")
    header = DEFAULTS | {name: value for name, value in document.items() if name not in (*_DERIVED, "records")}
    _check_magic(header["magic"], header["attributes"])
    encoded_records = [_encode_record(record, number, f"$.records[{number}]") for number, record in enumerate(records)]
    header["lastOffsetDelta"] = encoded_records[-1][1]
    raw = batch_bytes(header, [record for record, _ in encoded_records])
    for name in _DERIVED:
        if document.get(name, header[name]) != header[name]:
            raise WireError(Reason.OUT_OF_RANGE, f"$.{name}", f"{header[name]}, from the records", str(document[name]))
    return raw


def batch_bytes(header: Document, records: Sequence[bytes]) -> bytes:
    """Return a batch of encoded records, and set the length and checksum in the header."""
    after = _numbers(header, BATCH_HEADER[_BEFORE_CRC:])
    after += whole_number("int32", len(records), "$.records (length)") + b"".join(records)
    header["crc"] = crc32c(after)
    # The length counts from the leader epoch on: 4 bytes of it, the magic, and 4 of the checksum.
    header["batchLength"] = len(after) + 9
    return _numbers(header, BATCH_HEADER[:_BEFORE_CRC]) + after


def record_bytes(head: bytes, offset_delta: int, key: bytes | None, value: bytes) -> bytes:
    """Return a record with its length and without headers; `head` has its attributes and timestamp delta."""
    sized_key = signed_varint(-1) if key is None else signed_varint(len(key)) + key
    content = head + signed_varint(offset_delta) + sized_key + signed_varint(len(value)) + value + signed_varint(0)
    return signed_varint(len(content)) + content


def decode_batch(raw: bytes, is_lenient: bool = False) -> tuple[Document, tuple[str, ...]]:
    """Decode a batch; also return a lenient reader's notes on bytes that Kafka never writes.

    Raises:
        WireError: the bytes are no batch of control records, or the checksum is wrong.
    """
    content = Bytes(raw, is_lenient=is_lenient)
    header: Document = {}
    for name, kind in BATCH_HEADER[:2]:
        header[name] = content.number(kind, name)
    length = header["batchLength"]
    if length > content.left or length < 0:
        raise WireError(Reason.BAD_LENGTH, "batchLength", f"a length of up to {content.left}", str(length), 8)
    content.end = content.offset + length
    for name, kind in BATCH_HEADER[2:]:
        start = content.offset
        header[name] = content.number(kind, name)
        if name == "crc" and header["crc"] != crc32c(raw[content.offset : content.end]):
            right = f"{crc32c(raw[content.offset : content.end])}, the CRC-32C of what follows"
            raise WireError(Reason.BAD_CRC, "crc", right, str(header["crc"]), start)
    _check_magic(header["magic"], header["attributes"], 16, 21)
    start = content.offset
    count = content.number("int32", "records (length)")
    records = [_decode_record(content, number) for number in content.elements(count, "records", "records", start)]
    if not records:
        raise WireError(Reason.BAD_LENGTH, "records", "one record or more", "0", start)
    content.finished("records")
    if records[-1]["offsetDelta"] != header["lastOffsetDelta"]:
        expected = f"{records[-1]['offsetDelta']}, that of the last record"
        raise WireError(Reason.BAD_BATCH, "lastOffsetDelta", expected, str(header["lastOffsetDelta"]), 23)
    if len(raw) > content.end:
        more = f"{len(raw) - content.end} bytes more"
        raise WireError(Reason.TRAILING_BYTES, "batch", "nothing more", more, content.end)
    return header | {"records": records}, tuple(content.notes)


def _check_magic(magic: Any, attributes: Any, *offsets: int) -> None:
    """Check that these belong to a batch of control records; `offsets` are theirs if they come from bytes."""
    if magic != 2:
        raise WireError(Reason.BAD_BATCH, "magic", "2", str(magic), *offsets[:1])
    if not isinstance(attributes, int) or attributes & ~0x8 != CONTROL:
        expected = f"{CONTROL}, a control batch without compression (or {CONTROL | 8}, with the time of the append)"
        raise WireError(Reason.BAD_BATCH, "attributes", expected, str(attributes), *offsets[1:])


def _numbers(header: Document, names: tuple[tuple[str, str], ...]) -> bytes:
    return b"".join(whole_number(kind, header[name], f"$.{name}") for name, kind in names)


def _encode_record(record: Any, number: int, where: str) -> tuple[bytes, int]:
    """Return the bytes of a record with its length, and its offset in the batch."""
    if not isinstance(record, dict):
        raise WireError(Reason.WRONG_TYPE, where, "an object", type(record).__name__)
    names = ("attributes", "timestampDelta", "offsetDelta", "key", "value", "headers")
    if extra := sorted(record.keys() - set(names)):
        raise WireError(Reason.UNKNOWN_FIELD, f"{where}.{extra[0]}", f"one of {', '.join(names)}", "another field")
    if missing := [name for name in ("key", "value") if name not in record]:
        raise WireError(Reason.MISSING_FIELD, f"{where}.{missing[0]}", "a field of each record", "none")
    if record.get("headers", []) != []:
        raise WireError(Reason.WRONG_TYPE, f"{where}.headers", "no headers: control records have none", "another value")
    offset = record.get("offsetDelta", number)
    message = _find_message(record["key"], f"{where}.key")
    attributes = whole_number("int8", record.get("attributes", 0), f"{where}.attributes")
    # Both are varints here, but must fit the reader's types.
    timestamp_delta = record.get("timestampDelta", 0)
    whole_number("int64", timestamp_delta, f"{where}.timestampDelta")
    whole_number("int32", offset, f"{where}.offsetDelta")
    key = whole_number("int16", 0, "key") + whole_number("int16", message.key, "key")
    value = encode_value(message, record["value"], f"{where}.value")
    return record_bytes(attributes + signed_varint(timestamp_delta), offset, key, value), offset


def encode_value(message: Message, value: Any, where: str) -> bytes:
    """Encode the value of a control record, in the version of its first field.

    Raises:
        WireError: the document is no such value.
    """
    version = value.get("version") if isinstance(value, dict) else None
    if not isinstance(version, int) or isinstance(version, bool):
        raise WireError(Reason.MISSING_FIELD, f"{where}.version", f"the version of {message.name}", str(version))
    return encoded(message, message.checked(version, f"{where}.version"), value, where)[0]


def _find_message(key: Any, where: str, offset: int | None = None) -> Message:
    by_key = messages_by_key(Kind.RECORD)
    if not isinstance(key, dict) or key.keys() != {"version", "type"}:
        raise WireError(Reason.WRONG_TYPE, where, "an object with version and type", "another value", offset)
    if key["version"] != 0:
        raise WireError(Reason.UNKNOWN_VERSION, f"{where}.version", "0", str(key["version"]), offset)
    if key["type"] not in by_key:
        expected = f"the type of a control record of the quorum, one of {', '.join(map(str, by_key))}"
        raise WireError(Reason.UNKNOWN_API, f"{where}.type", expected, str(key["type"]), offset)
    return by_key[key["type"]]


def _decode_record(content: Bytes, number: int) -> Document:
    where = f"records[{number}]"
    part = _take_sized(content, where)
    record: Document = {"attributes": part.number("int8", f"{where}.attributes")}
    record["timestampDelta"] = part.signed(f"{where}.timestampDelta", is_long=True)
    record["offsetDelta"] = part.signed(f"{where}.offsetDelta")
    start = part.offset
    key = _take_sized(part, f"{where}.key")
    record["key"] = {name: key.number("int16", f"{where}.key.{name}") for name in ("version", "type")}
    key.finished(f"{where}.key")
    message = _find_message(record["key"], f"{where}.key", start)
    value = _take_sized(part, f"{where}.value")
    record["value"] = decode_value(message, value, f"{where}.value")
    start = part.offset
    headers = part.signed(f"{where}.headers")
    if headers != 0:
        raise WireError(Reason.BAD_LENGTH, f"{where}.headers", "no headers: 0", str(headers), start)
    part.finished(where)
    return record | {"headers": []}


def decode_value(message: Message, raw: Bytes, where: str) -> Document:
    """Decode the value of a control record, in the version of its first field.

    Raises:
        WireError: the bytes are no such value.
    """
    start = raw.offset
    version = raw.number("int16", f"{where}.version")
    message.checked(version, f"{where}.version", start)
    raw.offset = start
    value = decoded(message, version, raw, where)
    raw.finished(where)
    return value


def _take_sized(content: Bytes, where: str) -> Bytes:
    start = content.offset
    size = content.signed(f"{where} (length)")
    if size < 0:
        raise WireError(Reason.NULL, where, "bytes", f"null, a length of {size}", start)
    if size > content.left:
        raise WireError(Reason.BAD_LENGTH, where, f"a length of up to {content.left}", str(size), start)
    return content.part(size)
