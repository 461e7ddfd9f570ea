"""Copies of the reference and of the partitions under other package names, compiled from changed sources.

A whole copy has types of its own; what goes in and out is carried over by pickling.
A copy of the modules alone that a change concerns shares all others, and their types, with the reference.
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
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

ORIGINALS = ("kraft_reference", "kraft_partitions")
Change = Callable[[ast.Module, str], None]
"""Changes the tree of a file, whose path with its package it is given."""
_COPIES: dict[str, "Copy"] = {}
_LOCK = threading.RLock()


class Copy:
    """One copy."""

    def __init__(
        self,
        prefix: str,
        change: Change = lambda tree, file: None,
        given: dict[str, object] | None = None,
        texts: Mapping[Path, str] | None = None,
        shared: Collection[str] = (),
    ) -> None:
        """`prefix` is put before the names of the packages.

        Args:
            prefix: see above.
            change: of the tree of each of its modules.
            given: what each of its modules finds beside its own names.
            texts: other texts of some of its files, by their paths.
            shared: names of modules that are those of the reference.
        """
        self.prefix = prefix
        self.change = change
        self.given = given or {}
        self.texts = texts or {}
        for module in shared:
            sys.modules[prefix + module] = importlib.import_module(module)
        _COPIES[prefix] = self

    def module(self, name: str) -> ModuleType:
        """Its copy of a module."""
        with _LOCK:
            if not any(isinstance(one, _Finder) for one in sys.meta_path):
                # Before the others, which would find the unchanged modules in the package's folder.
                sys.meta_path.insert(0, _Finder())
            return importlib.import_module(self.prefix + name)

    def loaded(self) -> list[ModuleType]:
        """Its modules that are imported."""
        return [one for name, one in list(sys.modules.items()) if name.startswith(self.prefix)]

    def taken(self, value: object) -> Any:
        """A value of the reference in the types of this copy."""
        return _Unpickler(pickle.dumps(value), self._copied).load()

    def returned(self, value: object) -> Any:
        """A value of this copy in the types of the reference."""
        return _Unpickler(pickle.dumps(value), lambda module: module.removeprefix(self.prefix)).load()

    def _copied(self, module: str) -> str:
        return self.prefix + module if _package(module) in ORIGINALS else module

    def file(self, module: str) -> str:
        """The path of a module of it, or of the reference, with its package."""
        return module.removeprefix(self.prefix).replace(".", "/") + ".py"

    def tree(self, text: str, file: str) -> ast.Module:
        """The tree of a text of the reference as this copy has it: nothing is remembered from call to call."""
        tree = ast.parse(text)
        for node in ast.walk(tree):
            match node:
                case ast.ImportFrom(module=str(module)) if _package(module) in ORIGINALS:
                    node.module = self.prefix + module
                case ast.FunctionDef():
                    node.decorator_list = [one for one in node.decorator_list if "cache" not in ast.dump(one)]
                case _:
                    pass
        self.change(tree, file)
        return ast.fix_missing_locations(tree)


class _Loader(importlib.machinery.SourceFileLoader):
    def __init__(self, copy: Copy, fullname: str, path: str) -> None:
        super().__init__(fullname, path)
        self._copy = copy

    def get_code(self, fullname: str) -> CodeType:
        path = Path(self.path)
        text = self._copy.texts.get(path) or path.read_text(encoding="utf-8")
        return compile(self._copy.tree(text, self._copy.file(fullname)), self.path, "exec")

    def exec_module(self, module: ModuleType) -> None:
        vars(module).update(self._copy.given)
        super().exec_module(module)


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        copy = next((one for prefix, one in _COPIES.items() if fullname.startswith(prefix)), None)
        if copy is None:
            return None
        spec = importlib.util.find_spec(fullname.removeprefix(copy.prefix))
        if spec is None or spec.origin is None:
            return None
        return importlib.util.spec_from_file_location(
            fullname,
            spec.origin,
            loader=_Loader(copy, fullname, spec.origin),
            submodule_search_locations=spec.submodule_search_locations,
        )


class _Unpickler(pickle.Unpickler):
    def __init__(self, raw: bytes, renamed: Callable[[str], str]) -> None:
        super().__init__(io.BytesIO(raw))
        self._renamed = renamed

    def find_class(self, module: str, name: str) -> Any:
        return super().find_class(self._renamed(module), name)


def _package(module: str) -> str:
    return module.partition(".")[0]
