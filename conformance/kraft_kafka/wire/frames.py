"""Whole frames: the length, the header, the message.

The JSON of a frame is `{"header": ..., "body": ...}`.
"""

import struct
from dataclasses import dataclass
from typing import Any

from kraft_kafka.wire.decoding import Document, decoded
from kraft_kafka.wire.encoding import encoded, whole_number
from kraft_kafka.wire.error_codes import CODES
from kraft_kafka.wire.errors import Reason, WireError
from kraft_kafka.wire.reading import Bytes
from kraft_kafka.wire.schema import Kind, Message, messages, messages_by_key
from kraft_reference.messages import Error

API_VERSIONS_KEY = 18


@dataclass(frozen=True, slots=True)
class Frame:
    """A request or a response with its header."""

    message: Message
    version: int
    header: Document
    body: Document
    notes: tuple[str, ...] = ()
    """A lenient reader's notes on bytes that Kafka never writes."""

    @property
    def document(self) -> Document:
        return {"header": self.header, "body": self.body}


def header_version(message: Message, version: int) -> int:
    """Return the version of a message's header.

    The header of an ApiVersions response never has tagged fields, because the client may not know the version of the
    response (KIP-511).
    """
    is_flexible = version in message.flexible
    if message.kind is Kind.REQUEST:
        return 2 if is_flexible else 1
    return 1 if is_flexible and message.key != API_VERSIONS_KEY else 0


def encode_frame(message: Message, version: int, document: Any) -> tuple[bytes, list[str]]:
    """Encode a frame; also return the paths of the fields that the version lacks.

    Args:
        message: a request or a response.
        version: a version that it has.
        document: the JSON of the frame.  A request's header may omit API key and version.

    Raises:
        WireError: the document is no such frame.
    """
    message.checked(version, "version")
    if not isinstance(document, dict) or document.keys() != {"header", "body"}:
        raise WireError(Reason.WRONG_TYPE, "$", "an object with header and body", "another document")
    written, _ = encoded(
        header_of(message), header_version(message, version), _fill_header(message, version, document), "header"
    )
    body, dropped = encoded(message, version, document["body"], "body")
    return whole_number("int32", len(written) + len(body), "length") + written + body, dropped


def _fill_header(message: Message, version: int, document: Document) -> Any:
    """Return the header, with API key and version if it is a request's."""
    header = document["header"]
    if message.kind is not Kind.REQUEST or not isinstance(header, dict):
        return header
    own = {"requestApiKey": message.key, "requestApiVersion": version}
    for name, value in own.items():
        if header.get(name, value) != value:
            raise WireError(Reason.OUT_OF_RANGE, f"header.{name}", f"{value} of {message.name}", str(header[name]))
    return own | header


def decode_request(raw: bytes, is_lenient: bool = False) -> Frame:
    """Decode a request of the API and version in its header.

    Raises:
        WireError: the bytes are no request of these APIs.
    """
    content = _unframe(raw, is_lenient)
    if content.left < 4:
        raise content.truncated("header", "4 bytes of API key and version")
    key, version = struct.unpack_from(">hh", raw, content.offset)
    by_key = messages_by_key(Kind.REQUEST)
    if key not in by_key:
        expected = f"an API key, one of {', '.join(map(str, sorted(by_key)))}"
        raise WireError(Reason.UNKNOWN_API, "header.requestApiKey", expected, str(key), content.offset)
    by_key[key].checked(version, "header.requestApiVersion", content.offset + 2)
    return _decode(by_key[key], version, content)


def decode_response(raw: bytes, message: Message, version: int, is_lenient: bool = False) -> Frame:
    """Decode a response, whose API and version only the client knows.

    Raises:
        WireError: the bytes are no such response.
    """
    return decode_frame(raw, message, version, is_lenient)


def decode_frame(raw: bytes, message: Message, version: int, is_lenient: bool = False) -> Frame:
    """Decode a frame of a message that the caller knows.

    Raises:
        WireError: the bytes are no such frame.
    """
    message.checked(version, "version")
    return _decode(message, version, _unframe(raw, is_lenient))


def _decode(message: Message, version: int, content: Bytes) -> Frame:
    header = decoded(header_of(message), header_version(message, version), content, "header")
    body = decoded(message, version, content, "body")
    content.finished("body")
    return Frame(message, version, header, body, tuple(content.notes))


def _unframe(raw: bytes, is_lenient: bool) -> Bytes:
    """Return the bytes after the length, which must match it."""
    content = Bytes(raw, is_lenient=is_lenient)
    size = content.number("int32", "length")
    if size < 0:
        raise WireError(Reason.BAD_LENGTH, "length", "a length of 0 or more", str(size), 0)
    if size > content.left:
        raise content.truncated("frame", f"{size} bytes, as its length says")
    content.end = content.offset + size
    if size < len(raw) - content.offset:
        more = f"{len(raw) - content.end} bytes more"
        raise WireError(Reason.TRAILING_BYTES, "frame", f"nothing more after {size} bytes", more, content.end)
    return content


def header_of(message: Message) -> Message:
    """Return the header of a message."""
    return messages()["RequestHeader" if message.kind is Kind.REQUEST else "ResponseHeader"]


def api_of(raw: bytes) -> str:
    """Return the API of a request frame, which may be damaged after its API key; empty for an unknown API."""
    key = struct.unpack_from(">h", raw, 4)[0] if len(raw) >= 6 else -1
    by_key = messages_by_key(Kind.REQUEST)
    return by_key[key].api if key in by_key else ""


def unsupported_api_versions(raw: bytes, api_keys: list[Document]) -> bytes | None:
    """Return the response to ApiVersions of an unknown version: version 0, with the supported versions (KIP-511).

    None for other requests, which have no such fallback.  Rule: wire.negotiation.
    """
    if len(raw) < 12 or struct.unpack_from(">h", raw, 4)[0] != API_VERSIONS_KEY:
        return None
    header = {"correlationId": struct.unpack_from(">i", raw, 8)[0]}
    body = {"errorCode": CODES[Error.UNSUPPORTED_VERSION], "apiKeys": api_keys}
    return encode_frame(messages()["ApiVersionsResponse"], 0, {"header": header, "body": body})[0]
