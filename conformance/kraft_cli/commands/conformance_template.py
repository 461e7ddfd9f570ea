"""`kraft-spec conformance template`: an adapter to begin with, copied into a folder of your own."""

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
    """What a template is written in; the name of its folder."""

    GO = "go"
    JAVA = "java"
    RUST = "rust"


class Template(StrEnum):
    """What can be copied: an adapter with a minimal voter in a language, or the one of Apache Kafka."""

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
    """Copy a template into a folder that does not exist or is empty; all of it or nothing.

    Raises:
        CommandError: there is something in the folder, or it is none.
        OSError: it cannot be written.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        kind = "a folder that is not empty" if folder.is_dir() else "not a folder"
        raise CommandError(f"{folder}: {kind}, expected a new or an empty one", ExitCode.CANNOT_WRITE)
    created = [missing for missing in (folder, *folder.parents) if not missing.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Beside its final place, so that what takes time and can fail comes before anything can be seen there.
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
        for made in created:
            made.rmdir()
        raise


def _copy(source: Traversable, target: Path) -> None:
    with as_file(source) as folder:
        shutil.copytree(folder, target, ignore=_LEFTOVERS, dirs_exist_ok=True)
