"""Check that every line and every trace that was read is in a table."""

from typing import Any

from pyspark.sql import functions as sf

from kraft_pipeline.failures import AccountingError
from kraft_pipeline.schemas import EVENTS, FILES, QUARANTINE, TRACES, VERDICTS
from kraft_pipeline.store import Workspace

Account = dict[str, int]
"""Counts of a run: `files`, `lines_in` and `traces_in` are from reading the files, all others from the tables.

`other_lines` are headers, checkpoints and end lines; `taken_over` counts the verdicts of earlier runs.
"""


def account(session: Any, workspace: Workspace) -> Account:
    """Count the rows of the tables of a run.

    Raises:
        AccountingError: the counts do not add up.
    """
    files, lines, begun = _sums(workspace.read(session, FILES), "count(*)", "sum(lines)", "sum(traces)")
    # The header, the checkpoints and the end line of a trace are not events.
    (other_lines,) = _sums(workspace.read(session, TRACES), "sum(lines) - sum(events)")
    (events,) = _sums(workspace.read(session, EVENTS), "count(*)")
    wrong_lines, wrong = _sums(workspace.read(session, QUARANTINE), "sum(lines)", "count_if(wrong)")
    kinds = ("accepted", "rejected", "inconclusive")
    counts = (*(f"count_if(verdict = '{kind}')" for kind in kinds), "count_if(taken_over)")
    *verdicts, taken_over = _sums(workspace.read(session, VERDICTS), *counts)
    lines_there, traces_there = other_lines + events + wrong_lines, sum(verdicts) + wrong
    if (lines, begun) != (lines_there, traces_there):
        counts_text = f"read {lines} lines and {begun} traces, but the tables have {lines_there} and {traces_there}"
        raise AccountingError(f"{workspace.root} does not add up: {counts_text}")
    return {
        "files": files,
        "lines_in": lines,
        "other_lines": other_lines,
        "events": events,
        "lines_quarantined": wrong_lines,
        "traces_in": begun,
        **dict(zip(kinds, verdicts, strict=True)),
        "traces_quarantined": wrong,
        "taken_over": taken_over,
    }


def _sums(table: Any, *expressions: str) -> tuple[int, ...]:
    (row,) = table.agg(*(sf.expr(expression) for expression in expressions)).collect()
    return tuple(0 if value is None else int(value) for value in row)
