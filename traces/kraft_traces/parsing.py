"""From the bytes of one line to a typed line, or to the error that says exactly what is wrong with it."""

import json
import re
from difflib import get_close_matches
from typing import Any, NoReturn, get_args

from msgspec import UNSET, DecodeError, Raw, Struct, UnsetType, ValidationError
from msgspec.json import Decoder, decode

from kraft_reference.changes import ChangeKind, ChangePhase
from kraft_reference.configuration import PreVoteSupport
from kraft_reference.effects import Timer
from kraft_reference.messages import Error
from kraft_reference.outcome import Refusal
from kraft_reference.records import RecordKind
from kraft_reference.roles import Role
from kraft_traces.consistency import Inconsistency, check_event, check_header
from kraft_traces.effects import TracedEffect
from kraft_traces.encode import encode_line
from kraft_traces.errors import (
    FieldError,
    InvalidUtf8Error,
    MalformedJsonError,
    MissingHeaderError,
    UnknownEventError,
    UnknownReplicaError,
    UnknownSchemaError,
)
from kraft_traces.lines import KNOWN_SCHEMAS, EventLine, HeaderLine, KipLevel, Line
from kraft_traces.message_types import TRACED_MESSAGES
from kraft_traces.vocabulary import EVENT_NAMES, Source

_LINE = Decoder(Line)

_MISSING = re.compile(r"Object missing required field `(?P<name>.*)`")
_UNKNOWN = re.compile(r"Object contains unknown field `(?P<name>.*)`", re.DOTALL)
_PLACE = re.compile(r" - at `(?P<path>.*)`$", re.DOTALL)
_STRAY_SURROGATE = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")

_ALLOWED: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"\$\.kind", ("header", "event", "end")),
    (r".*\.effects\[\d+\]\.kind", tuple(effect.__struct_config__.tag for effect in get_args(TracedEffect))),
    (r"\$\.state\.pending_change\.kind", tuple(ChangeKind)),
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
    try:
        # As any line, because msgspec asks for `kind` only where there is a choice.
        header: Line = _LINE.decode(raw)
    except (DecodeError, UnicodeDecodeError, RecursionError) as error:
        text = _text(raw, source, 1)
        _check_json(text, error, source, 1)
        _check_schema(raw, source)
        _raise_field_error(error, text, source, 1)
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
    try:
        line: Line = _LINE.decode(raw)
    except (DecodeError, UnicodeDecodeError, RecursionError) as error:
        text = _text(raw, source, line_number)
        _check_json(text, error, source, line_number)
        _raise_field_error(error, text, source, line_number)
    _finish(line, raw, source, line_number)
    return line


def _finish(line: Line, raw: bytes, source: str, line_number: int) -> None:
    """Checks beyond the types: fields that are there twice, and fields that are at odds with each other."""
    # A decoder keeps the last of two fields of one name, another reader the first: such a line says two things.
    # What is written as we write it has none; only other lines are worth a slow look.
    if encode_line(line).rstrip(b"\n") != raw.rstrip(b"\r\n"):
        _check_duplicate_fields(_text(raw, source, line_number), source, line_number)
    try:
        if type(line) is EventLine:
            check_event(line)
        elif type(line) is HeaderLine:
            check_header(line)
    except Inconsistency as found:
        if found.unknown_replica:
            raise UnknownReplicaError(found.detail, source, line_number, found.field) from None
        raise FieldError(found.detail, source, line_number, found.field, problem="inconsistent") from None


def _text(raw: bytes, source: str, line_number: int) -> str:
    try:
        return raw.decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        column = len(raw[: error.start].decode("utf-8", "replace")) + 1
        detail = f"byte 0x{raw[error.start]:02x} is not UTF-8 ({error.reason})"
        raise InvalidUtf8Error(detail, source, line_number, column=column) from None


def _check_json(text: str, error: Exception, source: str, line_number: int) -> None:
    """Tell JSON of a wrong shape from what is no JSON; the standard library words the latter best."""
    if isinstance(error, ValidationError) and not _fails(text):
        return
    detail, column = _malformation(text)
    raise MalformedJsonError(detail or str(error), source, line_number, column=column) from None


def _fails(text: str) -> bool:
    return _malformation(text)[0] is not None


def _malformation(text: str) -> tuple[str | None, int | None]:
    if not text.strip():
        return "an empty line, expected a JSON object", 1
    if text.startswith("\ufeff"):
        return "a byte order mark, expected a JSON object", 1
    try:
        json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as malformed:
        return malformed.msg[0].lower() + malformed.msg[1:], malformed.colno
    except _ConstantError as constant:
        return f"{constant} is not JSON", text.find(str(constant)) + 1
    except RecursionError:
        return "nested too deeply", None
    except ValueError:
        return "a number with too many digits", None
    try:
        decode(text)
    except DecodeError as refused:
        stray = _STRAY_SURROGATE.search(text)
        # The decoder calls half a surrogate pair truncated input.
        if stray is not None and "truncated" in str(refused):
            return f"{stray.group()} is half of a surrogate pair", stray.start() + 1
        return str(refused), None
    return None, None


class _ConstantError(Exception):
    pass


def _refuse_constant(name: str) -> NoReturn:
    raise _ConstantError(name)


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
        raise UnknownSchemaError(detail, source, 1, "$.schema")
    if kind != "header":
        name = "a line without kind" if kind is UNSET else f"of kind {json.dumps(kind)}"
        raise MissingHeaderError(f"the first line is {name}, expected a header", source, 1, "$.kind")


def _raise_field_error(error: Exception, text: str, source: str, line_number: int) -> NoReturn:
    message = str(error)
    place = _PLACE.search(message)
    path = "$" if place is None else place.group("path")
    detail = message if place is None else message[: place.start()]
    if (missing := _MISSING.fullmatch(detail)) is not None:
        name = missing.group("name")
        field = f"{path}.{name}"
        raise FieldError(f"missing field {name!r}", source, line_number, field, problem="missing") from None
    if (unknown := _UNKNOWN.fullmatch(detail)) is not None:
        name = unknown.group("name")
        field = f"{path}.{name}"
        raise FieldError(f"unknown field {name!r}", source, line_number, field, problem="unknown") from None
    value = _value_at(json.loads(text), path)
    if path == "$.event" and isinstance(value, str):
        raise UnknownEventError(_not_one_of("event", value, EVENT_NAMES), source, line_number, path) from None
    allowed = next((values for pattern, values in _ALLOWED if re.fullmatch(pattern, path)), ())
    if detail.startswith("Invalid") and allowed:
        raise FieldError(_not_one_of("value", value, allowed), source, line_number, path) from None
    detail = detail.replace("`", "")
    shown = json.dumps(value)
    detail = f"{detail[0].lower()}{detail[1:]}: {shown if len(shown) <= 60 else shown[:57] + '...'}"
    raise FieldError(detail, source, line_number, path) from None


def _not_one_of(what: str, value: object, allowed: tuple[str, ...]) -> str:
    near = get_close_matches(value, allowed) if isinstance(value, str) else []
    expected = f"did you mean {' or '.join(near)}?" if near else f"expected one of {', '.join(allowed)}"
    return f"unknown {what} {json.dumps(value)}, {expected}"


def _value_at(document: Any, path: str) -> object:
    """The value at a path of the form `$.a[0].b`; None where the path does not lead anywhere."""
    value = document
    for key, index in re.findall(r"\.([^.\[\]]+)|\[(\d+)\]", path):
        try:
            value = value[key] if key else value[int(index)]
        except (KeyError, IndexError, TypeError):
            return None
    return value


class _DuplicateFieldError(Exception):
    pass


def _check_duplicate_fields(text: str, source: str, line_number: int) -> None:
    try:
        json.loads(text, object_pairs_hook=_distinct)
    except _DuplicateFieldError as duplicate:
        name = str(duplicate)
        detail = f"field {name!r} is there twice in one object"
        raise FieldError(detail, source, line_number, name, problem="duplicate") from None


def _distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields: dict[str, object] = {}
    for name, value in pairs:
        if name in fields:
            raise _DuplicateFieldError(name)
        fields[name] = value
    return fields
