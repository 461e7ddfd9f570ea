"""What Python says of annotations, bases and values, in fewer words."""

import inspect
import re
from collections.abc import Iterable
from typing import Any

VALUE_LENGTH_MAX = 72
"""A longer value is left out, and so is one that shows an object's `<...>`."""

_OPEN = "([{"
_CLOSED = ")]}"


def without_metadata(text: str) -> str:
    """A signature in which `Annotated[int, Meta(...)]` is `int`.

    Args:
        text: as autodoc writes it.
    """
    made = ""
    position = 0
    for found in re.finditer(r"(?:~?typing\.)?\bAnnotated\[", text):
        if found.start() < position:
            continue
        comma, end = _argument_ends(text, found.end())
        made += text[position : found.start()] + without_metadata(text[found.end() : comma])
        position = end + 1
    return made + text[position:]


def _argument_ends(text: str, start: int) -> tuple[int, int]:
    """Where the first argument ends, and where the bracket closes that the arguments are in."""
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
    """A signature with `...` for defaults that say nothing on a line, or in another order in each build.

    Args:
        text: with its parentheses, without metadata of types.
    """
    made = ""
    position = 0
    for found in re.finditer(r" = ", text):
        if found.start() < position or not _is_parameter(text[: found.start()]):
            continue
        comma, _ = _argument_ends(text, found.end())
        value = text[found.end() : comma]
        made += text[position : found.end()] + (value if is_readable(value) else "...")
        position = comma
    return made + text[position:]


def _is_parameter(before: str) -> bool:
    """Whether what follows is in no bracket but the signature's own."""
    unquoted = re.sub(r"'[^']*'|\"[^\"]*\"", "", before)
    return sum(unquoted.count(one) for one in _OPEN) - sum(unquoted.count(one) for one in _CLOSED) == 1


def with_names(text: str, names: Iterable[tuple[str, str]]) -> str:
    """A signature in which a documented alias stands for what it is.

    Args:
        text: as autodoc writes it.
        names: written out, and the dotted name; the longest first, since one alias may be a part of another.
    """
    for written_out, name in names:
        text = re.sub(rf"(?<![\w.~]){re.escape(written_out)}(?![\w.])", f"~{name}", text)
    return text


def public_bases(bases: Iterable[Any]) -> list[Any]:
    """The bases that a reader may know: those of a private base instead of it, and not `object`."""
    found: list[Any] = []
    for base in bases:
        private = inspect.isclass(base) and base.__name__.startswith("_") and base.__module__.startswith("kraft_")
        for one in public_bases(base.__bases__) if private else [base]:
            if one is not object and one not in found:
                found.append(one)
    return found


def is_readable(value: str) -> bool:
    """Whether a value says something on its line, and the same in each build."""
    return len(value) <= VALUE_LENGTH_MAX and "<" not in value
