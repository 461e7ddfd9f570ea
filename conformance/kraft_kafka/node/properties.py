"""Files of properties in the form of Java: `key=value`, comments, continued lines, escapes."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from kraft_conformance.failure import CommandError
from kraft_kafka.node.errors import bad_file, read_text

_KEY_END = re.compile(r"(?<!\\)(?:\\\\)*(?P<separator>\s*[=:]\s*|\s+)")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}


@dataclass(frozen=True, slots=True)
class Properties:
    """The properties of one file."""

    source: Path
    values: Mapping[str, str]
    lines: Mapping[str, int]
    """Where each stands; lines count from 1."""

    def get(self, name: str) -> str | None:
        """The value without blanks around it; None if it is not there or empty."""
        return self.values.get(name, "").strip() or None

    def wrong(self, name: str, detail: str) -> CommandError:
        """The error for a value that is not what was expected."""
        return bad_file(self.source, self.lines.get(name), name, detail)

    def required(self, name: str, expected: str) -> str:
        """A value that must be there.

        Raises:
            CommandError: it is not.
        """
        value = self.get(name)
        if value is None:
            raise bad_file(self.source, self.lines.get(name), name, f"is missing, expected {expected}")
        return value


def read_properties(source: Path) -> Properties:
    """The properties of a file.

    Raises:
        CommandError: it cannot be read, or a key stands in it twice.
    """
    values: dict[str, str] = {}
    lines: dict[str, int] = {}
    for number, text in _logical_lines(read_text(source)):
        found = _KEY_END.search(text)
        key = _unescaped(text if found is None else text[: found.start("separator")])
        value = "" if found is None else _unescaped(text[found.end() :])
        if key in values:
            raise bad_file(source, number, key, f"is given twice, first in line {lines[key]}")
        values[key], lines[key] = value, number
    return Properties(source, values, lines)


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their continuations, without blank ones and comments, and where each begins."""
    start, joined = 0, ""
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.lstrip()
        if not joined:
            if not stripped or stripped[0] in "#!":
                continue
            start = number
        joined += stripped
        backslashes = len(joined) - len(joined.rstrip("\\"))
        if backslashes % 2:
            joined = joined[:-1]
            continue
        yield start, joined
        joined = ""
    if joined:
        yield start, joined


def _unescaped(text: str) -> str:
    def character(escape: re.Match[str]) -> str:
        code = escape[1]
        return chr(int(code[1:], 16)) if len(code) == 5 else _ESCAPED.get(code, code)

    return _ESCAPE.sub(character, text)
