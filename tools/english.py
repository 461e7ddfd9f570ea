#!/usr/bin/env python3
"""Check the English of docstrings and names, as CONTRIBUTING.md asks for it; exit code 1 if a line breaks a rule.

    tools/english.py [PATH...]      every tracked Python file without a path

- The first line of a docstring is a noun phrase, or begins with a verb: it is no question.
- A variable or parameter has the noun of its value (`voter`), not a pronoun or participle (`one`, `found`).
- A term of the field has one form: "voter set", "truncate", "response".
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

QUESTION = re.compile(
    r"(?:What|Whether|Who|Whom|Whose|Which|Of|How|Where|Why|Is|Are|Does|Did|Has|Have|Had|Was|Were|Can|May|Must"
    r"|Should|Would|Will)\b|.*\?$"
)
NAMES = frozenset(("one", "found", "said", "given", "gone", "told", "asked", "shown"))
TERMS = {
    "voters set": "voter set",
    "voters sets": "voter sets",
    "untold": "not recorded",
    "told apart": "distinguished",
    "held to": "checked against",
    "of its own accord": "by itself",
    "whoever": "the replica that",
    "sighting": "captured message",
    "sightings": "captured messages",
}
TERM = re.compile(rf"\b(?:{'|'.join(sorted(TERMS, key=len, reverse=True))})\b", re.IGNORECASE)
_DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


class Finding(NamedTuple):
    """A line that breaks a rule."""

    path: str
    line: int
    message: str


def findings(path: str, text: str) -> Iterator[Finding]:
    """Yield the lines of a Python file that break a rule."""
    tree = ast.parse(text, path)
    fields = {id(field.target) for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for field in _fields(node)}
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED) and (docstring := ast.get_docstring(node)):
            line = node.body[0].lineno
            summary = docstring.split("\n\n")[0].replace("\n", " ")
            if QUESTION.match(summary):
                yield Finding(path, line, f"docstring begins with a question: {summary[:60]}")
            for match in TERM.finditer(docstring):
                at = line + docstring.count("\n", 0, match.start())
                yield Finding(path, at, f'"{match[0]}": write "{TERMS[match[0].lower()]}"')
        if isinstance(node, ast.arg) and node.arg in NAMES:
            yield Finding(path, node.lineno, f"name `{node.arg}`: name the value by its noun")
        if (
            isinstance(node, ast.Name)
            and isinstance(node.ctx, ast.Store)
            and node.id in NAMES
            and id(node) not in fields
        ):
            yield Finding(path, node.lineno, f"name `{node.id}`: name the value by its noun")


def _fields(node: ast.ClassDef) -> Iterator[ast.AnnAssign]:
    """Yield the fields of a class: they have a docstring of their own."""
    return (statement for statement in node.body if isinstance(statement, ast.AnnAssign))


def main(paths: list[str]) -> int:
    """Print the findings of these files, or of all tracked Python files, and return the exit code."""
    if not paths:
        listed = subprocess.run(["git", "ls-files", "*.py"], capture_output=True, text=True, check=True)
        paths = listed.stdout.splitlines()
    found_any = False
    for path in paths:
        for finding in sorted(findings(path, Path(path).read_text(encoding="utf-8"))):
            print(f"{finding.path}:{finding.line}: {finding.message}")
            found_any = True
    return int(found_any)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
