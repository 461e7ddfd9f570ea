"""Runs one after the other: Delta Lake tables that grow by append, and what a later run takes from them.

Each run is a partition of each table, made of the files that the run itself has written.
The table `runs` comes last: who reads only what it names never sees half a run.
A verdict follows from the bytes of the trace, the model and how traces are checked: where all three are the same, it is
taken over.
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
"""The column that says of which run a row is."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_OF_THIS_TRACE = ("trace_id", "source", "generator", "workload", "profile")
_PLACE = "^line [0-9]+:"

Document = dict[str, Any]


class Archive:
    """A folder of Delta Lake tables."""

    def __init__(self, folder: Path) -> None:
        """Look at what is there.

        Raises:
            InputError: it cannot be read.
        """
        self.folder = Path(os.path.abspath(folder))
        try:
            runs = self._delta(RUNS)
            rows = [] if runs is None else runs.to_pyarrow_dataset().to_table().to_pylist()
        except (DeltaError, OSError) as error:
            raise InputError(f"{self.folder} is no archive that can be read: {error}") from error
        self.runs: Sequence[Document] = sorted(rows, key=lambda row: (row["ended_ms"], row[RUN]))
        """The rows of `runs`, the newest last."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the runs."""
        return tuple(row[RUN] for row in self.runs)

    def _delta(self, table: TableSchema) -> Any:
        path = str(self.folder / table.name)
        return DeltaTable(path) if DeltaTable.is_deltatable(path) else None

    def files(self, table: TableSchema, runs: Iterable[str]) -> list[str]:
        """The files of these runs."""
        delta, folders = self._delta(table), {f"{RUN}={name}" for name in runs}
        return [] if delta is None else [file for file in delta.file_uris() if Path(file).parent.name in folders]

    def read(self, session: Any, table: TableSchema, runs: Iterable[str] | None = None) -> Any:
        """A table as a DataFrame with the column `run`: the rows of some runs, or of all that have ended."""
        schema = table.spark if table is RUNS else table.spark.add(RUN, "string", False)
        files = self.files(table, self.names if runs is None else runs)
        if not files:
            return session.createDataFrame([], schema)
        return session.read.schema(schema).option("basePath", str(self.folder / table.name)).parquet(*files)

    def check_name(self, run: str, *, resume: bool) -> None:
        """Is this a name for one more run?

        Raises:
            OutputError: it is not.
        """
        if not _NAME.fullmatch(run):
            raise OutputError(f"{run!r} cannot name a run in an archive: expected letters, digits, `.`, `_` and `-`")
        if run in self.names and not resume:
            raise OutputError(f"{self.folder} has a run {run} already: name another output folder")

    def add(self, workspace: Workspace, row: Mapping[str, Any]) -> None:
        """Append the tables of a run that is complete, `row` of `runs` last; what a stopped attempt has left goes."""
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
        schema = Schema.from_arrow(pa.schema([*(one for one in table.arrow if one.name != RUN), _RUN_FIELD]))
        delta = self._delta(table)
        if delta is None:
            create_table_with_add_actions(str(folder), schema, actions, partition_by=[RUN])
        else:
            filters = [(RUN, "=", run)]
            delta.create_write_transaction(actions, "overwrite", schema, partition_by=[RUN], partition_filters=filters)


_RUN_FIELD = pa.field(RUN, pa.string(), nullable=False)


class Earlier:
    """The runs of an archive with the same model and options: what they have judged need not be checked again."""

    def __init__(self, archive: Archive, checking: Mapping[str, Any]) -> None:
        self.archive = archive
        self.runs = [row[RUN] for row in archive.runs if all(row[name] == now for name, now in checking.items())]

    def as_dict(self) -> Document:
        """For the report."""
        return {"archive": str(self.archive.folder), "runs": len(self.archive.runs), "same": len(self.runs)}

    def write_known(self, session: Any, target: Path) -> None:
        """Write down the bytes whose verdicts `verdicts` takes over, unless that is done."""
        if not target.exists():
            digests = self._judged(session).select("sha256").distinct()
            write_known(target, (row["sha256"] for row in digests.toLocalIterator()))

    def verdicts(self, session: Any, traces: Any) -> Any:
        """Those of their verdicts that are verdicts on `traces`, a DataFrame of `TRACES`, as one of `VERDICTS`."""
        before = (
            self._judged(session)
            .groupBy(sf.col("sha256").alias("same"))
            .agg(sf.min_by(sf.struct("first_line", *VERDICTS.names), sf.struct(RUN, "trace_id")).alias("before"))
        )
        moved = sf.col("first_line") - sf.col("before.first_line")
        columns = {name: sf.col(f"before.{name}") for name in VERDICTS.names}
        columns |= {name: sf.col(name) for name in _OF_THIS_TRACE}
        columns |= {"line": sf.col("before.line") + moved, "taken_over": sf.lit(True)}
        found = traces.join(before, sf.col("sha256") == sf.col("same"))
        return found.select(*(column.alias(name) for name, column in columns.items()))

    def _judged(self, session: Any) -> Any:
        """Their verdicts that are the same wherever the trace stands, with its digest, a DataFrame."""
        # What failed for a reason of the checker's own may go well this time.
        verdicts = self.archive.read(session, VERDICTS, self.runs).where("NOT defect")
        # Such a reason counts lines in the file.
        verdicts = verdicts.where(~sf.coalesce(sf.col("reason").rlike(_PLACE), sf.lit(False)))
        traces = self.archive.read(session, TRACES, self.runs)
        return verdicts.join(traces.select(RUN, "trace_id", "first_line", "sha256"), [RUN, "trace_id"])
