"""Definitions of the reference and of the model, read from their source files."""

import ast
import re
from collections.abc import Container
from pathlib import Path
from typing import NamedTuple

from kraft_spec.rules.rule_ids import dotted_words

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "reference" / "kraft_reference"
MODEL = ROOT / "spec" / "kraft_spec" / "tla"


class ExcerptError(ValueError):
    """No such function or operator."""


class Excerpt(NamedTuple):
    """A definition with its comment."""

    path: str
    """Path from the root of the repository, with forward slashes."""
    line: int
    """Number of the first line, from 1."""
    text: str


def python_definition(name: str) -> Excerpt:
    """Return a function or class of the reference.

    Args:
        name: Module and name, such as `elections.grants_vote`; further dots lead into packages and classes.

    Raises:
        ExcerptError: There is no such definition.
    """
    words = name.split(".")
    for depth in range(len(words) - 1, 0, -1):
        path = REFERENCE.joinpath(*words[:depth]).with_suffix(".py")
        if path.is_file():
            return _definition_in(path, words[depth:], name)
    raise ExcerptError(f"{name}: the reference has no such module")


def _definition_in(path: Path, words: list[str], name: str) -> Excerpt:
    text = path.read_text(encoding="utf-8")
    body: list[ast.stmt] = ast.parse(text).body
    definition: ast.FunctionDef | ast.ClassDef | None = None
    for word in words:
        definition = next(
            (
                statement
                for statement in body
                if isinstance(statement, ast.FunctionDef | ast.ClassDef) and statement.name == word
            ),
            None,
        )
        if definition is None:
            raise ExcerptError(f"{name}: {_shown(path)} has no {word}")
        body = definition.body
    assert definition is not None
    first = min([definition.lineno, *[decorator.lineno for decorator in definition.decorator_list]])
    lines = text.splitlines()[first - 1 : definition.end_lineno]
    return Excerpt(_shown(path), first, "\n".join(lines))


def operator_definition(name: str) -> Excerpt:
    """Return an operator of the model, with the comment right above it.

    Args:
        name: module and operator, such as `Elections.GrantsVote`.

    Raises:
        ExcerptError: There is no such operator.
    """
    module, _, operator = name.partition(".")
    path = MODEL / f"{module}.tla"
    if not path.is_file():
        raise ExcerptError(f"{name}: the model has no module {module}")
    lines = path.read_text(encoding="utf-8").splitlines()
    head = re.compile(rf"{re.escape(operator)}(\([^)]*\))?\s*==")
    place = next((number for number, line in enumerate(lines) if head.match(line)), None)
    if place is None:
        raise ExcerptError(f"{name}: {_shown(path)} has no {operator}")
    first = place
    while first and lines[first - 1].startswith(("\\*", "(*")):
        first -= 1
    last = place + 1
    while last < len(lines) and not lines[last][:1].strip():
        last += 1
    return Excerpt(_shown(path), first + 1, "\n".join(lines[first:last]).rstrip())


def named_rules(text: str, ids: Container[str]) -> tuple[str, ...]:
    """Return the rules that a piece of code names, each once, in order.

    Args:
        text: Text of the code.
        ids: Ids of all rules.
    """
    return tuple(dict.fromkeys(word for word in dotted_words(text) if word in ids))


def _shown(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()
