"""What the pairs of a message hold: defaults, extremes, an ordinary message, an error, tagged fields of the future."""

from base64 import b64encode
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

from kraft_dev.wire.typical import ERRORS, typical, typical_header
from kraft_kafka.wire.decoding import UNKNOWN_TAGS, Document, uuid_text
from kraft_kafka.wire.frames import header_of, header_version
from kraft_kafka.wire.schema import NULL_UUID, RANGES, Field, Kind, Message, default_of, each, fields_of

_ERROR_CODES = (-1, 127)
"""UNKNOWN_SERVER_ERROR and VOTER_NOT_FOUND: a code without a name is none."""
_INCONSISTENT_CLUSTER_ID = 104
_LONG = "Raft-Größe-" * 18
"""So long that its length takes two bytes as a varint, with letters of two bytes."""
FUTURE_TAGS = [{"tag": 1000, "data": ""}, {"tag": 100_000, "data": "00ff"}]
"""Above all that there are: with no content, and with a tag of three bytes."""


class Valued(NamedTuple):
    """One message to make a pair of."""

    values: str
    """Which of the kinds in the format of the pairs."""
    header: Document
    """Empty for what has none."""
    body: Document
    rules: tuple[str, ...] = ()
    """Beside those of the message."""


def valued(message: Message, version: int) -> Iterator[Valued]:
    """The messages of which pairs are made, whole: with fields that the version lacks, if it may drop them."""
    has_header = message.kind in (Kind.REQUEST, Kind.RESPONSE)
    header = typical_header(message) if has_header else {}
    whole = _fitting(message.fields, version, _with_version(message, version, typical(message, version)))
    yield Valued("minimal", _plain_header(message), _with_version(message, version, minimal(message.fields, version)))
    yield Valued("typical", header, whole)
    if message.name in ERRORS:
        code, text = ERRORS[message.name]
        failed = minimal(message.fields, version) | {"errorCode": code}
        if text is not None and any(one.name == "errorMessage" for one in fields_of(message.fields, version)):
            failed["errorMessage"] = text
        if any(one.name == "errorCode" for one in fields_of(message.fields, version)):
            common = ("wire.common-errors",) if code == _INCONSISTENT_CLUSTER_ID else ()
            yield Valued("error", header, failed, ("wire.error-codes", *common))
    for name, end in (("lowest", 0), ("highest", 1)):
        of_header = _extreme_header(message, version, end) if has_header else {}
        yield Valued(name, of_header, _with_version(message, version, extreme(message.fields, version, end)))
    if version in message.flexible and message.kind is not Kind.TEXT:
        is_tagged = has_header and header_version(message, version) == _TAGGED_HEADERS[message.kind]
        of_future = header | ({UNKNOWN_TAGS: FUTURE_TAGS} if is_tagged else {})
        yield Valued("unknown-tags", of_future, _marked(message.fields, version, whole))
        if any(one.is_struct for one in _tagged(message.fields, version)):
            yield Valued("unknown-tags-within", header, _marked_within(message.fields, version, whole))


_TAGGED_HEADERS = {Kind.REQUEST: 2, Kind.RESPONSE: 1}
"""The version of a header that has tagged fields."""


def minimal(fields: tuple[Field, ...], version: int) -> Document:
    """Every field at its default, and no tagged ones."""
    return {one.name: default_of(one) for one in fields_of(fields, version) if one.tag is None} | {
        one.name: minimal(one.fields, version)
        for one in fields_of(fields, version)
        if one.tag is None and one.is_struct and not one.is_array
    }


def extreme(fields: tuple[Field, ...], version: int, end: int) -> Document:
    """Every field at one end of what it can hold, 0 or 1; null or empty at the lower one, long at the upper."""
    return {one.name: _extreme(one, version, end) for one in fields_of(fields, version)}


def _extreme(one: Field, version: int, end: int) -> Any:
    if one.is_nullable and end == 0:
        return None
    if not one.is_array:
        return _extreme_value(one, version, end)
    return [_extreme_value(one, version, end), _extreme_value(one, version, end if one.is_struct else 1 - end)]


def _extreme_value(one: Field, version: int, end: int) -> Any:
    if one.is_struct:
        return extreme(one.fields, version, end)
    if one.name == "errorCode":
        return _ERROR_CODES[end]
    if one.type in RANGES:
        return RANGES[one.type][end]
    return {
        "bool": (False, True),
        "string": ("", _LONG),
        "uuid": (NULL_UUID, uuid_text(b"\xff" * 16)),
        # Never null at the lower end, because then it is nullable and was answered above.
        "records": ("", b64encode(bytes(range(256))).decode()),
    }[one.type][end]


def _plain_header(message: Message) -> Document:
    """The header with what a sender cannot leave out."""
    if message.kind is Kind.REQUEST:
        return {"correlationId": 0, "clientId": None}
    return {"correlationId": 0} if message.kind is Kind.RESPONSE else {}


def _extreme_header(message: Message, version: int, end: int) -> Document:
    header = header_of(message)
    ends = extreme(header.fields, header_version(message, version), end)
    return {name: value for name, value in ends.items() if name not in ("requestApiKey", "requestApiVersion")}


def _with_version(message: Message, version: int, document: Document) -> Document:
    """A control record names its version in its first field."""
    return {"version": version} | document | {"version": version} if message.kind is Kind.RECORD else document


def _fitting(fields: tuple[Field, ...], version: int, document: Document) -> Document:
    """The document without what its sender could not leave out, but this version lacks.  Rule: wire.negotiation."""
    fitting = {}
    for one in fields:
        if one.name not in document or (version not in one.versions and not one.is_ignorable):
            continue
        value = document[one.name]
        if one.is_struct and version in one.versions:
            value = each(one, value, partial(_fitting, one.fields, version))
        fitting[one.name] = value
    return fitting


def _marked(fields: tuple[Field, ...], version: int, document: Document) -> Document:
    """The document with tagged fields of the future in every struct that is not in a tagged field itself."""
    marked = dict(document)
    for one in fields_of(fields, version):
        if one.is_struct and one.tag is None and document.get(one.name):
            marked[one.name] = each(one, document[one.name], partial(_marked, one.fields, version))
    return marked | {UNKNOWN_TAGS: FUTURE_TAGS}


def _marked_within(fields: tuple[Field, ...], version: int, document: Document) -> Document:
    """The document with tagged fields of the future in the structs of tagged fields, and in no other."""
    marked = dict(document)
    for one in fields_of(fields, version):
        if one.is_struct and document.get(one.name):
            mark = _marked if one.tag is not None else _marked_within
            marked[one.name] = each(one, document[one.name], partial(mark, one.fields, version))
    return marked


def _tagged(fields: tuple[Field, ...], version: int) -> Iterator[Field]:
    """The tagged fields of a version, in structs too."""
    for one in fields_of(fields, version):
        if one.tag is not None:
            yield one
        elif one.is_struct:
            yield from _tagged(one.fields, version)


def not_droppable(fields: tuple[Field, ...], version: int, document: Document, where: str = "body") -> Iterator[str]:
    """The paths of what stands in a whole message, is lacking in a version, and must not get lost."""
    for one in fields:
        value = document.get(one.name)
        path = f"{where}.{one.name}"
        if version not in one.versions:
            if one.name in document and not one.is_ignorable and value != default_of(one):
                yield path
        elif one.is_struct and value:
            for number, inner in enumerate(value if one.is_array else [value]):
                at = f"{path}[{number}]" if one.is_array else path
                yield from not_droppable(one.fields, version, inner, at)
