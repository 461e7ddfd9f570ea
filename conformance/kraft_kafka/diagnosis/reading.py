"""Search of paths for the files of controllers, and their evidence."""

import gzip
from collections.abc import Iterator, Sequence
from pathlib import Path

from kraft_kafka.diagnosis.disks import DUMP, node_of_disk, read_disk, read_dump
from kraft_kafka.diagnosis.evidence import Controller, Described, Disk, Event, Evidence
from kraft_kafka.diagnosis.server_logs import described, events_of, node_of
from kraft_kafka.wire.disk_files import PARTITION

_FIRST_LINES = 400
"""Lines of a text file that identify its format."""
_HEAD = 4096
"""Leading bytes that contain a zero in a binary file."""
_BINARY = (".index", ".timeindex", ".checkpoint", ".deleted", ".jar", ".snapshot", ".lock", ".swap")


def read_evidence(paths: Sequence[Path]) -> Evidence:
    """Read the evidence about a cluster's controllers from files and folders.

    Raises:
        OSError: a path cannot be read.
    """
    skipped: list[str] = []
    events: dict[str, list[Event]] = {}
    disks: dict[str, list[Disk]] = {}
    views: list[Described] = []
    count = 0
    for path in _find_files(paths):
        count += 1
        if path.is_dir():
            disks.setdefault(_name(node_of_disk(path), path), []).append(read_disk(path, skipped))
            continue
        lines = _read_lines(path)
        first = lines[:_FIRST_LINES]
        if any(DUMP.match(line) for line in first):
            disks.setdefault(str(path), []).extend(read_dump(path, lines))
        elif view := described(path, first):
            views.append(view)
        elif log_events := [*events_of(path, lines)]:
            events.setdefault(_name(node_of(lines), path), []).extend(log_events)
        else:
            count -= 1
    names = sorted(events.keys() | disks.keys(), key=lambda name: (not name.isdecimal(), name.zfill(10)))
    controllers = [Controller(name, tuple(events.get(name, ())), tuple(disks.get(name, ()))) for name in names]
    return Evidence(tuple(controllers), tuple(views), count, tuple(skipped))


def _name(node: int | None, path: Path) -> str:
    return str(path) if node is None else str(node)


def _find_files(paths: Sequence[Path]) -> Iterator[Path]:
    """Yield metadata log folders and other files, each once; rotated logs of a folder by their age."""
    visited: set[Path] = set()
    for path in paths:
        listed = [path] if path.is_file() or path.name == PARTITION else sorted(path.rglob("*"), key=_age)
        if not path.exists():
            raise FileNotFoundError(2, "No such file or directory", str(path))
        for file in listed:
            is_log_folder = file.is_dir() and file.name == PARTITION
            is_text = file.is_file() and file.parent.name != PARTITION and file.suffix not in _BINARY
            if (is_log_folder or is_text) and file.resolve() not in visited:
                visited.add(file.resolve())
                yield file


def _age(path: Path) -> tuple[float, str]:
    return (path.stat().st_mtime if path.exists() else 0.0, path.name)


def _read_lines(path: Path) -> list[str]:
    """Return the lines of a text file, which may be gzip-compressed; none for a binary file."""
    raw = path.read_bytes()
    if path.suffix == ".gz":
        raw = gzip.decompress(raw)
    return [] if b"\0" in raw[:_HEAD] else raw.decode(errors="replace").splitlines()
