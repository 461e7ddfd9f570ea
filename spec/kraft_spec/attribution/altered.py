"""A second copy of the reference, in which one expression at a time comes out otherwise.

It is compiled from the installed source, with types of its own; what goes in and out is carried over by pickling.
Nothing of the reference that everybody imports is touched.
"""

import ast
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import io
import pickle
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Any, NamedTuple, TypeVar

from kraft_spec.attribution.probing import PROBE, Place, Probing

ORIGINAL = "kraft_reference"
COPY = "_kraft_reference_altered"
_PLACES: list[Place] = []
"""Where each probe stands, by its number."""
_CALLS_MAX = 20_000
"""Of the probe in one step: an altered loop need not end."""
_LOCK = threading.Lock()

_Result = TypeVar("_Result")


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


def _stack(number: int, frame: FrameType | None) -> tuple[Place, ...]:
    found = [_PLACES[number]]
    caller = None if frame is None else frame.f_back
    while caller is not None:
        module = str(caller.f_globals.get("__name__", ""))
        if module.startswith(COPY):
            found.append(Place(_file(module), caller.f_lineno))
        caller = caller.f_back
    return tuple(found)


def _file(module: str) -> str:
    return module.removeprefix(COPY).lstrip(".").replace(".", "/") + ".py"


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


def alternatives(play: Callable[[ModuleType, Any], _Result], given: object) -> Iterator[Alternative]:
    """What comes of a step with one expression otherwise, for each of its expressions; each result once.

    Args:
        play: lets the step happen, with the altered module `replica` and what was given in its types.
        given: what the step needs, in the types of the reference.
    """
    with _LOCK:
        replica = _module(f"{COPY}.replica")
    ready = _carried(given, ORIGINAL, COPY)
    run = _THE_PROBE.run = _Run()
    unaltered = play(replica, ready)
    seen: dict[str, Any] = {repr(unaltered): None}
    for number, choices in run.choices.items():
        for choice in range(choices):
            _THE_PROBE.run = _Run(number, choice)
            try:
                result = play(replica, ready)
                shown = repr(result)
                if shown not in seen:
                    seen[shown] = _carried(result, COPY, ORIGINAL)
            except Exception:
                continue
            if seen[shown] is not None:
                yield Alternative(run.where[number], seen[shown])


# ---------------------------------------------------------------------------------------------------------
# The copy.
# ---------------------------------------------------------------------------------------------------------


class _Loader(importlib.machinery.SourceFileLoader):
    def get_code(self, fullname: str) -> CodeType:
        tree = ast.parse(Path(self.path).read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module is not None and node.module.split(".")[0] == ORIGINAL:
                node.module = COPY + node.module.removeprefix(ORIGINAL)
        probing = Probing(_file(fullname), _PLACES)
        code = ast.FunctionDef | ast.ClassDef
        tree.body = [probing.visit(one) if isinstance(one, code) else one for one in tree.body]
        return compile(ast.fix_missing_locations(tree), self.path, "exec")

    def exec_module(self, module: ModuleType) -> None:
        setattr(module, PROBE, _THE_PROBE)
        super().exec_module(module)


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname.split(".")[0] != COPY:
            return None
        spec = importlib.util.find_spec(ORIGINAL + fullname.removeprefix(COPY))
        if spec is None or spec.origin is None:
            return None
        return importlib.util.spec_from_file_location(
            fullname,
            spec.origin,
            loader=_Loader(fullname, spec.origin),
            submodule_search_locations=spec.submodule_search_locations,
        )


@cache
def _module(name: str) -> ModuleType:
    if not any(isinstance(one, _Finder) for one in sys.meta_path):
        # Before the others, which would find the unaltered modules in the package's folder.
        sys.meta_path.insert(0, _Finder())
    return importlib.import_module(name)


class _Unpickler(pickle.Unpickler):
    def __init__(self, raw: bytes, source: str, target: str) -> None:
        super().__init__(io.BytesIO(raw))
        self._source = source
        self._target = target

    def find_class(self, module: str, name: str) -> Any:
        if module.split(".")[0] == self._source:
            module = self._target + module.removeprefix(self._source)
        return super().find_class(module, name)


def _carried(value: object, source: str, target: str) -> Any:
    """The value in the types of the other package."""
    return _Unpickler(pickle.dumps(value), source, target).load()
