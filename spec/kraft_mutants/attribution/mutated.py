"""Copy of the reference in which a mutant of the catalogue breaks one rule at a time.

While a step is played, the functions of the copy have the code of the mutant.
"""

import ast
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from pickle import PicklingError
from types import CodeType, FrameType, FunctionType
from typing import Any, NamedTuple

from kraft_mutants import Mutant, load_catalogue, reference_edits
from kraft_mutants.attribution.given import AnyGiven, played, player
from kraft_mutants.copies import Copy
from kraft_spec.edits import Edit, edited_texts, installed_file

_COPY = Copy("_mutated_")
_IN_USE = threading.RLock()
"""All threads share one copy."""
_STATEMENTS = ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom
_NONE = object()


class Broken(NamedTuple):
    """A mutant, and the result of a step with it."""

    mutant: Mutant
    result: Any


@dataclass(frozen=True, slots=True)
class _Patch:
    """Changes that a mutant makes in the copy."""

    functions: tuple[tuple[FunctionType, FunctionType], ...]
    """Each function with the one whose code it gets."""
    names: tuple[tuple[dict[str, Any], str, Any], ...]
    """Other module attributes, and their values."""

    @contextmanager
    def in_place(self) -> Iterator[None]:
        functions = [(function, function.__code__, function.__defaults__) for function, _ in self.functions]
        names = [(scope, name, scope.get(name, _NONE)) for scope, name, _ in self.names]
        try:
            for function, other in self.functions:
                function.__code__, function.__defaults__ = other.__code__, other.__defaults__
            for scope, name, value in self.names:
                scope[name] = value
            yield
        finally:
            for function, code, defaults in functions:
                function.__code__, function.__defaults__ = code, defaults
            for scope, name, before in names:
                if before is _NONE:
                    del scope[name]
                else:
                    scope[name] = before


def broken(inputs: AnyGiven, left_out: frozenset[str] = frozenset()) -> Iterator[Broken]:
    """Yield the result of a step with each mutant that changes it.

    Args:
        inputs: inputs of the step.
        left_out: names of mutants that are not tried.
    """
    changes = {name: edits for name, edits in _mutants().items() if name not in left_out}
    for name, result in outcomes(inputs, changes):
        yield Broken(load_catalogue()[name], result)


def outcomes(inputs: AnyGiven, changes: Mapping[str, tuple[Edit, ...]]) -> Iterator[tuple[str, Any]]:
    """Yield the result of a step with each change of the reference that changes it.

    Args:
        inputs: inputs of the step.
        changes: edits of the reference, by the name of each change.

    Raises:
        EditError: an edit does not fit the reference.
    """
    with _IN_USE:
        step = _CopiedStep(inputs)
        results = []
        for name, edits in changes.items():
            result = step.changed(edits)
            if result is not None:
                # Skip a result with values that the reference does not have.
                with suppress(PicklingError):
                    results.append((name, _COPY.returned(result)))
    yield from results


def does_otherwise(mutant: str, steps: Sequence[AnyGiven], observe: Callable[[Any], object]) -> bool:
    """Return True if a mutant of the catalogue changes an observation of one of these steps.

    Args:
        mutant: its name.
        steps: inputs of the steps.
        observe: returns the observation of a step, as a comparable value.
    """
    edits = reference_edits(load_catalogue()[mutant])
    with _IN_USE:
        for inputs in steps:
            step = _CopiedStep(inputs)
            result = step.changed(edits)
            if result is None:
                continue
            try:
                if observe(_COPY.returned(result)) != observe(_COPY.returned(step.unbroken)):
                    return True
            except Exception:  # its result has no counterpart in the reference
                return True
    return False


class _CopiedStep:
    """A step played on the copy."""

    def __init__(self, inputs: AnyGiven) -> None:
        self._module = _COPY.module(player(inputs))
        self._given = _COPY.taken(inputs)
        called: set[CodeType] = set()

        def watch(frame: FrameType, event: str, argument: object) -> None:
            called.add(frame.f_code)

        before = sys.getprofile()
        sys.setprofile(watch)
        try:
            self.unbroken = played(self._module, self._given)
        finally:
            sys.setprofile(before)
        self._called = called

    def changed(self, edits: tuple[Edit, ...]) -> Any:
        """Play it with the reference edited; None if the result is the same or the edited reference raises."""
        if not any(self._concerns(edit) for edit in edits):
            return None
        patch = _patch(edits)
        is_called = any(function.__code__ in self._called for function, _ in patch.functions)
        if not (is_called or patch.names):
            return None
        with patch.in_place():
            try:
                result = played(self._module, self._given)
            except Exception:  # an altered reference may raise anything
                return None
        return None if result == self.unbroken else result

    def _concerns(self, edit: Edit) -> bool:
        """Return False if an edit changes only a function that the step does not call."""
        function = _changed_function(edit)
        return function is None or any(
            code.co_filename == function.file and code.co_firstlineno in function.lines for code in self._called
        )


@cache
def _mutants() -> Mapping[str, tuple[Edit, ...]]:
    """Return the edits of the mutants that break the reference, by name."""
    edits = {mutant.name: reference_edits(mutant) for mutant in load_catalogue().mutants}
    return {name: changes for name, changes in edits.items() if changes}


class _Function(NamedTuple):
    """A function of a module, with its decorators."""

    file: str
    lines: range


@cache
def _changed_function(edit: Edit) -> _Function | None:
    """Return the only function that an edit changes; None if it changes anything else."""
    path = installed_file(edit.file)
    text = path.read_text(encoding="utf-8")
    start = text.find(edit.old)
    end = start + len(edit.old) - 1
    first, last = (text.count("\n", 0, place) + 1 for place in (start, end))
    functions = (function for function in _functions(path) if first in function.lines and last in function.lines)
    return None if start < 0 else next(functions, None)


@cache
def _functions(path: Path) -> tuple[_Function, ...]:
    statements = ast.parse(path.read_text(encoding="utf-8")).body
    functions = [statement for statement in statements if isinstance(statement, ast.FunctionDef)]
    return tuple([_Function(str(path), _lines(function)) for function in functions])


def _lines(statement: ast.stmt) -> range:
    decorators = getattr(statement, "decorator_list", ())
    return range(min(node.lineno for node in (statement, *decorators)), (statement.end_lineno or 0) + 1)


@cache
def _patch(edits: tuple[Edit, ...]) -> _Patch:
    functions: list[tuple[FunctionType, FunctionType]] = []
    names: list[tuple[dict[str, Any], str, Any]] = []
    for path, text in edited_texts(edits).items():
        file = f"{path.parent.name}/{path.name}"
        module = _COPY.module(file.removesuffix(".py").replace("/", "."))
        scope = vars(module)
        apart = dict(scope)
        changed = _COPY.adapted(ast.Module(_changed_statements(path, text), []), file)
        exec(compile(changed, str(path), "exec"), apart)
        for name, value in apart.items():
            before = scope.get(name, _NONE)
            if value is before or name == "__builtins__":
                continue
            if isinstance(before, FunctionType | type):
                functions += _changed_functions(before, value)
                continue
            # Every module that imports the value has it under the same name.
            places = [scope] if before is _NONE else [vars(namespace) for namespace in _COPY.loaded()]
            names += [(namespace, name, value) for namespace in places if namespace.get(name, _NONE) is before]
    return _Patch(tuple(functions), tuple(names))


def _changed_statements(path: Path, text: str) -> list[ast.stmt]:
    """Return the statements of a module that a mutant changes, and the later assignments, which may depend on them."""
    unchanged = _unchanged(path)
    new = ast.parse(text).body
    is_changed = [source not in unchanged for source in _sources(text, new)]
    values = [place for place, node in enumerate(new) if is_changed[place] and not isinstance(node, _STATEMENTS)]
    later = values[0] if values else len(new)
    return [
        node
        for place, node in enumerate(new)
        if is_changed[place] or (place > later and isinstance(node, ast.Assign | ast.AnnAssign))
    ]


@cache
def _unchanged(path: Path) -> frozenset[str]:
    text = path.read_text(encoding="utf-8")
    return frozenset(_sources(text, ast.parse(text).body))


def _sources(text: str, statements: Sequence[ast.stmt]) -> Iterator[str]:
    lines = text.splitlines()
    for statement in statements:
        place = _lines(statement)
        yield "\n".join(lines[place.start - 1 : place.stop - 1])


def _changed_functions(old: Any, new: Any) -> Iterator[tuple[FunctionType, FunctionType]]:
    """Yield a changed function with its previous version, or those of a changed class."""
    if isinstance(old, FunctionType) and isinstance(new, FunctionType):
        yield old, new
    elif isinstance(old, type) and isinstance(new, type):
        for name, value in vars(new).items():
            before, after = _unwrapped(vars(old).get(name)), _unwrapped(value)
            if isinstance(before, FunctionType) and isinstance(after, FunctionType):
                is_same = before.__code__.co_code == after.__code__.co_code
                is_same &= before.__code__.co_consts == after.__code__.co_consts
                if not is_same or before.__defaults__ != after.__defaults__:
                    yield before, after


def _unwrapped(value: object) -> object:
    """Return the function inside a property, a static method or a class method."""
    return getattr(value, "fget", None) or getattr(value, "__func__", value)
