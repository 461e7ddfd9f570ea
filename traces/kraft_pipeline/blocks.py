"""Reader of files as blocks of bytes in bounded memory, including damaged files.

A file is plain, gzip (by content, whatever its name), or Parquet with a column `line` and one line per row.
Unlike `kraft_traces.streams`, which stops at the first error, this module returns every readable byte; bytes that
cannot be decoded to lines are returned as they are in the file.
"""

import os
import stat
import zlib
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from kraft_traces.errors import (
    CorruptGzipError,
    MalformedJsonError,
    TraceError,
    TruncatedGzipError,
    UnreadableFileError,
)
from kraft_traces.streams import PARQUET_SUFFIX

LINE_COLUMN = "line"
"""Column of a Parquet file that has the lines, as text or bytes."""

PIECE_BYTES_MAX = 2**20
"""Size of the pieces of bytes that cannot be decoded to lines."""

READ_BYTES = 2**17
"""Size of a block, unless a row of a Parquet file is larger."""

_GZIP_MAGIC = b"\x1f\x8b"
_PARQUET_ROWS = 256


class CorruptParquetError(TraceError):
    """A Parquet file is damaged, or has no column of lines."""

    code = "CORRUPT_PARQUET"


class WrongRow(NamedTuple):
    """Row of a Parquet file that is not one line."""

    error: TraceError
    raw: bytes


class Remains(NamedTuple):
    """End of a file that cannot be read completely, or a piece of it."""

    error: TraceError
    raw: bytes
    """Bytes that cannot be decoded to lines."""


Block = bytes | WrongRow | Remains
"""Bytes of lines, which may begin and end within a line, except next to a wrong row."""


def irregular(mode: int) -> str | None:
    """Return a description of the file type of an `st_mode`; None for a regular file."""
    if stat.S_ISREG(mode):
        return None
    kinds = ((stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"))
    return next((kind for is_kind, kind in kinds if is_kind(mode)), "a device")


def blocks_of(path: Path, source: str) -> Iterator[Block]:
    """Yield the content of a file; `Remains` come last, and only if the file itself is damaged."""
    try:
        # A pipe must be recognized before it is opened, because opening it waits for a writer.
        kind = irregular(path.stat().st_mode)
        if kind == "a folder":
            # It is listed as a file because it could not be searched; get the reason from the system.
            os.scandir(path).close()
        if kind is not None:
            yield Remains(UnreadableFileError(f"{kind}, expected a regular file", source), b"")
            return
        with path.open("rb", buffering=0) as file:
            if path.suffix == PARQUET_SUFFIX:
                yield from _rows(file, source)
            else:
                yield from _content(file, source)
    except OSError as error:
        yield Remains(UnreadableFileError(error.strerror or str(error), source), b"")


def _content(file: BinaryIO, source: str) -> Iterator[bytes | Remains]:
    blocks = _as_it_is(file)
    start = next(blocks, b"")
    whole = chain((start,), blocks)
    yield from _decompress(whole, source) if start[: len(_GZIP_MAGIC)] == _GZIP_MAGIC else whole


def _as_it_is(file: BinaryIO) -> Iterator[bytes]:
    while block := file.read(READ_BYTES):
        yield block


def _raw(error: TraceError, blocks: Iterable[bytes]) -> Iterator[Remains]:
    """Yield bytes that cannot be decoded to lines in pieces; at least one, which has the error."""
    held = bytearray()
    any_yet = False
    for block in blocks:
        held += block
        if len(held) >= PIECE_BYTES_MAX:
            any_yet = True
            yield Remains(error, bytes(held))
            held.clear()
    if held or not any_yet:
        yield Remains(error, bytes(held))


def _decompress(blocks: Iterator[bytes], source: str) -> Iterator[bytes | Remains]:
    """Yield the content of gzip members, up to the first damage."""
    member = zlib.decompressobj(wbits=31)
    begun = False
    for block in blocks:
        remaining = block
        while remaining:
            if not begun:
                # Zeros are allowed between members and after the last one.
                remaining = remaining.lstrip(b"\0")
                if not remaining:
                    break
            begun = True
            try:
                content = member.decompress(remaining, READ_BYTES)
            except zlib.error as error:
                # Keep the bytes that zlib has not consumed.
                damaged = CorruptGzipError(f"the gzip data is damaged: {error}", source)
                yield from _raw(damaged, chain((remaining,), blocks))
                return
            if content:
                yield content
            remaining = member.unconsumed_tail
            if member.eof:
                remaining = member.unused_data
                member = zlib.decompressobj(wbits=31)
                begun = False
    if begun:
        content = member.flush()
        if content:
            yield content
        if not member.eof:
            yield Remains(TruncatedGzipError("the gzip data is truncated: its end marker is missing", source), b"")


def _rows(file: BinaryIO, source: str) -> Iterator[Block]:
    number = 0
    try:
        with pq.ParquetFile(file) as rows:
            detail = _no_lines(rows.schema_arrow)
            if detail is not None:
                # The file is intact but has other contents, so its bytes are not copied.
                yield Remains(CorruptParquetError(detail, source), b"")
                return
            # One row group at a time, so that all groups before a damaged one are read.
            groups = range(rows.num_row_groups)
            batches = (rows.iter_batches(_PARQUET_ROWS, row_groups=[group], columns=[LINE_COLUMN]) for group in groups)
            for batch in chain.from_iterable(batches):
                for value in batch.column(0).cast(pa.binary()).to_pylist():
                    number += 1
                    yield _line_of(value, number, source)
            return
    except OSError as error:
        if error.errno is not None:
            raise
        # Arrow raises this for damaged content.
        damage = str(error)
    except pa.ArrowException as error:
        damage = str(error)
    # The bytes of the missing rows are not known, so all bytes are kept.
    file.seek(0)
    reason = next(iter(damage.splitlines()), "no reason given")
    yield from _raw(CorruptParquetError(f"the file is damaged: {reason}", source), _as_it_is(file))


def _no_lines(schema: pa.Schema) -> str | None:
    """Return why a file of this schema has no lines; None if it has lines."""
    if LINE_COLUMN not in schema.names:
        return f"expected a column `{LINE_COLUMN}` of lines, found {', '.join(schema.names) or 'no column'}"
    kind = schema.field(schema.names.index(LINE_COLUMN)).type
    value = kind.value_type if pa.types.is_dictionary(kind) else kind
    if any(is_kind(value) for is_kind in _LINE_TYPES):
        return None
    return f"column `{LINE_COLUMN}` is {kind}, expected text or bytes"


_LINE_TYPES = (
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_binary,
    pa.types.is_large_binary,
    pa.types.is_fixed_size_binary,
)


def _line_of(value: bytes | None, row: int, source: str) -> bytes | WrongRow:
    """Return the line of a row, with a newline added if it is missing."""
    raw = b"" if value is None else value if value.endswith(b"\n") else value + b"\n"
    if raw and raw.find(b"\n") == len(raw) - 1:
        return raw
    # A row with a newline would be several lines.
    detail = "a row with a newline in its middle, expected one line"
    if value is None:
        detail = f"column `{LINE_COLUMN}` is NULL in this row, expected a line"
    return WrongRow(MalformedJsonError(detail, source, row), raw)
