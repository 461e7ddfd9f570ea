"""The stage `validate`: what `ingest` has not checked, `traces` and `segments`, to `verdicts` of all.

The unit of work holds parts of traces, from one checkpoint to the next, or whole traces without one; a worker reads the
segments of one after the other from where `ingest` wrote them.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import pyarrow.dataset as pd
import pyarrow.parquet as pq
from pyspark.sql import functions as sf

from kraft_pipeline import ingest
from kraft_pipeline.checking import Checking, part_row
from kraft_pipeline.journal import Journal
from kraft_pipeline.progress import Notice, watched
from kraft_pipeline.schemas import PART_VERDICTS, SEGMENTS, TRACES, VERDICTS
from kraft_pipeline.store import Workspace, read
from kraft_pipeline.units import UNIT_EVENTS, Row, Write, planned, planned_units, units_wanted, write_plan
from kraft_traces.check import Extent, VerdictKind

STAGE = "validate"

_PLAN = "validate.parquet"
_TRACE_COLUMNS = (
    "trace_id",
    "source",
    "generator",
    "workload",
    "profile",
    "header",
    "first_line",
    "lines",
)
_SEGMENT_COLUMNS = ("trace_id", "part", "first_line", "raw", "closing")


def together(parts: Iterable[Row]) -> Row:
    """The verdict on a trace from those on its parts, rows of `PART_VERDICTS` in their order.

    The first part that is not accepted decides, as it would if the parts were checked one after the other; else the
    last, which knows whether the trace is complete.
    An inconclusive trace has the reasons of all parts, because any of them may have a gap.
    What was compared, and the open answers, are those of all parts up to the one that decides.
    """
    judged: list[Row] = []
    for row in parts:
        if not judged or judged[-1]["verdict"] == VerdictKind.ACCEPTED.value:
            judged.append(row)
    shown: dict[str, Row] = {}
    for one in chain.from_iterable(row["shown"] for row in judged):
        counted = shown.setdefault(one["name"], {"name": one["name"], "shown": 0, "events": 0})
        for name in ("shown", "events"):
            counted[name] += one[name]
    reasons = [row["reason"] for row in judged if row["reason"] is not None]
    is_open = judged[-1]["verdict"] == VerdictKind.INCONCLUSIVE.value
    words = {row["compared"] for row in judged} - {None}
    row = judged[-1] | {
        "candidates_max": max(row["candidates_max"] for row in judged),
        "open_answers": sorted({answer for row in judged for answer in row["open_answers"]}),
        "compared": Extent.PARTIAL.value if len(words) > 1 else next(iter(words), None),
        "shown": list(shown.values()),
        "reason": "; ".join(reasons) if is_open else None,
    }
    return {name: row[name] for name in VERDICTS.names}


def _decided(session: Any, traces: Any, rows: Any) -> Any:
    """The verdicts from those on parts, DataFrames; of a trace in parts one at a time comes to this process."""
    in_parts = traces.where("parts > 1").select("trace_id")
    of_parts = rows.join(in_parts, "trace_id", "left_semi").orderBy("trace_id", "part").toLocalIterator()
    groups = groupby((row.asDict(recursive=True) for row in of_parts), itemgetter("trace_id"))
    found = [tuple(together(parts).values()) for _, parts in groups]
    whole = rows.join(in_parts, "trace_id", "left_anti").select(*VERDICTS.names)
    return whole.unionByName(session.createDataFrame(found, VERDICTS.spark))


def parts_of(traces: Any) -> list[Row]:
    """The parts of traces, a DataFrame of `TRACES` with the `file` of each, in the order of their lines."""
    rows = traces.select("file", "source", "first_line", "trace_id", "parts", "events").collect()
    # Parts of one trace are about as long as each other.
    return [
        {"file": row["file"], "trace_id": row["trace_id"], "part": part, "events": row["events"] // row["parts"]}
        for row in sorted(rows, key=itemgetter("file", "source", "first_line"))
        for part in range(row["parts"])
    ]


def _check(unit: int, write: Write, journal: Journal, *, plan: Path, tables: Path, checking: Checking) -> None:
    for file, parts in groupby(planned(plan, unit), itemgetter("file")):
        for trace, part, segments in _traces(tables, file, {(row["trace_id"], row["part"]) for row in parts}):
            check = partial(part_row, trace, segments, part, checking)
            key, what = f"{trace['trace_id']}-{part}", f"{trace['source']}:{trace['first_line']}"
            write(PART_VERDICTS, {**journal.row(key, what, check), "part": part})


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


def run_validate(
    session: Any,
    workspace: Workspace,
    notice: Notice,
    checking: Checking,
    verdicts_on: Callable[[Any, Any], Any] | None = None,
) -> None:
    """Run the stage; `verdicts_on` gives, with a session and traces, the verdicts that need not be found again.

    Raises:
        SparkError: the same few traces have ended their workers again and again.
    """
    if workspace.has(VERDICTS):
        return
    traces = workspace.read(session, TRACES).withColumn("file", sf.col("_metadata.file_name"))
    taken = None if verdicts_on is None else verdicts_on(session, traces)
    judged, checked = workspace.stage(ingest.STAGE), workspace.stage(STAGE)
    plan = checked / _PLAN
    if not plan.exists():
        known = read(session, PART_VERDICTS, judged).select("trace_id")
        if taken is not None:
            known = known.unionByName(taken.select("trace_id"))
        parts = parts_of(traces.join(known, "trace_id", "left_anti"))
        workspace.note(left_to_validate=sum(part["events"] for part in parts))
        write_plan(plan, parts, "events", UNIT_EVENTS, units_wanted(session))
    work = partial(_check, plan=plan, tables=workspace.root, checking=checking)
    workspace.make(session, STAGE, range(planned_units(plan)), (PART_VERDICTS,), work, notice)
    with watched(session, "verdicts", notice):
        rows = read(session, PART_VERDICTS, judged, checked)
        verdicts = _decided(session, traces, rows)
        if taken is not None:
            # The archive may have grown since this run began.
            verdicts = verdicts.unionByName(taken.join(rows, "trace_id", "left_anti"))
        workspace.write(VERDICTS, verdicts.repartition(1).sortWithinPartitions("trace_id"))
