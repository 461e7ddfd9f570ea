"""Rows to Arrow and back, in the Python workers."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import pyarrow as pa

from kraft_traces.pipeline.schemas import TableSchema

Row = dict[str, Any]

_ROWS_MAX = 256
_BYTES_MAX = 2**22


def map_rows(frame: Any, work: Callable[[Iterator[Row]], Iterable[Row]], table: TableSchema) -> Any:
    """A DataFrame of the rows that the Python workers make of another one's with `work`, as they come."""
    return frame.mapInArrow(partial(_worked, work=work, table=table), table.ddl)


def _worked(
    batches: Iterable[pa.RecordBatch], *, work: Callable[[Iterator[Row]], Iterable[Row]], table: TableSchema
) -> Iterator[pa.RecordBatch]:
    yield from batches_of(work(row for batch in batches for row in batch.to_pylist()), table)


def frame_of(session: Any, rows: Iterable[Row], schema: pa.Schema) -> Any:
    """A DataFrame of rows that this process has.

    From Arrow, because Spark starts Python workers of another kind to turn a plain list into one.
    """
    return session.createDataFrame(pa.Table.from_pylist(list(rows), schema=schema))


def batches_of(rows: Iterable[Row], table: TableSchema) -> Iterator[pa.RecordBatch]:
    """Batches of rows, none much larger than some megabytes."""
    held: list[Row] = []
    held_bytes = 0
    for row in rows:
        held.append(row)
        held_bytes += _raw_bytes(row)
        if len(held) >= _ROWS_MAX or held_bytes >= _BYTES_MAX:
            yield pa.RecordBatch.from_pylist(held, schema=table.arrow)
            held, held_bytes = [], 0
    if held:
        yield pa.RecordBatch.from_pylist(held, schema=table.arrow)


def _raw_bytes(row: Row) -> int:
    """The bytes of a row that may be large."""
    total = 0
    for value in row.values():
        if isinstance(value, bytes):
            total += len(value)
        elif isinstance(value, dict):
            total += len(value.get("raw") or b"")
    return total
