"""A copy of the reference in which one expression at a time comes out otherwise."""

import ast
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from types import FrameType
from typing import Any, NamedTuple

from kraft_mutants.attribution.given import AnyGiven, played, player
from kraft_mutants.attribution.probing import PROBE, Place, Probing
from kraft_mutants.copies import Copy

_PLACES: list[Place] = []
"""Where each probe stands, by its number."""
_NONE = object()
_CALLS_MAX = 20_000
"""Of the probe in one step: an altered loop need not end."""


class Alternative(NamedTuple):
    """A result of which one expression came out otherwise."""

    where: tuple[Place, ...]
    """The expression, then the calls that it was evaluated in, the innermost first."""
    result: Any


@dataclass(slots=True)
class _Run:
    number: int | None = None
    """Of the probe that gives something else; None to see which there are."""
    choice: int = 0
    calls: int = 0
    choices: dict[int, int] = field(default_factory=dict)
    """How many other values each expression has that was evaluated."""
    where: dict[int, tuple[Place, ...]] = field(default_factory=dict)


class _TooLongError(Exception):
    pass


class _Probe(threading.local):
    def __init__(self) -> None:
        self.run = _Run()

    def value(self, number: int, result: Any, *instead: Any) -> Any:
        run = self.run
        run.calls += 1
        if run.calls > _CALLS_MAX:
            raise _TooLongError
        if run.number is None:
            if number not in run.choices:
                run.choices[number] = len(_others(result, instead))
                run.where[number] = _stack(number, sys._getframe(1))
            return result
        if run.number != number:
            return result
        others = _others(result, instead)
        return others[run.choice] if run.choice < len(others) else result

    def replaced(self, number: int, old: Any, **fields: Any) -> Any:
        """`old._replace(**fields)`, or with one of the fields left as it is."""
        run = self.run
        if run.number is None and number not in run.choices:
            run.choices[number] = len(fields)
            run.where[number] = _stack(number, sys._getframe(1))
        elif run.number == number and run.choice < len(fields):
            del fields[tuple(fields)[run.choice]]
        return old._replace(**fields)


_THE_PROBE = _Probe()


def _with_probes(tree: ast.Module, file: str) -> None:
    probing = Probing(file, _PLACES)
    code = ast.FunctionDef | ast.ClassDef
    tree.body = [probing.visit(one) if isinstance(one, code) else one for one in tree.body]


_COPY = Copy("_altered_", _with_probes, {PROBE: _THE_PROBE})


def _stack(number: int, frame: FrameType | None) -> tuple[Place, ...]:
    found = [_PLACES[number]]
    caller = None if frame is None else frame.f_back
    while caller is not None:
        module = str(caller.f_globals.get("__name__", ""))
        if module.startswith(_COPY.prefix):
            found.append(Place(_COPY.file(module), caller.f_lineno))
        caller = caller.f_back
    return tuple(found)


def _others(value: Any, instead: tuple[Any, ...]) -> tuple[Any, ...]:
    """The values that an expression is given in place of its own."""
    found: list[Any] = []
    match value:
        case bool():
            found = [not value]
        case Enum():
            found = list(type(value))
        case int():
            found = [value + 1, value - 1, 0]
        case str():
            found = [None]
        case frozenset() | tuple() | list() | dict() if not hasattr(value, "_fields"):
            found = [type(value)()]
        case _:
            pass
    # A call that is left out gives back what it was given, a sum one of its parts.
    found += [one for one in instead if one is None or type(one) is type(value)]
    return tuple([one for one in found if one is not value and not (type(one) is type(value) and one == value)])


def alternatives(given: AnyGiven) -> Iterator[Alternative]:
    """What comes of a step with one expression otherwise, for each of its expressions; equal results are one object."""
    module = _COPY.module(player(given))
    ready = _COPY.taken(given)
    run = _THE_PROBE.run = _Run()
    unaltered = played(module, ready)
    seen: dict[int, list[tuple[Any, Any]]] = {_likeness(unaltered): [(unaltered, None)]}
    for number, choices in run.choices.items():
        for choice in range(choices):
            _THE_PROBE.run = _Run(number, choice)
            try:
                result = played(module, ready)
                alike = seen.setdefault(_likeness(result), [])
                returned = next((returned for one, returned in alike if one == result), _NONE)
                if returned is _NONE:
                    returned = _COPY.returned(result)
                    alike.append((result, returned))
            except Exception:
                continue
            if returned is not None:
                yield Alternative(run.where[number], returned)


def _likeness(result: Any) -> int:
    """What is the same for equal results: texts of equal sets have them in different orders, but are as long."""
    return len(repr(result))
