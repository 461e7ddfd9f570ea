"""Contents of the pairs: defaults, extremes, an ordinary message, an error, unknown tagged fields."""

from base64 import b64encode
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

from kraft_dev.wire.typical import ERRORS, typical_body, typical_header
from kraft_kafka.wire.decoding import UNKNOWN_TAGS, Document, uuid_text
from kraft_kafka.wire.frames import header_of, header_version
from kraft_kafka.wire.schema import NULL_UUID, RANGES, Field, Kind, Message, default_of, each, fields_of

_ERROR_CODES = (-1, 127)
"""UNKNOWN_SERVER_ERROR and VOTER_NOT_FOUND, the extremes that have a name."""
_INCONSISTENT_CLUSTER_ID = 104
_LONG = "Raft-Größe-" * 18
"""String whose length takes two bytes as a varint, with letters of two bytes."""
FUTURE_TAGS = [{"tag": 1000, "data": ""}, {"tag": 100_000, "data": "00ff"}]
"""Unknown tagged fields: one without content, and one with a tag of three bytes."""


class Valued(NamedTuple):
    """A message to make a pair of."""

    values: str
    """Kind of contents in the format of the pairs."""
    header: Document
    """Empty for messages without a header."""
    body: Document
    rules: tuple[str, ...] = ()
    """Rules beside those of the message."""


def contents_of(message: Message, version: int) -> Iterator[Valued]:
    """Yield the messages to make pairs of, with fields that the version lacks if the sender may drop them."""
    has_header = message.kind in (Kind.REQUEST, Kind.RESPONSE)
    header = typical_header(message) if has_header else {}
    whole = _fitting(message.fields, version, _with_version(message, version, typical_body(message, version)))
    yield Valued(
        "minimal", _plain_header(message), _with_version(message, version, minimal_document(message.fields, version))
    )
    yield Valued("typical", header, whole)
    if message.name in ERRORS:
        code, text = ERRORS[message.name]
        failed = minimal_document(message.fields, version) | {"errorCode": code}
        if text is not None and any(field.name == "errorMessage" for field in fields_of(message.fields, version)):
            failed["errorMessage"] = text
        if any(field.name == "errorCode" for field in fields_of(message.fields, version)):
            common = ("wire.common-errors",) if code == _INCONSISTENT_CLUSTER_ID else ()
            yield Valued("error", header, failed, ("wire.error-codes", *common))
    for name, end in (("lowest", 0), ("highest", 1)):
        of_header = _extreme_header(message, version, end) if has_header else {}
        yield Valued(name, of_header, _with_version(message, version, extreme_document(message.fields, version, end)))
    if version in message.flexible and message.kind is not Kind.TEXT:
        is_tagged = has_header and header_version(message, version) == _TAGGED_HEADERS[message.kind]
        of_future = header | ({UNKNOWN_TAGS: FUTURE_TAGS} if is_tagged else {})
        yield Valued("unknown-tags", of_future, _marked(message.fields, version, whole))
        if any(field.is_struct for field in _tagged(message.fields, version)):
            yield Valued("unknown-tags-within", header, _marked_within(message.fields, version, whole))


_TAGGED_HEADERS = {Kind.REQUEST: 2, Kind.RESPONSE: 1}
"""Header version that has tagged fields."""


def minimal_document(fields: tuple[Field, ...], version: int) -> Document:
    """Return every field at its default, without tagged fields."""
    return {field.name: default_of(field) for field in fields_of(fields, version) if field.tag is None} | {
        field.name: minimal_document(field.fields, version)
        for field in fields_of(fields, version)
        if field.tag is None and field.is_struct and not field.is_array
    }


def extreme_document(fields: tuple[Field, ...], version: int, end: int) -> Document:
    """Return every field at its lowest (0) or highest (1) value; null or empty at the lowest, long at the highest."""
    return {field.name: _extreme(field, version, end) for field in fields_of(fields, version)}


def _extreme(field: Field, version: int, end: int) -> Any:
    if field.is_nullable and end == 0:
        return None
    if not field.is_array:
        return _extreme_value(field, version, end)
    return [_extreme_value(field, version, end), _extreme_value(field, version, end if field.is_struct else 1 - end)]


def _extreme_value(field: Field, version: int, end: int) -> Any:
    if field.is_struct:
        return extreme_document(field.fields, version, end)
    if field.name == "errorCode":
        return _ERROR_CODES[end]
    if field.type in RANGES:
        return RANGES[field.type][end]
    return {
        "bool": (False, True),
        "string": ("", _LONG),
        "uuid": (NULL_UUID, uuid_text(b"\xff" * 16)),
        # A nullable field has returned null above.
        "records": ("", b64encode(bytes(range(256))).decode()),
    }[field.type][end]


def _plain_header(message: Message) -> Document:
    """Return the header with the mandatory fields."""
    if message.kind is Kind.REQUEST:
        return {"correlationId": 0, "clientId": None}
    return {"correlationId": 0} if message.kind is Kind.RESPONSE else {}


def _extreme_header(message: Message, version: int, end: int) -> Document:
    header = header_of(message)
    ends = extreme_document(header.fields, header_version(message, version), end)
    return {name: value for name, value in ends.items() if name not in ("requestApiKey", "requestApiVersion")}


def _with_version(message: Message, version: int, document: Document) -> Document:
    """Set the version in the first field of a control record."""
    return {"version": version} | document | {"version": version} if message.kind is Kind.RECORD else document


def _fitting(fields: tuple[Field, ...], version: int, document: Document) -> Document:
    """Drop the fields that this version lacks and its sender must not drop.  Rule: wire.negotiation."""
    fitting = {}
    for field in fields:
        if field.name not in document or (version not in field.versions and not field.is_ignorable):
            continue
        value = document[field.name]
        if field.is_struct and version in field.versions:
            value = each(field, value, partial(_fitting, field.fields, version))
        fitting[field.name] = value
    return fitting


def _marked(fields: tuple[Field, ...], version: int, document: Document) -> Document:
    """Return the document with unknown tagged fields in every struct that is not in a tagged field itself."""
    marked = dict(document)
    for field in fields_of(fields, version):
        if field.is_struct and field.tag is None and document.get(field.name):
            marked[field.name] = each(field, document[field.name], partial(_marked, field.fields, version))
    return marked | {UNKNOWN_TAGS: FUTURE_TAGS}


def _marked_within(fields: tuple[Field, ...], version: int, document: Document) -> Document:
    """Return the document with unknown tagged fields only in the structs of tagged fields."""
    marked = dict(document)
    for field in fields_of(fields, version):
        if field.is_struct and document.get(field.name):
            mark = _marked if field.tag is not None else _marked_within
            marked[field.name] = each(field, document[field.name], partial(mark, field.fields, version))
    return marked


def _tagged(fields: tuple[Field, ...], version: int) -> Iterator[Field]:
    """Yield the tagged fields of a version, nested ones too."""
    for field in fields_of(fields, version):
        if field.tag is not None:
            yield field
        elif field.is_struct:
            yield from _tagged(field.fields, version)


def undroppable_paths(
    fields: tuple[Field, ...], version: int, document: Document, where: str = "body"
) -> Iterator[str]:
    """Yield the paths of fields that a version lacks and that must not be dropped."""
    for field in fields:
        value = document.get(field.name)
        path = f"{where}.{field.name}"
        if version not in field.versions:
            if field.name in document and not field.is_ignorable and value != default_of(field):
                yield path
        elif field.is_struct and value:
            for number, inner in enumerate(value if field.is_array else [value]):
                at = f"{path}[{number}]" if field.is_array else path
                yield from undroppable_paths(field.fields, version, inner, at)
