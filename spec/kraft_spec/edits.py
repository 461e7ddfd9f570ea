"""Source edits that break a rule on purpose, without support for it in the product.

The text to replace must occur exactly once in its file, so an edit that no longer fits is an error, never a mutant
without effect.
A subprocess imports the edited copy of a package because its path precedes the installed one.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import msgspec


class EditError(ValueError):
    """An edit does not fit its file."""


@dataclass(frozen=True, slots=True)
class Edit:
    """A replacement of one text in a file.

    Attributes:
        file: Path with its package, such as "kraft_reference/elections.py"; or relative to an edited folder.
        old: Text that occurs there exactly once.
        new: Its replacement.
    """

    file: str
    old: str
    new: str

    def applied_to(self, text: str) -> str:
        """Return the text with the replacement made.

        Raises:
            EditError: `old` does not occur, occurs more than once, or equals `new`.
        """
        occurrences = text.count(self.old)
        if occurrences != 1:
            raise EditError(f"{self.file}: {self.old!r} stands there {occurrences} times, expected once")
        if self.old == self.new:
            raise EditError(f"{self.file}: {self.old!r} is replaced by itself")
        return text.replace(self.old, self.new)


class ModelEdit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A replacement of text in a TLA+ module."""

    module: str
    """Name without ".tla"."""
    old: str
    new: str

    def as_edit(self) -> Edit:
        """Return the edit of the module's file."""
        return Edit(f"kraft_spec/tla/{self.module}.tla", self.old, self.new)


class ReferenceEdit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A replacement of text in a Python module of the reference."""

    file: str
    """Path with its package: `kraft_reference` or `kraft_partitions`."""
    old: str
    new: str

    def as_edit(self) -> Edit:
        """Return the edit of the file."""
        return Edit(self.file, self.old, self.new)


def apply_edits(folder: Path, edits: Iterable[Edit]) -> None:
    """Apply the edits to the files of `folder`, in their order.

    Raises:
        EditError: A file is missing, an edit does not fit it, or the result is not valid Python.
    """
    for path, text in edited_texts(edits, folder).items():
        path.write_text(text, encoding="utf-8")


def edited_texts(edits: Iterable[Edit], folder: Path | None = None) -> dict[Path, str]:
    """Return the texts of the edited files by path, in path order.

    Args:
        edits: applied in their order.
        folder: base of their paths; None for the installed packages.

    Raises:
        EditError: A file is missing, an edit does not fit it, or the result is not valid Python.
    """
    edited: dict[Path, str] = {}
    for edit in edits:
        path = installed_file(edit.file) if folder is None else folder / edit.file
        if path not in edited:
            if not path.is_file():
                raise EditError(f"there is no {edit.file} to edit")
            edited[path] = path.read_text(encoding="utf-8")
        edited[path] = edit.applied_to(edited[path])
    for path, text in sorted(edited.items()):
        if path.suffix == ".py":
            try:
                compile(text, path.name, "exec")
            except SyntaxError as error:
                raise EditError(
                    f"{path.name}: the edited text is no Python: {error.msg}, line {error.lineno}"
                ) from error
    return dict(sorted(edited.items()))


def package_folder(package: str) -> Path:
    """Return the folder of an importable package.

    Raises:
        EditError: There is no such package, or it has no folder.
    """
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise EditError(f"there is no package {package} to edit")
    return Path(spec.origin).parent


def installed_file(path: str) -> Path:
    """Return the installed path of a file, from its path with its package.

    Raises:
        EditError: There is no such package.
    """
    package, _, relative_path = path.partition("/")
    return package_folder(package) / relative_path


def _forget_compiled(module: Path) -> None:
    """Remove cached bytecode: Python detects stale bytecode only by size and second, which an edit may keep."""
    for compiled in module.parent.glob(f"__pycache__/{module.stem}.*"):
        compiled.unlink()


@contextmanager
def edited_packages(edits: Iterable[Edit], *packages: str) -> Iterator[dict[str, str]]:
    """Yield the environment of a subprocess that imports edited copies of the packages that the edits name.

    Leaving the context removes the copies.

    Args:
        edits: applied in their order.
        packages: also copied if no edit names them.

    Raises:
        EditError: An edit does not fit.
    """
    edits = tuple(edits)
    copied = sorted({*packages, *(edit.file.partition("/")[0] for edit in edits)})
    with tempfile.TemporaryDirectory(prefix="kraft-spec-edited-") as temporary:
        for package in copied:
            # Keep the cached bytecode, so the process compiles only the edited modules. Skip the temporary files
            # of another process that is writing bytecode.
            ignored = shutil.ignore_patterns("*.pyc.*")
            shutil.copytree(package_folder(package), Path(temporary) / package, ignore=ignored)
        apply_edits(Path(temporary), edits)
        for edit in edits:
            _forget_compiled(Path(temporary) / edit.file)
        path = os.pathsep.join([temporary, *filter(None, [os.environ.get("PYTHONPATH")])])
        yield {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0"}


def imported_from(package: str, environment: Mapping[str, str]) -> bool:
    """Return True if this process imports `package` from the first path of `environment`."""
    module = sys.modules.get(package)
    origin = None if module is None else module.__file__
    first = environment.get("PYTHONPATH", "").split(os.pathsep)[0]
    return origin is not None and bool(first) and Path(origin).is_relative_to(first)
