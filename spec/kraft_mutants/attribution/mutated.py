"""A copy of the reference in which one rule at a time is broken, as the catalogue of mutants says.

The functions of the copy get the code of the mutant while a step is played, and then their own again.
"""

import ast
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pickle import PicklingError
from types import CodeType, FrameType, FunctionType
from typing import Any, NamedTuple

from kraft_mutants import Mutant, load_catalogue, reference_edits
from kraft_mutants.attribution.given import AnyGiven, played, player
from kraft_mutants.copies import Copy
from kraft_spec.edits import Edit, edited_texts

_COPY = Copy("_mutated_")
_IN_USE = threading.RLock()
"""There is one copy for all threads."""
_STATEMENTS = ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom
_NONE = object()


class Broken(NamedTuple):
    """What a step is with one rule broken."""

    mutant: Mutant
    result: Any


@dataclass(frozen=True, slots=True)
class _Patch:
    """What a mutant puts into the copy."""

    functions: tuple[tuple[FunctionType, FunctionType], ...]
    """Each with the one whose code it gets."""
    names: tuple[tuple[dict[str, Any], str, Any], ...]
    """Other names of modules, and their values."""

    @contextmanager
    def in_place(self) -> Iterator[None]:
        functions = [(one, one.__code__, one.__defaults__) for one, _ in self.functions]
        names = [(scope, name, scope.get(name, _NONE)) for scope, name, _ in self.names]
        try:
            for one, other in self.functions:
                one.__code__, one.__defaults__ = other.__code__, other.__defaults__
            for scope, name, value in self.names:
                scope[name] = value
            yield
        finally:
            for one, code, defaults in functions:
                one.__code__, one.__defaults__ = code, defaults
            for scope, name, before in names:
                if before is _NONE:
                    del scope[name]
                else:
                    scope[name] = before


def broken(given: AnyGiven, left_out: frozenset[str] = frozenset()) -> Iterator[Broken]:
    """What comes of a step with one rule broken, for each mutant with which it is another step.

    Args:
        given: the step.
        left_out: mutants that are not tried.
    """
    changes = {name: edits for name, edits in _mutants().items() if name not in left_out}
    for name, result in outcomes(given, changes):
        yield Broken(load_catalogue()[name], result)


def outcomes(given: AnyGiven, changes: Mapping[str, tuple[Edit, ...]]) -> Iterator[tuple[str, Any]]:
    """Outcomes of a step under changes of the reference, for each change with which it is another step.

    Args:
        given: the step.
        changes: edits of the reference, by the name of each change.

    Raises:
        EditError: an edit does not fit the reference.
    """
    with _IN_USE:
        step = _CopiedStep(given)
        found = []
        for name, edits in changes.items():
            result = step.changed(edits)
            if result is not None:
                # One that has values that the reference has not is left out.
                with suppress(PicklingError):
                    found.append((name, _COPY.returned(result)))
    yield from found


def does_otherwise(mutant: str, given: Sequence[AnyGiven], shown: Callable[[Any], object]) -> bool:
    """Whether a mutant of the catalogue would have done something else in one of these steps.

    Args:
        mutant: its name.
        given: the steps.
        shown: what is seen of a step, as a value that can be compared.
    """
    edits = reference_edits(load_catalogue()[mutant])
    with _IN_USE:
        for one in given:
            step = _CopiedStep(one)
            result = step.changed(edits)
            if result is None:
                continue
            try:
                if shown(_COPY.returned(result)) != shown(_COPY.returned(step.unbroken)):
                    return True
            except Exception:  # it shows what the reference cannot
                return True
    return False


class _CopiedStep:
    """A step of the copy."""

    def __init__(self, given: AnyGiven) -> None:
        self._module = _COPY.module(player(given))
        self._given = _COPY.taken(given)
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
        """Its outcome with the reference edited; None if that is the same, or the edited reference dies."""
        patch = _patch(edits)
        is_called = any(one.__code__ in self._called for one, _ in patch.functions)
        if not (is_called or patch.names):
            return None
        with patch.in_place():
            try:
                result = played(self._module, self._given)
            except Exception:  # an altered reference may make anything
                return None
        return None if result == self.unbroken else result


@cache
def _mutants() -> Mapping[str, tuple[Edit, ...]]:
    """The edits of those that break the reference, by their names."""
    edits = {one.name: reference_edits(one) for one in load_catalogue().mutants}
    return {name: changes for name, changes in edits.items() if changes}


@cache
def _patch(edits: tuple[Edit, ...]) -> _Patch:
    functions: list[tuple[FunctionType, FunctionType]] = []
    names: list[tuple[dict[str, Any], str, Any]] = []
    for path, text in edited_texts(edits).items():
        file = f"{path.parent.name}/{path.name}"
        module = _COPY.module(file.removesuffix(".py").replace("/", "."))
        old = _COPY.tree(path.read_text(encoding="utf-8"), file)
        new = _COPY.tree(text, file)
        scope = vars(module)
        apart = dict(scope)
        changed = _changed(old.body, new.body)
        exec(compile(ast.Module(changed, []), str(path), "exec"), apart)
        for name, value in apart.items():
            before = scope.get(name, _NONE)
            if value is before or name == "__builtins__":
                continue
            if isinstance(before, FunctionType | type):
                functions += _functions(before, value)
                continue
            # The same value stands under its name in every module that imports it.
            places = [scope] if before is _NONE else [vars(one) for one in _COPY.loaded()]
            names += [(one, name, value) for one in places if one.get(name, _NONE) is before]
    return _Patch(tuple(functions), tuple(names))


def _changed(old: Sequence[ast.stmt], new: Sequence[ast.stmt]) -> list[ast.stmt]:
    """The statements of a module that a mutant changes, and what may be computed from them."""
    there = {ast.dump(one) for one in old}
    is_changed = [ast.dump(one) not in there for one in new]
    values = [place for place, one in enumerate(new) if is_changed[place] and not isinstance(one, _STATEMENTS)]
    later = values[0] if values else len(new)
    return [
        one
        for place, one in enumerate(new)
        if is_changed[place] or (place > later and isinstance(one, ast.Assign | ast.AnnAssign))
    ]


def _functions(old: Any, new: Any) -> Iterator[tuple[FunctionType, FunctionType]]:
    """A changed function with what it was, or those of a changed class."""
    if isinstance(old, FunctionType) and isinstance(new, FunctionType):
        yield old, new
    elif isinstance(old, type) and isinstance(new, type):
        for name, value in vars(new).items():
            before, after = _plain(vars(old).get(name)), _plain(value)
            if isinstance(before, FunctionType) and isinstance(after, FunctionType):
                is_same = before.__code__.co_code == after.__code__.co_code
                is_same &= before.__code__.co_consts == after.__code__.co_consts
                if not is_same or before.__defaults__ != after.__defaults__:
                    yield before, after


def _plain(value: object) -> object:
    """The function in a property, a static method or a class method."""
    return getattr(value, "fget", None) or getattr(value, "__func__", value)
