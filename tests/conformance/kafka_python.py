"""kafka-python, which shares no code with kio or with this project, and carries Kafka's own message files."""

import io
from base64 import b64decode, b64encode
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from typing import Any
from uuid import UUID
from warnings import catch_warnings, simplefilter

from kraft_dev.wire.format import Pair, split_camel_case
from kraft_dev.wire.kio_entities import without_unknown_tags
from kraft_kafka.wire.decoding import UNKNOWN_TAGS, Document, uuid_text
from kraft_kafka.wire.encoding import uuid_bytes
from kraft_kafka.wire.frames import header_of, header_version
from kraft_kafka.wire.schema import NULL_UUID, Field, Kind, Message, default_of, each, fields_of, messages

MODULES = {
    "Fetch": "consumer.fetch",
    "ApiVersions": "metadata.api_versions",
    "DescribeQuorum": "admin.cluster",
    "UpdateFeatures": "admin.cluster",
    "AlterPartitionReassignments": "admin.topics",
    "ListPartitionReassignments": "admin.topics",
}
"""Where kafka-python has the classes of an API: those of clients."""


def kafka_module(name: str) -> Any:
    """A module of kafka-python.

    Its import reads files in a way that Python 3.11 and 3.12 call deprecated, which is none of our business.
    """
    with catch_warnings():
        simplefilter("ignore", DeprecationWarning)
        return import_module(f"kafka.{name}")


def differences(pair: Pair) -> Iterator[str]:
    """Return the differences between kafka-python and this package for the bytes of a pair."""
    message = messages()[pair.message]
    content = io.BytesIO(bytes.fromhex(str(pair.hex))[4:])
    header = header_of(message)
    yield from _part(header, header_version(message, pair.version), content, pair.json["header"])
    yield from _part(message, pair.version, content, pair.json["body"])
    if content.read():
        yield "bytes are left over"


def _part(message: Message, version: int, content: io.BytesIO, expected: Document) -> Iterator[str]:
    codec, flexible = _codec(message), version in message.flexible
    start = content.tell()
    # The client id of a request header is no compact string in any version.
    form = {"version": version, "compact": flexible and message.kind is not Kind.HEADER, "tagged": flexible}
    read = _document(message.fields, version, codec.decode(content, **form))
    if read != expected:
        yield f"kafka-python reads {read}, expected {expected}"
    elif without_unknown_tags(expected) == expected:
        written = codec.encode(_values(message.fields, version, expected), **form)
        if written != content.getvalue()[start : content.tell()]:
            yield f"kafka-python writes {written.hex()}"


def _codec(message: Message) -> Any:
    # Not the class itself: that takes any ApiVersions response with an error for one of version 0.
    module = "api_header" if message.kind is Kind.HEADER else MODULES[message.api]
    return getattr(kafka_module(f"protocol.{module}"), message.name)._struct


def _values(of: tuple[Field, ...], version: int, document: Document) -> dict[str, Any]:
    """Return a document as kafka-python's fields."""
    values = {}
    for field in fields_of(of, version):
        if field.tag is not None and field.name not in document:
            continue
        values[split_camel_case(field.name, "_")] = each(field, document[field.name], partial(_value, field, version))
    return values


def _value(field: Field, version: int, value: Any) -> Any:
    if field.is_struct:
        return _values(field.fields, version, value)
    if field.type == "uuid":
        return UUID(bytes=uuid_bytes(value, field.name))
    return b64decode(value) if field.type == "records" else value


def _document(of: tuple[Field, ...], version: int, read: Any) -> Document:
    """Return a message of kafka-python as JSON."""
    get = read.get if isinstance(read, dict) else lambda name, default=None: getattr(read, name, default)
    document: Document = {}
    for field in fields_of(of, version):
        value = get(split_camel_case(field.name, "_"))
        if field.tag is not None and value is None:
            continue
        # `each` would leave a null as it is, which stands for the uuid of zeros.
        made = each(field, value, partial(_plain, field, version)) if field.is_array else _plain(field, version, value)
        if field.tag is None or made != default_of(field):
            document[field.name] = made
    unknown = read if isinstance(read, dict) else (read.unknown_tags or {})
    tags = [
        {"tag": int(name[1:]), "data": content.hex()}
        for name, content in unknown.items()
        if name.startswith("_") and name[1:].isdigit()
    ]
    return document | ({UNKNOWN_TAGS: tags} if tags else {})


def _plain(field: Field, version: int, value: Any) -> Any:
    if field.type == "uuid":
        return NULL_UUID if value is None else uuid_text(value.bytes)
    if value is None:
        return None
    if field.is_struct:
        return _document(field.fields, version, value)
    return b64encode(bytes(value)).decode() if field.type == "records" else value
