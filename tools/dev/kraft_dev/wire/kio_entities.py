"""The same messages as kio's entities, and the bytes that kio itself makes of them.

kio has every message of `messages.toml` in every version.  Its names are those of Kafka in snake case; durations lose
their unit, the null uuid is None, and an error code is one that kio knows.
"""

import io
from base64 import b64decode, b64encode
from collections.abc import Iterator
from dataclasses import Field as EntityField
from dataclasses import fields
from datetime import timedelta
from functools import partial
from typing import Any

from kio.index import load_entity_schema
from kio.schema.errors import ErrorCode
from kio.serial import entity_reader, entity_writer
from kio.static.constants import EntityType

from kraft_dev.wire.format import separated
from kraft_kafka.wire.decoding import UNKNOWN_TAGS, Document, uuid_text
from kraft_kafka.wire.frames import header_of, header_version
from kraft_kafka.wire.other_requests import entity_in, entity_of
from kraft_kafka.wire.schema import NULL_UUID, Field, Kind, Message, default_of, each, fields_of

_TYPES: dict[Kind, Any] = {
    Kind.REQUEST: EntityType.request,
    Kind.RESPONSE: EntityType.response,
    Kind.HEADER: EntityType.header,
}


def entity_class(message: Message, version: int) -> Any:
    """kio's class of a message."""
    name = separated(message.api or message.name, "_")
    return load_entity_schema(name, version, _TYPES.get(message.kind, EntityType.data))


def kio_bytes(message: Message, version: int, document: Document) -> bytes:
    """The bytes that kio makes of a message without its header; unknown tagged fields are none of its business."""
    written = io.BytesIO()
    cls = entity_class(message, version)
    entity_writer(cls)(written, to_entity(message.fields, version, cls, document))
    return written.getvalue()


def kio_frame(message: Message, version: int, document: Document) -> bytes:
    """The bytes that kio makes of a whole frame."""
    header = header_of(message)
    content = kio_bytes(header, header_version(message, version), document["header"])
    content += kio_bytes(message, version, document["body"])
    return len(content).to_bytes(4, "big") + content


def kio_read(message: Message, version: int, raw: bytes) -> tuple[Document, int]:
    """The JSON that follows from what kio reads, without tagged fields that it does not know; and the bytes it took."""
    cls = entity_class(message, version)
    entity, size = entity_reader(cls)(raw, 0)
    return from_entity(message.fields, version, entity), size


def to_entity(of: tuple[Field, ...], version: int, cls: Any, document: Document) -> Any:
    """kio's entity of a document that can be encoded."""
    return entity_of(cls, _by_names_of_kio(of, version, cls, document))


def _by_names_of_kio(of: tuple[Field, ...], version: int, cls: Any, document: Document) -> Document:
    values = {}
    for one, theirs in paired(of, version, cls):
        value = document.get(one.name, default_of(one))
        if one.is_struct:
            value = each(one, value, partial(_by_names_of_kio, one.fields, version, entity_in(theirs.type)))
        values[theirs.name] = value if one.type != "records" or value is None else b64decode(value)
    return values


def from_entity(of: tuple[Field, ...], version: int, entity: Any) -> Document:
    """The JSON of one of kio's entities."""
    document: Document = {}
    for one, theirs in paired(of, version, type(entity)):
        value = getattr(entity, theirs.name)
        if one.is_array and value is not None:
            made: Any = [_from_value(one, version, element) for element in value]
        else:
            made = _from_value(one, version, value)
        if one.tag is None or made != default_of(one):
            document[one.name] = made
    return document


def without_unknown_tags(document: Any) -> Any:
    """The same without the tagged fields that only a later version may know."""
    if isinstance(document, dict):
        return {name: without_unknown_tags(value) for name, value in document.items() if name != UNKNOWN_TAGS}
    return [without_unknown_tags(value) for value in document] if isinstance(document, list) else document


class MismatchError(AssertionError):
    """kio's entity and `messages.toml` do not have the same fields."""


def paired(of: tuple[Field, ...], version: int, cls: Any) -> Iterator[tuple[Field, "EntityField[Any]"]]:
    """Our fields of a version with those of kio, which come in the same order.

    Raises:
        MismatchError: a name or the number of fields differs.
    """
    ours, theirs = fields_of(of, version), fields(cls)
    if len(ours) != len(theirs):
        raise MismatchError(f"{cls}: {[one.name for one in ours]} against {[one.name for one in theirs]}")
    for one, other in zip(ours, theirs, strict=True):
        plain, names = other.name.replace("_", ""), one.name.lower()
        if names not in (plain, f"{plain}ms"):
            raise MismatchError(f"{cls}: {one.name} against {other.name}")
        yield one, other


def _from_value(one: Field, version: int, value: Any) -> Any:
    if one.is_struct:
        return None if value is None else from_entity(one.fields, version, value)
    if one.type == "uuid":
        return NULL_UUID if value is None else uuid_text(value.bytes)
    if isinstance(value, ErrorCode):
        return value.value
    if isinstance(value, timedelta):
        return value // timedelta(milliseconds=1)
    if isinstance(value, bytes):
        return b64encode(value).decode()
    return value if value is None or isinstance(value, str | bool) else int(value)
