"""Copies of the reference under other package names, compiled from its source with a change of it.

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

ORIGINAL = "kraft_reference"
Change = Callable[[ast.Module, str], None]
"""Changes the tree of a file, whose path within `kraft_reference` it is given."""
_COPIES: dict[str, "Copy"] = {}
_LOCK = threading.RLock()


class Copy:
    """One copy."""

    def __init__(
        self,
        name: str,
        change: Change = lambda tree, file: None,
        given: dict[str, object] | None = None,
        texts: Mapping[Path, str] | None = None,
        shared: Collection[str] = (),
    ) -> None:
        """`name` is that of its package.

        Args:
            name: see above.
            change: of the tree of each of its modules.
            given: what each of its modules finds beside its own names.
            texts: other texts of some of its files, by their paths.
            shared: modules that are those of the reference, by their names within it.
        """
        self.name = name
        self.change = change
        self.given = given or {}
        self.texts = texts or {}
        for module in shared:
            sys.modules[f"{name}.{module}"] = importlib.import_module(f"{ORIGINAL}.{module}")
        _COPIES[name] = self

    def module(self, name: str) -> ModuleType:
        """A module of it, by its name within `kraft_reference`."""
        with _LOCK:
            if not any(isinstance(one, _Finder) for one in sys.meta_path):
                # Before the others, which would find the unchanged modules in the package's folder.
                sys.meta_path.insert(0, _Finder())
            return importlib.import_module(f"{self.name}.{name}")

    def loaded(self) -> list[ModuleType]:
        """Its modules that are imported."""
        return [one for name, one in list(sys.modules.items()) if name.split(".")[0] == self.name]

    def taken(self, value: object) -> Any:
        """A value of the reference in the types of this copy."""
        return _Unpickler(pickle.dumps(value), ORIGINAL, self.name).load()

    def returned(self, value: object) -> Any:
        """A value of this copy in the types of the reference."""
        return _Unpickler(pickle.dumps(value), self.name, ORIGINAL).load()

    def file(self, module: str) -> str:
        """The path of a module within `kraft_reference`."""
        return module.removeprefix(self.name).lstrip(".").replace(".", "/") + ".py"

    def tree(self, text: str, file: str) -> ast.Module:
        """The tree of a text of the reference as this copy has it: nothing is remembered from call to call."""
        tree = ast.parse(text)
        for node in ast.walk(tree):
            match node:
                case ast.ImportFrom(module=str(module)) if module.split(".")[0] == ORIGINAL:
                    node.module = self.name + module.removeprefix(ORIGINAL)
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
        package = fullname.split(".")[0]
        if package not in _COPIES:
            return None
        spec = importlib.util.find_spec(ORIGINAL + fullname.removeprefix(package))
        if spec is None or spec.origin is None:
            return None
        return importlib.util.spec_from_file_location(
            fullname,
            spec.origin,
            loader=_Loader(_COPIES[package], fullname, spec.origin),
            submodule_search_locations=spec.submodule_search_locations,
        )


class _Unpickler(pickle.Unpickler):
    def __init__(self, raw: bytes, source: str, target: str) -> None:
        super().__init__(io.BytesIO(raw))
        self._source = source
        self._target = target

    def find_class(self, module: str, name: str) -> Any:
        if module.split(".")[0] == self._source:
            module = self._target + module.removeprefix(self._source)
        return super().find_class(module, name)
