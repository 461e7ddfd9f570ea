"""Folders and patterns as files, in the order of names, whatever the file system puts in the way.

A thing that the operating system does not tell about, a folder that it does not list or a link that leads nowhere but
to itself, is handed on like a file: the reader says what is wrong with it, and the run goes on.
"""

import os
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

_WILD = frozenset("*?[")
_ANY_FOLDERS = "**"


class Found(NamedTuple):
    """A thing in a folder."""

    path: Path
    is_folder: bool | None
    """None if the operating system does not say, or says so and does not list it."""


def is_pattern(text: str) -> bool:
    """Whether it has a character that may stand for others."""
    return bool(_WILD & set(text))


def children(folder: Path, *, hidden: bool = False) -> list[Found]:
    """What is in a folder, in the order of names, without what is hidden unless that is asked for.

    Raises:
        OSError: it cannot be listed.
    """
    with os.scandir(folder) as entries:
        seen = [(entry.name, _is_folder(entry)) for entry in entries]
    return [Found(folder / name, is_folder) for name, is_folder in sorted(seen) if hidden or name[0] != "."]


def _is_folder(entry: os.DirEntry[str]) -> bool | None:
    try:
        return entry.is_dir()
    except OSError:
        return None


def below(folder: Path, top: list[Found], suffixes: tuple[str, ...]) -> Iterator[Path]:
    """The files below a folder that end with one of the suffixes.

    No folder is walked twice, however many links lead to it; that would not end where one leads back.

    Args:
        folder: the folder.
        top: its `children`.
        suffixes: what names must end with.
    """
    walked = {_identity(folder)}
    waiting = top[::-1]
    while waiting:
        found = waiting.pop()
        if found.is_folder is None:
            yield found.path
        elif found.is_folder:
            try:
                identity = _identity(found.path)
                if identity not in walked:
                    walked.add(identity)
                    waiting += reversed(children(found.path))
            except OSError:
                yield found.path
        elif found.path.name.endswith(suffixes):
            yield found.path


def _identity(folder: Path) -> tuple[int, int]:
    status = folder.stat()
    return status.st_dev, status.st_ino


def named_part(pattern: str) -> Path:
    """The folder in which the pattern's first part that stands for others is looked for."""
    named, _ = _parts(pattern)
    return named


def matches(pattern: str) -> Iterator[Found]:
    """What a pattern stands for: `*`, `?` and `[...]` within a name, `**` for any number of folders."""
    named, parts = _parts(pattern)
    for found in _matches(named, parts, frozenset()):
        # As the shell has it, a slash at the end is for folders.
        if not pattern.endswith(os.sep) or found.is_folder is not False:
            yield found


def _parts(pattern: str) -> tuple[Path, tuple[str, ...]]:
    parts = [part for part in pattern.split(os.sep) if part]
    first = next(index for index, part in enumerate(parts) if is_pattern(part))
    return Path(os.sep if pattern.startswith(os.sep) else "", *parts[:first]), tuple(parts[first:])


def _matches(base: Path, parts: tuple[str, ...], above: frozenset[tuple[int, int]]) -> Iterator[Found]:
    """What the parts stand for below `base`; `above` are the folders that a `**` has come through."""
    part, rest = parts[0], parts[1:]
    try:
        if part == _ANY_FOLDERS:
            yield from _any_depth(base, parts, above)
        elif not is_pattern(part):
            yield from _going_on([Found(base / part, (base / part).is_dir())] * os.path.lexists(base / part), rest)
        else:
            # As in the shell, a name that begins with a dot is hidden from a part that does not.
            inner = children(base, hidden=part[0] == ".")
            yield from _going_on([found for found in inner if fnmatchcase(found.path.name, part)], rest)
    except OSError:
        yield Found(base, None)


def _going_on(found: list[Found], rest: tuple[str, ...]) -> Iterator[Found]:
    for one in found:
        if not rest or one.is_folder is None:
            yield one
        elif one.is_folder:
            yield from _matches(one.path, rest, frozenset())


def _any_depth(base: Path, parts: tuple[str, ...], above: frozenset[tuple[int, int]]) -> Iterator[Found]:
    # A link may lead back to where it is; the same folder by two names is looked at by both, since the names count.
    here = _identity(base)
    if here in above:
        return
    rest = parts[1:]
    inner = children(base)
    if rest:
        yield from _matches(base, rest, frozenset())
    for found in inner:
        if found.is_folder:
            yield from _matches(found.path, parts, above | {here})
        elif not rest or found.is_folder is None:
            yield found
