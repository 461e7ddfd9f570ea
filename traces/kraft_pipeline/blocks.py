"""Files as blocks of bytes, in bounded memory, whatever is wrong with them.

A file is plain, gzip (by its content, whatever the name says), or Parquet with a column `line`, one line in each row.
Unlike `kraft_traces.streams`, which stops at the first thing that is wrong, this hands on every byte that can be had:
what cannot be made into lines as it stands in the file.
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
"""The column of a Parquet file that holds the lines, as text or bytes."""

PIECE_BYTES_MAX = 2**20
"""What cannot be made into lines comes in pieces of this size."""

READ_BYTES = 2**17
"""A block has so many bytes, unless a row of a Parquet file has more."""

_GZIP_MAGIC = b"\x1f\x8b"
_PARQUET_ROWS = 256


class CorruptParquetError(TraceError):
    """A Parquet file that is damaged, or that has no column of lines."""

    code = "CORRUPT_PARQUET"


class WrongRow(NamedTuple):
    """A row of a Parquet file that is not one line."""

    error: TraceError
    raw: bytes


class Remains(NamedTuple):
    """The end of a file that cannot be read to its end, or a piece of it."""

    error: TraceError
    raw: bytes
    """What could not be made into lines."""


Block = bytes | WrongRow | Remains
"""Bytes of lines, which may begin and end within one; beside a wrong row they do not."""


def irregular(mode: int) -> str | None:
    """What a thing of this `st_mode` is, in words, if it is no regular file."""
    if stat.S_ISREG(mode):
        return None
    kinds = ((stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"))
    return next((kind for is_kind, kind in kinds if is_kind(mode)), "a device")


def blocks_of(path: Path, source: str) -> Iterator[Block]:
    """The content of a file; `Remains` come last, and only if something is wrong with the file itself."""
    try:
        # A pipe has to be told before it is opened: that waits for somebody who writes.
        kind = irregular(path.stat().st_mode)
        if kind == "a folder":
            # Listed as a file because it could not be searched: the reason is the system's.
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
    yield from _decompressed(whole, source) if start[: len(_GZIP_MAGIC)] == _GZIP_MAGIC else whole


def _as_it_is(file: BinaryIO) -> Iterator[bytes]:
    while block := file.read(READ_BYTES):
        yield block


def _raw(error: TraceError, blocks: Iterable[bytes]) -> Iterator[Remains]:
    """Bytes that cannot be made into lines, in pieces; at least one, which carries the error."""
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
                content = member.decompress(rest, READ_BYTES)
            except zlib.error as error:
                # What zlib has not consumed is kept as it is, so that nothing is lost.
                damaged = CorruptGzipError(f"the compressed data is damaged: {error}", source)
                yield from _raw(damaged, chain((rest,), blocks))
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


def _rows(file: BinaryIO, source: str) -> Iterator[Block]:
    number = 0
    try:
        with pq.ParquetFile(file) as rows:
            detail = _no_lines(rows.schema_arrow)
            if detail is not None:
                # The file is sound, and what it holds is something else: its bytes are left where they are.
                yield Remains(CorruptParquetError(detail, source), b"")
                return
            # One row group after the other, so that those before a damaged one are read to their ends.
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
        # So Arrow says that it cannot make sense of what it reads.
        damage = str(error)
    except pa.ArrowException as error:
        damage = str(error)
    # Which bytes are those of the rows that are missing cannot be told, so all are kept.
    file.seek(0)
    reason = next(iter(damage.splitlines()), "no reason given")
    yield from _raw(CorruptParquetError(f"the file is damaged: {reason}", source), _as_it_is(file))


def _no_lines(schema: pa.Schema) -> str | None:
    """Why a file of this schema has no lines, if it has none."""
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
    """The line of a row, with the newline that it may leave out."""
    raw = b"" if value is None else value if value.endswith(b"\n") else value + b"\n"
    if raw and raw.find(b"\n") == len(raw) - 1:
        return raw
    # As lines of a file a row with a newline would be something else than it is as a row.
    detail = "a row with a newline in its middle, expected one line"
    if value is None:
        detail = f"column `{LINE_COLUMN}` is NULL in this row, expected a line"
    return WrongRow(MalformedJsonError(detail, source, row), raw)
