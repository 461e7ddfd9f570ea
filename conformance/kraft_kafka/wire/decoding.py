"""Decoder from bytes to the JSON of a message: the fields of one version, in order, then the tagged ones.

The JSON is that of Kafka's own converters: camelCase names, base 64 uuids, and no tagged field with its default.
Records, which the converters omit, are base 64; unknown tagged fields are under `_unknownTaggedFields`.
"""

from base64 import b64encode, urlsafe_b64encode
from functools import partial
from typing import Any

from kraft_kafka.wire.errors import Reason, WireError
from kraft_kafka.wire.reading import Bytes
from kraft_kafka.wire.schema import Field, Message, default_of, each, fields_of

UNKNOWN_TAGS = "_unknownTaggedFields"
"""JSON field of the tagged fields that the schema does not have: a list of tag (a number) and data (hex)."""

Document = dict[str, Any]


def decoded(message: Message, version: int, raw: Bytes, where: str) -> Document:
    """Decode a message of a supported version.

    Raises:
        WireError: the bytes are no such message.
    """
    return _read_struct(message.fields, version, version in message.flexible, raw, where)


def _read_struct(fields: tuple[Field, ...], version: int, is_flexible: bool, raw: Bytes, where: str) -> Document:
    present = fields_of(fields, version)
    plain = {f.name: _read_field(f, version, is_flexible, raw, f"{where}.{f.name}") for f in present if f.tag is None}
    tagged, unknown = _read_tagged_fields(present, version, raw, where) if is_flexible else ({}, [])
    document = {f.name: (plain | tagged)[f.name] for f in present if f.name in plain or f.name in tagged}
    return document | ({UNKNOWN_TAGS: unknown} if unknown else {})


def _read_tagged_fields(
    fields: tuple[Field, ...], version: int, raw: Bytes, where: str
) -> tuple[Document, list[dict[str, Any]]]:
    by_tag = {field.tag: field for field in fields if field.tag is not None}
    tagged: Document = {}
    unknown: list[dict[str, Any]] = []
    before = -1
    section, start = f"{where} (tagged fields)", raw.offset
    for _ in raw.elements(raw.varint(section, "how many tagged fields there are"), section, "tagged fields", start):
        start = raw.offset
        tag = raw.varint(section, "a tag")
        at = f"{where}.{by_tag[tag].name}" if tag in by_tag else f"{where} (tag {tag})"
        if tag <= before:
            raise WireError(Reason.BAD_TAGS, at, f"a tag above {before}", str(tag), start)
        before = tag
        size = raw.varint(at, "the length of a tagged field")
        if size > raw.left:
            raise WireError(Reason.BAD_LENGTH, at, f"a length of up to {raw.left}", str(size), raw.offset)
        part = raw.part(size)
        if tag not in by_tag:
            unknown.append({"tag": tag, "data": part.take(size, at, "data").hex()})
            continue
        value = _read_field(by_tag[tag], version, True, part, at)
        part.finished(at)
        if value == default_of(by_tag[tag]):
            raw.odd(at, "no tagged field that has its default", _shorten(value), start)
        else:
            tagged[by_tag[tag].name] = value
    return tagged, unknown


def _read_field(field: Field, version: int, is_flexible: bool, raw: Bytes, where: str) -> Any:
    if not field.is_array:
        return _read_value(field, version, is_flexible, raw, where)
    start = raw.offset
    if is_flexible:
        count = raw.varint(where, "the length of an array, plus 1") - 1
    else:
        count = _read_legacy_length(raw, "int32", where)
    if count < 0:
        return _check_nullable(field, where, "an array", start)
    indices = raw.elements(count, where, "elements", start)
    return [_read_value(field, version, is_flexible, raw, f"{where}[{number}]") for number in indices]


def _read_value(field: Field, version: int, is_flexible: bool, raw: Bytes, where: str) -> Any:
    match field.type:
        case "bool":
            byte = raw.take(1, where, "bool")[0]
            if byte > 1:
                raw.odd(where, "a bool, 0 or 1", str(byte), raw.offset - 1)
            return byte != 0
        case "string":
            return _read_string(field, is_flexible and not field.has_legacy_length, raw, where)
        case "records":
            content = _read_sized(field, is_flexible, raw, where, "int32")
            return None if content is None else b64encode(content).decode()
        case "uuid":
            return uuid_text(raw.take(16, where, "a uuid"))
        case _ if field.is_struct:
            return _read_struct(field.fields, version, is_flexible, raw, where)
        case _:
            return raw.number(field.type, where)


def with_tags(fields: tuple[Field, ...], version: int, document: Document) -> Document:
    """Return the document with every tagged field of the version; omitted ones have their defaults."""
    whole = {}
    for field in fields_of(fields, version):
        value = document.get(field.name, default_of(field))
        whole[field.name] = each(field, value, partial(with_tags, field.fields, version)) if field.is_struct else value
    return whole


def uuid_text(sixteen: bytes) -> str:
    """Return a uuid as Kafka writes it."""
    return urlsafe_b64encode(sixteen).decode().rstrip("=")


def _read_string(field: Field, is_flexible: bool, raw: Bytes, where: str) -> str | None:
    content = _read_sized(field, is_flexible, raw, where, "int16")
    try:
        return None if content is None else content.decode("utf-8")
    except UnicodeDecodeError as error:
        offset = raw.offset - len(content or b"") + error.start
        invalid = (content or b"")[error.start : error.start + 4].hex()
        raise WireError(Reason.BAD_UTF8, where, "UTF-8", invalid, offset) from None


def _read_sized(field: Field, is_flexible: bool, raw: Bytes, where: str, legacy: str) -> bytes | None:
    """Return the bytes of a string or of records; None for null."""
    start = raw.offset
    size = raw.varint(where, "a length, plus 1") - 1 if is_flexible else _read_legacy_length(raw, legacy, where)
    if size < 0:
        _check_nullable(field, where, field.type, start)
        return None
    if size > raw.left:
        raise WireError(Reason.BAD_LENGTH, where, f"{field.type} of up to {raw.left} bytes", str(size), start)
    return raw.take(size, where, field.type)


def _read_legacy_length(raw: Bytes, kind: str, where: str) -> int:
    """Return a length; -1 means null.

    Raises:
        WireError: the length is below -1.
    """
    start = raw.offset
    length = raw.number(kind, where)
    if length < -1:
        raise WireError(Reason.BAD_LENGTH, where, "a length of 0 or more, or -1 for null", str(length), start)
    return length


def _check_nullable(field: Field, where: str, what: str, start: int) -> None:
    if not field.is_nullable:
        raise WireError(Reason.NULL, where, what, "null", start)


def _shorten(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 60 else f"{text[:60]}..."
