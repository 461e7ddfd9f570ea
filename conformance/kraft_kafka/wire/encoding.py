"""Encoder from the JSON of a message to bytes; an error has the path of the wrong field.

A field that the version lacks is dropped if Kafka drops it, and rejected if Kafka does not send the message.
Rule: wire.negotiation.
"""

import binascii
from base64 import b64decode, urlsafe_b64decode
from typing import Any

from kraft_kafka.wire.decoding import UNKNOWN_TAGS, Document
from kraft_kafka.wire.errors import Reason, WireError
from kraft_kafka.wire.reading import VARINT_MAX
from kraft_kafka.wire.schema import RANGES, Field, Message, default_of, width_of


class Encoder:
    """Encodes messages of one version, and records the fields that it drops."""

    def __init__(self, version: int, is_flexible: bool) -> None:
        self._version, self._is_flexible = version, is_flexible
        self.dropped: list[str] = []
        """Paths of the document's fields that the version lacks."""

    def struct(self, fields: tuple[Field, ...], document: Any, where: str) -> bytes:
        """Encode a struct or a message.

        Raises:
            WireError: the document does not fit.
        """
        if not isinstance(document, dict):
            raise WireError(Reason.WRONG_TYPE, where, "an object", _describe_value(document))
        names = {field.name for field in fields} | ({UNKNOWN_TAGS} if self._is_flexible else set())
        if extra := sorted(document.keys() - names):
            expected = f"one of {', '.join(sorted(names))}"
            raise WireError(Reason.UNKNOWN_FIELD, f"{where}.{extra[0]}", expected, "another field")
        written = bytearray()
        tagged: dict[int, bytes] = {}
        for field in fields:
            at = f"{where}.{field.name}"
            if self._version not in field.versions:
                self._drop(field, document, at)
            elif field.tag is None:
                if field.name not in document:
                    raise WireError(Reason.MISSING_FIELD, at, f"a field that version {self._version} has", "none")
                written += self._encode_field(field, document[field.name], at)
            elif field.name in document:
                content = self._encode_field(field, document[field.name], at)
                if document[field.name] != default_of(field):
                    tagged[field.tag] = content
        if self._is_flexible:
            schema_tags = {field.tag for field in fields if field.tag is not None and self._version in field.versions}
            unknown = self._encode_unknown_tags(document.get(UNKNOWN_TAGS, []), schema_tags, f"{where}.{UNKNOWN_TAGS}")
            written += _encode_tags(tagged | unknown)
        return bytes(written)

    def _drop(self, field: Field, document: Document, where: str) -> None:
        """Drop a field that this version lacks.

        Raises:
            WireError: the receiver needs it.  Rule: wire.negotiation.
        """
        if field.name not in document:
            return
        if not field.is_ignorable and document[field.name] != default_of(field):
            expected = f"its default before version {field.versions.low}"
            if self._version > field.versions.high:
                expected = f"its default after version {field.versions.high}"
            raise WireError(Reason.UNSUPPORTED_VERSION, where, expected, _shorten(document[field.name]))
        self.dropped.append(where)

    def _encode_field(self, field: Field, value: Any, where: str) -> bytes:
        if not field.is_array:
            return self._encode_value(field, value, where)
        if value is None:
            self._check_nullable(field, where)
            return self._length(-1, where, "int32", field.has_legacy_length)
        if not isinstance(value, list):
            raise WireError(Reason.WRONG_TYPE, where, "an array", _describe_value(value))
        elements = [self._encode_value(field, inner, f"{where}[{number}]") for number, inner in enumerate(value)]
        return self._length(len(value), where, "int32", field.has_legacy_length) + b"".join(elements)

    def _encode_value(self, field: Field, value: Any, where: str) -> bytes:
        if field.is_struct:
            return self.struct(field.fields, value, where)
        if field.type == "bool":
            if not isinstance(value, bool):
                raise WireError(Reason.WRONG_TYPE, where, "true or false", _describe_value(value))
            return bytes([value])
        if field.type in RANGES:
            return whole_number(field.type, value, where)
        if value is None and field.type != "uuid":
            self._check_nullable(field, where)
            return self._length(-1, where, "int16" if field.type == "string" else "int32", field.has_legacy_length)
        if not isinstance(value, str):
            raise WireError(Reason.WRONG_TYPE, where, _describe_type(field), _describe_value(value))
        if field.type == "uuid":
            return uuid_bytes(value, where)
        if field.type == "string":
            return self._with_length(_utf_8(value, where), where, "int16", field.has_legacy_length)
        return self._with_length(_base_64(value, where), where, "int32", field.has_legacy_length)

    def _check_nullable(self, field: Field, where: str) -> None:
        if not field.is_nullable:
            raise WireError(Reason.NULL, where, "an array" if field.is_array else _describe_type(field), "null")

    def _with_length(self, content: bytes, where: str, legacy: str, has_legacy_length: bool) -> bytes:
        return self._length(len(content), where, legacy, has_legacy_length) + content

    def _length(self, length: int, where: str, legacy: str, has_legacy_length: bool) -> bytes:
        if self._is_flexible and not has_legacy_length:
            return varint(length + 1)
        return whole_number(legacy, length, f"{where} (length)")

    def _encode_unknown_tags(self, listed: Any, schema_tags: set[int], where: str) -> dict[int, bytes]:
        if not isinstance(listed, list):
            raise WireError(Reason.WRONG_TYPE, where, "an array", _describe_value(listed))
        tags: dict[int, bytes] = {}
        for number, entry in enumerate(listed):
            at = f"{where}[{number}]"
            if not isinstance(entry, dict) or entry.keys() != {"tag", "data"}:
                raise WireError(Reason.WRONG_TYPE, at, "an object with tag and data", _describe_value(entry))
            tag, content = entry["tag"], entry["data"]
            if not isinstance(tag, int) or isinstance(tag, bool) or not 0 <= tag <= VARINT_MAX:
                raise WireError(Reason.OUT_OF_RANGE, f"{at}.tag", f"a number from 0 to {VARINT_MAX}", _shorten(tag))
            if tag in schema_tags or tag in tags:
                raise WireError(Reason.BAD_TAGS, f"{at}.tag", "a tag that no other field has", str(tag))
            tags[tag] = hex_bytes(content, f"{at}.data")
        return tags


def encoded(message: Message, version: int, document: Any, where: str) -> tuple[bytes, list[str]]:
    """Encode a message; also return the paths of the fields that the version lacks.

    Raises:
        WireError: the document is no such message.
    """
    encoder = Encoder(version, version in message.flexible)
    return encoder.struct(message.fields, document, where), encoder.dropped


def varint(value: int) -> bytes:
    """Return an unsigned varint: 7 bits a byte, the lowest first; the high bit marks that another byte follows."""
    written = bytearray()
    while value > 0x7F:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*written, value])


def signed_varint(value: int) -> bytes:
    """Return a zigzag varint, as in records."""
    return varint(2 * value if value >= 0 else -2 * value - 1)


def whole_number(kind: str, value: Any, where: str) -> bytes:
    """Encode a whole number of fixed width.

    Raises:
        WireError: the value is no whole number, or out of its type's range.
    """
    low, high = RANGES[kind]
    if not isinstance(value, int) or isinstance(value, bool):
        raise WireError(Reason.WRONG_TYPE, where, f"{kind}, a whole number", _describe_value(value))
    if not low <= value <= high:
        raise WireError(Reason.OUT_OF_RANGE, where, f"{kind}, from {low} to {high}", str(value))
    return value.to_bytes(width_of(kind), "big", signed=low < 0)


def uuid_bytes(text: str, where: str) -> bytes:
    """Return the 16 bytes of a uuid in Kafka's form.

    Raises:
        WireError: the text is no uuid.
    """
    try:
        sixteen = urlsafe_b64decode(f"{text}==")
    except (binascii.Error, ValueError):
        sixteen = b""
    # Decoding ignores invalid characters and the last character's unused bits, so compare the canonical text.
    if len(sixteen) != 16 or binascii.b2a_base64(sixteen, newline=False).translate(_URL).decode()[:22] != text:
        raise WireError(Reason.WRONG_TYPE, where, "a uuid: 22 characters of base 64 for URLs", _shorten(text))
    return sixteen


_URL = bytes.maketrans(b"+/", b"-_")


def hex_bytes(text: Any, where: str) -> bytes:
    """Return the bytes of a hex text, in which white space is ignored.

    Raises:
        WireError: the text is no hex.
    """
    if not isinstance(text, str):
        raise WireError(Reason.WRONG_TYPE, where, "hex", _describe_value(text))
    digits = "".join(text.split())
    wrong = next((number for number, digit in enumerate(digits) if digit not in "0123456789abcdefABCDEF"), None)
    if wrong is not None:
        raise WireError(Reason.NOT_HEX, where, "hex digits", f"{digits[wrong]!r} as digit {wrong}")
    if len(digits) % 2:
        raise WireError(Reason.NOT_HEX, where, "an even number of hex digits", str(len(digits)))
    return bytes.fromhex(digits)


def _encode_tags(tagged: dict[int, bytes]) -> bytes:
    parts = [varint(tag) + varint(len(content)) + content for tag, content in sorted(tagged.items())]
    return varint(len(parts)) + b"".join(parts)


def _utf_8(text: str, where: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise WireError(Reason.BAD_UTF8, where, "text without lone surrogates", ascii(text[error.start])) from None


def _base_64(text: str, where: str) -> bytes:
    try:
        return b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise WireError(Reason.WRONG_TYPE, where, "records in base 64", _shorten(text)) from None


def _describe_type(field: Field) -> str:
    return {"uuid": "a uuid", "string": "a string", "records": "records in base 64"}[field.type]


_JSON_KINDS = {"bool": "true or false", "int": "a whole number", "float": "a decimal number", "str": "a string"}


def _describe_value(value: Any) -> str:
    """Return the type of a JSON value in words."""
    if value is None:
        return "null"
    return _JSON_KINDS.get(type(value).__name__, "an array" if isinstance(value, list) else "an object")


def _shorten(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."
