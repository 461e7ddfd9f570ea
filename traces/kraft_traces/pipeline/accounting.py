"""Every line and every trace that came in is somewhere: counted where it came in and again where it is."""

from dataclasses import asdict, dataclass
from typing import Any

from pyspark.sql import functions as sf

from kraft_traces.pipeline.failures import AccountingError
from kraft_traces.pipeline.schemas import EVENTS, FILES, QUARANTINE, TRACES, VERDICTS
from kraft_traces.pipeline.store import Workspace


@dataclass(frozen=True)
class Account:
    """The two sides."""

    files: int
    lines_in: int
    """Counted while the files were read."""
    other_lines: int
    """Headers, checkpoints and end lines."""
    events: int
    """Rows of the table."""
    lines_quarantined: int
    traces_in: int
    """Counted while the files were read."""
    accepted: int
    rejected: int
    inconclusive: int
    traces_quarantined: int
    taken_over: int
    """Of the verdicts, those of an earlier run."""

    def problems(self) -> tuple[str, ...]:
        """What does not add up."""
        lines = self.other_lines + self.events + self.lines_quarantined
        traces = self.accepted + self.rejected + self.inconclusive + self.traces_quarantined
        found: list[str] = []
        if lines != self.lines_in:
            found.append(f"{self.lines_in} lines came in, {lines} are in the tables")
        if traces != self.traces_in:
            found.append(f"{self.traces_in} traces came in, {traces} are in the tables")
        return tuple(found)

    def as_dict(self) -> dict[str, int]:
        """For the manifest, the report and `--json`."""
        return asdict(self)


def account(session: Any, workspace: Workspace) -> Account:
    """Count the tables of a run.

    Raises:
        AccountingError: they do not add up.
    """
    files = _sums(workspace.read(session, FILES), "count(*)", "sum(lines)", "sum(traces)")
    # Of a trace the header, the checkpoints and the end line are no events.
    traces = _sums(workspace.read(session, TRACES), "sum(lines) - sum(events)")
    events = _sums(workspace.read(session, EVENTS), "count(*)")
    wrong = _sums(workspace.read(session, QUARANTINE), "sum(lines)", "count_if(wrong)")
    verdicts = workspace.read(session, VERDICTS).groupBy("verdict").agg(sf.count("*"), sf.count_if("taken_over"))
    rows = verdicts.collect()
    kinds = {row[0]: int(row[1]) for row in rows}
    counted = Account(
        files=files[0],
        lines_in=files[1],
        other_lines=traces[0],
        events=events[0],
        lines_quarantined=wrong[0],
        traces_in=files[2],
        accepted=kinds.get("accepted", 0),
        rejected=kinds.get("rejected", 0),
        inconclusive=kinds.get("inconclusive", 0),
        traces_quarantined=wrong[1],
        taken_over=sum(int(row[2]) for row in rows),
    )
    problems = counted.problems()
    if problems:
        raise AccountingError(f"{workspace.root} does not add up: {'; '.join(problems)}")
    return counted


def _sums(table: Any, *expressions: str) -> tuple[int, ...]:
    (row,) = table.agg(*(sf.expr(expression) for expression in expressions)).collect()
    return tuple(0 if value is None else int(value) for value in row)
