"""Parser of one line, from bytes to a typed line or to an error that names the exact problem."""

import json
from typing import Any, get_args

import msgspec
from msgspec import UNSET, DecodeError, Raw, Struct, UnsetType

from kraft_partitions.decisions import PROFILES
from kraft_partitions.errors import Error
from kraft_partitions.outcome import Refusal
from kraft_traces.errors import (
    DuplicateHeaderError,
    FieldError,
    MissingHeaderError,
    UnknownProfileError,
    UnknownSchemaError,
)
from kraft_traces.json_lines import Words, check_unique_fields, decode_line
from kraft_traces.partitions.lines import SCHEMA, PartitionEventLine, PartitionHeader, TracedEffect, TracedEvent

_HEADER = msgspec.json.Decoder(PartitionHeader)
_EVENT = msgspec.json.Decoder(PartitionEventLine)


def _tags(union: object) -> tuple[str, ...]:
    return tuple([kind.__struct_config__.tag for kind in get_args(union)])


EVENT_NAMES = _tags(TracedEvent)

_WORDS = Words(
    "$.event.name",
    EVENT_NAMES,
    (
        (r"\$\.effects\[\d+\]\.type", _tags(TracedEffect)),
        (r"\$\.effects\[\d+\]\.(error|results\[\d+\]\[1\])", tuple(Error)),
        (r"\$\.refusal", tuple(Refusal)),
    ),
)


class _AnyLine(Struct):
    """Field of a line that is checked before those of a header."""

    schema: Raw | UnsetType = UNSET


def schema_of(raw: bytes) -> object:
    """Return the schema of a line; UNSET if it has none or is not a JSON object."""
    try:
        line = msgspec.json.decode(raw, type=_AnyLine)
        return UNSET if line.schema is UNSET else msgspec.json.decode(line.schema)
    except (DecodeError, UnicodeDecodeError, RecursionError):
        return UNSET


def parse_partition_header(raw: bytes, source: str) -> PartitionHeader:
    """Parse the first line of a trace, its header.

    Args:
        raw: the line, with or without its newline.
        source: the file, for errors.

    Raises:
        MalformedJsonError, InvalidUtf8Error: it is not JSON.
        MissingHeaderError: it is not a header.
        UnknownSchemaError: it is the header of an unknown format.
        UnknownProfileError: it has an unknown profile.
        FieldError: a field is wrong.
    """
    header = decode_line(_HEADER, raw, source, 1, _WORDS, lambda raw: _check_schema(raw, source))
    check_unique_fields(msgspec.json.encode(header), raw, source, 1)
    _check_header(header, source)
    return header


def parse_partition_line(raw: bytes, source: str, line_number: int) -> PartitionEventLine:
    """Parse a line of a trace after the first, and check it by itself.

    Args:
        raw: the line, with or without its newline.
        source: the file, for errors.
        line_number: counted from 1, for errors.

    Raises:
        MalformedJsonError, InvalidUtf8Error: it is not JSON.
        DuplicateHeaderError: it is another header.
        UnknownEventError: there is no such event.
        FieldError: a field is missing, unknown, duplicate, or of a wrong type or value.
    """

    def refuse_header(raw: bytes) -> None:
        if schema_of(raw) is not UNSET:
            raise DuplicateHeaderError("a second header, expected one trace per file", source, line_number) from None

    line = decode_line(_EVENT, raw, source, line_number, _WORDS, refuse_header)
    check_unique_fields(msgspec.json.encode(line), raw, source, line_number)
    return line


def _check_schema(raw: bytes, source: str) -> None:
    schema = schema_of(raw)
    if schema is UNSET:
        detail = f"the first line has no schema, expected the header of a {SCHEMA}"
        raise MissingHeaderError(detail, source, 1) from None
    if schema != SCHEMA:
        detail = f"unknown schema {json.dumps(schema)}, expected {SCHEMA}"
        raise UnknownSchemaError(detail, source, 1, "$.schema") from None


def _check_header(header: PartitionHeader, source: str) -> None:
    """Check the header beyond the types."""
    if header.profile not in PROFILES:
        detail = f"unknown profile {header.profile!r}, expected one of {', '.join(PROFILES)}"
        raise UnknownProfileError(detail, source, 1, "$.profile")
    if not header.controllers:
        raise FieldError("expected the id of the first controller, got an empty list", source, 1, "$.controllers")
    names = [f"{topic}-{number}" for (topic, number), _ in header.assignments]
    sets: dict[str, tuple[Any, ...]] = {
        "$.brokers": header.brokers,
        "$.controllers": header.controllers,
        "$.assignments": tuple(names),
        "$.unclean_topics": header.unclean_topics,
        "$.switched_off": header.switched_off,
    }
    for field, members in sets.items():
        duplicate = next((member for index, member in enumerate(members) if member in members[:index]), None)
        if duplicate is not None:
            raise FieldError(
                f"{duplicate} appears twice, expected each value once", source, 1, field, problem="inconsistent"
            )
    for index, (_, replicas) in enumerate(header.assignments):
        if not replicas or not set(header.brokers).issuperset(replicas) or len(set(replicas)) != len(replicas):
            field = f"$.assignments[{index}][1]"
            raise FieldError(
                "expected brokers that $.brokers lists, each once", source, 1, field, problem="inconsistent"
            )
