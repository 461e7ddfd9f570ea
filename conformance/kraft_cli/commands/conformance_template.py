"""`kraft-spec conformance template`: a starting point for an adapter, copied into a user's folder."""

import shlex
import shutil
import tempfile
from enum import StrEnum
from importlib.resources import as_file, files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated

import typer

from kraft_conformance.console import say
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError
from kraft_kafka.adapter import source_folder


class Language(StrEnum):
    """Language of a template, and name of its folder."""

    GO = "go"
    JAVA = "java"
    RUST = "rust"


class Template(StrEnum):
    """A template: an adapter with a minimal voter in a language, or Apache Kafka's adapter."""

    GO = Language.GO
    JAVA = Language.JAVA
    RUST = Language.RUST
    KAFKA = "kafka"


_LEFTOVERS = shutil.ignore_patterns("target", "build", "kraft-adapter", "__pycache__")

TemplateName = Annotated[
    Template, typer.Argument(help="What it is written in; kafka: the adapter of Apache Kafka, for who patches Kafka.")
]
NewFolder = Annotated[Path, typer.Argument(metavar="DIR", help="Where to put it: a new folder, or an empty one.")]


def template(name: TemplateName, folder: NewFolder) -> int:
    """Copy an adapter with a minimal voter into a folder of your own: put your implementation in the voter's place."""
    try:
        copy_template(name, folder)
    except OSError as error:
        where = error.filename or folder
        raise CommandError(f"{where}: cannot be written: {error.strerror}", ExitCode.CANNOT_WRITE) from error
    readme = shlex.quote(str(folder / "README.md"))
    say(f"{readme} says how to build and run it, and where your own code goes")
    return ExitCode.CONFORMANT


def copy_template(name: Template | Language, folder: Path) -> None:
    """Copy a template into a new or empty folder; all of it or nothing.

    Raises:
        CommandError: the folder is not empty, or is no folder.
        OSError: the folder cannot be written.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        kind = "a folder that is not empty" if folder.is_dir() else "not a folder"
        raise CommandError(f"{folder}: {kind}, expected a new or an empty one", ExitCode.CANNOT_WRITE)
    created = [missing for missing in (folder, *folder.parents) if not missing.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Staged next to its final place, so that slow or failing steps leave nothing visible there.
        with tempfile.TemporaryDirectory(dir=folder, prefix=".template-") as staging:
            staged = Path(staging) / name
            _copy(files("kraft_conformance") / "templates" / name, staged)
            if name == Template.KAFKA:
                _copy(source_folder(), staged / "src")
            for part in sorted(staged.iterdir()):
                part.rename(folder / part.name)
    except BaseException:
        for part in folder.iterdir() if folder.is_dir() else ():
            shutil.rmtree(part) if part.is_dir() else part.unlink()
        for path in created:
            path.rmdir()
        raise


def _copy(source: Traversable, target: Path) -> None:
    with as_file(source) as folder:
        shutil.copytree(folder, target, ignore=_LEFTOVERS, dirs_exist_ok=True)
