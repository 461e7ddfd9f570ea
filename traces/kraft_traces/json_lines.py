"""What is wrong with one line of JSON: not UTF-8, not JSON, or fields that are missing, unknown, twice or wrong.

The types of the lines are msgspec's to check; here its refusals become the errors of `kraft_traces.errors`, for every
format of traces alike.
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
    """The fixed words of a format."""

    event_path: str
    """JSON path of the name of an event."""
    events: tuple[str, ...]
    allowed: tuple[tuple[str, tuple[str, ...]], ...]
    """The allowed values of the fields that have a fixed set of them, by JSON path; the first that matches."""


_MISSING = re.compile(r"Object missing required field `(?P<name>.*)`")
_UNKNOWN = re.compile(r"Object contains unknown field `(?P<name>.*)`", re.DOTALL)
_PLACE = re.compile(r" - at `(?P<path>.*)`$", re.DOTALL)
_STRAY_SURROGATE = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")


def decoded(
    decoder: Decoder[_Decoded],
    raw: bytes,
    source: str,
    line_number: int,
    words: Words,
    look: Callable[[bytes], None] = lambda raw: None,
) -> _Decoded:
    """What a line says; `look` refuses a line that is JSON for a better reason than its first wrong field.

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


def check_once(written: bytes, raw: bytes, source: str, line_number: int) -> None:
    """Refuse a field that is there twice; `written` is what the line says, as we write it.

    A decoder keeps the last of two fields of one name, another reader the first: such a line says two things.
    What is written as we write it has none; only other lines are worth a slow look.
    """
    if written.rstrip(b"\n") != raw.rstrip(b"\r\n"):
        check_duplicate_fields(text_of(raw, source, line_number), source, line_number)


def text_of(raw: bytes, source: str, line_number: int) -> str:
    """The text of a line without its newline.

    Raises:
        InvalidUtf8Error: it is none.
    """
    try:
        return raw.decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        column = len(raw[: error.start].decode("utf-8", "replace")) + 1
        detail = f"byte 0x{raw[error.start]:02x} is not UTF-8 ({error.reason})"
        raise InvalidUtf8Error(detail, source, line_number, column=column) from None


def check_json(text: str, error: Exception, source: str, line_number: int) -> None:
    """Tell JSON of a wrong shape from what is no JSON; the standard library words the latter best.

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
    """Say which field of a line that is JSON the decoder refused with `error`, and what was expected of it.

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
    shown = json.dumps(value)
    detail = f"{detail[0].lower()}{detail[1:]}: {shown if len(shown) <= 60 else shown[:57] + '...'}"
    raise FieldError(detail, source, line_number, path) from None


def not_one_of(what: str, value: object, allowed: tuple[str, ...]) -> str:
    """The text of an error: `value` is none of the `allowed` ones, with those that look like it."""
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


def check_duplicate_fields(text: str, source: str, line_number: int) -> None:
    """A decoder keeps the last of two fields of one name, another reader the first: such a line says two things.

    Raises:
        FieldError: a field is there twice in one object.
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
