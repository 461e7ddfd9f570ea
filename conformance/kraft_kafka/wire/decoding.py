"""From bytes to the JSON of a message: the fields of one version, in order, then the tagged ones.

The JSON is that of Kafka's own converters: camelCase names, uuids in base 64, a tagged field left out where it has its
default.  Records, which those leave out, are base 64; tagged fields that the schema does not know are kept under
`_unknownTaggedFields`.
"""

from base64 import b64encode, urlsafe_b64encode
from functools import partial
from typing import Any

from kraft_kafka.wire.errors import Reason, WireError
from kraft_kafka.wire.reading import Bytes
from kraft_kafka.wire.schema import Field, Message, default_of, each, fields_of

UNKNOWN_TAGS = "_unknownTaggedFields"
"""Where the JSON keeps tagged fields that the schema does not know: a list of tag (a number) and data (hex)."""

Document = dict[str, Any]


def decoded(message: Message, version: int, raw: Bytes, where: str) -> Document:
    """A message of a version that there is.

    Raises:
        WireError: the bytes are no such message.
    """
    return _struct(message.fields, version, version in message.flexible, raw, where)


def _struct(fields: tuple[Field, ...], version: int, is_flexible: bool, raw: Bytes, where: str) -> Document:
    present = fields_of(fields, version)
    plain = {
        one.name: _field(one, version, is_flexible, raw, f"{where}.{one.name}") for one in present if one.tag is None
    }
    tagged, unknown = _tagged_fields(present, version, raw, where) if is_flexible else ({}, [])
    document = {one.name: (plain | tagged)[one.name] for one in present if one.name in plain or one.name in tagged}
    return document | ({UNKNOWN_TAGS: unknown} if unknown else {})


def _tagged_fields(
    fields: tuple[Field, ...], version: int, raw: Bytes, where: str
) -> tuple[Document, list[dict[str, Any]]]:
    known = {one.tag: one for one in fields if one.tag is not None}
    tagged: Document = {}
    unknown: list[dict[str, Any]] = []
    before = -1
    section, start = f"{where} (tagged fields)", raw.offset
    for _ in raw.elements(raw.varint(section, "how many tagged fields there are"), section, "tagged fields", start):
        start = raw.offset
        tag = raw.varint(section, "a tag")
        at = f"{where}.{known[tag].name}" if tag in known else f"{where} (tag {tag})"
        if tag <= before:
            raise WireError(Reason.BAD_TAGS, at, f"a tag above {before}", str(tag), start)
        before = tag
        size = raw.varint(at, "the length of a tagged field")
        if size > raw.left:
            raise WireError(Reason.BAD_LENGTH, at, f"a length of up to {raw.left}", str(size), raw.offset)
        part = raw.part(size)
        if tag not in known:
            unknown.append({"tag": tag, "data": part.take(size, at, "data").hex()})
            continue
        value = _field(known[tag], version, True, part, at)
        part.finished(at)
        if value == default_of(known[tag]):
            raw.odd(at, "no tagged field that has its default", _shortened(value), start)
        else:
            tagged[known[tag].name] = value
    return tagged, unknown


def _field(one: Field, version: int, is_flexible: bool, raw: Bytes, where: str) -> Any:
    if not one.is_array:
        return _value(one, version, is_flexible, raw, where)
    start = raw.offset
    if is_flexible:
        count = raw.varint(where, "the length of an array, plus 1") - 1
    else:
        count = _legacy_length(raw, "int32", where)
    if count < 0:
        return _null(one, where, "an array", start)
    indices = raw.elements(count, where, "elements", start)
    return [_value(one, version, is_flexible, raw, f"{where}[{number}]") for number in indices]


def _value(one: Field, version: int, is_flexible: bool, raw: Bytes, where: str) -> Any:
    match one.type:
        case "bool":
            byte = raw.take(1, where, "bool")[0]
            if byte > 1:
                raw.odd(where, "a bool, 0 or 1", str(byte), raw.offset - 1)
            return byte != 0
        case "string":
            return _string(one, is_flexible and not one.has_legacy_length, raw, where)
        case "records":
            content = _sized(one, is_flexible, raw, where, "int32")
            return None if content is None else b64encode(content).decode()
        case "uuid":
            return uuid_text(raw.take(16, where, "a uuid"))
        case _ if one.is_struct:
            return _struct(one.fields, version, is_flexible, raw, where)
        case _:
            return raw.number(one.type, where)


def with_tags(fields: tuple[Field, ...], version: int, document: Document) -> Document:
    """The document with every tagged field of its version, where it is left out with its default."""
    whole = {}
    for one in fields_of(fields, version):
        value = document.get(one.name, default_of(one))
        whole[one.name] = each(one, value, partial(with_tags, one.fields, version)) if one.is_struct else value
    return whole


def uuid_text(sixteen: bytes) -> str:
    """A uuid as Kafka writes it."""
    return urlsafe_b64encode(sixteen).decode().rstrip("=")


def _string(one: Field, is_flexible: bool, raw: Bytes, where: str) -> str | None:
    content = _sized(one, is_flexible, raw, where, "int16")
    try:
        return None if content is None else content.decode("utf-8")
    except UnicodeDecodeError as error:
        offset = raw.offset - len(content or b"") + error.start
        shown = (content or b"")[error.start : error.start + 4].hex()
        raise WireError(Reason.BAD_UTF8, where, "UTF-8", shown, offset) from None


def _sized(one: Field, is_flexible: bool, raw: Bytes, where: str, legacy: str) -> bytes | None:
    """The bytes of a string or of records; None for null."""
    start = raw.offset
    size = raw.varint(where, "a length, plus 1") - 1 if is_flexible else _legacy_length(raw, legacy, where)
    if size < 0:
        _null(one, where, one.type, start)
        return None
    if size > raw.left:
        raise WireError(Reason.BAD_LENGTH, where, f"{one.type} of up to {raw.left} bytes", str(size), start)
    return raw.take(size, where, one.type)


def _legacy_length(raw: Bytes, kind: str, where: str) -> int:
    """A length in front of something; -1 says null.

    Raises:
        WireError: it is lower.
    """
    start = raw.offset
    length = raw.number(kind, where)
    if length < -1:
        raise WireError(Reason.BAD_LENGTH, where, "a length of 0 or more, or -1 for null", str(length), start)
    return length


def _null(one: Field, where: str, what: str, start: int) -> None:
    if not one.is_nullable:
        raise WireError(Reason.NULL, where, what, "null", start)


def _shortened(value: Any) -> str:
    shown = str(value)
    return shown if len(shown) <= 60 else f"{shown[:60]}..."
