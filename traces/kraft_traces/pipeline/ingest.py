"""The stage `ingest`: files to the tables `files`, `traces`, `segments`, `events` and `quarantine`.

A file is read by one task from its beginning to its end, in bounded memory.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pyspark.sql import functions as sf

from kraft_traces.pipeline.batches import Row, map_rows
from kraft_traces.pipeline.chunks import Notice, run_chunks
from kraft_traces.pipeline.failures import InputError
from kraft_traces.pipeline.inputs import write_inputs
from kraft_traces.pipeline.intake import take_in
from kraft_traces.pipeline.schemas import EVENTS, FILES, INPUTS, INTAKE, QUARANTINE, SEGMENTS, TRACES
from kraft_traces.pipeline.session import parallelism
from kraft_traces.pipeline.spread import BUCKET, buckets_for, in_chunks, spread
from kraft_traces.pipeline.store import Workspace

CHUNK_BYTES = 2**28
"""About so many bytes of files are taken in at a time."""

INTAKE_TABLES = (FILES, TRACES, SEGMENTS, EVENTS, QUARANTINE)

_CHUNKS = "chunks.parquet"


def ingest(inputs: Any) -> Any:
    """The transformation: a DataFrame of `INPUTS` to one of `INTAKE`."""
    return map_rows(inputs.select(*INPUTS.names), _take_in, INTAKE)


def _take_in(files: Iterable[Row]) -> Iterator[Row]:
    for file in files:
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


def write_tables(session: Any, workspace: Workspace, chunk: int, intake: Any) -> None:
    """Write a chunk of all tables; `intake` is computed once."""
    if not workspace.has_chunk(INTAKE, chunk):
        workspace.write_chunk(INTAKE, chunk, intake)
    staged = session.read.schema(INTAKE.ddl).parquet(str(workspace.chunk_path(INTAKE, chunk)))
    for name, rows in tables_of(staged).items():
        (table,) = (table for table in INTAKE_TABLES if table.name == name)
        if not workspace.has_chunk(table, chunk):
            # What is small makes one file, what is large keeps those it came in.
            workspace.write_chunk(table, chunk, rows if table in (SEGMENTS, EVENTS) else rows.coalesce(1))
    workspace.drop_chunk(INTAKE, chunk)


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
    chunks = _planned_chunks(session, workspace, inputs)
    planned = session.read.parquet(str(workspace.work_file(_CHUNKS)))
    buckets = buckets_for(session, listed["files"])

    def chunk(number: int) -> None:
        files = spread(planned.where(sf.col("chunk") == number), "bytes", "source", buckets)
        write_tables(session, workspace, number, ingest(files.repartitionById(buckets, sf.col(BUCKET))))

    run_chunks(session, "ingest", workspace.missing_chunks(INTAKE_TABLES, chunks), chunk, notice)
    workspace.finish_tables(INTAKE_TABLES, chunks)
    workspace.note(waves=chunks)


def _planned_chunks(session: Any, workspace: Workspace, inputs: Any) -> int:
    """How many chunks there are; which file is in which is decided once, whatever machine takes the run up."""
    target = workspace.work_file(_CHUNKS)
    if not target.exists():
        partial = workspace.work_file(f"{_CHUNKS}.part")
        per_chunk = CHUNK_BYTES * max(1, parallelism(session) // 2)
        # The same file may have come by several names, and has the first; the driver keeps no list to know.
        facts = [sf.min(name).alias(name) for name in INPUTS.names if name != "path"]
        once = inputs.groupBy("path").agg(*facts)
        in_chunks(once, "bytes", "source", per_chunk).coalesce(1).write.mode("overwrite").parquet(str(partial))
        partial.rename(target)
    (row,) = session.read.parquet(str(target)).agg(sf.max("chunk")).collect()
    return 0 if row[0] is None else int(row[0]) + 1
