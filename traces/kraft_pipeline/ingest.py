"""The stage `ingest`: files to the tables `files`, `traces`, `segments`, `events` and `quarantine`.

A file is read by one task from its beginning to its end, in bounded memory.
Where it is one of many, its traces are checked as they are read; what is left of the others is for `validate`.
"""

import os
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

from kraft_pipeline.checking import Checking, verdict_row
from kraft_pipeline.failures import InputError
from kraft_pipeline.inputs import list_inputs
from kraft_pipeline.intake import take_in
from kraft_pipeline.journal import Journal
from kraft_pipeline.known import Known
from kraft_pipeline.progress import Notice
from kraft_pipeline.schemas import EVENTS, FILES, PART_VERDICTS, QUARANTINE, SEGMENTS, TRACES
from kraft_pipeline.store import Workspace
from kraft_pipeline.units import Row, Write, planned, planned_units, units_wanted, write_plan
from kraft_traces.reader import TraceReader

UNIT_BYTES = 2**25
"""A unit has no more bytes of files, unless it is one file: some seconds of work."""

STAGE = "ingest"
INTAKE_TABLES = (TRACES, SEGMENTS, EVENTS, QUARANTINE, FILES)

_PLAN = "ingest.parquet"


def _ingest(
    unit: int,
    write: Write,
    journal: Journal,
    *,
    plan: Path,
    checking: Checking,
    known: Path | None,
    bytes_max: int,
) -> None:
    files = planned(plan, unit)
    # A large file is read on one core: its traces are checked on all of them.
    is_large = sum(file["bytes"] for file in files) > bytes_max
    judge = None if is_large else partial(_judged, journal, checking, Known(known))
    for file in files:
        take_in(write, Path(os.fsdecode(file["path"])), file["source"], file["bytes"], judge=judge)


def _judged(journal: Journal, checking: Checking, known: Known, trace: Row, reader: TraceReader) -> Row | None:
    if trace["sha256"] in known:
        # `validate` takes the verdict over, or finds that there is none.
        return None

    check = partial(verdict_row, trace, reader, checking)
    return journal.row(trace["trace_id"], f"{trace['source']}:{trace['first_line']}", check)


def run_ingest(
    session: Any,
    workspace: Workspace,
    patterns: Iterable[str],
    notice: Notice,
    checking: Checking,
    known: Path | None = None,
) -> None:
    """Run the stage.

    Args:
        session: of Spark.
        workspace: of the run.
        patterns: what is read.
        notice: is told how far it is.
        checking: how to check what is read.
        known: file of `write_known`: what is not checked here, because its verdict may be taken over.

    Raises:
        InputError: there is nothing to read, or what there was is not the same any more.
        SparkError: the same few traces have ended their workers again and again.
    """
    files, listed = list_inputs(patterns)
    if workspace.facts().setdefault("input", listed) != listed:
        raise InputError("the input has changed since the run began: begin again with another output folder")
    workspace.note(input=listed)
    plan = workspace.stage(STAGE) / _PLAN
    if not plan.exists():
        files.sort(key=lambda file: (-file["bytes"], file["source"]))
        write_plan(plan, files, "bytes", UNIT_BYTES, units_wanted(session))
    work = partial(_ingest, plan=plan, checking=checking, known=known, bytes_max=UNIT_BYTES)
    tables = (PART_VERDICTS, *INTAKE_TABLES)
    workspace.make(session, STAGE, range(planned_units(plan)), tables, work, notice)
    workspace.finish_tables(STAGE, INTAKE_TABLES)
