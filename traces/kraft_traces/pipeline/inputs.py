"""What is to be read: files, folders and patterns, listed without keeping the list in memory."""

import glob
import os
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from kraft_traces.pipeline.failures import InputError
from kraft_traces.pipeline.schemas import INPUTS
from kraft_traces.pipeline.splitting import PARQUET_SUFFIX
from kraft_traces.streams import SUFFIXES

TRACE_SUFFIXES = (*SUFFIXES, ".ndjson", ".ndjson.gz", PARQUET_SUFFIX)
"""What the files of a folder must end with to be taken for traces; a file that is named may be called anything."""

_ROWS = 4096
_WILD = frozenset("*?[")


def input_files(patterns: Iterable[str]) -> Iterator[tuple[Path, str]]:
    """The files that the patterns stand for, each with its name; a file may come twice.

    Folders are searched to their bottom, in the order of names; hidden files are left out.

    Raises:
        InputError: a pattern stands for nothing.
    """
    for pattern in patterns:
        found = False
        for name in _named(pattern):
            found = True
            path = Path(name)
            if path.is_dir():
                any_trace = False
                for inner in _below(path):
                    any_trace = True
                    yield inner, os.fspath(inner)
                if not any_trace and not _WILD & set(pattern):
                    raise InputError(f"{pattern}: no file in this folder ends with {' or '.join(TRACE_SUFFIXES)}")
            else:
                yield path, os.fspath(path)
        if not found:
            raise InputError(f"{pattern}: no such file or folder")


def _named(pattern: str) -> Iterator[str]:
    if os.path.lexists(pattern):
        yield os.path.normpath(pattern)
        return
    if _WILD & set(pattern):
        for name in sorted(glob.iglob(pattern, recursive=True)):
            yield os.path.normpath(name)


def _below(folder: Path) -> Iterator[Path]:
    with os.scandir(folder) as entries:
        ordered = sorted(entries, key=lambda entry: entry.name)
    for entry in ordered:
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            yield from _below(folder / entry.name)
        elif entry.name.endswith(TRACE_SUFFIXES):
            yield folder / entry.name


def write_inputs(patterns: Iterable[str], target: Path) -> dict[str, Any]:
    """Write the table `INPUTS`, in which a file may come twice, and say in short what is in it.

    Raises:
        InputError: there is nothing.
    """
    digest = sha256()
    files = size = 0
    held: list[dict[str, Any]] = []
    with pq.ParquetWriter(target, INPUTS.arrow) as writer:
        for path, source in input_files(patterns):
            raw_path = os.fsencode(os.path.abspath(path))
            facts = _facts(path)
            row: dict[str, Any] = {"path": raw_path, "source": _shown(source), **facts}
            digest.update(f"{row['source']}\0{row['bytes']}\0{row['modified_ns']}\0".encode())
            files += 1
            size += facts["bytes"]
            held.append(row)
            if len(held) >= _ROWS:
                writer.write_batch(pa.RecordBatch.from_pylist(held, schema=INPUTS.arrow))
                held = []
        if held:
            writer.write_batch(pa.RecordBatch.from_pylist(held, schema=INPUTS.arrow))
    if not files:
        raise InputError("nothing to read")
    return {"files": files, "bytes": size, "digest": digest.hexdigest()}


def _shown(name: str) -> str:
    """A name as text, also if it is none."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def _facts(path: Path) -> dict[str, int]:
    try:
        status = path.stat()
    except OSError:
        return {"bytes": 0, "modified_ns": 0}
    return {"bytes": status.st_size, "modified_ns": status.st_mtime_ns}
