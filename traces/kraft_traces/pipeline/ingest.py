"""The stage `ingest`: files to the tables `files`, `traces`, `segments`, `events` and `quarantine`.

A file is read by one task from its beginning to its end, in bounded memory.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import functions as sf

from kraft_traces.pipeline.batches import Row, batches_of, rows_of
from kraft_traces.pipeline.failures import InputError
from kraft_traces.pipeline.inputs import write_inputs
from kraft_traces.pipeline.intake import take_in
from kraft_traces.pipeline.schemas import EVENTS, FILES, INPUTS, INTAKE, QUARANTINE, SEGMENTS, TRACES
from kraft_traces.pipeline.session import parallelism
from kraft_traces.pipeline.spread import BUCKET, buckets_for, in_waves, spread
from kraft_traces.pipeline.store import Workspace
from kraft_traces.pipeline.waves import Notice, run_waves

WAVE_BYTES = 2**28
"""About so many bytes of files are taken in at a time."""

INTAKE_TABLES = (FILES, TRACES, SEGMENTS, EVENTS, QUARANTINE)

_WAVES = "waves.parquet"


def ingest(inputs: Any) -> Any:
    """The transformation: a DataFrame of `INPUTS` to one of `INTAKE`."""
    return inputs.select(*INPUTS.names).mapInArrow(_take_in, INTAKE.ddl)


def _take_in(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches_of(_rows(batches), INTAKE)


def _rows(batches: Iterable[pa.RecordBatch]) -> Iterator[Row]:
    for file in rows_of(batches):
        yield from take_in(Path(os.fsdecode(file["path"])), file["source"], file["bytes"])


def tables_of(intake: Any) -> dict[str, Any]:
    """The tables, by name, in a DataFrame of `INTAKE`."""
    segments = intake.where("segment IS NOT NULL").select("segment.*")
    tables = {
        table.name: intake.where(f"{column} IS NOT NULL").select(f"{column}.*")
        for table, column in ((FILES, "file"), (TRACES, "trace"), (QUARANTINE, "quarantine"))
    }
    tables[SEGMENTS.name] = segments.drop("events")
    tables[EVENTS.name] = segments.select(sf.explode("events").alias("event")).select("event.*")
    return tables


def write_tables(session: Any, workspace: Workspace, wave: int, intake: Any) -> None:
    """Write a wave of all tables; `intake` is computed once."""
    if not workspace.has_wave(INTAKE, wave):
        workspace.write_wave(INTAKE, wave, intake)
    staged = session.read.schema(INTAKE.ddl).parquet(str(workspace.wave_path(INTAKE, wave)))
    for name, rows in tables_of(staged).items():
        (table,) = (table for table in INTAKE_TABLES if table.name == name)
        if not workspace.has_wave(table, wave):
            # What is small makes one file, what is large keeps those it came in.
            workspace.write_wave(table, wave, rows if table in (SEGMENTS, EVENTS) else rows.coalesce(1))
    workspace.drop_wave(INTAKE, wave)


def run_ingest(session: Any, workspace: Workspace, patterns: Iterable[str], notice: Notice) -> None:
    """Run the stage.

    Raises:
        InputError: there is nothing to read, or what there was is not the same any more.
    """
    listing = workspace.work_file("inputs.parquet")
    listed = write_inputs(patterns, listing)
    known = workspace.facts().get("input")
    if known is not None and known != listed:
        raise InputError("the input has changed since the run began: begin again with another output folder")
    workspace.note(input=listed)
    inputs = session.read.schema(INPUTS.ddl).parquet(str(listing))
    waves = _planned_waves(session, workspace, inputs)
    planned = session.read.parquet(str(workspace.work_file(_WAVES)))
    buckets = buckets_for(session, listed["files"])

    def wave(number: int) -> None:
        files = spread(planned.where(sf.col("wave") == number), "bytes", "source", buckets)
        write_tables(session, workspace, number, ingest(files.repartitionById(buckets, sf.col(BUCKET))))

    run_waves(session, "ingest", workspace.missing_waves(INTAKE_TABLES, waves), wave, notice)
    workspace.finish_tables(INTAKE_TABLES, waves)
    workspace.note(waves=waves)


def _planned_waves(session: Any, workspace: Workspace, inputs: Any) -> int:
    """How many waves there are; which file is in which is decided once, whatever machine takes the run up."""
    target = workspace.work_file(_WAVES)
    if not target.exists():
        partial = workspace.work_file(f"{_WAVES}.part")
        per_wave = WAVE_BYTES * max(1, parallelism(session) // 2)
        # The same file may have come by several names, and has the first; the driver keeps no list to know.
        facts = [sf.min(name).alias(name) for name in INPUTS.names if name != "path"]
        once = inputs.groupBy("path").agg(*facts)
        in_waves(once, "bytes", "source", per_wave).coalesce(1).write.mode("overwrite").parquet(str(partial))
        partial.rename(target)
    (row,) = session.read.parquet(str(target)).agg(sf.max("wave")).collect()
    return 0 if row[0] is None else int(row[0]) + 1
