"""The pairs again with the codec of kafka-python, which shares no code with kio.

`python -m kraft_dev.wire.cross_check` prints how many pairs of each message were checked, and by what.

kafka-python carries Kafka's own message files for the requests of clients.  For those its classes decode the frame and
encode it again.  The requests of the quorum alone it does not have: there its codec is given the fields of
`messages.toml`, so that the encoding is checked twice and the fields once, by kio's entities.
"""

import io
from base64 import b64decode, b64encode
from collections.abc import Iterator
from enum import StrEnum
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple
from uuid import UUID
from warnings import catch_warnings, simplefilter

from msgspec import UNSET

from kraft_conformance.wire.decoding import UNKNOWN_TAGS, Document, uuid_text
from kraft_conformance.wire.encoding import uuid_bytes
from kraft_conformance.wire.frames import header_of, header_version
from kraft_conformance.wire.schema import NULL_UUID, Field, Kind, Message, default_of, each, fields_of, messages
from kraft_dev.markdown import table
from kraft_dev.wire.format import Pair, separated
from kraft_dev.wire.generate import read_files

_MODULES = {
    "Fetch": "consumer.fetch",
    "ApiVersions": "metadata.api_versions",
    "DescribeQuorum": "admin.cluster",
    "UpdateFeatures": "admin.cluster",
    "AlterPartitionReassignments": "admin.topics",
    "ListPartitionReassignments": "admin.topics",
}
"""Where kafka-python has the classes of an API."""


class Means(StrEnum):
    """How a pair was checked with kafka-python."""

    OWN_SCHEMA = "its own class"
    GIVEN_SCHEMA = "its codec, our fields"
    BATCH = "its record batches, and its codec with our fields for the value"
    NONE = "not at all"
    """It has no bytes, or kafka-python 3.0.12 cannot read it."""


class Checked(NamedTuple):
    """What became of one pair."""

    pair: Pair
    means: Means
    difference: str
    """Empty if there is none."""
    encoded_again: bool
    """Whether kafka-python has made the bytes too, or has only read them."""


def cross_checked() -> Iterator[Checked]:
    """Every pair of the package."""
    return (check(pair) for file in read_files() for pair in file.pairs)


def check(pair: Pair) -> Checked:
    """One pair with kafka-python."""
    message = messages()[pair.message]
    if message.kind is Kind.TEXT or pair.values == "unknown-tags-within":
        return Checked(pair, Means.NONE, "", False)
    raw = bytes.fromhex("" if pair.hex is UNSET else pair.hex)
    if message.kind is Kind.RECORD:
        return _check_batch(pair, message, raw)
    means = Means.OWN_SCHEMA if message.api in _MODULES else Means.GIVEN_SCHEMA
    header = header_of(message)
    content = io.BytesIO(raw[4:])
    differences = []
    for part, name in ((header, "header"), (message, "body")):
        version = pair.version if part is message else header_version(message, pair.version)
        differences.append(_check_part(part, version, content, pair.json[name], f"{name}."))
    if content.read():
        differences.append("bytes are left over")
    return Checked(pair, means, "; ".join(one for one in differences if one), not _has_unknown_tags(pair.json))


def _check_part(message: Message, version: int, content: io.BytesIO, expected: Document, where: str) -> str:
    """What kafka-python reads other than we do, or writes otherwise; empty if nothing."""
    codec, flexible = _codec(message), version in message.flexible
    start = content.tell()
    # The client id of a request header is no compact string in any version.
    compact = flexible and message.kind is not Kind.HEADER
    read = codec.decode(content, version=version, compact=compact, tagged=flexible)
    document = _document(message.fields, version, read)
    if document != expected:
        return f"{where} kafka-python reads {document}, expected {expected}"
    if _has_unknown_tags(expected):
        return ""
    written = codec.encode(
        _values(message.fields, version, expected), version=version, compact=compact, tagged=flexible
    )
    is_same = written == content.getvalue()[start : content.tell()]
    return "" if is_same else f"{where} kafka-python writes {written.hex()}"


def _codec(message: Message) -> Any:
    """kafka-python's struct of a message: its own where it has one, otherwise one made of our fields."""
    if message.kind is Kind.HEADER:
        return getattr(kafka_module("protocol.api_header"), message.name)._struct
    if message.api in _MODULES:
        # Not its class itself: that takes any ApiVersions response with an error for one of version 0.
        return getattr(kafka_module(f"protocol.{_MODULES[message.api]}"), message.name)._struct
    return kafka_module("protocol.schemas").StructField(_as_kafka_schema(message))


def kafka_module(name: str) -> Any:
    """A module of kafka-python.

    Its import reads files in a way that Python 3.11 and 3.12 call deprecated, which is none of our business.
    """
    with catch_warnings():
        simplefilter("ignore", DeprecationWarning)
        return import_module(f"kafka.{name}")


def _as_kafka_schema(message: Message) -> Document:
    """The message in the form of Kafka's own files."""
    plain = {"name": message.name, "type": str(message.kind), "flexibleVersions": str(message.flexible)}
    return plain | {"validVersions": str(message.versions), "fields": [_as_kafka_field(one) for one in message.fields]}


def _as_kafka_field(one: Field) -> Document:
    entry: Document = {"name": one.name, "versions": str(one.versions), "type": f"{'[]' * one.is_array}{one.type}"}
    if one.tag is not None:
        entry |= {"tag": one.tag, "taggedVersions": str(one.versions)}
    if one.is_nullable:
        entry["nullableVersions"] = str(one.versions)
    if one.is_struct:
        entry["fields"] = [_as_kafka_field(inner) for inner in one.fields]
    elif one.default is None:
        entry["default"] = "null"
    elif not one.is_array and one.type != "uuid":
        entry["default"] = str(one.default).lower() if one.type == "bool" else str(one.default)
    return entry


def _values(of: tuple[Field, ...], version: int, document: Document) -> dict[str, Any]:
    """A document as kafka-python takes it."""
    values = {}
    for one in fields_of(of, version):
        if one.tag is not None and one.name not in document:
            continue
        values[separated(one.name, "_")] = each(one, document[one.name], partial(_value, one, version))
    return values


def _value(one: Field, version: int, value: Any) -> Any:
    if one.is_struct:
        return _values(one.fields, version, value)
    if one.type == "uuid":
        return UUID(bytes=uuid_bytes(value, one.name))
    return b64decode(value) if one.type == "records" else value


def _document(of: tuple[Field, ...], version: int, read: Any) -> Document:
    """The JSON of what kafka-python has read."""
    get = read.get if isinstance(read, dict) else lambda name, default=None: getattr(read, name, default)
    document: Document = {}
    for one in fields_of(of, version):
        value = get(separated(one.name, "_"))
        if one.tag is not None and value is None:
            continue
        many = value if one.is_array and value is not None else [value]
        made = [_plain(one, version, part) for part in many]
        whole = made if one.is_array and value is not None else made[0]
        if one.tag is None or whole != default_of(one):
            document[one.name] = whole
    unknown = read if isinstance(read, dict) else (read.unknown_tags or {})
    tags = [
        {"tag": int(name[1:]), "data": content.hex()}
        for name, content in unknown.items()
        if name.startswith("_") and name[1:].isdigit()
    ]
    return document | ({UNKNOWN_TAGS: tags} if tags else {})


def _plain(one: Field, version: int, value: Any) -> Any:
    if one.type == "uuid":
        return NULL_UUID if value is None else uuid_text(value.bytes)
    if value is None:
        return None
    if one.is_struct:
        return _document(one.fields, version, value)
    return b64encode(bytes(value)).decode() if one.type == "records" else value


def _check_batch(pair: Pair, message: Message, raw: bytes) -> Checked:
    records = kafka_module("record.memory_records").MemoryRecords(raw)
    batch = records.next_batch()
    differences = []
    if not batch.validate_crc() or not batch.is_control_batch or records.has_next():
        differences.append("not one control batch with the right checksum")
    expected = pair.json["records"]
    read = list(batch)
    if len(read) != len(expected):
        differences.append(f"{len(read)} records")
    for one, theirs in zip(expected, read, strict=False):
        key = one["key"]["version"].to_bytes(2, "big") + one["key"]["type"].to_bytes(2, "big")
        if theirs.key != key or theirs.offset != pair.json["baseOffset"] + one["offsetDelta"]:
            differences.append(f"key {theirs.key.hex()} at offset {theirs.offset}")
        differences.append(_check_part(message, pair.version, io.BytesIO(theirs.value), one["value"], "value"))
    difference = "; ".join(one for one in differences if one)
    return Checked(pair, Means.BATCH, difference, False)


def _has_unknown_tags(document: Any) -> bool:
    if isinstance(document, dict):
        return UNKNOWN_TAGS in document or any(_has_unknown_tags(value) for value in document.values())
    return isinstance(document, list) and any(_has_unknown_tags(value) for value in document)


def summary(checked: list[Checked]) -> str:
    """What was checked and how, as Markdown: a line for each message."""
    heads = ("message", "versions", "pairs", "checked with kafka-python by", "encoded again")
    rows = []
    for name in dict.fromkeys(one.pair.message for one in checked):
        of = [one for one in checked if one.pair.message == name]
        again = sum(one.encoded_again for one in of)
        wrong = [one.pair.id for one in of if one.difference]
        means = f"{of[0].means}" + (f"; differs: {', '.join(wrong)}" if wrong else "")
        rows.append((name, str(messages()[name].versions), str(len(of)), means, str(again)))
    by = [f"{sum(one.means is means for one in checked)} by {means}" for means in Means if means is not Means.NONE]
    unchecked = sum(one.means is Means.NONE for one in checked)
    return "\n".join([*table(heads, rows), "", f"{len(checked)} pairs: {'; '.join(by)}; {unchecked} {Means.NONE}."])


if __name__ == "__main__":
    print(summary(list(cross_checked())))
