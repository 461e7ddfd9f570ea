"""Requests that the quorum does not know and its tools send: Kafka's messages as kio has them.

Of these the suite says nothing, so that no fields of our own stand beside kio's.
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
"""Types of kio's that are whole numbers in the bytes."""


class OtherRequest(NamedTuple):
    """A request, with the fields that kio gives them."""

    key: int
    version: int
    correlation_id: int
    body: Any


def decode_other_request(raw: bytes, versions: Mapping[int, range]) -> OtherRequest:
    """The request of a frame.

    Args:
        raw: the whole frame.
        versions: those that are taken, by API key.

    Raises:
        WireError: it is none of these.
    """
    if len(raw) < 8:
        raise WireError(Reason.TRUNCATED, "header", "API key and version", str(len(raw)))
    key, version = struct.unpack_from(">hh", raw, 4)
    if version not in versions.get(key, ()):
        raise WireError(Reason.UNKNOWN_API, "header", f"one of {sorted(versions)}", f"{key}, version {version}", 4)
    return OtherRequest(key, version, *_decoded(load_request_schema(key, version), raw))


def _decoded(schema: Any, raw: bytes) -> tuple[int, Any]:
    """Correlation id and body of a frame.

    kio only has the fields: its readers allocate an array of any length that the bytes name, and abort the process.
    """
    message = message_from_kio(schema)
    frame = decode_frame(raw, message, message.versions.low, is_lenient=True)
    return frame.header["correlationId"], entity_of(schema, frame.body)


@cache
def message_from_kio(schema: Any) -> Message:
    """A request or response of kio's as one of ours, with kio's names of the fields."""
    version = Versions(schema.__version__, schema.__version__)
    kind = Kind.REQUEST if schema.__type__ is EntityType.request else Kind.RESPONSE
    flexible = version if schema.__flexible__ else _NEVER
    return Message(schema.__name__, "", schema.__api_key__, kind, version, flexible, version, (), _fields(schema))


def _fields(schema: Any) -> tuple[Field, ...]:
    return tuple(_field(one) for one in fields(schema))


def _field(one: "EntityField[Any]") -> Field:
    kind: Any = one.type
    inner = entity_in(kind)
    name = one.metadata.get("kafka_type", "")
    return Field(
        name=one.name,
        type=_NUMBERS.get(name, name) if inner is None else inner.__name__,
        versions=_ALWAYS,
        is_array=any(get_origin(type_) is tuple for type_ in (kind, *get_args(kind))),
        tag=one.metadata.get("tag"),
        # kio's None is the uuid of zeros, which the bytes have in full.
        is_nullable=NoneType in get_args(kind) and kind != UUID | None,
        # A value that no tagged field has: with any other default, `entity_of` leaves it to kio's.
        default=None if one.default is None else MISSING,
        fields=() if inner is None else _fields(inner),
    )


def encode_other_response(request: OtherRequest, document: Mapping[str, Any]) -> bytes:
    """The frame of a response: `document` has kio's names; what the version lacks is left out.

    Raises:
        KeyError: a field that the version needs is not there.
    """
    return _framed(load_response_schema(request.key, request.version), document, request.correlation_id)


def encode_other_request(request: OtherRequest, client_id: str) -> bytes:
    """The frame of a request, whose body is a document as that of a response.

    Raises:
        KeyError: a field that the version needs is not there.
    """
    schema = load_request_schema(request.key, request.version)
    return _framed(schema, request.body, request.correlation_id, client_id)


def decode_other_response(request: OtherRequest, raw: bytes) -> Any:
    """The body of the response to a request, with the fields that kio gives it.

    Raises:
        WireError: the bytes are no response to it.
    """
    number, body = _decoded(load_response_schema(request.key, request.version), raw)
    if number != request.correlation_id:
        raise WireError(Reason.OUT_OF_RANGE, "header.correlationId", str(request.correlation_id), str(number))
    return body


def text_of(uuid: UUID | None) -> str:
    """A uuid of kio's as Kafka writes it; None is that of zeros."""
    return NULL_UUID if uuid is None else uuid_text(uuid.bytes)


def uuid_from(text: str) -> UUID:
    """The uuid that a text of Kafka's is.

    Raises:
        WireError: it is none.
    """
    return UUID(bytes=uuid_bytes(text, "uuid"))


def _framed(schema: Any, document: Mapping[str, Any], correlation_id: int, client_id: str | None = None) -> bytes:
    content = io.BytesIO()
    header = schema.__header_schema__
    known = {"correlation_id": correlation_id, "client_id": client_id}
    known |= {"request_api_key": schema.__api_key__, "request_api_version": schema.__version__}
    entity_writer(header)(content, entity_of(header, known))
    entity_writer(schema)(content, entity_of(schema, document))
    return struct.pack(">i", len(content.getvalue())) + content.getvalue()


def entity_of(schema: Any, document: Mapping[str, Any]) -> Any:
    """kio's entity of a document with kio's names.

    Raises:
        KeyError: a field that has no default is missing.
        WireError: an error code or a uuid is none of Kafka's.
    """
    values = {}
    for one in fields(schema):
        if one.name in document or one.default is MISSING:
            values[one.name] = _value(one.type, document[one.name])
    return schema(**values)


def _value(kind: Any, value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_value(kind, one) for one in value)
    if value is None:
        return None
    if (inner := entity_in(kind)) is not None:
        return entity_of(inner, value)
    if kind is ErrorCode:
        return _error_code(value)
    if isinstance(value, str) and UUID in _types_in(kind):
        return None if value == NULL_UUID else uuid_from(value)
    if isinstance(value, int) and isinstance(kind, type) and issubclass(kind, timedelta):
        return timedelta(milliseconds=value)
    return value


def _error_code(number: int) -> ErrorCode:
    try:
        return ErrorCode(number)
    except ValueError:
        raise WireError(Reason.OUT_OF_RANGE, "error_code", "an error code of Kafka's", str(number)) from None


def _types_in(kind: Any) -> Iterator[Any]:
    yield kind
    for one in get_args(kind):
        yield from _types_in(one)


def entity_in(kind: Any) -> Any:
    """The class of kio's in a type such as an array that may be null; None if there is none."""
    return next((one for one in _types_in(kind) if hasattr(one, "__type__")), None)
