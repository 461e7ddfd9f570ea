"""Rules that the reference cites at a place, in comments and docstrings."""

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
    """Rules in the comment right above a line, by line."""


@cache
def cited_at(place: Place) -> tuple[tuple[str, ...], ...]:
    """Return the rules that the reference cites at a place, closest citation first.

    The order is: the comment above the statement, those above the enclosing statements, the docstring of the function.
    """
    module = _module(place.file)
    enclosing = list(_citations_around(module, module.tree, place.line))
    directly = module.commented.get(place.line, ())
    ordered = [directly, *reversed(enclosing)]
    return tuple(dict.fromkeys([rules for rules in ordered if rules]))


def rules_around(file: str, line: int) -> tuple[str, ...]:
    """Return the rules that the reference cites at a line and around it, up to the docstring of its function."""
    return tuple(dict.fromkeys([rule for rules in cited_at(Place(file, line)) for rule in rules]))


def _citations_around(module: _Module, node: ast.AST, line: int) -> Iterator[tuple[str, ...]]:
    """Yield the citations from the outside in."""
    for block in _blocks(node):
        for place, statement in enumerate(block):
            if not statement.lineno <= line <= (statement.end_lineno or 0):
                continue
            if isinstance(statement, ast.FunctionDef):
                yield rules_in(ast.get_docstring(statement) or "")
            elif not isinstance(statement, ast.ClassDef):
                # A comment applies until the next one of the same block.
                above = [
                    module.commented[earlier.lineno]
                    for earlier in block[: place + 1]
                    if earlier.lineno in module.commented
                ]
                yield above[-1] if above else ()
            yield from _citations_around(module, statement, line)


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
    """Return the rules that a text names, in its order."""
    registry = load_registry()
    return tuple(dict.fromkeys([rule_id for rule_id in _RULE_ID.findall(text) if rule_id in registry]))
