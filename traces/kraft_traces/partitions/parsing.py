"""From the bytes of one line to a typed line, or to the error that says exactly what is wrong with it."""

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
from kraft_traces.json_lines import Words, check_once, decoded
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
    """What a line must be asked before it is held to the fields of a header."""

    schema: Raw | UnsetType = UNSET


def schema_of(raw: bytes) -> object:
    """The schema that a line names, whatever else it says; UNSET if it names none or is no JSON object."""
    try:
        seen = msgspec.json.decode(raw, type=_AnyLine)
        return UNSET if seen.schema is UNSET else msgspec.json.decode(seen.schema)
    except (DecodeError, UnicodeDecodeError, RecursionError):
        return UNSET


def parse_partition_header(raw: bytes, source: str) -> PartitionHeader:
    """The header in the first line of a trace.

    Args:
        raw: the line, with or without its newline.
        source: the file, for errors.

    Raises:
        MalformedJsonError, InvalidUtf8Error: it is not JSON.
        MissingHeaderError: it is something else than a header.
        UnknownSchemaError: it is the header of a format that is not known here.
        UnknownProfileError: it names a profile that is not known here.
        FieldError: a field is wrong.
    """
    header = decoded(_HEADER, raw, source, 1, _WORDS, lambda raw: _check_schema(raw, source))
    check_once(msgspec.json.encode(header), raw, source, 1)
    _check_header(header, source)
    return header


def parse_partition_line(raw: bytes, source: str, line_number: int) -> PartitionEventLine:
    """A line of a trace after the first, checked by itself.

    Args:
        raw: the line, with or without its newline.
        source: the file, for errors.
        line_number: counted from 1, for errors.

    Raises:
        MalformedJsonError, InvalidUtf8Error: it is not JSON.
        DuplicateHeaderError: it is another header.
        UnknownEventError: there is no such event.
        FieldError: a field is missing, unknown, there twice, or of a wrong type or value.
    """

    def refuse_header(raw: bytes) -> None:
        if schema_of(raw) is not UNSET:
            raise DuplicateHeaderError("a second header, expected one trace per file", source, line_number) from None

    line = decoded(_EVENT, raw, source, line_number, _WORDS, refuse_header)
    check_once(msgspec.json.encode(line), raw, source, line_number)
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
    """What the types do not say."""
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
        twice = next((one for index, one in enumerate(members) if one in members[:index]), None)
        if twice is not None:
            raise FieldError(
                f"{twice} appears twice, expected each value once", source, 1, field, problem="inconsistent"
            )
    for index, (_, replicas) in enumerate(header.assignments):
        if not replicas or not set(header.brokers).issuperset(replicas) or len(set(replicas)) != len(replicas):
            field = f"$.assignments[{index}][1]"
            raise FieldError(
                "expected brokers that $.brokers lists, each once", source, 1, field, problem="inconsistent"
            )
