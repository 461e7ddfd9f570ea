"""Work in units: each is one task of Spark, and its rows are on disk whole or not at all.

Which piece is in which unit is decided once.  A unit that is there is not made again: that, and the journals of the
others, is all that `--resume` needs.
Two attempts at the same unit write the same rows, and name them at the end: it does not matter which one is last.
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
"""Takes a row of a table, or many as a `RecordBatch` of Arrow."""

UNITS_PER_CORE = 8
"""At least so many, so that a core which is done early finds another one."""

_ROWS_MAX = 2**15
_BYTES_MAX = 2**22
_PLAN_ROWS = 1024


def units_wanted(session: Any) -> int:
    """How many units keep the cores busy."""
    return max(1, int(parallelism(session) * UNITS_PER_CORE))


def write_plan(target: Path, files: Sequence[Row], bytes_max: int, wanted: int) -> None:
    """Write down which file is in which unit, the heaviest units first.

    Args:
        target: the plan.
        files: neighbours are together in a unit.
        bytes_max: what a unit has at most, unless it is one file.
        wanted: how many units there should be at least.
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
    """How many units there are."""
    return len(set(pq.read_table(plan, columns=["unit"])["unit"].drop_null().to_pylist()))


def planned(plan: Path, unit: int) -> list[Row]:
    """The files of a unit, in their order."""
    rows: list[Row] = pq.read_table(plan, filters=[("unit", "=", unit)]).to_pylist()
    return rows


def run_units(session: Any, name: str, units: Sequence[int], work: Callable[[int], None], notice: Notice) -> None:
    """Do these units in this order, as one job."""
    if units:
        with watched(session, name, notice):
            session.sparkContext.parallelize(units, len(units)).foreach(work)


def make_unit(
    unit: int, *, folder: Path, tables: Sequence[TableSchema], journals: Journals, work: Callable[..., None]
) -> None:
    """Make one unit: `work` is told which, how to write rows of the tables below `folder`, and its journal."""
    journals = journals.of_unit(unit)
    with written(folder, unit, tables) as write, journals.opened() as journal:
        work(unit, write, journal)
    journals.forget()


@contextmanager
def written(folder: Path, unit: int, tables: Sequence[TableSchema]) -> Iterator[Write]:
    """Write the rows of a unit, one file for each table below `folder`; that of the last table comes last.

    A block that raises an error leaves no file with a name.
    """
    with ExitStack() as files:
        # Entered the other way round: what is entered first is left last.
        held = {table.name: files.enter_context(_file(folder, unit, table)) for table in reversed(tables)}
        yield lambda table, row: held[table.name].add(row)


@contextmanager
def _file(folder: Path, unit: int, table: TableSchema) -> Iterator["_Held"]:
    target = unit_file(folder, table, unit)
    target.parent.mkdir(parents=True, exist_ok=True)
    texts = [field.name for field in table.arrow if field.type == pa.string()]
    # Hidden while it is written: an attempt that is killed leaves it.
    with (
        atomic_file(target) as stream,
        pq.ParquetWriter(stream, table.arrow, compression="zstd", use_dictionary=texts) as writer,
    ):
        held = _Held(writer)
        yield held
        held.flush()


class _Held:
    """The rows of a unit in one table that are not written yet."""

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
    """Where the rows of a unit are."""
    return folder / table.name / f"{unit:05}.parquet"
