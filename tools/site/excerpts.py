"""Pieces of the reference and of the model, taken from their files where they stand."""

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
    """There is no such function or operator."""


class Excerpt(NamedTuple):
    """A definition, with the comment that belongs to it."""

    path: str
    """From the root of the repository, with forward slashes."""
    line: int
    """Of its first line, from 1."""
    text: str


def python_definition(name: str) -> Excerpt:
    """A function or class of the reference.

    Args:
        name: module and name, such as `elections.grants_vote`; further dots lead into packages and classes.

    Raises:
        ExcerptError: there is no such definition.
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
    found: ast.FunctionDef | ast.ClassDef | None = None
    for word in words:
        found = next(
            (one for one in body if isinstance(one, ast.FunctionDef | ast.ClassDef) and one.name == word), None
        )
        if found is None:
            raise ExcerptError(f"{name}: {_shown(path)} has no {word}")
        body = found.body
    assert found is not None
    first = min([found.lineno, *[decorator.lineno for decorator in found.decorator_list]])
    lines = text.splitlines()[first - 1 : found.end_lineno]
    return Excerpt(_shown(path), first, "\n".join(lines))


def operator_definition(name: str) -> Excerpt:
    """An operator of the model, with the comment right above it.

    Args:
        name: module and operator, such as `Elections.GrantsVote`.

    Raises:
        ExcerptError: there is no such operator.
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
    """The rules that a piece of code names, each once, in order.

    Args:
        text: of the piece.
        ids: of all rules.
    """
    return tuple(dict.fromkeys(word for word in dotted_words(text) if word in ids))


def _shown(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()
