"""Java properties files: `key=value`, comments, continued lines, escapes."""

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
    """Line of each property, from 1."""

    def get(self, name: str) -> str | None:
        """Return the value without surrounding blanks; None if it is missing or empty."""
        return self.values.get(name, "").strip() or None

    def wrong(self, name: str, detail: str) -> CommandError:
        """Return the error for a wrong value."""
        return bad_file(self.source, self.lines.get(name), name, detail)

    def required(self, name: str, expected: str) -> str:
        """Return a required value.

        Raises:
            CommandError: the value is missing.
        """
        value = self.get(name)
        if value is None:
            raise bad_file(self.source, self.lines.get(name), name, f"is missing, expected {expected}")
        return value


def read_properties(source: Path) -> Properties:
    """Read the properties of a file.

    Raises:
        CommandError: the file cannot be read, or has a key twice.
    """
    values: dict[str, str] = {}
    lines: dict[str, int] = {}
    for number, text in _join_lines(read_text(source)):
        match = _KEY_END.search(text)
        key = _unescape(text if match is None else text[: match.start("separator")])
        value = "" if match is None else _unescape(text[match.end() :])
        if key in values:
            raise bad_file(source, number, key, f"is given twice, first in line {lines[key]}")
        values[key], lines[key] = value, number
    return Properties(source, values, lines)


def _join_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield lines joined with their continuations, and the number of their first line; no blank lines or comments."""
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


def _unescape(text: str) -> str:
    def character(escape: re.Match[str]) -> str:
        code = escape[1]
        return chr(int(code[1:], 16)) if len(code) == 5 else _ESCAPED.get(code, code)

    return _ESCAPE.sub(character, text)
