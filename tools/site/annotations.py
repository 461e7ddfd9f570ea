"""Shorter forms of annotations, bases and values in the API reference."""

import inspect
import re
from collections.abc import Iterable
from typing import Any

VALUE_LENGTH_MAX = 72
"""Maximum length of a value; a longer value is omitted, and so is one with an object's `<...>`."""

_OPEN = "([{"
_CLOSED = ")]}"


def without_metadata(text: str) -> str:
    """Return a signature in which `Annotated[int, Meta(...)]` is `int`.

    Args:
        text: Signature as autodoc writes it.
    """
    made = ""
    position = 0
    for match in re.finditer(r"(?:~?typing\.)?\bAnnotated\[", text):
        if match.start() < position:
            continue
        comma, end = _argument_ends(text, match.end())
        made += text[position : match.start()] + without_metadata(text[match.end() : comma])
        position = end + 1
    return made + text[position:]


def _argument_ends(text: str, start: int) -> tuple[int, int]:
    """Return the end of the first argument and the closing bracket of the arguments."""
    depth = 0
    quote = ""
    comma = 0
    for position in range(start, len(text)):
        letter = text[position]
        if quote:
            if letter == quote and text[position - 1] != "\\":
                quote = ""
        elif letter in "'\"":
            quote = letter
        elif letter in _OPEN:
            depth += 1
        elif letter in _CLOSED and depth:
            depth -= 1
        elif letter in _CLOSED:
            return comma or position, position
        elif letter == "," and not depth and not comma:
            comma = position
    raise ValueError(f"a bracket is not closed: {text[start:]}")


def with_short_defaults(text: str) -> str:
    """Return a signature with `...` for defaults that are long or differ between builds.

    Args:
        text: Signature with its parentheses, without metadata of types.
    """
    made = ""
    position = 0
    for match in re.finditer(r" = ", text):
        if match.start() < position or not _is_parameter(text[: match.start()]):
            continue
        comma, _ = _argument_ends(text, match.end())
        value = text[match.end() : comma]
        made += text[position : match.end()] + (value if is_readable(value) else "...")
        position = comma
    return made + text[position:]


def _is_parameter(before: str) -> bool:
    """True if the position is in no bracket but the signature's own."""
    unquoted = re.sub(r"'[^']*'|\"[^\"]*\"", "", before)
    return sum(unquoted.count(bracket) for bracket in _OPEN) - sum(unquoted.count(bracket) for bracket in _CLOSED) == 1


def with_names(text: str, names: Iterable[tuple[str, str]]) -> str:
    """Return a signature in which documented aliases replace what they stand for.

    Args:
        text: Signature as autodoc writes it.
        names: Expansion and dotted name of each alias; the longest first, since an alias may be part of another.
    """
    for written_out, name in names:
        text = re.sub(rf"(?<![\w.~]){re.escape(written_out)}(?![\w.])", f"~{name}", text)
    return text


def public_bases(bases: Iterable[Any]) -> list[Any]:
    """Return the public bases: a private base is replaced by its own bases, `object` is omitted."""
    public: list[Any] = []
    for base in bases:
        private = inspect.isclass(base) and base.__name__.startswith("_") and base.__module__.startswith("kraft_")
        for base_class in public_bases(base.__bases__) if private else [base]:
            if base_class is not object and base_class not in public:
                public.append(base_class)
    return public


def is_readable(value: str) -> bool:
    """True if a value is informative on one line, and the same in each build."""
    return len(value) <= VALUE_LENGTH_MAX and "<" not in value
