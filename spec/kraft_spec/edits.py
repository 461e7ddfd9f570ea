"""Texts of a source replaced by others: how a rule is broken on purpose, outside of the product.

An edit names a text that stands in its file exactly once, so an edit that no longer fits is an error and never a
mutant that changes nothing.
An edited copy of a package is put before the installed one on the path of a process of its own.
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
    """One text replaced by another.

    Attributes:
        file: Path with its package, "kraft_reference/elections.py"; or within a folder that is edited.
        old: Text that stands there exactly once.
        new: Text in its place.
    """

    file: str
    old: str
    new: str

    def applied_to(self, text: str) -> str:
        """Return the text with the replacement made.

        Raises:
            EditError: `old` is not there, or there more than once, or equals `new`.
        """
        found = text.count(self.old)
        if found != 1:
            raise EditError(f"{self.file}: {self.old!r} stands there {found} times, expected once")
        if self.old == self.new:
            raise EditError(f"{self.file}: {self.old!r} is replaced by itself")
        return text.replace(self.old, self.new)


class ModelEdit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A text of a TLA+ module replaced by another."""

    module: str
    """Without ".tla"."""
    old: str
    new: str

    def as_edit(self) -> Edit:
        """The edit of the module's file."""
        return Edit(f"kraft_spec/tla/{self.module}.tla", self.old, self.new)


class ReferenceEdit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A text of a Python module of the reference replaced by another."""

    file: str
    """Path with its package: `kraft_reference` or `kraft_partitions`."""
    old: str
    new: str

    def as_edit(self) -> Edit:
        """The edit of the file."""
        return Edit(self.file, self.old, self.new)


def apply_edits(folder: Path, edits: Iterable[Edit]) -> None:
    """Make the edits in the files of `folder`, in their order.

    Raises:
        EditError: A file is missing, an edit does not fit it, or what comes of it is no Python.
    """
    for path, text in edited_texts(edits, folder).items():
        path.write_text(text, encoding="utf-8")


def edited_texts(edits: Iterable[Edit], folder: Path | None = None) -> dict[Path, str]:
    """The files that the edits change, in the order of their paths, and their texts after it.

    Args:
        edits: applied in their order.
        folder: what their paths start from; None for the packages as they are installed.

    Raises:
        EditError: A file is missing, an edit does not fit it, or what comes of it is no Python.
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
    """Return where a file is, given its path with its package.

    Raises:
        EditError: There is no such package.
    """
    package, _, rest = path.partition("/")
    return package_folder(package) / rest


def _forget_compiled(module: Path) -> None:
    """Python tells a stale compilation by size and second alone, which an edit may leave as they were."""
    for compiled in module.parent.glob(f"__pycache__/{module.stem}.*"):
        compiled.unlink()


@contextmanager
def edited_packages(edits: Iterable[Edit], *packages: str) -> Iterator[dict[str, str]]:
    """Yield the environment of a process that imports edited copies of the packages that the edits name.

    The copies are gone when the context is left.

    Args:
        edits: applied in their order.
        packages: of which there is a copy even if no edit names them.

    Raises:
        EditError: An edit does not fit.
    """
    edits = tuple(edits)
    copied = sorted({*packages, *(edit.file.partition("/")[0] for edit in edits)})
    with tempfile.TemporaryDirectory(prefix="kraft-spec-edited-") as temporary:
        for package in copied:
            # With the compiled modules, if there are any: the process then compiles what is edited, and no more.
            # Not with those that another process is just writing.
            ignored = shutil.ignore_patterns("*.pyc.*")
            shutil.copytree(package_folder(package), Path(temporary) / package, ignore=ignored)
        apply_edits(Path(temporary), edits)
        for edit in edits:
            _forget_compiled(Path(temporary) / edit.file)
        path = os.pathsep.join([temporary, *filter(None, [os.environ.get("PYTHONPATH")])])
        yield {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0"}


def imported_from(package: str, environment: Mapping[str, str]) -> bool:
    """Tell whether this process imports `package` from the path that `environment` puts first."""
    module = sys.modules.get(package)
    origin = None if module is None else module.__file__
    first = environment.get("PYTHONPATH", "").split(os.pathsep)[0]
    return origin is not None and bool(first) and Path(origin).is_relative_to(first)
