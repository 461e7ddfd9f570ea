"""Files of folders and patterns, in the order of names.

An entry that cannot be examined, such as an unreadable folder or a link to itself, is returned like a file: the reader
reports the error, and the run goes on.
"""

import os
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

_WILD = frozenset("*?[")
_ANY_FOLDERS = "**"


class FolderEntry(NamedTuple):
    """Entry of a folder."""

    path: Path
    is_folder: bool | None
    """None if the operating system cannot examine the entry, or cannot list the folder."""


def is_pattern(text: str) -> bool:
    """True if the text has a wildcard character."""
    return bool(_WILD & set(text))


def children(folder: Path, *, hidden: bool = False) -> list[FolderEntry]:
    """Return the entries of a folder, in the order of names; hidden ones only with `hidden`.

    Raises:
        OSError: the folder cannot be listed.
    """
    with os.scandir(folder) as entries:
        named = [(entry.name, _is_folder(entry)) for entry in entries]
    return [FolderEntry(folder / name, is_folder) for name, is_folder in sorted(named) if hidden or name[0] != "."]


def _is_folder(entry: os.DirEntry[str]) -> bool | None:
    try:
        return entry.is_dir()
    except OSError:
        return None


def below(folder: Path, top: list[FolderEntry], suffixes: tuple[str, ...]) -> Iterator[Path]:
    """Yield the files below a folder that end with one of the suffixes.

    Each folder is walked once, even if several links lead to it, so a link to a parent does not loop.

    Args:
        folder: the folder.
        top: its `children`.
        suffixes: allowed suffixes.
    """
    walked = {_identity(folder)}
    waiting = top[::-1]
    while waiting:
        entry = waiting.pop()
        if entry.is_folder is None:
            yield entry.path
        elif entry.is_folder:
            try:
                identity = _identity(entry.path)
                if identity not in walked:
                    walked.add(identity)
                    waiting += reversed(children(entry.path))
            except OSError:
                yield entry.path
        elif entry.path.name.endswith(suffixes):
            yield entry.path


def _identity(folder: Path) -> tuple[int, int]:
    status = folder.stat()
    return status.st_dev, status.st_ino


def named_part(pattern: str) -> Path:
    """Return the folder before the first part of a pattern with a wildcard."""
    base, _ = _parts(pattern)
    return base


def matches(pattern: str) -> Iterator[FolderEntry]:
    """Yield the entries that match a pattern: `*`, `?` and `[...]` within a name, `**` for any number of folders."""
    base, parts = _parts(pattern)
    for entry in _matches(base, parts, frozenset()):
        # As in the shell, a slash at the end matches folders only.
        if not pattern.endswith(os.sep) or entry.is_folder is not False:
            yield entry


def _parts(pattern: str) -> tuple[Path, tuple[str, ...]]:
    parts = [part for part in pattern.split(os.sep) if part]
    first = next(index for index, part in enumerate(parts) if is_pattern(part))
    return Path(os.sep if pattern.startswith(os.sep) else "", *parts[:first]), tuple(parts[first:])


def _matches(base: Path, parts: tuple[str, ...], above: frozenset[tuple[int, int]]) -> Iterator[FolderEntry]:
    """Yield the entries below `base` that match the parts; `above` are the folders that a `**` has passed."""
    part, following = parts[0], parts[1:]
    try:
        if part == _ANY_FOLDERS:
            yield from _any_depth(base, parts, above)
        elif not is_pattern(part):
            yield from _going_on(
                [FolderEntry(base / part, (base / part).is_dir())] * os.path.lexists(base / part), following
            )
        else:
            # As in the shell, a name that begins with a dot is hidden from a part that does not.
            inner = children(base, hidden=part[0] == ".")
            yield from _going_on([entry for entry in inner if fnmatchcase(entry.path.name, part)], following)
    except OSError:
        yield FolderEntry(base, None)


def _going_on(entries: list[FolderEntry], following: tuple[str, ...]) -> Iterator[FolderEntry]:
    for entry in entries:
        if not following or entry.is_folder is None:
            yield entry
        elif entry.is_folder:
            yield from _matches(entry.path, following, frozenset())


def _any_depth(base: Path, parts: tuple[str, ...], above: frozenset[tuple[int, int]]) -> Iterator[FolderEntry]:
    # Stop at a link to a parent; a folder with two names is walked under both, because the names are matched.
    here = _identity(base)
    if here in above:
        return
    following = parts[1:]
    inner = children(base)
    if following:
        yield from _matches(base, following, frozenset())
    for entry in inner:
        if entry.is_folder:
            yield from _matches(entry.path, parts, above | {here})
        elif not following or entry.is_folder is None:
            yield entry
