"""Commands of the pipeline: their stages, timing and accounting."""

import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kraft_pipeline.accounting import account
from kraft_pipeline.archive import Archive, Earlier
from kraft_pipeline.checking import Checking
from kraft_pipeline.coverage import run_coverage
from kraft_pipeline.failures import InputError
from kraft_pipeline.ingest import run_ingest
from kraft_pipeline.plans import Plans
from kraft_pipeline.progress import Notice, no_notice, watched
from kraft_pipeline.query import Answer, ask
from kraft_pipeline.report.figures import Document
from kraft_pipeline.report.writing import write_report
from kraft_pipeline.schemas import RUNS, TABLES, VERDICTS
from kraft_pipeline.session import SessionOptions, parallelism, spark_session
from kraft_pipeline.store import Workspace
from kraft_pipeline.sweep import run_sweep
from kraft_spec.fingerprint import spec_hash


@contextmanager
def _folder(workspace: Workspace) -> Iterator[None]:
    """Lock the folder of a run, and give it its final name at the end."""
    with workspace.locked():
        try:
            yield
        except BaseException:
            workspace.forget_if_empty()
            raise
        workspace.finish()


@contextmanager
def _session(options: SessionOptions, notice: Notice) -> Iterator[Any]:
    """Start a Spark session, which takes seconds."""
    notice("starting Spark", 0, 0)
    with spark_session(options) as session:
        yield session


@contextmanager
def _stage(workspace: Workspace, session: Any, name: str) -> Iterator[None]:
    """Add to the time of a stage; the time of an interrupted run is not known."""
    began = time.monotonic()
    yield
    seconds = workspace.facts().get("seconds", {})
    seconds[name] = seconds.get(name, 0.0) + time.monotonic() - began
    workspace.note(seconds=seconds, tasks_at_a_time=parallelism(session))


def _count(session: Any, workspace: Workspace) -> None:
    counted = account(session, workspace)
    workspace.note(account=counted, work={"ingest": counted["events"]})


def run(
    options: SessionOptions,
    patterns: Sequence[str],
    output: Path,
    *,
    resume: bool = False,
    checking: Checking | None = None,
    archive: Path | None = None,
    notice: Notice = no_notice,
) -> Document:
    """Turn files into verdicts, coverage and a report, and return its figures.

    Args:
        options: options of the session.
        patterns: input.
        output: the folder to create.
        resume: True to resume an interrupted run.
        checking: options of the checker.
        archive: folder of earlier runs, created if missing. Traces that they have checked are not checked again, the
            report lists regressions since the newest one, and this run is appended.
        notice: function that reports progress.

    Raises:
        PipelineError: the run cannot start or continue.
    """
    how = checking or Checking()
    kept = None
    parameters: dict[str, Any] = {"command": "run", "input": list(patterns), **how.as_dict()}
    if archive is not None:
        kept = Archive(archive)
        kept.check_name(Path(os.path.abspath(output)).name, resume=resume)
        parameters["archive"] = str(kept.folder)
    workspace = Workspace.begin(output, parameters, resume=resume)
    with _folder(workspace), _session(options, notice) as session:
        return _run(session, workspace, patterns, how, notice, kept)


def _run(
    session: Any,
    workspace: Workspace,
    patterns: Sequence[str],
    how: Checking,
    notice: Notice,
    archive: Archive | None,
) -> Document:
    earlier = None
    if archive is not None:
        earlier = Earlier(archive, how.as_dict())
        workspace.note(earlier=earlier.as_dict())
    with _stage(workspace, session, "ingest"):
        run_ingest(session, workspace, patterns, notice, how, earlier)
    with _stage(workspace, session, "coverage"):
        run_coverage(session, workspace, notice)
    _count(session, workspace)
    if archive is None:
        return write_report(session, workspace, notice)
    earlier_runs = [row for row in archive.runs if row["run"] != workspace.output.name]
    before = json.loads(earlier_runs[-1]["report"]) | {"run": earlier_runs[-1]["run"]} if earlier_runs else None
    document = write_report(session, workspace, notice, before)
    notice("archive", 0, 0)
    archive.add(workspace, _row_of_run(workspace.output.name, document, how))
    return document


def _row_of_run(name: str, document: Document, how: Checking) -> Document:
    counted = document["account"]
    return {
        "run": name,
        "ended_ms": time.time_ns() // 10**6,
        **how.as_dict(),
        "traces": counted["traces_in"],
        **{kind: counted[kind] for kind in ("events", "accepted", "rejected", "inconclusive")},
        "quarantined": counted["traces_quarantined"],
        "report": json.dumps(document, sort_keys=True),
    }


def sql(
    options: SessionOptions,
    query: str,
    *,
    output: Path | None = None,
    archive: Path | None = None,
    rows_max: int,
    notice: Notice = no_notice,
) -> Answer:
    """Run a query on the tables in `output`, or on those of all runs in `archive`."""
    kept = None if archive is None else Archive(archive)
    if kept is not None and not kept.runs:
        raise InputError(f"{kept.folder} is not an archive: expected one that `pipeline run --archive` has made")
    workspace = None if output is None else Workspace.finished(output)
    with _session(options, notice) as session, watched(session, "query", notice):
        tables: dict[str, Any] = {}
        if workspace is not None:
            tables = {table.name: workspace.read(session, table) for table in TABLES if workspace.has(table)}
        elif kept is not None:
            tables = {table.name: kept.read(session, table) for table in (RUNS, *TABLES)}
        return ask(session, tables, query, rows_max)


def sweep(
    options: SessionOptions, plans: Plans, output: Path, *, resume: bool = False, notice: Notice = no_notice
) -> Document:
    """Simulate runs of the reference, check them and count their coverage."""
    parameters = {"command": "sweep", "sweep": plans.as_dict(), "spec_hash": spec_hash()}
    workspace = Workspace.begin(output, parameters, resume=resume)
    with _folder(workspace), _session(options, notice) as session:
        with _stage(workspace, session, "sweep"):
            run_sweep(session, workspace, plans, notice)
        verdicts = workspace.read(session, VERDICTS)
        kinds = dict(verdicts.groupBy("verdict").count().collect())
        (events,) = verdicts.agg({"events": "sum"}).collect()[0]
        counted = {kind: kinds.get(kind, 0) for kind in ("accepted", "rejected", "inconclusive")} | {"events": events}
        workspace.note(account=counted, work={"sweep": events})
        return write_report(session, workspace, notice)
