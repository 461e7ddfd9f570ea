"""Stage `ingest`: from files to the tables `files`, `traces`, `segments`, `events`, `quarantine` and `verdicts`.

A task reads each of its files once in bounded memory, and checks each trace while reading it.  Tasks run in parallel.
"""

import os
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

from kraft_pipeline.archive import Earlier
from kraft_pipeline.checking import Checking, verdict_row
from kraft_pipeline.failures import InputError
from kraft_pipeline.inputs import list_inputs
from kraft_pipeline.intake import take_in
from kraft_pipeline.journal import Journal
from kraft_pipeline.known import Known
from kraft_pipeline.progress import Notice, watched
from kraft_pipeline.schemas import EVENTS, FILES, QUARANTINE, SEGMENTS, TRACES, VERDICTS
from kraft_pipeline.store import Workspace, read
from kraft_pipeline.units import Row, Write, files_of_unit, planned_units, units_wanted, write_plan
from kraft_traces.reader import TraceReader

UNIT_BYTES = 2**25
"""Maximum size of a unit with more than one file, which takes some seconds."""

STAGE = "ingest"
INTAKE_TABLES = (TRACES, SEGMENTS, EVENTS, QUARANTINE, FILES)

_PLAN = "ingest.parquet"
_KNOWN = "known"


def _ingest(unit: int, write: Write, journal: Journal, *, plan: Path, checking: Checking, checked: Path | None) -> None:
    judge = partial(_verdict_unless_checked, journal, checking, Known(checked))
    for file in files_of_unit(plan, unit):
        take_in(write, Path(os.fsdecode(file["path"])), file["source"], file["bytes"], judge)


def _verdict_unless_checked(
    journal: Journal, checking: Checking, checked: Known, trace: Row, reader: TraceReader
) -> Row | None:
    if trace["sha256"] in checked:
        return None
    check = partial(verdict_row, trace, reader, checking)
    return journal.row(trace["trace_id"], f"{trace['source']}:{trace['first_line']}", check)


def run_ingest(
    session: Any,
    workspace: Workspace,
    patterns: Iterable[str],
    notice: Notice,
    checking: Checking,
    earlier: Earlier | None = None,
) -> None:
    """Run the stage.

    Args:
        session: Spark session.
        workspace: workspace of the run.
        patterns: input.
        notice: function that reports progress.
        checking: options of the checker.
        earlier: earlier runs whose verdicts are reused.

    Raises:
        InputError: there is nothing to read, or the input has changed.
        SparkError: the workers of some traces died repeatedly.
    """
    files, listed = list_inputs(patterns)
    if workspace.facts().setdefault("input", listed) != listed:
        raise InputError("the input has changed since the run began: begin again with another output folder")
    workspace.note(input=listed)
    stage = workspace.stage(STAGE)
    plan, checked = stage / _PLAN, None
    if not plan.exists():
        files.sort(key=lambda file: (-file["bytes"], file["source"]))
        write_plan(plan, files, UNIT_BYTES, units_wanted(session))
    if earlier is not None:
        checked = stage / _KNOWN
        earlier.write_known(session, checked)
    work = partial(_ingest, plan=plan, checking=checking, checked=checked)
    workspace.make(session, STAGE, range(planned_units(plan)), (VERDICTS, *INTAKE_TABLES), work, notice)
    workspace.finish_tables(STAGE, INTAKE_TABLES)
    if not workspace.has(VERDICTS):
        with watched(session, "verdicts", notice):
            verdicts = read(session, VERDICTS, stage)
            if earlier is not None:
                # The archive may have grown since this run began.
                taken = earlier.verdicts(session, workspace.read(session, TRACES))
                verdicts = verdicts.unionByName(taken.join(verdicts, "trace_id", "left_anti"))
            workspace.write(VERDICTS, verdicts.repartition(1).sortWithinPartitions("trace_id"))
