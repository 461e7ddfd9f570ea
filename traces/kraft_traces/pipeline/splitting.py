"""Files as lines of bytes, in bounded memory, whatever is wrong with them.

A file is plain, gzip (by its content, whatever the name says), or Parquet with a column `line`, one line in each row.
Unlike `kraft_traces.streams`, which stops at the first thing that is wrong, this hands on every byte that can be had.
"""

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from kraft_traces.errors import CorruptGzipError, TraceError, TruncatedGzipError, UnreadableFileError
from kraft_traces.streams import LINE_BYTES_MAX

PARQUET_SUFFIX = ".parquet"
LINE_COLUMN = "line"
"""The column of a Parquet file that holds the lines, as text or bytes."""

PIECE_BYTES_MAX = 2**20
"""A line beyond the limit comes in pieces of this size."""

_READ_BYTES = 2**17
_GZIP_MAGIC = b"\x1f\x8b"
_PARQUET_MAGIC = b"PAR1"
_PARQUET_ROWS = 256


class CorruptParquetError(TraceError):
    """A Parquet file that is damaged, or that has no column of lines."""

    code = "CORRUPT_PARQUET"


class Piece(NamedTuple):
    """A line, or a part of one that is beyond the limit."""

    number: int
    """Line number, from 1."""
    raw: bytes
    """With the newline, if the line has one."""
    whole: bool
    """False for each part of a line that is beyond the limit."""
    first: bool = True
    """Whether the line begins here."""


class Remains(NamedTuple):
    """The end of a file that cannot be read to its end."""

    error: TraceError
    raw: bytes
    """What was there: the line that breaks off, or what could not be made into lines at all."""
    lines: int = 0
    """1 if `raw` is a line that breaks off."""


def pieces_of(path: Path, source: str, *, line_bytes_max: int = LINE_BYTES_MAX) -> Iterator[Piece | Remains]:
    """The lines of a file; `Remains` comes last, and only if something is wrong with the file itself.

    Args:
        path: the file.
        source: its name in errors.
        line_bytes_max: the longest line that is handed on as one, newline included.
    """
    if path.suffix == PARQUET_SUFFIX:
        yield from _parquet_lines(path, source)
        return
    yield from _lines(_chunks(path, source), line_bytes_max)


def _lines(chunks: Iterator[bytes | Remains], line_bytes_max: int) -> Iterator[Piece | Remains]:
    number = 0
    held = bytearray()
    too_long = False
    remains: Remains | None = None
    for chunk in chunks:
        if isinstance(chunk, Remains):
            remains = chunk
            break
        start = 0
        while (newline := chunk.find(b"\n", start)) >= 0:
            held += chunk[start : newline + 1]
            start = newline + 1
            if not too_long and len(held) <= line_bytes_max:
                number += 1
                yield Piece(number, bytes(held), True)
            else:
                number += not too_long
                yield from _parts(number, held, begins=not too_long)
            held.clear()
            too_long = False
        held += chunk[start:]
        if len(held) > line_bytes_max and len(held) >= PIECE_BYTES_MAX:
            number += not too_long
            yield from _parts(number, held, begins=not too_long)
            held.clear()
            too_long = True
    if held:
        if remains is not None and not too_long:
            remains = remains._replace(raw=bytes(held), lines=1)
        elif not too_long and len(held) <= line_bytes_max:
            yield Piece(number + 1, bytes(held), True)
        else:
            yield from _parts(number + (not too_long), held, begins=not too_long)
    if remains is not None:
        yield remains


def _parts(number: int, held: bytearray, *, begins: bool) -> Iterator[Piece]:
    for start in range(0, len(held), PIECE_BYTES_MAX):
        yield Piece(number, bytes(held[start : start + PIECE_BYTES_MAX]), False, begins and start == 0)


def _chunks(path: Path, source: str) -> Iterator[bytes | Remains]:
    try:
        with path.open("rb", buffering=0) as file:
            start = file.read(_READ_BYTES)
            if start[: len(_GZIP_MAGIC)] == _GZIP_MAGIC:
                yield from _decompressed(_blocks(start, file), source)
            elif path.suffix == ".gz" and start and not _GZIP_MAGIC.startswith(start[:2]):
                error = CorruptGzipError("the name says gzip, the content is not", source)
                for block in _blocks(start, file):
                    yield Remains(error, block)
            else:
                yield from _blocks(start, file)
    except OSError as error:
        yield Remains(UnreadableFileError(error.strerror or str(error), source), b"")


def _blocks(start: bytes, file: object) -> Iterator[bytes]:
    block = start
    while block:
        yield block
        block = file.read(_READ_BYTES)  # type: ignore[attr-defined]


def _decompressed(blocks: Iterator[bytes], source: str) -> Iterator[bytes | Remains]:
    """The content of gzip members one after the other, as far as it goes."""
    member = zlib.decompressobj(wbits=31)
    begun = False
    for block in blocks:
        rest = block
        while rest:
            if not begun:
                # Between members and after the last one there may be zeros.
                rest = rest.lstrip(b"\0")
                if not rest:
                    break
            begun = True
            try:
                content = member.decompress(rest, _READ_BYTES)
            except zlib.error as error:
                yield Remains(CorruptGzipError(f"the compressed data is damaged: {error}", source), b"")
                return
            if content:
                yield content
            rest = member.unconsumed_tail
            if member.eof:
                rest = member.unused_data
                member = zlib.decompressobj(wbits=31)
                begun = False
    if begun:
        content = member.flush()
        if content:
            yield content
        if not member.eof:
            yield Remains(TruncatedGzipError("the compressed data stops before its end mark", source), b"")


def _parquet_lines(path: Path, source: str) -> Iterator[Piece | Remains]:
    number = 0
    try:
        with pq.ParquetFile(path) as file:
            if LINE_COLUMN not in file.schema_arrow.names:
                found = ", ".join(file.schema_arrow.names)
                detail = f"expected a column {LINE_COLUMN!r} of lines, found {found}"
                yield Remains(CorruptParquetError(detail, source), b"")
                return
            for batch in file.iter_batches(_PARQUET_ROWS, columns=[LINE_COLUMN]):
                for value in batch.column(0).cast(pa.binary()).to_pylist():
                    number += 1
                    raw = b"" if value is None else value
                    yield Piece(number, raw if raw.endswith(b"\n") else raw + b"\n", True)
    except OSError as error:
        yield Remains(UnreadableFileError(error.strerror or str(error), source), b"")
    except pa.ArrowException as error:
        yield Remains(CorruptParquetError(f"the file is damaged: {str(error).splitlines()[0]}", source), b"")
