"""The stage `validate`: `traces` and `segments` to `verdicts`.

The unit of work is a trace; its segments come to one task, in order, one after the other.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any

import pyarrow as pa
from pyspark.sql import functions as sf

from kraft_traces.check import CANDIDATES_MAX, EVERY
from kraft_traces.pipeline.batches import Row, batches_of, rows_of
from kraft_traces.pipeline.checking import verdict_row
from kraft_traces.pipeline.schemas import SEGMENTS, TRACES, VERDICTS
from kraft_traces.pipeline.spread import BUCKET, buckets_for, spread
from kraft_traces.pipeline.store import Workspace
from kraft_traces.pipeline.waves import Notice, run_waves

_TRACE_COLUMNS = ("source", "generator", "workload", "profile", "command", "violation")
"""The columns of `traces` that a verdict repeats; `first_line` goes under another name, as segments have one too."""


def validate(
    traces: Any, segments: Any, buckets: int, *, every: int = EVERY, candidates_max: int = CANDIDATES_MAX
) -> Any:
    """The transformation: DataFrames of `TRACES` and `SEGMENTS` to one of `VERDICTS`.

    Args:
        traces: of a number that fits the memory of each executor.
        segments: of these traces, and perhaps of others.
        buckets: into how many tasks the traces are spread.
        every: after how many events the full invariants are checked.
        candidates_max: most candidate states of a trace that leaves fields out.
    """
    wanted = spread(traces, "events", "trace_id", buckets).select(
        "trace_id", BUCKET, sf.col("first_line").alias("trace_line"), *_TRACE_COLUMNS
    )
    ordered = (
        segments.select("trace_id", "segment", "raw")
        .join(sf.broadcast(wanted), "trace_id")
        .repartitionById(buckets, sf.col(BUCKET))
        .sortWithinPartitions("trace_id", "segment")
    )
    return ordered.mapInArrow(partial(_check, every=every, candidates_max=candidates_max), VERDICTS.ddl)


def _check(batches: Iterable[pa.RecordBatch], *, every: int, candidates_max: int) -> Iterator[pa.RecordBatch]:
    yield from batches_of(_verdicts(batches, every, candidates_max), VERDICTS)


def _verdicts(batches: Iterable[pa.RecordBatch], every: int, candidates_max: int) -> Iterator[Row]:
    for _, segments in groupby(rows_of(batches), itemgetter("trace_id")):
        first = next(segments)
        trace = {**first, "first_line": first["trace_line"]}
        blocks = _blocks(first, segments)  # noqa: B031 - what is left of the group
        yield verdict_row(trace, blocks, every=every, candidates_max=candidates_max)


def _blocks(first: Row, rest: Iterator[Row]) -> Iterator[bytes]:
    yield first["raw"]
    for segment in rest:
        yield segment["raw"]


def run_validate(
    session: Any, workspace: Workspace, notice: Notice, *, every: int = EVERY, candidates_max: int = CANDIDATES_MAX
) -> None:
    """Run the stage, in the waves in which the traces came in."""
    waves = int(workspace.facts()["waves"])

    def wave(number: int) -> None:
        traces, segments = (workspace.read(session, table, number) for table in (TRACES, SEGMENTS))
        buckets = buckets_for(session, traces.count())
        verdicts = validate(traces, segments, buckets, every=every, candidates_max=candidates_max)
        workspace.write_wave(VERDICTS, number, verdicts.repartition(1).sortWithinPartitions("trace_id"))

    run_waves(session, "validate", workspace.missing_waves((VERDICTS,), waves), wave, notice)
    workspace.finish_tables((VERDICTS,), waves)
