"""Copies of the reference packages under other names, compiled from changed sources.

A whole copy has its own types; pickling converts its inputs and results.
A copy of only the modules that a change concerns shares all others, and their types, with the reference.
The imported reference itself never changes.
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
"""Changes the syntax tree of a file; the path includes its package."""
_COPIES: dict[str, "Copy"] = {}
_LOCK = threading.RLock()


class Copy:
    """A copy of the reference."""

    def __init__(
        self,
        prefix: str,
        change: Change = lambda tree, file: None,
        names: dict[str, object] | None = None,
        texts: Mapping[Path, str] | None = None,
        shared: Collection[str] = (),
    ) -> None:
        """Create a copy whose package names start with `prefix`.

        Args:
            prefix: prefix of the package names.
            change: change of the syntax tree of each module.
            names: additional names in each module.
            texts: replaced texts of files, by path.
            shared: names of modules shared with the reference.
        """
        self.prefix = prefix
        self.change = change
        self.given = names or {}
        self.texts = texts or {}
        for module in shared:
            sys.modules[prefix + module] = importlib.import_module(module)
        _COPIES[prefix] = self

    def module(self, name: str) -> ModuleType:
        """Import its copy of a module."""
        with _LOCK:
            if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
                # Before the default finders, which would find the unchanged modules in the package's folder.
                sys.meta_path.insert(0, _Finder())
            return importlib.import_module(self.prefix + name)

    def loaded(self) -> list[ModuleType]:
        """Return its imported modules."""
        return [module for name, module in list(sys.modules.items()) if name.startswith(self.prefix)]

    def taken(self, value: object) -> Any:
        """Convert a value of the reference to the types of this copy."""
        return _Unpickler(pickle.dumps(value), self._copied_name).load()

    def returned(self, value: object) -> Any:
        """Convert a value of this copy to the types of the reference."""
        return _Unpickler(pickle.dumps(value), lambda module: module.removeprefix(self.prefix)).load()

    def _copied_name(self, module: str) -> str:
        return self.prefix + module if _package(module) in ORIGINALS else module

    def file(self, module: str) -> str:
        """Return the path, with its package, of a module of the copy or of the reference."""
        return module.removeprefix(self.prefix).replace(".", "/") + ".py"

    def tree(self, text: str, file: str) -> ast.Module:
        """Return the syntax tree of a text of the reference for this copy, without caches."""
        return self.adapted(ast.parse(text), file)

    def adapted(self, tree: ast.Module, file: str) -> ast.Module:
        """Change the syntax tree of a module, or of some of its statements, for this copy, and return it."""
        for node in ast.walk(tree):
            match node:
                case ast.ImportFrom(module=str(module)) if _package(module) in ORIGINALS:
                    node.module = self.prefix + module
                case ast.FunctionDef():
                    node.decorator_list = [deco for deco in node.decorator_list if "cache" not in ast.dump(deco)]
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
        copy = next((copy_of_prefix for prefix, copy_of_prefix in _COPIES.items() if fullname.startswith(prefix)), None)
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
