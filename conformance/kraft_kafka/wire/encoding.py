"""From the JSON of a message to bytes, with the path of whatever does not fit.

A field that the version lacks is dropped where Kafka drops it, and refused where Kafka does not send.
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
    """Writes messages of one version, and keeps what it left out."""

    def __init__(self, version: int, is_flexible: bool) -> None:
        self._version, self._is_flexible = version, is_flexible
        self.dropped: list[str] = []
        """Paths of the fields that the document has and the version has not."""

    def struct(self, fields: tuple[Field, ...], document: Any, where: str) -> bytes:
        """The bytes of a struct or a message.

        Raises:
            WireError: the document does not fit.
        """
        if not isinstance(document, dict):
            raise WireError(Reason.WRONG_TYPE, where, "an object", _kind_of(document))
        known = {one.name for one in fields} | ({UNKNOWN_TAGS} if self._is_flexible else set())
        if extra := sorted(document.keys() - known):
            expected = f"one of {', '.join(sorted(known))}"
            raise WireError(Reason.UNKNOWN_FIELD, f"{where}.{extra[0]}", expected, "another field")
        written = bytearray()
        tagged: dict[int, bytes] = {}
        for one in fields:
            at = f"{where}.{one.name}"
            if self._version not in one.versions:
                self._dropped(one, document, at)
            elif one.tag is None:
                if one.name not in document:
                    raise WireError(Reason.MISSING_FIELD, at, f"a field that version {self._version} has", "none")
                written += self._field(one, document[one.name], at)
            elif one.name in document:
                content = self._field(one, document[one.name], at)
                if document[one.name] != default_of(one):
                    tagged[one.tag] = content
        if self._is_flexible:
            known_tags = {one.tag for one in fields if one.tag is not None and self._version in one.versions}
            unknown = self._unknown_tags(document.get(UNKNOWN_TAGS, []), known_tags, f"{where}.{UNKNOWN_TAGS}")
            written += _tag_section(tagged | unknown)
        return bytes(written)

    def _dropped(self, one: Field, document: Document, where: str) -> None:
        """Leave a field out that this version lacks.

        Raises:
            WireError: the receiver could not do without it.  Rule: wire.negotiation.
        """
        if one.name not in document:
            return
        if not one.is_ignorable and document[one.name] != default_of(one):
            expected = f"its default before version {one.versions.low}"
            if self._version > one.versions.high:
                expected = f"its default after version {one.versions.high}"
            raise WireError(Reason.UNSUPPORTED_VERSION, where, expected, _shown(document[one.name]))
        self.dropped.append(where)

    def _field(self, one: Field, value: Any, where: str) -> bytes:
        if not one.is_array:
            return self._value(one, value, where)
        if value is None:
            self._nullable(one, where)
            return self._length(-1, where, "int32", one.has_legacy_length)
        if not isinstance(value, list):
            raise WireError(Reason.WRONG_TYPE, where, "an array", _kind_of(value))
        elements = [self._value(one, inner, f"{where}[{number}]") for number, inner in enumerate(value)]
        return self._length(len(value), where, "int32", one.has_legacy_length) + b"".join(elements)

    def _value(self, one: Field, value: Any, where: str) -> bytes:
        if one.is_struct:
            return self.struct(one.fields, value, where)
        if one.type == "bool":
            if not isinstance(value, bool):
                raise WireError(Reason.WRONG_TYPE, where, "true or false", _kind_of(value))
            return bytes([value])
        if one.type in RANGES:
            return whole_number(one.type, value, where)
        if value is None and one.type != "uuid":
            self._nullable(one, where)
            return self._length(-1, where, "int16" if one.type == "string" else "int32", one.has_legacy_length)
        if not isinstance(value, str):
            raise WireError(Reason.WRONG_TYPE, where, _text_of(one), _kind_of(value))
        if one.type == "uuid":
            return uuid_bytes(value, where)
        if one.type == "string":
            return self._sized(_utf_8(value, where), where, "int16", one.has_legacy_length)
        return self._sized(_base_64(value, where), where, "int32", one.has_legacy_length)

    def _nullable(self, one: Field, where: str) -> None:
        if not one.is_nullable:
            raise WireError(Reason.NULL, where, "an array" if one.is_array else _text_of(one), "null")

    def _sized(self, content: bytes, where: str, legacy: str, has_legacy_length: bool) -> bytes:
        return self._length(len(content), where, legacy, has_legacy_length) + content

    def _length(self, length: int, where: str, legacy: str, has_legacy_length: bool) -> bytes:
        if self._is_flexible and not has_legacy_length:
            return varint(length + 1)
        return whole_number(legacy, length, f"{where} (length)")

    def _unknown_tags(self, listed: Any, known: set[int], where: str) -> dict[int, bytes]:
        if not isinstance(listed, list):
            raise WireError(Reason.WRONG_TYPE, where, "an array", _kind_of(listed))
        tags: dict[int, bytes] = {}
        for number, entry in enumerate(listed):
            at = f"{where}[{number}]"
            if not isinstance(entry, dict) or entry.keys() != {"tag", "data"}:
                raise WireError(Reason.WRONG_TYPE, at, "an object with tag and data", _kind_of(entry))
            tag, content = entry["tag"], entry["data"]
            if not isinstance(tag, int) or isinstance(tag, bool) or not 0 <= tag <= VARINT_MAX:
                raise WireError(Reason.OUT_OF_RANGE, f"{at}.tag", f"a number from 0 to {VARINT_MAX}", _shown(tag))
            if tag in known or tag in tags:
                raise WireError(Reason.BAD_TAGS, f"{at}.tag", "a tag that no other field has", str(tag))
            tags[tag] = hex_bytes(content, f"{at}.data")
        return tags


def encoded(message: Message, version: int, document: Any, where: str) -> tuple[bytes, list[str]]:
    """The bytes of a message, and the paths of the fields that the version lacks.

    Raises:
        WireError: the document is no such message.
    """
    encoder = Encoder(version, version in message.flexible)
    return encoder.struct(message.fields, document, where), encoder.dropped


def varint(value: int) -> bytes:
    """An unsigned varint: 7 bits in a byte, the lowest first; the high bit says that another byte follows."""
    written = bytearray()
    while value > 0x7F:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*written, value])


def signed_varint(value: int) -> bytes:
    """A zigzag varint, as in records."""
    return varint(2 * value if value >= 0 else -2 * value - 1)


def whole_number(kind: str, value: Any, where: str) -> bytes:
    """A whole number of fixed width.

    Raises:
        WireError: it is none, or not in the range of its type.
    """
    low, high = RANGES[kind]
    if not isinstance(value, int) or isinstance(value, bool):
        raise WireError(Reason.WRONG_TYPE, where, f"{kind}, a whole number", _kind_of(value))
    if not low <= value <= high:
        raise WireError(Reason.OUT_OF_RANGE, where, f"{kind}, from {low} to {high}", str(value))
    return value.to_bytes(width_of(kind), "big", signed=low < 0)


def uuid_bytes(text: str, where: str) -> bytes:
    """The 16 bytes of a uuid in Kafka's form.

    Raises:
        WireError: it is none.
    """
    try:
        sixteen = urlsafe_b64decode(f"{text}==")
    except (binascii.Error, ValueError):
        sixteen = b""
    # Decoding skips what is not base 64, and the last character may hold bits that no byte needs.
    if len(sixteen) != 16 or binascii.b2a_base64(sixteen, newline=False).translate(_URL).decode()[:22] != text:
        raise WireError(Reason.WRONG_TYPE, where, "a uuid: 22 characters of base 64 for URLs", _shown(text))
    return sixteen


_URL = bytes.maketrans(b"+/", b"-_")


def hex_bytes(text: Any, where: str) -> bytes:
    """The bytes of a text in hex; white space is no part of it.

    Raises:
        WireError: it is no hex.
    """
    if not isinstance(text, str):
        raise WireError(Reason.WRONG_TYPE, where, "hex", _kind_of(text))
    digits = "".join(text.split())
    wrong = next((number for number, digit in enumerate(digits) if digit not in "0123456789abcdefABCDEF"), None)
    if wrong is not None:
        raise WireError(Reason.NOT_HEX, where, "hex digits", f"{digits[wrong]!r} as digit {wrong}")
    if len(digits) % 2:
        raise WireError(Reason.NOT_HEX, where, "an even number of hex digits", str(len(digits)))
    return bytes.fromhex(digits)


def _tag_section(tagged: dict[int, bytes]) -> bytes:
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
        raise WireError(Reason.WRONG_TYPE, where, "records in base 64", _shown(text)) from None


def _text_of(one: Field) -> str:
    return {"uuid": "a uuid", "string": "a string", "records": "records in base 64"}[one.type]


_JSON_KINDS = {"bool": "true or false", "int": "a whole number", "float": "a decimal number", "str": "a string"}


def _kind_of(value: Any) -> str:
    """What a JSON value is."""
    if value is None:
        return "null"
    return _JSON_KINDS.get(type(value).__name__, "an array" if isinstance(value, list) else "an object")


def _shown(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:60]}..."
