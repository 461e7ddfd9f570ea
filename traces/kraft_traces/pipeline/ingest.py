"""The stage `ingest`: files to the tables `files`, `traces`, `segments`, `events` and `quarantine`.

A file is read by one task from its beginning to its end, in bounded memory.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kraft_traces.pipeline.failures import InputError
from kraft_traces.pipeline.inputs import list_inputs
from kraft_traces.pipeline.intake import take_in
from kraft_traces.pipeline.progress import Notice
from kraft_traces.pipeline.schemas import EVENTS, FILES, QUARANTINE, SEGMENTS, TRACES
from kraft_traces.pipeline.store import Workspace
from kraft_traces.pipeline.units import Row, Write, planned, planned_units, units_wanted, write_plan, written

UNIT_BYTES = 2**25
"""A unit has no more bytes of files, unless it is one file: some seconds of work."""

INTAKE_TABLES = (TRACES, SEGMENTS, EVENTS, QUARANTINE, FILES)

_PLAN = "ingest.parquet"
_TABLE_OF = {"file": FILES, "trace": TRACES, "quarantine": QUARANTINE}


def write_intake(write: Write, rows: Iterable[Row]) -> None:
    """Write rows as `take_in` and `simulated` give them."""
    for row in rows:
        ((kind, columns),) = row.items()
        if kind == "segment":
            for event in columns.pop("events"):
                write(EVENTS, event)
            write(SEGMENTS, columns)
        else:
            write(_TABLE_OF[kind], columns)


def _ingest(unit: int, *, folder: Path) -> None:
    with written(folder, unit, INTAKE_TABLES) as write:
        for file in planned(folder / _PLAN, unit):
            write_intake(write, take_in(Path(os.fsdecode(file["path"])), file["source"], file["bytes"]))


def run_ingest(session: Any, workspace: Workspace, patterns: Iterable[str], notice: Notice) -> None:
    """Run the stage.

    Raises:
        InputError: there is nothing to read, or what there was is not the same any more.
    """
    files, listed = list_inputs(patterns)
    if workspace.facts().setdefault("input", listed) != listed:
        raise InputError("the input has changed since the run began: begin again with another output folder")
    workspace.note(input=listed)
    plan = workspace.work / _PLAN
    if not plan.exists():
        files.sort(key=lambda file: (-file["bytes"], file["source"]))
        write_plan(plan, files, "bytes", UNIT_BYTES, units_wanted(session))
    workspace.make(session, "ingest", range(planned_units(plan)), INTAKE_TABLES, _ingest, notice)
    workspace.finish_tables(INTAKE_TABLES)
