"""Units of work: each is a Spark task whose rows are written to disk atomically.

The plan of units is fixed once.  A finished unit is not made again; `--resume` needs only that and the journals of the
others.
Two attempts at a unit write the same rows and rename them at the end, so either of them may be the last.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from kraft_pipeline.journal import Journals
from kraft_pipeline.progress import Notice, watched
from kraft_pipeline.schemas import TableSchema
from kraft_pipeline.session import parallelism
from kraft_traces.streams import atomic_file

Row = dict[str, Any]
Write = Callable[[TableSchema, Any], None]
"""Function that takes a row of a table, or several as an Arrow `RecordBatch`."""

UNITS_PER_CORE = 8
"""Minimum number of units per core, so that an early core finds another one."""

_ROWS_MAX = 2**15
_BYTES_MAX = 2**22
_PLAN_ROWS = 1024


def units_wanted(session: Any) -> int:
    """Return the number of units that keeps the cores busy."""
    return max(1, int(parallelism(session) * UNITS_PER_CORE))


def write_plan(target: Path, files: Sequence[Row], bytes_max: int, wanted: int) -> None:
    """Write the plan of the files in each unit, the largest units first.

    Args:
        target: the plan.
        files: files in order; neighbors share a unit.
        bytes_max: maximum size of a unit with more than one file.
        wanted: minimum number of units.
    """
    costs = [max(1, file["bytes"]) for file in files]
    share = min(bytes_max, -(-sum(costs) // wanted))
    units: list[list[Row]] = []
    held = share
    for file, cost in zip(files, costs, strict=True):
        if held + cost > share:
            units.append([])
            held = 0
        units[-1].append(file)
        held += cost
    units.sort(key=lambda unit: -sum(file["bytes"] for file in unit))
    rows = [{**file, "unit": number} for number, unit in enumerate(units) for file in unit]
    with atomic_file(target) as stream:
        pq.write_table(pa.Table.from_pylist(rows or [{"unit": None}]), stream, row_group_size=_PLAN_ROWS)


def planned_units(plan: Path) -> int:
    """Return the number of units of a plan."""
    return len(set(pq.read_table(plan, columns=["unit"])["unit"].drop_null().to_pylist()))


def files_of_unit(plan: Path, unit: int) -> list[Row]:
    """Return the files of a unit in order."""
    rows: list[Row] = pq.read_table(plan, filters=[("unit", "=", unit)]).to_pylist()
    return rows


def run_units(session: Any, name: str, units: Sequence[int], work: Callable[[int], None], notice: Notice) -> None:
    """Run units in this order, as one Spark job."""
    if units:
        with watched(session, name, notice):
            session.sparkContext.parallelize(units, len(units)).foreach(work)


def make_unit(
    unit: int, *, folder: Path, tables: Sequence[TableSchema], journals: Journals, work: Callable[..., None]
) -> None:
    """Make one unit: call `work` with the unit, a function that writes rows below `folder`, and the journal."""
    journals = journals.of_unit(unit)
    with open_unit(folder, unit, tables) as write, journals.open() as journal:
        work(unit, write, journal)
    journals.forget()


@contextmanager
def open_unit(folder: Path, unit: int, tables: Sequence[TableSchema]) -> Iterator[Write]:
    """Open the files of a unit, one for each table below `folder`; the file of the last table appears last.

    If the block raises an error, no file appears.
    """
    with ExitStack() as files:
        # In reverse order, because contexts are left in the reverse order of entering.
        held = {table.name: files.enter_context(_file(folder, unit, table)) for table in reversed(tables)}
        yield lambda table, row: held[table.name].add(row)


@contextmanager
def _file(folder: Path, unit: int, table: TableSchema) -> Iterator["_RowBuffer"]:
    target = unit_file(folder, table, unit)
    target.parent.mkdir(parents=True, exist_ok=True)
    texts = [field.name for field in table.arrow if field.type == pa.string()]
    # The file is hidden while it is written; a killed attempt leaves it.
    with (
        atomic_file(target) as stream,
        pq.ParquetWriter(stream, table.arrow, compression="zstd", use_dictionary=texts) as writer,
    ):
        held = _RowBuffer(writer)
        yield held
        held.flush()


class _RowBuffer:
    """Buffer of the rows of a unit in one table."""

    def __init__(self, writer: pq.ParquetWriter) -> None:
        self._writer = writer
        self._held: list[Any] = []
        self._rows = 0
        self._bytes = 0

    def add(self, rows: Any) -> None:
        self._held.append(rows)
        is_row = isinstance(rows, dict)
        self._rows += 1 if is_row else len(rows)
        self._bytes += len(rows.get("raw") or b"") if is_row else rows.nbytes
        if self._rows >= _ROWS_MAX or self._bytes >= _BYTES_MAX:
            self.flush()

    def flush(self) -> None:
        single = [rows for rows in self._held if isinstance(rows, dict)]
        batches = [rows for rows in self._held if not isinstance(rows, dict)]
        batches += [pa.RecordBatch.from_pylist(single, schema=self._writer.schema)] if single else []
        if batches:
            self._writer.write_table(pa.Table.from_batches(batches))
        self._held = []
        self._rows = self._bytes = 0


def unit_file(folder: Path, table: TableSchema, unit: int) -> Path:
    """Return the path of the rows of a unit."""
    return folder / table.name / f"{unit:05}.parquet"
