"""The stage `validate`: `traces` and `segments` to `verdicts`.

The unit of work is a part of a trace, from one checkpoint to the next, or a whole trace without one; its segments come
to one task, in order, one after the other.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain, groupby
from operator import itemgetter
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import Window
from pyspark.sql import functions as sf

from kraft_traces.check import CANDIDATES_MAX, EVERY, Extent, VerdictKind
from kraft_traces.pipeline.batches import Row, map_rows
from kraft_traces.pipeline.checking import given_up_row, verdict_row
from kraft_traces.pipeline.chunks import Notice, run_chunks
from kraft_traces.pipeline.earlier import Earlier
from kraft_traces.pipeline.failures import SparkError
from kraft_traces.pipeline.journal import DEATHS_MAX, Journals
from kraft_traces.pipeline.schemas import PART_VERDICTS, SEGMENTS, TRACES, VERDICTS
from kraft_traces.pipeline.spread import BUCKET, buckets_for, spread
from kraft_traces.pipeline.store import Workspace

_TRACE_COLUMNS = ("source", "generator", "workload", "profile", "command", "violation", "header")
"""The columns of `traces` that the workers need; `first_line` goes under another name, as segments have one too."""


def validate(
    traces: Any,
    segments: Any,
    buckets: int,
    journals: Journals,
    *,
    every: int = EVERY,
    candidates_max: int = CANDIDATES_MAX,
) -> Any:
    """The transformation: DataFrames of `TRACES` and `SEGMENTS` to one of `VERDICTS`.

    Args:
        traces: of a number that fits the memory of each executor.
        segments: of these traces, and perhaps of others.
        buckets: into how many tasks the parts of the traces are spread.
        journals: what they say of these parts is taken from them, the rest goes there at once.
        every: after how many events the full invariants are checked.
        candidates_max: most candidate states of a trace that leaves fields out.
    """
    parts = (
        traces.withColumn("part", sf.explode(sf.sequence(sf.lit(0), sf.col("parts") - 1)))
        # Parts of one trace are about as long as each other.
        .withColumn("share", sf.ceil(sf.col("events") / sf.col("parts")))
        .withColumn("name", sf.format_string("%s/%08d", "trace_id", "part"))
    )
    wanted = spread(parts, "share", "name", buckets).select(
        "trace_id", "part", BUCKET, sf.col("first_line").alias("trace_line"), *_TRACE_COLUMNS
    )
    ordered = (
        segments.select("trace_id", "part", "segment", "first_line", "raw", "closing")
        .join(sf.broadcast(wanted), ["trace_id", "part"])
        .repartitionById(buckets, sf.col(BUCKET))
        .sortWithinPartitions("trace_id", "part", "segment")
    )
    check = partial(_check, journals=journals, every=every, candidates_max=candidates_max)
    return decided(map_rows(ordered, check, PART_VERDICTS))


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


def _check(rows: Iterable[Row], *, journals: Journals, every: int, candidates_max: int) -> Iterator[Row]:
    with journals.opened() as journal:
        for (trace_id, part), segments in groupby(rows, itemgetter("trace_id", "part")):
            first = next(segments)
            trace = {**first, "first_line": first["trace_line"]}
            whole = chain((first,), segments)  # noqa: B031 - what is left of the group
            check = partial(_checked, trace, whole, part, every=every, candidates_max=candidates_max)
            row = journal.row(f"{trace_id}-{part}", f"{trace['source']}:{trace['first_line']}", check)
            yield {**row, "part": part}


def _checked(trace: Row, segments: Iterable[Row], part: int, deaths: int, *, every: int, candidates_max: int) -> Row:
    if deaths >= DEATHS_MAX:
        return given_up_row(trace, deaths)
    return verdict_row(trace, segments, part, every=every, candidates_max=candidates_max)


def run_validate(
    session: Any,
    workspace: Workspace,
    notice: Notice,
    *,
    every: int = EVERY,
    candidates_max: int = CANDIDATES_MAX,
    earlier: Earlier | None = None,
) -> None:
    """Run the stage, in the chunks in which the traces came in; `earlier` has verdicts that need not be found again."""
    chunks = int(workspace.facts()["waves"])
    journals = Journals(workspace.work_file("journals"))

    def chunk(number: int) -> None:
        traces, segments = (workspace.read(session, table, number) for table in (TRACES, SEGMENTS))
        taken = None
        if earlier is not None and not earlier.differs:
            taken = earlier.verdicts(session, traces)
            traces = traces.join(taken.select("trace_id"), "trace_id", "left_anti")
        buckets = buckets_for(session, int(traces.agg(sf.sum("parts")).head()[0] or 0))
        noted = journals.of_chunk(number)
        verdicts = validate(traces, segments, buckets, noted, every=every, candidates_max=candidates_max)
        if taken is not None:
            verdicts = verdicts.unionByName(taken)
        workspace.write_chunk(VERDICTS, number, verdicts.repartition(1).sortWithinPartitions("trace_id"))
        noted.forget()

    try:
        run_chunks(session, "validate", workspace.missing_chunks((VERDICTS,), chunks), chunk, notice)
    except (PySparkException, Py4JError) as error:
        if not (died := journals.described()):
            raise
        raise SparkError(f"a Spark job failed: {died}") from error
    workspace.finish_tables((VERDICTS,), chunks)
