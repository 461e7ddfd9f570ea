"""Copy of the reference in which one expression at a time has another result."""

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
"""Source place of each probe, by its number."""
_NONE = object()
_CALLS_MAX = 20_000
"""Probe calls in one step: an altered loop may not terminate."""


class Alternative(NamedTuple):
    """Result of a step in which one expression had another value."""

    where: tuple[Place, ...]
    """Place of the expression, then of its callers, innermost first."""
    result: Any


@dataclass(slots=True)
class _Run:
    number: int | None = None
    """Probe that returns another value; None to list the expressions that are evaluated."""
    choice: int = 0
    calls: int = 0
    choices: dict[int, int] = field(default_factory=dict)
    """Number of other values of each evaluated expression."""
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
                run.choices[number] = len(_other_values(result, instead))
                run.where[number] = _call_stack(number, sys._getframe(1))
            return result
        if run.number != number:
            return result
        others = _other_values(result, instead)
        return others[run.choice] if run.choice < len(others) else result

    def replaced(self, number: int, old: Any, **fields: Any) -> Any:
        """Return `old._replace(**fields)`, or leave one of the fields as it is."""
        run = self.run
        if run.number is None and number not in run.choices:
            run.choices[number] = len(fields)
            run.where[number] = _call_stack(number, sys._getframe(1))
        elif run.number == number and run.choice < len(fields):
            del fields[tuple(fields)[run.choice]]
        return old._replace(**fields)


_THE_PROBE = _Probe()


def _add_probes(tree: ast.Module, file: str) -> None:
    probing = Probing(file, _PLACES)
    code = ast.FunctionDef | ast.ClassDef
    tree.body = [probing.visit(statement) if isinstance(statement, code) else statement for statement in tree.body]


_COPY = Copy("_altered_", _add_probes, {PROBE: _THE_PROBE})


def _call_stack(number: int, frame: FrameType | None) -> tuple[Place, ...]:
    places = [_PLACES[number]]
    caller = None if frame is None else frame.f_back
    while caller is not None:
        module = str(caller.f_globals.get("__name__", ""))
        if module.startswith(_COPY.prefix):
            places.append(Place(_COPY.file(module), caller.f_lineno))
        caller = caller.f_back
    return tuple(places)


def _other_values(value: Any, instead: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the values to try in place of an expression's own."""
    values: list[Any] = []
    match value:
        case bool():
            values = [not value]
        case Enum():
            values = list(type(value))
        case int():
            values = [value + 1, value - 1, 0]
        case str():
            values = [None]
        case frozenset() | tuple() | list() | dict() if not hasattr(value, "_fields"):
            values = [type(value)()]
        case _:
            pass
    # A skipped call returns an argument, a sum one of its operands.
    values += [operand for operand in instead if operand is None or type(operand) is type(value)]
    return tuple(
        [other for other in values if other is not value and not (type(other) is type(value) and other == value)]
    )


def alternatives(inputs: AnyGiven) -> Iterator[Alternative]:
    """Yield the other results of a step, for another value of each of its expressions; equal results are one object."""
    module = _COPY.module(player(inputs))
    ready = _COPY.taken(inputs)
    run = _THE_PROBE.run = _Run()
    unaltered = played(module, ready)
    results: dict[int, list[tuple[Any, Any]]] = {_size(unaltered): [(unaltered, None)]}
    for number, choices in run.choices.items():
        for choice in range(choices):
            _THE_PROBE.run = _Run(number, choice)
            try:
                result = played(module, ready)
                alike = results.setdefault(_size(result), [])
                returned = next((returned for known_result, returned in alike if known_result == result), _NONE)
                if returned is _NONE:
                    returned = _COPY.returned(result)
                    alike.append((result, returned))
            except Exception:
                continue
            if returned is not None:
                yield Alternative(run.where[number], returned)


def _size(result: Any) -> int:
    """Return a bucket key: equal results may print the elements of a set in another order, but in the same length."""
    return len(repr(result))
