"""Requests of Kafka's tools outside the quorum's protocol, with kio's messages.

The suite does not cover them, so they need no schema of our own.
"""

import io
import struct
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields
from dataclasses import Field as EntityField
from datetime import timedelta
from functools import cache
from types import NoneType
from typing import Any, NamedTuple, get_args, get_origin
from uuid import UUID

from kio.index import load_request_schema, load_response_schema
from kio.schema.errors import ErrorCode
from kio.serial import entity_writer
from kio.static.constants import EntityType

from kraft_kafka.wire.decoding import uuid_text
from kraft_kafka.wire.encoding import uuid_bytes
from kraft_kafka.wire.errors import Reason, WireError
from kraft_kafka.wire.frames import decode_frame
from kraft_kafka.wire.schema import NULL_UUID, Field, Kind, Message, Versions, versions_of

_ALWAYS, _NEVER = versions_of("0+"), Versions(0, -1)
_NUMBERS = {"error_code": "int16", "timedelta_i32": "int32", "timedelta_i64": "int64"}
"""kio's types that are encoded as whole numbers."""


class OtherRequest(NamedTuple):
    """A request, with kio's fields."""

    key: int
    version: int
    correlation_id: int
    body: Any


def decode_other_request(raw: bytes, versions: Mapping[int, range]) -> OtherRequest:
    """Decode the request of a frame.

    Args:
        raw: the whole frame.
        versions: supported versions, by API key.

    Raises:
        WireError: it is no supported request.
    """
    if len(raw) < 8:
        raise WireError(Reason.TRUNCATED, "header", "API key and version", str(len(raw)))
    key, version = struct.unpack_from(">hh", raw, 4)
    if version not in versions.get(key, ()):
        raise WireError(Reason.UNKNOWN_API, "header", f"one of {sorted(versions)}", f"{key}, version {version}", 4)
    return OtherRequest(key, version, *_decode(load_request_schema(key, version), raw))


def _decode(schema: Any, raw: bytes) -> tuple[int, Any]:
    """Return correlation id and body of a frame.

    kio only provides the fields: its readers allocate arrays of any encoded length, which can abort the process.
    """
    message = message_from_kio(schema)
    frame = decode_frame(raw, message, message.versions.low, is_lenient=True)
    return frame.header["correlationId"], entity_of(schema, frame.body)


@cache
def message_from_kio(schema: Any) -> Message:
    """Return our schema of kio's request or response, with kio's field names."""
    version = Versions(schema.__version__, schema.__version__)
    kind = Kind.REQUEST if schema.__type__ is EntityType.request else Kind.RESPONSE
    flexible = version if schema.__flexible__ else _NEVER
    return Message(schema.__name__, "", schema.__api_key__, kind, version, flexible, version, (), _to_fields(schema))


def _to_fields(schema: Any) -> tuple[Field, ...]:
    return tuple(_to_field(field) for field in fields(schema))


def _to_field(field: "EntityField[Any]") -> Field:
    kind: Any = field.type
    inner = entity_in(kind)
    name = field.metadata.get("kafka_type", "")
    return Field(
        name=field.name,
        type=_NUMBERS.get(name, name) if inner is None else inner.__name__,
        versions=_ALWAYS,
        is_array=any(get_origin(type_) is tuple for type_ in (kind, *get_args(kind))),
        tag=field.metadata.get("tag"),
        # kio's None is the all-zero uuid, which is encoded in full.
        is_nullable=NoneType in get_args(kind) and kind != UUID | None,
        # MISSING equals no value, so every encoded field is kept; kio sets its own defaults in `entity_of`.
        default=None if field.default is None else MISSING,
        fields=() if inner is None else _to_fields(inner),
    )


def encode_other_response(request: OtherRequest, document: Mapping[str, Any]) -> bytes:
    """Encode the frame of a response: `document` has kio's names; fields that the version lacks are dropped.

    Raises:
        KeyError: a field that the version needs is missing.
    """
    return _encode_frame(load_response_schema(request.key, request.version), document, request.correlation_id)


def encode_other_request(request: OtherRequest, client_id: str) -> bytes:
    """Encode the frame of a request, whose body is a document with kio's names.

    Raises:
        KeyError: a field that the version needs is missing.
    """
    schema = load_request_schema(request.key, request.version)
    return _encode_frame(schema, request.body, request.correlation_id, client_id)


def decode_other_response(request: OtherRequest, raw: bytes) -> Any:
    """Decode the body of the response to a request, with kio's fields.

    Raises:
        WireError: the bytes are no response to it.
    """
    number, body = _decode(load_response_schema(request.key, request.version), raw)
    if number != request.correlation_id:
        raise WireError(Reason.OUT_OF_RANGE, "header.correlationId", str(request.correlation_id), str(number))
    return body


def text_of(uuid: UUID | None) -> str:
    """Return a uuid of kio's as Kafka writes it; None is the all-zero uuid."""
    return NULL_UUID if uuid is None else uuid_text(uuid.bytes)


def uuid_from(text: str) -> UUID:
    """Parse a uuid in Kafka's form.

    Raises:
        WireError: the text is no uuid.
    """
    return UUID(bytes=uuid_bytes(text, "uuid"))


def _encode_frame(schema: Any, document: Mapping[str, Any], correlation_id: int, client_id: str | None = None) -> bytes:
    content = io.BytesIO()
    header = schema.__header_schema__
    header_fields = {"correlation_id": correlation_id, "client_id": client_id}
    header_fields |= {"request_api_key": schema.__api_key__, "request_api_version": schema.__version__}
    entity_writer(header)(content, entity_of(header, header_fields))
    entity_writer(schema)(content, entity_of(schema, document))
    return struct.pack(">i", len(content.getvalue())) + content.getvalue()


def entity_of(schema: Any, document: Mapping[str, Any]) -> Any:
    """Return kio's entity for a document with kio's names.

    Raises:
        KeyError: a field that has no default is missing.
        WireError: an error code or a uuid is invalid.
    """
    values = {}
    for field in fields(schema):
        if field.name in document or field.default is MISSING:
            values[field.name] = _to_kio(field.type, document[field.name])
    return schema(**values)


def _to_kio(kind: Any, value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_to_kio(kind, element) for element in value)
    if value is None:
        return None
    if (inner := entity_in(kind)) is not None:
        return entity_of(inner, value)
    if kind is ErrorCode:
        return _to_error_code(value)
    if isinstance(value, str) and UUID in _walk_types(kind):
        return None if value == NULL_UUID else uuid_from(value)
    if isinstance(value, int) and isinstance(kind, type) and issubclass(kind, timedelta):
        return timedelta(milliseconds=value)
    return value


def _to_error_code(number: int) -> ErrorCode:
    try:
        return ErrorCode(number)
    except ValueError:
        raise WireError(Reason.OUT_OF_RANGE, "error_code", "an error code of Kafka's", str(number)) from None


def _walk_types(kind: Any) -> Iterator[Any]:
    yield kind
    for argument in get_args(kind):
        yield from _walk_types(argument)


def entity_in(kind: Any) -> Any:
    """Return kio's class in a type such as a nullable array; None if there is none."""
    return next((type_ for type_ in _walk_types(kind) if hasattr(type_, "__type__")), None)
