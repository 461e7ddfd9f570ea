"""Messages as kio's entities, and the bytes that kio makes of them.

kio has every message of `messages.toml` in every version.  Its names are those of Kafka in snake case; durations lack
a unit, the null uuid is None, and an error code is a member of kio's enumeration.
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

from kraft_dev.wire.format import split_camel_case
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
    """Return kio's class of a message."""
    name = split_camel_case(message.api or message.name, "_")
    return load_entity_schema(name, version, _TYPES.get(message.kind, EntityType.data))


def kio_bytes(message: Message, version: int, document: Document) -> bytes:
    """Return kio's bytes of a message without its header; the message has no unknown tagged fields."""
    written = io.BytesIO()
    cls = entity_class(message, version)
    entity_writer(cls)(written, to_entity(message.fields, version, cls, document))
    return written.getvalue()


def kio_frame(message: Message, version: int, document: Document) -> bytes:
    """Return kio's bytes of a whole frame."""
    header = header_of(message)
    content = kio_bytes(header, header_version(message, version), document["header"])
    content += kio_bytes(message, version, document["body"])
    return len(content).to_bytes(4, "big") + content


def kio_read(message: Message, version: int, raw: bytes) -> tuple[Document, int]:
    """Return kio's reading as JSON, without unknown tagged fields; and the number of bytes read."""
    cls = entity_class(message, version)
    entity, size = entity_reader(cls)(raw, 0)
    return from_entity(message.fields, version, entity), size


def to_entity(of: tuple[Field, ...], version: int, cls: Any, document: Document) -> Any:
    """Return kio's entity of an encodable document."""
    return entity_of(cls, _by_names_of_kio(of, version, cls, document))


def _by_names_of_kio(of: tuple[Field, ...], version: int, cls: Any, document: Document) -> Document:
    values = {}
    for field, theirs in pair_fields(of, version, cls):
        value = document.get(field.name, default_of(field))
        if field.is_struct:
            value = each(field, value, partial(_by_names_of_kio, field.fields, version, entity_in(theirs.type)))
        values[theirs.name] = value if field.type != "records" or value is None else b64decode(value)
    return values


def from_entity(of: tuple[Field, ...], version: int, entity: Any) -> Document:
    """Return the JSON of an entity of kio."""
    document: Document = {}
    for field, theirs in pair_fields(of, version, type(entity)):
        value = getattr(entity, theirs.name)
        if field.is_array and value is not None:
            made: Any = [_from_value(field, version, element) for element in value]
        else:
            made = _from_value(field, version, value)
        if field.tag is None or made != default_of(field):
            document[field.name] = made
    return document


def without_unknown_tags(document: Any) -> Any:
    """Return a document without tagged fields that only a later version may know."""
    if isinstance(document, dict):
        return {name: without_unknown_tags(value) for name, value in document.items() if name != UNKNOWN_TAGS}
    return [without_unknown_tags(value) for value in document] if isinstance(document, list) else document


class MismatchError(AssertionError):
    """kio's entity and `messages.toml` have different fields."""


def pair_fields(of: tuple[Field, ...], version: int, cls: Any) -> Iterator[tuple[Field, "EntityField[Any]"]]:
    """Yield our fields of a version with those of kio, which are in the same order.

    Raises:
        MismatchError: A name or the number of fields differs.
    """
    ours, theirs = fields_of(of, version), fields(cls)
    if len(ours) != len(theirs):
        raise MismatchError(f"{cls}: {[field.name for field in ours]} against {[field.name for field in theirs]}")
    for field, other in zip(ours, theirs, strict=True):
        plain, names = other.name.replace("_", ""), field.name.lower()
        if names not in (plain, f"{plain}ms"):
            raise MismatchError(f"{cls}: {field.name} against {other.name}")
        yield field, other


def _from_value(field: Field, version: int, value: Any) -> Any:
    if field.is_struct:
        return None if value is None else from_entity(field.fields, version, value)
    if field.type == "uuid":
        return NULL_UUID if value is None else uuid_text(value.bytes)
    if isinstance(value, ErrorCode):
        return value.value
    if isinstance(value, timedelta):
        return value // timedelta(milliseconds=1)
    if isinstance(value, bytes):
        return b64encode(value).decode()
    return value if value is None or isinstance(value, str | bool) else int(value)
