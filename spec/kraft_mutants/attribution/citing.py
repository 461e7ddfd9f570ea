"""Which rules the reference names at a place: in the comments above its statements and in docstrings."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from kraft_mutants.attribution.probing import Place
from kraft_spec.edits import installed_file
from kraft_spec.rules import load_registry

_RULE_ID = re.compile(r"\b[a-z][a-z0-9]*(?:-[a-z0-9]+)*(?:\.[a-z0-9]+(?:-[a-z0-9]+)*)+")


class _Module(NamedTuple):
    tree: ast.Module
    lines: tuple[str, ...]
    commented: dict[int, tuple[str, ...]]
    """The rules in the comment right above a line, by that line."""


@cache
def cited_at(place: Place) -> tuple[tuple[str, ...], ...]:
    """The rules that the reference names at a place, what stands closest first.

    The comment above the statement, those above the statements around it, the
    docstring of the function; each with its rules in the order of the text.
    """
    module = _module(place.file)
    found = list(_around(module, module.tree, place.line))
    directly = module.commented.get(place.line, ())
    ordered = [directly, *reversed(found)]
    return tuple(dict.fromkeys([rules for rules in ordered if rules]))


def rules_around(file: str, line: int) -> tuple[str, ...]:
    """The rules that the reference names at a line and around it, up to the docstring of its function."""
    return tuple(dict.fromkeys([rule for rules in cited_at(Place(file, line)) for rule in rules]))


def _around(module: _Module, node: ast.AST, line: int) -> Iterator[tuple[str, ...]]:
    """From the outside in."""
    for block in _blocks(node):
        for place, statement in enumerate(block):
            if not statement.lineno <= line <= (statement.end_lineno or 0):
                continue
            if isinstance(statement, ast.FunctionDef):
                yield rules_in(ast.get_docstring(statement) or "")
            elif not isinstance(statement, ast.ClassDef):
                # A comment goes on until the next one of the same block.
                above = [module.commented[one.lineno] for one in block[: place + 1] if one.lineno in module.commented]
                yield above[-1] if above else ()
            yield from _around(module, statement, line)


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse"):
        block = getattr(node, name, None)
        if isinstance(block, list):
            yield block
    for case in getattr(node, "cases", ()):
        yield case.body


@cache
def _module(file: str) -> _Module:
    text = installed_file(file).read_text(encoding="utf-8")
    lines = tuple(text.splitlines())
    commented: dict[int, tuple[str, ...]] = {}
    comment = ""
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith("#"):
            comment += line
            continue
        if rules := rules_in(comment):
            commented[number] = rules
        comment = ""
    return _Module(ast.parse(text), lines, commented)


def rules_in(text: str) -> tuple[str, ...]:
    """The rules that a text names, in its order."""
    registry = load_registry()
    return tuple(dict.fromkeys([one for one in _RULE_ID.findall(text) if one in registry]))
