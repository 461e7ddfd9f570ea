"""Archive of runs in Delta Lake tables, from which later runs reuse verdicts.

Each run is a partition of each table, made of the files that the run itself wrote.
The table `runs` is written last, so readers that use the runs in it never see an incomplete one.
A verdict depends on the bytes of the trace, the model and the options of the checker; if all three are equal, it is
reused.
"""

import json
import os
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable, Schema
from deltalake.exceptions import DeltaError
from deltalake.transaction import AddAction, create_table_with_add_actions
from pyspark.sql import functions as sf

from kraft_pipeline.failures import InputError, OutputError
from kraft_pipeline.known import write_known
from kraft_pipeline.schemas import RUNS, TABLES, TRACES, VERDICTS, TableSchema
from kraft_pipeline.store import Workspace

RUN = "run"
"""Column with the run of a row."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_OF_THIS_TRACE = ("trace_id", "source", "generator", "workload", "profile")
_PLACE = "^line [0-9]+:"

Document = dict[str, Any]


class Archive:
    """Folder of Delta Lake tables."""

    def __init__(self, folder: Path) -> None:
        """Open an archive, which may not exist yet.

        Raises:
            InputError: the archive cannot be read.
        """
        self.folder = Path(os.path.abspath(folder))
        try:
            runs = self._delta(RUNS)
            rows = [] if runs is None else runs.to_pyarrow_dataset().to_table().to_pylist()
        except (DeltaError, OSError) as error:
            raise InputError(f"{self.folder} is not a readable archive: {error}") from error
        self.runs: Sequence[Document] = sorted(rows, key=lambda row: (row["ended_ms"], row[RUN]))
        """Rows of `runs`, the newest last."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the runs."""
        return tuple(row[RUN] for row in self.runs)

    def _delta(self, table: TableSchema) -> Any:
        path = str(self.folder / table.name)
        return DeltaTable(path) if DeltaTable.is_deltatable(path) else None

    def files(self, table: TableSchema, runs: Iterable[str]) -> list[str]:
        """Return the files of these runs."""
        delta, folders = self._delta(table), {f"{RUN}={name}" for name in runs}
        return [] if delta is None else [file for file in delta.file_uris() if Path(file).parent.name in folders]

    def read(self, session: Any, table: TableSchema, runs: Iterable[str] | None = None) -> Any:
        """Return a table as a DataFrame with the column `run`: the rows of some runs, or of all complete ones."""
        schema = table.spark if table is RUNS else table.spark.add(RUN, "string", False)
        files = self.files(table, self.names if runs is None else runs)
        if not files:
            return session.createDataFrame([], schema)
        return session.read.schema(schema).option("basePath", str(self.folder / table.name)).parquet(*files)

    def check_name(self, run: str, *, resume: bool) -> None:
        """Check that a name can be used for another run.

        Raises:
            OutputError: the name is invalid or in use.
        """
        if not _NAME.fullmatch(run):
            raise OutputError(f"{run!r} cannot name a run in an archive: expected letters, digits, `.`, `_` and `-`")
        if run in self.names and not resume:
            raise OutputError(f"{self.folder} has a run {run} already: name another output folder")

    def add(self, workspace: Workspace, row: Mapping[str, Any]) -> None:
        """Append the tables of a complete run, `row` of `runs` last, in place of those of an interrupted attempt."""
        for table in TABLES:
            self._append(table, row[RUN], sorted(workspace.path(table).glob("*.parquet")))
        file = workspace.work / "run.parquet"
        pq.write_table(pa.Table.from_pylist([dict(row)], schema=RUNS.arrow).drop_columns([RUN]), file)
        self._append(RUNS, row[RUN], [file])

    def _append(self, table: TableSchema, run: str, files: Iterable[Path]) -> None:
        folder = self.folder / table.name
        target = folder / f"{RUN}={run}"
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        actions = []
        for file in files:
            linked = target / file.name
            try:
                linked.hardlink_to(file)
            except OSError:
                shutil.copyfile(file, linked)
            rows = json.dumps({"numRecords": pq.read_metadata(linked).num_rows})
            path, size = f"{target.name}/{file.name}", linked.stat().st_size
            actions.append(AddAction(path, size, {RUN: run}, linked.stat().st_mtime_ns // 10**6, True, rows))
        schema = Schema.from_arrow(pa.schema([*(field for field in table.arrow if field.name != RUN), _RUN_FIELD]))
        delta = self._delta(table)
        if delta is None:
            create_table_with_add_actions(str(folder), schema, actions, partition_by=[RUN])
        else:
            filters = [(RUN, "=", run)]
            delta.create_write_transaction(actions, "overwrite", schema, partition_by=[RUN], partition_filters=filters)


_RUN_FIELD = pa.field(RUN, pa.string(), nullable=False)


class Earlier:
    """Runs of an archive with the same model and options, whose verdicts are reused."""

    def __init__(self, archive: Archive, checking: Mapping[str, Any]) -> None:
        self.archive = archive
        self.runs = [row[RUN] for row in archive.runs if all(row[name] == now for name, now in checking.items())]

    def as_dict(self) -> Document:
        """Return the figures for the report."""
        return {"archive": str(self.archive.folder), "runs": len(self.archive.runs), "same": len(self.runs)}

    def write_known(self, session: Any, target: Path) -> None:
        """Write the digests of the traces whose verdicts are reused, unless the file exists."""
        if not target.exists():
            digests = self._judged(session).select("sha256").distinct()
            write_known(target, (row["sha256"] for row in digests.toLocalIterator()))

    def verdicts(self, session: Any, traces: Any) -> Any:
        """Return the reusable verdicts on `traces`, a DataFrame of `TRACES`, as one of `VERDICTS`."""
        before = (
            self._judged(session)
            .groupBy(sf.col("sha256").alias("same"))
            .agg(sf.min_by(sf.struct("first_line", *VERDICTS.names), sf.struct(RUN, "trace_id")).alias("before"))
        )
        moved = sf.col("first_line") - sf.col("before.first_line")
        columns = {name: sf.col(f"before.{name}") for name in VERDICTS.names}
        columns |= {name: sf.col(name) for name in _OF_THIS_TRACE}
        columns |= {"line": sf.col("before.line") + moved, "taken_over": sf.lit(True)}
        joined = traces.join(before, sf.col("sha256") == sf.col("same"))
        return joined.select(*(column.alias(name) for name, column in columns.items()))

    def _judged(self, session: Any) -> Any:
        """Return a DataFrame of the verdicts that do not depend on the place of the trace, with its digest."""
        # A check that failed because of a defect of the checker may succeed now.
        verdicts = self.archive.read(session, VERDICTS, self.runs).where("NOT defect")
        # Such a reason has a line number of the file.
        verdicts = verdicts.where(~sf.coalesce(sf.col("reason").rlike(_PLACE), sf.lit(False)))
        traces = self.archive.read(session, TRACES, self.runs)
        return verdicts.join(traces.select(RUN, "trace_id", "first_line", "sha256"), [RUN, "trace_id"])
