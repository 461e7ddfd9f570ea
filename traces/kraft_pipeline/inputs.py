"""Input of a run: files, folders and patterns."""

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
    """Yield the files that match the patterns, each with its name; a file may occur several times.

    Folders are searched recursively in the order of names; hidden files are skipped.
    An unreadable entry is returned as a file, unless the pattern names it directly.

    Raises:
        InputError: a pattern matches nothing, or names something that is not a readable file or folder.
    """
    for pattern in patterns:
        if os.path.lexists(pattern):
            paths = _named(pattern)
        elif is_pattern(pattern):
            paths = _matching(pattern)
        else:
            raise InputError(f"{pattern}: no such file or folder")
        for path in paths:
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
    for entry in matches(pattern):
        any_match = True
        path = Path(os.path.normpath(entry.path))
        for inner in _files(FolderEntry(path, entry.is_folder), suffixes):
            any_trace = True
            yield inner
    if not any_match:
        raise InputError(f"{pattern}: no such file or folder")
    if not any_trace:
        raise InputError(f"{pattern}: no matching file ends with {_SUFFIXES_IN_WORDS}")


def _suffixes_for(pattern: str) -> tuple[str, ...]:
    """Return the allowed suffixes of files that match a pattern; a pattern with a suffix allows any."""
    last = Path(pattern).name
    suffix = Path(last).suffix
    names_them = not is_pattern(last) or (suffix and not is_pattern(suffix))
    return ("",) if names_them else SUFFIXES


def _files(entry: FolderEntry, suffixes: tuple[str, ...]) -> Iterator[Path]:
    if entry.is_folder is None:
        yield entry.path
    elif not entry.is_folder:
        if entry.path.name.endswith(suffixes):
            yield entry.path
    else:
        try:
            top = children(entry.path)
        except OSError:
            yield entry.path
            return
        yield from below(entry.path, top, SUFFIXES)


def list_inputs(patterns: Iterable[str]) -> tuple[list[Row], dict[str, Any]]:
    """Return the files that match the patterns, each once by its first name, and a summary of them.

    Raises:
        InputError: there is no file.
    """
    digest = sha256()
    files: dict[bytes, Row] = {}
    for path, name in input_files(patterns):
        # Resolve links, so that each file is listed once.
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
    """Return a name as text, even if it is not UTF-8; doubling backslashes keeps different names different."""
    return os.fsencode(name).replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")


def _facts(path: Path) -> tuple[int, int]:
    """Return size in bytes and modification time in nanoseconds, both 0 if it is not a regular file."""
    with suppress(OSError):
        status = path.stat()
        if stat.S_ISREG(status.st_mode):
            return status.st_size, status.st_mtime_ns
    return 0, 0
