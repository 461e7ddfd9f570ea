"""Files of traces: plain or gzip, standard streams, folders, and files that are written atomically."""

import gzip
import os
import secrets
import stat
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedIOBase, BufferedReader, BufferedWriter, FileIO, RawIOBase, UnsupportedOperation
from pathlib import Path
from typing import BinaryIO, cast

from kraft_traces.errors import CorruptGzipError, NoTracesError, TruncatedGzipError, UnreadableFileError
from kraft_traces.listing import below, children

STANDARD_STREAM = "-"
PARQUET_SUFFIX = ".parquet"
SUFFIXES = (".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz", PARQUET_SUFFIX)
"""Suffixes of the trace files in a folder; a file given by name may have any."""

LINE_BYTES_MAX = 16 * 2**20
"""Default maximum length of a line."""

_BUFFER_BYTES = 2**17
_GZIP_MAGIC = b"\x1f\x8b"
_GZIP_LEVEL = 6


def trace_paths(path: str | Path) -> list[str]:
    """Return the traces at a path: the file itself, or all files below a folder with one of `SUFFIXES`.

    They are sorted by name; hidden files are skipped.

    Raises:
        UnreadableFileError: nothing is at the path, or the folder cannot be listed.
        NoTracesError: the folder has no traces.
    """
    if str(path) == STANDARD_STREAM:
        return [STANDARD_STREAM]
    root = Path(path)
    if not root.exists():
        raise UnreadableFileError("no such file or folder", str(path))
    if not root.is_dir():
        return [str(path)]
    try:
        files = [file for file in below(root, children(root), SUFFIXES) if file.is_file()]
    except OSError as error:
        raise UnreadableFileError(error.strerror or str(error), str(path)) from error
    if not files:
        raise NoTracesError(f"no file in this folder ends with {' or '.join(SUFFIXES)}", str(path))
    return [str(file) for file in files]


def open_bytes(path: str | Path) -> BufferedIOBase:
    """Open a trace's bytes, decompressed if they are gzip, whatever the file name.

    Raises:
        UnreadableFileError: the operating system cannot read the file.
        CorruptGzipError: its name ends with `.gz`, but it is not gzip.
    """
    source = str(path)
    try:
        stream = BufferedReader(_unbuffered(source), _BUFFER_BYTES)
        start = stream.peek(len(_GZIP_MAGIC))[: len(_GZIP_MAGIC)]
    except OSError as error:
        raise UnreadableFileError(error.strerror or str(error), source) from error
    if start == _GZIP_MAGIC:
        return _Decompressed(stream, source)
    if source.endswith(".gz") and start and not _GZIP_MAGIC.startswith(start):
        stream.close()
        raise CorruptGzipError("the file name ends with .gz, but the content is not gzip", source)
    return stream


def _unbuffered(source: str) -> RawIOBase:
    if source != STANDARD_STREAM:
        return FileIO(source)
    try:
        # Standard input stays open when the trace is closed.
        return FileIO(sys.stdin.fileno(), closefd=False)
    except UnsupportedOperation:
        # Standard input was replaced by an object in memory, which reads like a raw file.
        return cast(RawIOBase, sys.stdin.buffer)


class _Decompressed(gzip.GzipFile):
    """Stream of decompressed bytes; closing it also closes the file, which gzip leaves open."""

    def __init__(self, compressed: BinaryIO, source: str) -> None:
        super().__init__(fileobj=compressed, mode="rb")
        self._compressed, self._source = compressed, source

    def readline(self, size: int | None = -1) -> bytes:
        with _gzip_errors(self._source):
            return super().readline(size)

    def close(self) -> None:
        try:
            super().close()
        finally:
            self._compressed.close()


def read_block(stream: BufferedIOBase, source: str, line_number: int) -> bytes:
    """Read the next bytes; empty at the end.  Errors have the given line number.

    Raises:
        TruncatedGzipError, CorruptGzipError: the compressed data stops or is damaged.
        UnreadableFileError: the operating system cannot read on.
    """
    with _gzip_errors(source, line_number):
        return stream.read1(_BUFFER_BYTES)


@contextmanager
def _gzip_errors(source: str, line_number: int | None = None) -> Iterator[None]:
    try:
        yield
    except EOFError:
        detail = "the gzip data is truncated: its end marker is missing"
        raise TruncatedGzipError(detail, source, line_number) from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise CorruptGzipError(f"the gzip data is damaged: {error}", source, line_number) from error
    except OSError as error:
        raise UnreadableFileError(error.strerror or str(error), source, line_number) from error


@contextmanager
def atomic_file(target: str | Path) -> Iterator[BinaryIO]:
    """Open a file that gets its name only when the block ends without an error.

    `-` is standard output.  It is written to directly, like an existing pipe or device.
    A file named `.gz` is compressed without time and name in its header, so that equal lines give equal bytes.

    Raises:
        OSError: the operating system refuses.
    """
    if str(target) == STANDARD_STREAM:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    # Replace the target of a symbolic link, not the link.
    path = Path(target).resolve()
    if path.exists() and not stat.S_ISREG(path.stat().st_mode):
        with path.open("wb") as device, _compressed(device, path.name) as stream:
            yield stream
        return
    # A rename is atomic only within a folder; the name is hidden and has no suffix that a reader looks for.
    partial = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.part")
    try:
        with partial.open("xb", buffering=_BUFFER_BYTES) as file:
            with _compressed(file, path.name) as stream:
                yield stream
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except BaseException as error:
        with suppress(OSError):
            partial.unlink()
        if isinstance(error, OSError) and error.filename == str(partial):
            # Report the name that the user gave.
            error.filename = str(target)
        raise


@contextmanager
def _compressed(raw: BinaryIO, name: str) -> Iterator[BinaryIO]:
    if not name.endswith(".gz"):
        yield raw
        return
    compressor = gzip.GzipFile(filename="", mode="wb", compresslevel=_GZIP_LEVEL, fileobj=raw, mtime=0)
    with compressor, BufferedWriter(compressor, _BUFFER_BYTES) as stream:
        yield stream
