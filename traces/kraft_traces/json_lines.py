"""Decoding of one line of JSON, with an error that names the exact problem.

msgspec checks the types of the lines; this module converts its errors to those of `kraft_traces.errors`, for every
trace format.
"""

import json
import re
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, NamedTuple, NoReturn, TypeVar

from msgspec import DecodeError, ValidationError
from msgspec.json import Decoder, decode

from kraft_traces.errors import FieldError, InvalidUtf8Error, MalformedJsonError, UnknownEventError

_Decoded = TypeVar("_Decoded")


class Words(NamedTuple):
    """Fixed words of a trace format."""

    event_path: str
    """JSON path of the event name."""
    events: tuple[str, ...]
    allowed: tuple[tuple[str, tuple[str, ...]], ...]
    """Patterns of JSON paths with the allowed values of the field; the first match counts."""


_MISSING = re.compile(r"Object missing required field `(?P<name>.*)`")
_UNKNOWN = re.compile(r"Object contains unknown field `(?P<name>.*)`", re.DOTALL)
_PLACE = re.compile(r" - at `(?P<path>.*)`$", re.DOTALL)
_STRAY_SURROGATE = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")


def decode_line(
    decoder: Decoder[_Decoded],
    raw: bytes,
    source: str,
    line_number: int,
    words: Words,
    look: Callable[[bytes], None] = lambda raw: None,
) -> _Decoded:
    """Decode a line; on a wrong field, `look` is called first and may raise a more specific error.

    Raises:
        MalformedJsonError, InvalidUtf8Error: it is not JSON.
        UnknownEventError, FieldError: a field is wrong.
    """
    try:
        return decoder.decode(raw)
    except (DecodeError, UnicodeDecodeError, RecursionError) as error:
        text = text_of(raw, source, line_number)
        check_json(text, error, source, line_number)
        look(raw)
        raise_field_error(error, text, source, line_number, words)


def check_unique_fields(written: bytes, raw: bytes, source: str, line_number: int) -> None:
    """Raise an error if a field occurs twice; `written` is the canonical encoding of the line.

    Decoders disagree about which of two such fields counts.  A line that equals its canonical encoding has none, so
    only other lines need the slow check.
    """
    if written.rstrip(b"\n") != raw.rstrip(b"\r\n"):
        check_duplicate_fields(text_of(raw, source, line_number), source, line_number)


def text_of(raw: bytes, source: str, line_number: int) -> str:
    """Return the text of a line without its newline.

    Raises:
        InvalidUtf8Error: the line is not UTF-8.
    """
    try:
        return raw.decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        column = len(raw[: error.start].decode("utf-8", "replace")) + 1
        detail = f"byte 0x{raw[error.start]:02x} is not UTF-8 ({error.reason})"
        raise InvalidUtf8Error(detail, source, line_number, column=column) from None


def check_json(text: str, error: Exception, source: str, line_number: int) -> None:
    """Raise an error if a text is not JSON; the standard library has the best messages for that.

    Raises:
        MalformedJsonError: `text` is not JSON.
    """
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
        return f"not JSON: {malformed.msg[0].lower()}{malformed.msg[1:]}", malformed.colno
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


def raise_field_error(error: Exception, text: str, source: str, line_number: int, words: Words) -> NoReturn:
    """Raise the error for a field that the decoder rejected with `error`.

    Raises:
        UnknownEventError: there is no such event.
        FieldError: a field is missing, unknown, or of a wrong type or value.
    """
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
    if path == words.event_path and isinstance(value, str):
        raise UnknownEventError(not_one_of("event", value, words.events), source, line_number, path) from None
    values = next((values for pattern, values in words.allowed if re.fullmatch(pattern, path)), ())
    if detail.startswith("Invalid") and values:
        raise FieldError(not_one_of("value", value, values), source, line_number, path) from None
    detail = detail.replace("`", "")
    value_text = json.dumps(value)
    detail = f"{detail[0].lower()}{detail[1:]}: {value_text if len(value_text) <= 60 else value_text[:57] + '...'}"
    raise FieldError(detail, source, line_number, path) from None


def not_one_of(what: str, value: object, allowed: tuple[str, ...]) -> str:
    """Return the message that `value` is not `allowed`, with similar allowed values."""
    near = get_close_matches(value, allowed) if isinstance(value, str) else []
    expected = f"did you mean {' or '.join(near)}?" if near else f"expected one of {', '.join(allowed)}"
    return f"unknown {what} {json.dumps(value)}, {expected}"


def _value_at(document: Any, path: str) -> object:
    """Return the value at a path of the form `$.a[0].b`; None if there is none."""
    value = document
    for key, index in re.findall(r"\.([^.\[\]]+)|\[(\d+)\]", path):
        try:
            value = value[key] if key else value[int(index)]
        except (KeyError, IndexError, TypeError):
            return None
    return value


class _DuplicateFieldError(Exception):
    pass


def check_duplicate_fields(text: str, source: str, line_number: int) -> None:
    """Raise an error if a field occurs twice in one object.

    Raises:
        FieldError: a field occurs twice in one object.
    """
    try:
        json.loads(text, object_pairs_hook=_distinct)
    except _DuplicateFieldError as duplicate:
        name = str(duplicate)
        detail = f"field {name!r} appears twice in one object"
        raise FieldError(detail, source, line_number, name, problem="duplicate") from None


def _distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields: dict[str, object] = {}
    for name, value in pairs:
        if name in fields:
            raise _DuplicateFieldError(name)
        fields[name] = value
    return fields
