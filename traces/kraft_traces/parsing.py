"""From the bytes of one line to a typed line, or to the error that says exactly what is wrong with it."""

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
from kraft_traces.json_lines import Words, check_once, decoded
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
"""The allowed values of the fields that have a fixed set of them, by JSON path; the first that matches."""

_WORDS = Words("$.event", EVENT_NAMES, _ALLOWED)


def parse_header(raw: bytes, source: str) -> HeaderLine:
    """The header in the first line of a trace.

    Args:
        raw: the line, with or without its newline.
        source: the file, for errors.

    Raises:
        MalformedJsonError, InvalidUtf8Error: it is not JSON.
        MissingHeaderError: it is something else than a header.
        UnknownSchemaError: it is the header of a format that is not known here.
        FieldError, UnknownReplicaError: a field is wrong.
    """
    # As any line, because msgspec asks for `kind` only where there is a choice.
    header = decoded(_LINE, raw, source, 1, _WORDS, lambda raw: _check_schema(raw, source))
    if type(header) is not HeaderLine:
        _check_schema(raw, source)
        raise AssertionError("a line of another kind is no header")
    _finish(header, raw, source, 1)
    return header


def parse_line(raw: bytes, source: str, line_number: int) -> Line:
    """A line of a trace after the first, checked by itself.

    Args:
        raw: the line, with or without its newline.
        source: the file, for errors.
        line_number: counted from 1, for errors.

    Raises:
        MalformedJsonError, InvalidUtf8Error: it is not JSON.
        UnknownEventError: there is no such event.
        FieldError: a field is missing, unknown, there twice, of a wrong type or value, or at odds with another one.
    """
    line = decoded(_LINE, raw, source, line_number, _WORDS)
    _finish(line, raw, source, line_number)
    return line


def _finish(line: Line, raw: bytes, source: str, line_number: int) -> None:
    """Checks beyond the types: fields that are there twice, and fields that are at odds with each other."""
    check_once(encode_line(line), raw, source, line_number)
    try:
        if type(line) is EventLine:
            check_event(line)
        elif type(line) is HeaderLine:
            check_header(line)
        elif type(line) is CheckpointLine:
            check_checkpoint(line)
            checkpoint_of(line)
    except CheckpointError as found:
        raise FieldError(found.detail, source, line_number, found.field, problem=found.problem) from None
    except Inconsistency as found:
        if found.unknown_replica:
            raise UnknownReplicaError(found.detail, source, line_number, found.field) from None
        raise FieldError(found.detail, source, line_number, found.field, problem="inconsistent") from None


class _AnyLine(Struct):
    """What a first line must be asked before it is held to the fields of a header."""

    kind: Raw | UnsetType = UNSET
    schema: Raw | UnsetType = UNSET


def _check_schema(raw: bytes, source: str) -> None:
    try:
        seen = decode(raw, type=_AnyLine)
    except DecodeError:
        raise MissingHeaderError("the first line is not a JSON object, expected a header", source, 1) from None
    kind: object = UNSET if seen.kind is UNSET else decode(seen.kind)
    schema: object = UNSET if seen.schema is UNSET else decode(seen.schema)
    if schema is not UNSET and schema not in KNOWN_SCHEMAS:
        detail = f"unknown schema {json.dumps(schema)}, this program reads {', '.join(KNOWN_SCHEMAS)}"
        if schema == PARTITION_SCHEMA:
            detail = f"this command does not read {schema}, expected {', '.join(KNOWN_SCHEMAS)}"
        raise UnknownSchemaError(detail, source, 1, "$.schema")
    if kind != "header":
        problem = "has no kind" if kind is UNSET else f"is of kind {json.dumps(kind)}"
        raise MissingHeaderError(f"the first line {problem}, expected a header", source, 1, "$.kind")
