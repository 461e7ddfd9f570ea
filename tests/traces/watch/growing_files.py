"""Files of a test that grow, and what a watch reports about them."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from kraft_traces.check import CANDIDATES_MAX, EVERY, Verdict, check_reader
from kraft_traces.errors import TraceError
from kraft_traces.reader import trace_of_bytes
from kraft_traces.watch.folder import SavedFolder, WatchedProcesses
from kraft_traces.watch.reports import Alert, Gap, Report
from kraft_traces.watch.whole import SavedTrace, WatchedTrace

PATIENCE_S = 5.0

Watched = WatchedTrace | WatchedProcesses


def watch_trace(path: Path, saved: SavedTrace | None = None) -> WatchedTrace:
    """Return the watch of a whole cluster's trace."""
    return WatchedTrace(str(path), every=EVERY, candidates_max=CANDIDATES_MAX, saved=saved)


def watch_processes(*paths: Path, saved: SavedFolder | None = None) -> WatchedProcesses:
    """Return the watch of processes."""
    return WatchedProcesses(
        [str(path) for path in paths], every=EVERY, candidates_max=CANDIDATES_MAX, patience_s=PATIENCE_S, saved=saved
    )


def append(path: Path, raw: bytes) -> None:
    """Append bytes to a file."""
    with path.open("ab") as file:
        file.write(raw)


def places(reports: Iterable[Report]) -> list[tuple[str, str, int | None]]:
    """Return kind, file name and line of reports."""
    return [
        ("alert" if isinstance(report, Alert) else "gap", Path(report.source).name, report.line) for report in reports
    ]


class Outcome(NamedTuple):
    """Result of `validate`, or of a watch: the verdict, or the error."""

    kind: str
    line: int | None
    events: int | None
    detail: Any = None


def outcome_of(verdict: Verdict) -> Outcome:
    """Return the outcome of a verdict."""
    rejection = verdict.rejection
    if rejection is None:
        return Outcome(verdict.kind, None, verdict.events)
    return Outcome(verdict.kind, rejection.line, None, (rejection.kind, rejection.differences, rejection.rules))


def error_outcome(error: TraceError) -> Outcome:
    """Return the outcome of a malformed trace."""
    return Outcome("malformed", error.line_number, None, (error.code, error.detail, error.field))


def validated(content: bytes) -> Outcome:
    """Return the outcome of `validate`."""
    try:
        return outcome_of(check_reader(trace_of_bytes(content)))
    except TraceError as error:
        return error_outcome(error)


def watched_outcome(path: Path, parts: Sequence[bytes]) -> Outcome:
    """Return the outcome of a watch of a file to which these parts are appended."""
    path.write_bytes(b"")
    watched = watch_trace(path)
    for part in parts:
        append(path, part)
        try:
            for report in watched.poll(0):
                if isinstance(report, Gap):
                    return Outcome("gap", report.line, None)
                assert isinstance(report, Alert)
                cause = report.cause
                if isinstance(cause, TraceError):
                    return error_outcome(cause)
                return Outcome("rejected", cause.line, None, (cause.kind, cause.differences, cause.rules))
        except TraceError as error:
            return error_outcome(error)
    judge = watched.judge
    assert judge is not None
    verdict = judge.finish()
    assert verdict is not None
    return outcome_of(verdict)
