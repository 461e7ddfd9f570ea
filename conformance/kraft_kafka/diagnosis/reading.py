"""Finds and reads the files of controllers below some paths."""

import gzip
from collections.abc import Iterator, Sequence
from pathlib import Path

from kraft_kafka.diagnosis.disks import DUMP, node_of_disk, read_disk, read_dump
from kraft_kafka.diagnosis.evidence import Controller, Described, Disk, Event, Evidence
from kraft_kafka.diagnosis.server_logs import described, events_of, node_of
from kraft_kafka.wire.disk_files import PARTITION

_FIRST_LINES = 400
"""Lines of a text file that say what it is."""
_HEAD = 4096
"""Bytes in which a binary file has a zero."""
_BINARY = (".index", ".timeindex", ".checkpoint", ".deleted", ".jar", ".snapshot", ".lock", ".swap")


def read_evidence(paths: Sequence[Path]) -> Evidence:
    """All that files and folders say of a cluster's controllers.

    Raises:
        OSError: a path cannot be read.
    """
    skipped: list[str] = []
    events: dict[str, list[Event]] = {}
    disks: dict[str, list[Disk]] = {}
    views: list[Described] = []
    count = 0
    for path in _files(paths):
        count += 1
        if path.is_dir():
            disks.setdefault(_name(node_of_disk(path), path), []).append(read_disk(path, skipped))
            continue
        lines = _lines(path)
        first = lines[:_FIRST_LINES]
        if any(DUMP.match(line) for line in first):
            disks.setdefault(str(path), []).extend(read_dump(path, lines))
        elif view := described(path, first):
            views.append(view)
        elif found := [*events_of(path, lines)]:
            events.setdefault(_name(node_of(lines), path), []).extend(found)
        else:
            count -= 1
    names = sorted(events.keys() | disks.keys(), key=lambda name: (not name.isdecimal(), name.zfill(10)))
    controllers = [Controller(name, tuple(events.get(name, ())), tuple(disks.get(name, ()))) for name in names]
    return Evidence(tuple(controllers), tuple(views), count, tuple(skipped))


def _name(node: int | None, path: Path) -> str:
    return str(path) if node is None else str(node)


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    """Metadata log folders and other files, each once; rotated logs of a folder by their age."""
    seen: set[Path] = set()
    for path in paths:
        listed = [path] if path.is_file() or path.name == PARTITION else sorted(path.rglob("*"), key=_age)
        if not path.exists():
            raise FileNotFoundError(2, "No such file or directory", str(path))
        for one in listed:
            is_log_folder = one.is_dir() and one.name == PARTITION
            is_text = one.is_file() and one.parent.name != PARTITION and one.suffix not in _BINARY
            if (is_log_folder or is_text) and one.resolve() not in seen:
                seen.add(one.resolve())
                yield one


def _age(path: Path) -> tuple[float, str]:
    return (path.stat().st_mtime if path.exists() else 0.0, path.name)


def _lines(path: Path) -> list[str]:
    """The lines of a text file, which may be compressed; none of a binary one."""
    raw = path.read_bytes()
    if path.suffix == ".gz":
        raw = gzip.decompress(raw)
    return [] if b"\0" in raw[:_HEAD] else raw.decode(errors="replace").splitlines()
