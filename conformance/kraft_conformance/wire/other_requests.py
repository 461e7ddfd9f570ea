"""Requests that the quorum does not know and its tools send: Kafka's messages as kio has them.

Of these the suite says nothing, so that no fields of our own stand beside kio's.
"""

import io
import struct
from collections.abc import Mapping
from dataclasses import MISSING, fields
from functools import cache
from typing import Any, NamedTuple, get_args, get_type_hints
from uuid import UUID

from kio.index import load_request_schema, load_response_schema
from kio.schema.errors import ErrorCode
from kio.serial import entity_reader, entity_writer

from kraft_conformance.wire.decoding import uuid_text
from kraft_conformance.wire.encoding import uuid_bytes
from kraft_conformance.wire.errors import Reason, WireError
from kraft_conformance.wire.schema import NULL_UUID


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
    if len(raw) < 12:
        raise WireError(Reason.TRUNCATED, "header", "API key, version and correlation id", str(len(raw)))
    key, version, correlation_id = struct.unpack_from(">hhi", raw, 4)
    if version not in versions.get(key, ()):
        raise WireError(Reason.UNKNOWN_API, "header", f"one of {sorted(versions)}", f"{key}, version {version}", 4)
    schema = load_request_schema(key, version)
    try:
        _, size = entity_reader(schema.__header_schema__)(raw, 4)
        body, _ = entity_reader(schema)(raw, 4 + size)
    except Exception as error:
        # kio has no one kind of error for bytes that are not what they should be.
        raise WireError(Reason.WRONG_TYPE, "body", f"a {schema.__name__}", str(error)) from None
    _check_nulls(body, "body")
    return OtherRequest(key, version, correlation_id, body)


def _check_nulls(entity: Any, where: str) -> None:
    """kio reads null where a field has none.

    Raises:
        WireError: it stands in such a field.
    """
    types = _hints(entity.__class__)
    for one in fields(entity):
        value, at = getattr(entity, one.name), f"{where}.{one.name}"
        if value is None and type(None) not in get_args(types[one.name]):
            raise WireError(Reason.NULL, at, "a value", "null")
        for inner in value if isinstance(value, tuple) else (value,):
            if hasattr(inner, "__type__"):
                _check_nulls(inner, at)


@cache
def _hints(schema: Any) -> Mapping[str, Any]:
    return get_type_hints(schema)


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
    """The body of the response to a request, with the fields that kio gives it."""
    schema = load_response_schema(request.key, request.version)
    _, size = entity_reader(schema.__header_schema__)(raw, 4)
    return entity_reader(schema)(raw, 4 + size)[0]


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
    entity_writer(header)(content, _entity(header, known))
    entity_writer(schema)(content, _entity(schema, document))
    return struct.pack(">i", len(content.getvalue())) + content.getvalue()


def _entity(schema: Any, document: Mapping[str, Any]) -> Any:
    types = _hints(schema)
    values = {}
    for one in fields(schema):
        if one.name in document or one.default is MISSING:
            values[one.name] = _value(types[one.name], document[one.name])
    return schema(**values)


def _value(kind: Any, value: Any) -> Any:
    inner = entity_in(kind)
    if kind is ErrorCode:
        return ErrorCode(value)
    if inner is None or value is None:
        return tuple(value) if isinstance(value, list) else value
    return tuple(_entity(inner, one) for one in value) if isinstance(value, list) else _entity(inner, value)


def entity_in(kind: Any) -> Any:
    """The class of kio's in a type such as an array that may be null; None if there is none."""
    if hasattr(kind, "__type__"):
        return kind
    return next(filter(None, map(entity_in, get_args(kind))), None)
