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
    """What a lenient reader took that Kafka never writes."""

    @property
    def document(self) -> Document:
        """Its JSON."""
        return {"header": self.header, "body": self.body}


def header_version(message: Message, version: int) -> int:
    """Which header stands in front of a message.

    That of an ApiVersions response has no tagged fields in any version, because whoever sent the request may not
    know the version of the answer (KIP-511).
    """
    is_flexible = version in message.flexible
    if message.kind is Kind.REQUEST:
        return 2 if is_flexible else 1
    return 1 if is_flexible and message.key != API_VERSIONS_KEY else 0


def encode_frame(message: Message, version: int, document: Any) -> tuple[bytes, list[str]]:
    """The bytes of a frame, and the paths of the fields that the version lacks.

    Args:
        message: a request or a response.
        version: one that it has.
        document: the JSON of the frame.  The header of a request need not name API and version.

    Raises:
        WireError: the document is no such frame.
    """
    message.checked(version, "version")
    if not isinstance(document, dict) or document.keys() != {"header", "body"}:
        raise WireError(Reason.WRONG_TYPE, "$", "an object with header and body", "another document")
    written, _ = encoded(
        header_of(message), header_version(message, version), _filled(message, version, document), "header"
    )
    body, dropped = encoded(message, version, document["body"], "body")
    return whole_number("int32", len(written) + len(body), "length") + written + body, dropped


def _filled(message: Message, version: int, document: Document) -> Any:
    """The header, with API key and version in that of a request."""
    header = document["header"]
    if message.kind is not Kind.REQUEST or not isinstance(header, dict):
        return header
    own = {"requestApiKey": message.key, "requestApiVersion": version}
    for name, value in own.items():
        if header.get(name, value) != value:
            raise WireError(Reason.OUT_OF_RANGE, f"header.{name}", f"{value} of {message.name}", str(header[name]))
    return own | header


def decode_request(raw: bytes, is_lenient: bool = False) -> Frame:
    """A request, whose header says which one it is.

    Raises:
        WireError: the bytes are no request of these APIs.
    """
    content = _framed(raw, is_lenient)
    if content.left < 4:
        raise content.truncated("header", "4 bytes of API key and version")
    key, version = struct.unpack_from(">hh", raw, content.offset)
    known = messages_by_key(Kind.REQUEST)
    if key not in known:
        expected = f"an API key, one of {', '.join(map(str, sorted(known)))}"
        raise WireError(Reason.UNKNOWN_API, "header.requestApiKey", expected, str(key), content.offset)
    known[key].checked(version, "header.requestApiVersion", content.offset + 2)
    return _decoded(known[key], version, content)


def decode_response(raw: bytes, message: Message, version: int, is_lenient: bool = False) -> Frame:
    """A response, of which only whoever sent the request knows what it is.

    Raises:
        WireError: the bytes are no such response.
    """
    return decode_frame(raw, message, version, is_lenient)


def decode_frame(raw: bytes, message: Message, version: int, is_lenient: bool = False) -> Frame:
    """A frame of a message that the caller knows.

    Raises:
        WireError: the bytes are no such frame.
    """
    message.checked(version, "version")
    return _decoded(message, version, _framed(raw, is_lenient))


def _decoded(message: Message, version: int, content: Bytes) -> Frame:
    header = decoded(header_of(message), header_version(message, version), content, "header")
    body = decoded(message, version, content, "body")
    content.finished("body")
    return Frame(message, version, header, body, tuple(content.notes))


def _framed(raw: bytes, is_lenient: bool) -> Bytes:
    """What comes after the length, which has to be that of the rest."""
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
    """What stands in front of it."""
    return messages()["RequestHeader" if message.kind is Kind.REQUEST else "ResponseHeader"]


def api_of(raw: bytes) -> str:
    """The API of a request frame, whose rest may be damaged; empty if there is no such API."""
    key = struct.unpack_from(">h", raw, 4)[0] if len(raw) >= 6 else -1
    known = messages_by_key(Kind.REQUEST)
    return known[key].api if key in known else ""


def unsupported_api_versions(raw: bytes, api_keys: list[Document]) -> bytes | None:
    """The frame that answers ApiVersions in a version that is not known: version 0, which says what is (KIP-511).

    None to another request, for which there is no such way out.  Rule: wire.negotiation.
    """
    if len(raw) < 12 or struct.unpack_from(">h", raw, 4)[0] != API_VERSIONS_KEY:
        return None
    header = {"correlationId": struct.unpack_from(">i", raw, 8)[0]}
    body = {"errorCode": CODES[Error.UNSUPPORTED_VERSION], "apiKeys": api_keys}
    return encode_frame(messages()["ApiVersionsResponse"], 0, {"header": header, "body": body})[0]
