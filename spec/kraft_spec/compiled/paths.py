"""Paths into the parameters of an operator and the variables, and the keys that consist of them."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TypeAlias

from kraft_spec.compiled.terms import UnsupportedError
from kraft_spec.tlc.jvm import JavaObject

KEYS_MAX = 8
"""Longest key of a memo."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of the operator.

    Attributes:
        uid: Id of its node.
        later: True for its value in the next state.
    """

    uid: int
    later: bool = False


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of the specification, in the current or the next state."""

    name: str
    later: bool = False


@dataclass(frozen=True, slots=True)
class Literal:
    """A number or string of the text."""

    value: int | str


@dataclass(frozen=True, slots=True)
class Selected:
    """A field of a record."""

    record: "Path"
    name: str


@dataclass(frozen=True, slots=True)
class Applied:
    """A function at an argument."""

    function: "Path"
    argument: "Path"


Path: TypeAlias = Parameter | Variable | Literal | Selected | Applied


def primed(path: Path, node: JavaObject) -> Path:
    """Return the path in the next state.

    Raises:
        UnsupportedError: It is already one in the next state; `node` is the place.
    """
    match path:
        case Parameter(later=True) | Variable(later=True):
            raise UnsupportedError("a prime within a prime", node)
        case Parameter() | Variable():
            return replace(path, later=True)
        case Selected(record, name):
            return Selected(primed(record, node), name)
        case Applied(function, argument):
            return Applied(primed(function, node), primed(argument, node))
    return path


def key_of(read: Iterable[Path]) -> tuple[Path, ...] | None:
    """Return the paths that the key of a memo consists of; None if there are too many.

    Args:
        read: All paths that the operator reads.
    """
    paths = _coarse(read)
    return tuple(sorted(paths, key=repr)) if len(paths) <= KEYS_MAX else None


def _coarse(paths: Iterable[Path]) -> frozenset[Path]:
    """Return paths that determine the given ones, each a parameter, a variable or a component of one."""
    cut = {part for path in paths for part in _shortened(path, _component(path))}
    fields: dict[Path, int] = {}
    for path in cut:
        if isinstance(path, Selected):
            fields[path.record] = fields.get(path.record, 0) + 1
    # A record of which several fields are read counts as a whole: one key instead of several.
    wholes = {path for path in cut if isinstance(path, Parameter | Variable)} | {p for p, n in fields.items() if n > 1}
    shortened = {part for path in cut for part in (_shortened(path, _root(path)) if _root(path) in wholes else (path,))}
    return frozenset(shortened) if shortened == cut else _coarse(shortened)


def _shortened(path: Path, prefix: Path) -> Iterable[Path]:
    """Yield a prefix of a path, and the arguments of the steps after it, which select a part of the prefix."""
    while path != prefix:
        if isinstance(path, Applied):
            if not isinstance(path.argument, Literal):
                yield from _shortened(path.argument, _component(path.argument))
            path = path.function
        elif isinstance(path, Selected):
            path = path.record
    yield path


def _root(path: Path) -> Path:
    match path:
        case Selected(inner, _) | Applied(inner, _):
            return _root(inner)
    return path


def _component(path: Path) -> Path:
    """Return the parameter that a path begins with, or the first step into its variable."""
    match path:
        case Selected(inner, _) | Applied(inner, _):
            root = _root(path)
            return root if isinstance(root, Parameter) else path if inner == root else _component(inner)
    return path
