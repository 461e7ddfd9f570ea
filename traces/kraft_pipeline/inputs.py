"""What is to be read: files, folders and patterns."""

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from kraft_pipeline.blocks import irregular
from kraft_pipeline.failures import InputError
from kraft_traces.listing import FolderEntry, below, children, is_pattern, matches, named_part
from kraft_traces.streams import SUFFIXES

_SUFFIXES_IN_WORDS = " or ".join(SUFFIXES)

Row = dict[str, Any]


def input_files(patterns: Iterable[str]) -> Iterator[tuple[Path, str]]:
    """The files that the patterns stand for, each with its name; a file may come twice, by one name or several.

    Folders are searched to their bottom, in the order of names; hidden files are left out.
    What cannot be read comes as a file, unless it is named itself.

    Raises:
        InputError: a pattern stands for nothing, or names what is no file or folder that can be read.
    """
    for pattern in patterns:
        if os.path.lexists(pattern):
            found = _named(pattern)
        elif is_pattern(pattern):
            found = _matching(pattern)
        else:
            raise InputError(f"{pattern}: no such file or folder")
        for path in found:
            yield path, os.fspath(path)


def _named(name: str) -> Iterator[Path]:
    path = Path(os.path.normpath(name))
    try:
        kind = irregular(path.stat().st_mode)
        top = children(path) if kind == "a folder" else []
    except OSError as error:
        raise InputError(f"{name}: {error.strerror or error}") from error
    if kind is None:
        yield path
        return
    if kind != "a folder":
        raise InputError(f"{name}: {kind}, expected a file or a folder")
    any_trace = False
    for inner in below(path, top, SUFFIXES):
        any_trace = True
        yield inner
    if not any_trace:
        raise InputError(f"{name}: no file in this folder ends with {_SUFFIXES_IN_WORDS}")


def _matching(pattern: str) -> Iterator[Path]:
    folder = named_part(pattern)
    try:
        with os.scandir(folder):
            pass
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"{pattern}: no such file or folder") from None
    except OSError as error:
        raise InputError(f"{folder}: {error.strerror or error}") from error
    suffixes = _suffixes_for(pattern)
    any_match = any_trace = False
    for found in matches(pattern):
        any_match = True
        path = Path(os.path.normpath(found.path))
        for inner in _files(FolderEntry(path, found.is_folder), suffixes):
            any_trace = True
            yield inner
    if not any_match:
        raise InputError(f"{pattern}: no such file or folder")
    if not any_trace:
        raise InputError(f"{pattern}: no file that this stands for ends with {_SUFFIXES_IN_WORDS}")


def _suffixes_for(pattern: str) -> tuple[str, ...]:
    """What the files that a pattern stands for must end with: those that it names itself may be called anything."""
    last = Path(pattern).name
    suffix = Path(last).suffix
    names_them = not is_pattern(last) or (suffix and not is_pattern(suffix))
    return ("",) if names_them else SUFFIXES


def _files(found: FolderEntry, suffixes: tuple[str, ...]) -> Iterator[Path]:
    if found.is_folder is None:
        yield found.path
    elif not found.is_folder:
        if found.path.name.endswith(suffixes):
            yield found.path
    else:
        try:
            top = children(found.path)
        except OSError:
            yield found.path
            return
        yield from below(found.path, top, SUFFIXES)


def list_inputs(patterns: Iterable[str]) -> tuple[list[Row], dict[str, Any]]:
    """The files that the patterns stand for, each once and by the first of its names, and in short what they are.

    Raises:
        InputError: there is nothing.
    """
    digest = sha256()
    files: dict[bytes, Row] = {}
    for path, name in input_files(patterns):
        # Without links, so that a file is known again by whatever name it comes.
        real, source = os.fsencode(os.path.realpath(path)), _shown(name)
        size, modified_ns = _facts(path)
        digest.update(f"{source}\0{size}\0{modified_ns}\0".encode())
        if real not in files or source < files[real]["source"]:
            files[real] = {"path": real, "source": source, "bytes": size}
    if not files:
        raise InputError("nothing to read")
    size = sum(file["bytes"] for file in files.values())
    return list(files.values()), {"files": len(files), "bytes": size, "digest": digest.hexdigest()}


def _shown(name: str) -> str:
    """A name as text, also if it is none; no two names give the same text, because a backslash is doubled."""
    return os.fsencode(name).replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")


def _facts(path: Path) -> tuple[int, int]:
    """Size in bytes and time of the last change in nanoseconds, both 0 of what is no regular file."""
    with suppress(OSError):
        status = path.stat()
        if stat.S_ISREG(status.st_mode):
            return status.st_size, status.st_mtime_ns
    return 0, 0
