"""Parser of one line, from bytes to a typed line or to an error that names the exact problem."""

import json
from typing import get_args

from msgspec import UNSET, DecodeError, Raw, Struct, UnsetType
from msgspec.json import Decoder, decode

from kraft_reference.changes import ChangeKind
from kraft_reference.configuration import PreVoteSupport
from kraft_reference.effects import Timer
from kraft_reference.messages import Error
from kraft_reference.outcome import Refusal
from kraft_reference.records import RecordKind
from kraft_reference.roles import Role
from kraft_traces.checkpoint_types import CheckpointLine
from kraft_traces.checkpoints import CheckpointError, checkpoint_of
from kraft_traces.consistency import Inconsistency, check_checkpoint, check_event, check_header
from kraft_traces.effects import TRACED_EFFECTS
from kraft_traces.encode import encode_line
from kraft_traces.errors import FieldError, MissingHeaderError, UnknownReplicaError, UnknownSchemaError
from kraft_traces.json_lines import Words, check_unique_fields, decode_line
from kraft_traces.lines import KNOWN_SCHEMAS, EventLine, HeaderLine, KipLevel, Line
from kraft_traces.message_types import TRACED_MESSAGES
from kraft_traces.partitions.lines import SCHEMA as PARTITION_SCHEMA
from kraft_traces.state_types import ChangePhase
from kraft_traces.vocabulary import EVENT_NAMES, Source

_LINE: Decoder[Line] = Decoder(Line)

_ALLOWED: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"\$\.kind", ("header", "event", "checkpoint", "end")),
    (r".*\.effects\[\d+\]\.kind", tuple(TRACED_EFFECTS)),
    (r".*\.state\.pending_change\.kind", tuple(ChangeKind)),
    (r".*\.phase", tuple(ChangePhase)),
    (r".*\.kind", tuple(RecordKind)),
    (r".*\.type", tuple(TRACED_MESSAGES)),
    (r".*\.role", tuple(Role)),
    (r".*\.error", tuple(Error)),
    (r".*\.timer", tuple(Timer)),
    (r"\$\.refusal", tuple(Refusal)),
    (r"\$\.cause\.source", get_args(Source)),
    (r".*\.pre_vote", get_args(PreVoteSupport)),
    (r"\$\.kip_levels\[.*\]", get_args(KipLevel)),
    (r".*\.(kraft_version|quorum_state_version|version)", ("0", "1")),
)
"""Patterns of JSON paths with the allowed values of the field; the first match counts."""

_WORDS = Words("$.event", EVENT_NAMES, _ALLOWED)


def parse_header(raw: bytes, source: str) -> HeaderLine:
    """Parse the first line of a trace, its header.

    Args:
        raw: the line, with or without its newline.
        source: the file, for errors.

    Raises:
        MalformedJsonError, InvalidUtf8Error: it is not JSON.
        MissingHeaderError: it is not a header.
        UnknownSchemaError: it is the header of an unknown format.
        FieldError, UnknownReplicaError: a field is wrong.
    """
    # Decoded as any line, because msgspec requires `kind` only for a union.
    header = decode_line(_LINE, raw, source, 1, _WORDS, lambda raw: _check_schema(raw, source))
    if type(header) is not HeaderLine:
        _check_schema(raw, source)
        raise AssertionError("a line of another kind is no header")
    _finish(header, raw, source, 1)
    return header


def parse_line(raw: bytes, source: str, line_number: int) -> Line:
    """Parse a line of a trace after the first, and check it by itself.

    Args:
        raw: the line, with or without its newline.
        source: the file, for errors.
        line_number: counted from 1, for errors.

    Raises:
        MalformedJsonError, InvalidUtf8Error: it is not JSON.
        UnknownEventError: there is no such event.
        FieldError: a field is missing, unknown, duplicate, of a wrong type or value, or contradicts another one.
    """
    line = decode_line(_LINE, raw, source, line_number, _WORDS)
    _finish(line, raw, source, line_number)
    return line


def _finish(line: Line, raw: bytes, source: str, line_number: int) -> None:
    """Check beyond the types: duplicate fields, and fields that contradict each other."""
    check_unique_fields(encode_line(line), raw, source, line_number)
    try:
        if type(line) is EventLine:
            check_event(line)
        elif type(line) is HeaderLine:
            check_header(line)
        elif type(line) is CheckpointLine:
            check_checkpoint(line)
            checkpoint_of(line)
    except CheckpointError as error:
        raise FieldError(error.detail, source, line_number, error.field, problem=error.problem) from None
    except Inconsistency as error:
        if error.unknown_replica:
            raise UnknownReplicaError(error.detail, source, line_number, error.field) from None
        raise FieldError(error.detail, source, line_number, error.field, problem="inconsistent") from None


class _AnyLine(Struct):
    """Fields of a first line that are checked before those of a header."""

    kind: Raw | UnsetType = UNSET
    schema: Raw | UnsetType = UNSET


def _check_schema(raw: bytes, source: str) -> None:
    try:
        line = decode(raw, type=_AnyLine)
    except DecodeError:
        raise MissingHeaderError("the first line is not a JSON object, expected a header", source, 1) from None
    kind: object = UNSET if line.kind is UNSET else decode(line.kind)
    schema: object = UNSET if line.schema is UNSET else decode(line.schema)
    if schema is not UNSET and schema not in KNOWN_SCHEMAS:
        detail = f"unknown schema {json.dumps(schema)}, this program reads {', '.join(KNOWN_SCHEMAS)}"
        if schema == PARTITION_SCHEMA:
            detail = f"this command does not read {schema}, expected {', '.join(KNOWN_SCHEMAS)}"
        raise UnknownSchemaError(detail, source, 1, "$.schema")
    if kind != "header":
        problem = "has no kind" if kind is UNSET else f"is of kind {json.dumps(kind)}"
        raise MissingHeaderError(f"the first line {problem}, expected a header", source, 1, "$.kind")
