"""Prose of a source file: its comments and strings, never its code.

In code `state.roles` is an attribute; in a comment or a string it is the id of a rule.
"""

import ast
import io
import tokenize
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Line:
    """A line of prose.

    Attributes:
        number: line of the file, from 1; approximate in a string with escaped line ends.
        text: the words, without comment or string delimiters.
    """

    number: int
    text: str


def python_prose(source: str, file: str) -> Iterator[Line]:
    """Yield comments, docstrings and string literals of a Python file; of an f-string only its fixed text.

    Raises:
        SyntaxError: the file is not Python; the error names the file.
    """
    for node in ast.walk(ast.parse(source, filename=file)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            written = node.value.split("\n")
            last = node.end_lineno or node.lineno
            for offset, text in enumerate(written):
                yield Line(min(node.lineno + offset, last), text)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield Line(token.start[0], token.string.lstrip("#"))


def tla_prose(source: str, file: str) -> Iterator[Line]:
    r"""Yield comments (`\*` and nested `(* *)`) and strings of a TLA+ module or of a TLC configuration."""
    depth = 0
    for number, line in enumerate(source.splitlines(), start=1):
        words: list[str] = []
        position = 0
        while position < len(line):
            pair = line[position : position + 2]
            if pair == "(*":
                depth += 1
                position += 2
            elif pair == "*)" and depth:
                depth -= 1
                position += 2
            elif depth:
                words.append(line[position])
                position += 1
            elif pair == "\\*":
                words.append(line[position + 2 :])
                break
            elif line[position] == '"':
                end = _end_of_tla_string(line, position)
                yield Line(number, line[position + 1 : end])
                position = end + 1
            else:
                position += 1
        if words:
            yield Line(number, "".join(words))


def _end_of_tla_string(line: str, start: int) -> int:
    """Return the position of the quote that ends the string begun at `start`; the end of the line if none does."""
    position = start + 1
    while position < len(line) and line[position] != '"':
        position += 2 if line[position] == "\\" else 1
    return position


def plain_prose(source: str, file: str) -> Iterator[Line]:
    """Yield every line of a page."""
    for number, text in enumerate(source.splitlines(), start=1):
        yield Line(number, text)


READERS: Mapping[str, Callable[[str, str], Iterator[Line]]] = {
    ".py": python_prose,
    ".tla": tla_prose,
    ".cfg": tla_prose,
    ".md": plain_prose,
    ".rst": plain_prose,
}
"""Readers by file ending; files with other endings cite no rules."""
