"""Formats of reports, and writing of their files, whole or not at all."""

import os
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError, need, usage_error
from kraft_conformance.runner.output.run import Run
from kraft_traces.streams import STANDARD_STREAM, atomic_file

Render = Callable[[Run], bytes]


class _Format(NamedTuple):
    title: str
    module: str
    function: str
    library: str | None = None
    """Library that the format needs, of the extra `conformance`."""


_FORMATS = {
    "junit": _Format("JUnit XML", "junit", "junit", "junitparser"),
    "sarif": _Format("SARIF", "sarif", "sarif"),
    "markdown": _Format("Markdown", "markdown", "markdown"),
    "html": _Format("HTML", "page", "page", "jinja2"),
}


class Target(NamedTuple):
    """Report to write."""

    option: str
    """Option without the dashes, such as `html`."""
    path: Path

    @property
    def is_standard_output(self) -> bool:
        """True if the path is `-`."""
        return str(self.path) == STANDARD_STREAM


def targets_of(**paths: Path | None) -> tuple[Target, ...]:
    """Return the files of the command line, by option."""
    return tuple([Target(option, path) for option, path in paths.items() if path is not None])


def check_targets(targets: Sequence[Target], as_json: bool = False) -> None:
    """Check before the run that everything can be written.

    Raises:
        CommandError: a library is missing, a file cannot be written, or two outputs go to the same place.
    """
    streams = [f"--{target.option}" for target in targets if target.is_standard_output]
    streams += ["--json"] if as_json else []
    if len(streams) > 1:
        raise usage_error(f"{' and '.join(streams)} cannot both go to standard output")
    options: dict[Path, str] = {}
    for target in targets:
        chosen = _FORMATS[target.option]
        if chosen.library is not None:
            need(chosen.title, "conformance", chosen.library)
        if target.is_standard_output:
            continue
        check_writable(target.path)
        whole = target.path.resolve()
        if whole in options:
            raise usage_error(f"--{options[whole]} and --{target.option} name the same file, {target.path}")
        options[whole] = target.option


def check_writable(path: Path) -> None:
    """Check that a file can be written.

    Raises:
        CommandError: it cannot.
    """
    folder = path.resolve().parent
    if path.is_dir():
        raise _unwritable(path, "it is a folder")
    if not folder.is_dir():
        raise _unwritable(path, f"there is no folder {folder}")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise _unwritable(path, "its folder is write-protected")


def write_all(targets: Sequence[Target], run: Run) -> None:
    """Render every report, then write them.

    Raises:
        CommandError: a file cannot be written.
    """
    for target, content in list(_rendered(targets, run)):
        write_whole(target.path, content)


def _rendered(targets: Sequence[Target], run: Run) -> Iterator[tuple[Target, bytes]]:
    for target in targets:
        chosen = _FORMATS[target.option]
        # Imported here, because only the requested formats need their libraries.
        render: Render = getattr(import_module(f"kraft_conformance.runner.output.{chosen.module}"), chosen.function)
        yield target, render(run)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file, or keep the existing one on an error; `-` is standard output.

    Raises:
        CommandError: it cannot be written.
    """
    try:
        with atomic_file(path) as stream:
            stream.write(content)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _unwritable(path, error.strerror or str(error)) from error


def _unwritable(path: Path, reason: str) -> CommandError:
    return CommandError(f"{path}: cannot be written: {reason}", ExitCode.CANNOT_WRITE)
