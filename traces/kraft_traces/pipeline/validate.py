"""The stage `validate`: `traces` and `segments` to `verdicts`.

The unit of work holds parts of traces, from one checkpoint to the next, or whole traces without one; a worker reads the
segments of one after the other from where `ingest` or `generate` wrote them.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import pyarrow.dataset as pd
import pyarrow.parquet as pq
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import Window
from pyspark.sql import functions as sf

from kraft_traces.check import Extent, VerdictKind
from kraft_traces.pipeline.checking import given_up_row, verdict_row
from kraft_traces.pipeline.earlier import Earlier
from kraft_traces.pipeline.failures import SparkError
from kraft_traces.pipeline.journal import DEATHS_MAX, Journals
from kraft_traces.pipeline.progress import Notice
from kraft_traces.pipeline.schemas import PART_VERDICTS, SEGMENTS, TRACES, VERDICTS
from kraft_traces.pipeline.store import Workspace, read
from kraft_traces.pipeline.units import UNIT_EVENTS, Row, planned, planned_units, units_wanted, write_plan, written

_PLAN = "validate.parquet"
_TRACE_COLUMNS = (
    "trace_id",
    "source",
    "generator",
    "workload",
    "profile",
    "command",
    "violation",
    "header",
    "first_line",
    "lines",
)
_SEGMENT_COLUMNS = ("trace_id", "part", "first_line", "raw", "closing")


def decided(parts: Any) -> Any:
    """The verdicts on traces from those on their parts, a DataFrame of `PART_VERDICTS`.

    The first part that is not accepted decides, as it would if the parts were checked one after the other; else the
    last, which knows whether the trace is complete.
    What was compared, and the open answers, are those of all parts up to the one that decides.
    """
    trace = Window.partitionBy("trace_id")
    so_far = trace.orderBy("part").rowsBetween(Window.unboundedPreceding, Window.currentRow)
    part = sf.col("part")
    rank = sf.when(sf.col("verdict") == VerdictKind.ACCEPTED.value, -part).otherwise(part - 2**31)
    return (
        parts.withColumn("candidates_max", sf.max("candidates_max").over(so_far))
        .withColumn(
            "open_answers", sf.array_sort(sf.array_distinct(sf.flatten(sf.collect_list("open_answers").over(so_far))))
        )
        .withColumn("compared", _extent(sf.collect_set("compared").over(so_far)))
        .withColumn("shown", _sums(sf.collect_list("shown").over(so_far)))
        .withColumn("place", sf.row_number().over(trace.orderBy(rank)))
        .where("place = 1")
        .select(*VERDICTS.names)
    )


def _extent(words: Any) -> Any:
    """How much of a trace was compared, from the words about its parts."""
    return sf.when(sf.size(words) <= 1, sf.try_element_at(words, sf.lit(1))).otherwise(Extent.PARTIAL.value)


def _sums(shown: Any) -> Any:
    """What the parts of a trace show, added up; a part on which the checker failed shows nothing."""

    def added(one: Any, other: Any) -> Any:
        return sf.struct(one["name"], *((one[name] + other[name]).alias(name) for name in ("shown", "events")))

    parts = sf.filter(shown, lambda counts: sf.size(counts) > 0)
    first = sf.coalesce(sf.try_element_at(parts, sf.lit(1)), sf.try_element_at(shown, sf.lit(1)))
    rest = sf.slice(parts, sf.lit(2), sf.greatest(sf.size(parts) - 1, sf.lit(0)))
    return sf.aggregate(rest, first, lambda sums, counts: sf.zip_with(sums, counts, added))


def parts_of(traces: Any) -> list[Row]:
    """The parts of traces, a DataFrame of `TRACES` with the `file` of each, in the order of their lines."""
    rows = traces.select("file", "source", "first_line", "trace_id", "parts", "events").collect()
    # Parts of one trace are about as long as each other.
    return [
        {"file": row["file"], "trace_id": row["trace_id"], "part": part, "events": row["events"] // row["parts"]}
        for row in sorted(rows, key=itemgetter("file", "source", "first_line"))
        for part in range(row["parts"])
    ]


def _check(unit: int, *, folder: Path, tables: Path, journals: Journals, every: int, candidates_max: int) -> None:
    journals = journals.of_unit(unit)
    with written(folder, unit, (PART_VERDICTS,)) as write, journals.opened() as journal:
        for file, parts in groupby(planned(folder / _PLAN, unit), itemgetter("file")):
            for trace, part, segments in _traces(tables, file, {(row["trace_id"], row["part"]) for row in parts}):
                check = partial(_checked, trace, segments, part, every=every, candidates_max=candidates_max)
                key, what = f"{trace['trace_id']}-{part}", f"{trace['source']}:{trace['first_line']}"
                write(PART_VERDICTS, {**journal.row(key, what, check), "part": part})
    journals.forget()


def _traces(tables: Path, file: str, wanted: set[tuple[str, int]]) -> Iterator[tuple[Row, int, Iterator[Row]]]:
    """The parts that are wanted of the traces in a file: the trace, the part, its segments."""
    names, numbers = {name for name, _ in wanted}, {part for _, part in wanted}
    known = pq.read_table(
        tables / TRACES.name / file, columns=list(_TRACE_COLUMNS), filters=[("trace_id", "in", names)]
    )
    traces = {row["trace_id"]: row for row in known.to_pylist()}
    # By parts and lines a reader knows which groups of rows to leave out; names say nothing about their order.
    lines, part = pd.field("first_line"), pd.field("part")
    keep = pd.field("trace_id").isin(names) & (part >= min(numbers)) & (part <= max(numbers))
    keep &= lines >= min(trace["first_line"] for trace in traces.values())
    keep &= lines < max(trace["first_line"] + trace["lines"] for trace in traces.values())
    scanner = pd.dataset(tables / SEGMENTS.name / file).scanner(
        list(_SEGMENT_COLUMNS), keep, batch_size=16, batch_readahead=1, fragment_readahead=1, use_threads=False
    )
    rows = (row for batch in scanner.to_batches() for row in batch.to_pylist())
    for (name, number), segments in groupby(rows, itemgetter("trace_id", "part")):
        if (name, number) in wanted:
            yield traces[name], number, segments


def _checked(trace: Row, segments: Iterable[Row], part: int, deaths: int, *, every: int, candidates_max: int) -> Row:
    if deaths >= DEATHS_MAX:
        return given_up_row(trace, deaths)
    return verdict_row(trace, segments, part, every=every, candidates_max=candidates_max)


def run_validate(
    session: Any,
    workspace: Workspace,
    notice: Notice,
    *,
    every: int,
    candidates_max: int,
    earlier: Earlier | None = None,
) -> None:
    """Run the stage; `earlier` has verdicts that need not be found again."""
    if workspace.has(VERDICTS):
        return
    traces = workspace.read(session, TRACES).withColumn("file", sf.col("_metadata.file_name"))
    taken = earlier.verdicts(session, traces) if earlier is not None and not earlier.differs else None
    plan = workspace.work / _PLAN
    if not plan.exists():
        new = traces if taken is None else traces.join(taken.select("trace_id"), "trace_id", "left_anti")
        write_plan(plan, parts_of(new), "events", UNIT_EVENTS, units_wanted(session))
    journals = Journals(workspace.work / "journals")
    work = partial(_check, tables=workspace.root, journals=journals, every=every, candidates_max=candidates_max)
    try:
        workspace.make(session, "validate", range(planned_units(plan)), (PART_VERDICTS,), work, notice)
    except (PySparkException, Py4JError) as error:
        if not (died := journals.described()):
            raise
        raise SparkError(f"a Spark job failed: {died}") from error
    (workspace.work / PART_VERDICTS.name).mkdir(exist_ok=True)
    verdicts = decided(read(session, PART_VERDICTS, workspace.work))
    if taken is not None:
        verdicts = verdicts.unionByName(taken)
    workspace.write(VERDICTS, verdicts.repartition(1).sortWithinPartitions("trace_id"))
