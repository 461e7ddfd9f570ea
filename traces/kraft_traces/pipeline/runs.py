"""The commands of the pipeline: stages put together, timed, and accounted for."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kraft_spec.edits import edited_packages
from kraft_spec.fingerprint import spec_hash
from kraft_spec.mutants import Mutant, reference_edits
from kraft_traces.check import CANDIDATES_MAX, EVERY
from kraft_traces.pipeline.accounting import account
from kraft_traces.pipeline.coverage import run_coverage
from kraft_traces.pipeline.earlier import Earlier
from kraft_traces.pipeline.failures import OutputError
from kraft_traces.pipeline.generate import run_generate
from kraft_traces.pipeline.ingest import INTAKE_TABLES, run_ingest
from kraft_traces.pipeline.plans import Plans
from kraft_traces.pipeline.progress import Notice, no_notice, watched
from kraft_traces.pipeline.query import Answer, ask
from kraft_traces.pipeline.report.figures import Document
from kraft_traces.pipeline.report.regressions import figures_of
from kraft_traces.pipeline.report.writing import FIGURES, FOLDER, write_report
from kraft_traces.pipeline.schemas import COVERAGE, EVENTS, TABLES, TRACES, VERDICTS
from kraft_traces.pipeline.session import SessionOptions, parallelism, spark_session
from kraft_traces.pipeline.store import Workspace
from kraft_traces.pipeline.sweep import digest_of, reference_digest, run_sweep
from kraft_traces.pipeline.validate import run_validate

DEFECTS = "defects of the checker"
"""Among the numbers of traces: those of the inconclusive ones that are no fault of theirs."""


@dataclass(frozen=True)
class Checking:
    """How traces are checked."""

    every: int = EVERY
    candidates_max: int = CANDIDATES_MAX

    def as_dict(self) -> dict[str, Any]:
        """What decides the verdicts, as JSON has it."""
        return {"every": self.every, "candidates_max": self.candidates_max, "spec_hash": spec_hash()}


@contextmanager
def _folder(workspace: Workspace, forget: Callable[[], None]) -> Iterator[None]:
    """A folder to work in, which has its name afterwards; after an error `forget` cleans up."""
    with workspace.locked():
        try:
            yield
        except BaseException:
            forget()
            raise
        workspace.finish()


@contextmanager
def _session(options: SessionOptions, notice: Notice) -> Iterator[Any]:
    """A session of Spark, which takes seconds to start."""
    notice("starting Spark", 0, 0)
    with spark_session(options) as session:
        yield session


@contextmanager
def _stage(workspace: Workspace, session: Any, name: str) -> Iterator[None]:
    """Add to the time that a stage has taken; what a stopped run had taken is not known."""
    began = time.monotonic()
    yield
    seconds = workspace.facts().get("seconds", {})
    seconds[name] = seconds.get(name, 0.0) + time.monotonic() - began
    workspace.note(seconds=seconds, tasks_at_a_time=parallelism(session))


def _count(session: Any, workspace: Workspace) -> None:
    counted = account(session, workspace)
    work = dict.fromkeys(("ingest", "generate", "validate"), counted["events"])
    if counted["taken_over"]:
        taken = workspace.read(session, VERDICTS).where("taken_over").select("trace_id")
        (events,) = workspace.read(session, TRACES).join(taken, "trace_id").agg({"events": "sum"}).collect()[0]
        work["validate"] -= int(events)
    workspace.note(account=counted, work=work)


def run(
    options: SessionOptions,
    patterns: Sequence[str],
    output: Path,
    *,
    resume: bool = False,
    checking: Checking | None = None,
    since: Path | None = None,
    compare: Path | None = None,
    notice: Notice = no_notice,
) -> Document:
    """Files to verdicts, coverage and a report, whose figures are returned.

    Args:
        options: of the session.
        patterns: what is read.
        output: the folder that is made.
        resume: take up a run that was stopped.
        checking: how traces are checked.
        since: output of an earlier run; what that has judged is not checked again.
        compare: output of an earlier run; the report says what is worse.
        notice: is told how far the run is.

    Raises:
        PipelineError: what its kinds say.
    """
    how = checking or Checking()
    earlier = None if since is None else Earlier.of(since, how.as_dict())
    before = _compared(compare)
    more = {} if earlier is None else {"since": earlier.as_dict()["output"]}
    workspace = Workspace.begin(output, _parameters(patterns, how) | more, resume=resume)
    with _folder(workspace, workspace.forget_if_empty), _session(options, notice) as session:
        return _run(session, workspace, patterns, how, notice, earlier, before)


def run_in(session: Any, patterns: Sequence[str], output: Path) -> Document:
    """The same in a session that is there already, for those who do several runs in one."""
    how = Checking()
    workspace = Workspace.begin(output, _parameters(patterns, how), resume=False)
    with _folder(workspace, workspace.forget_if_empty):
        return _run(session, workspace, patterns, how, no_notice)


def _parameters(patterns: Sequence[str], how: Checking) -> dict[str, Any]:
    return {"command": "run", "input": list(patterns), **how.as_dict()}


def _run(
    session: Any,
    workspace: Workspace,
    patterns: Sequence[str],
    how: Checking,
    notice: Notice,
    earlier: Earlier | None = None,
    before: Document | None = None,
) -> Document:
    with _stage(workspace, session, "ingest"):
        run_ingest(session, workspace, patterns, notice)
    with _stage(workspace, session, "validate"):
        run_validate(session, workspace, notice, **vars(how), earlier=earlier)
    if earlier is not None:
        workspace.note(since=earlier.as_dict())
    with _stage(workspace, session, "coverage"):
        run_coverage(session, workspace, notice)
    _count(session, workspace)
    return write_report(session, workspace, notice, before)


def _compared(output: Path | None) -> Document | None:
    """The figures of an earlier run to compare with, and whose they are."""
    if output is None:
        return None
    return figures_of(output / FOLDER / FIGURES) | {"output": str(output)}


def ingest(
    options: SessionOptions, patterns: Sequence[str], output: Path, *, resume: bool, notice: Notice = no_notice
) -> dict[str, int]:
    """The stage alone.  Returns how many rows each table has."""
    workspace = Workspace.begin(output, {"command": "ingest", "input": list(patterns)}, resume=resume)
    with _folder(workspace, workspace.forget_if_empty), _session(options, notice) as session:
        with _stage(workspace, session, "ingest"):
            run_ingest(session, workspace, patterns, notice)
        return _rows(session, workspace)


def generate(
    options: SessionOptions, plans: Plans, output: Path, *, resume: bool, notice: Notice = no_notice
) -> dict[str, int]:
    """The stage alone.  Returns how many rows each table has."""
    workspace = Workspace.begin(output, {"command": "generate", "generate": plans.as_dict()}, resume=resume)
    with _folder(workspace, workspace.forget_if_empty), _session(options, notice) as session:
        with _stage(workspace, session, "generate"):
            run_generate(session, workspace, plans, notice)
        return _rows(session, workspace)


def _rows(session: Any, workspace: Workspace) -> dict[str, int]:
    tables = (table for table in TABLES if table in INTAKE_TABLES)
    return {table.name: int(workspace.read(session, table).count()) for table in tables}


def validate(
    options: SessionOptions, output: Path, *, checking: Checking, notice: Notice = no_notice
) -> dict[str, int]:
    """The stage alone, on the tables in `output`.  Returns the number of traces by verdict, and `DEFECTS` if any."""
    workspace = Workspace.finished(output)
    if workspace.has(VERDICTS):
        raise OutputError(f"{output} has its verdicts already")
    before, wanted = workspace.facts()["parameters"], checking.as_dict()
    for name, value in wanted.items():
        if workspace.has_begun and before.get(name, value) != value:
            raise OutputError(f"{output} was begun to be validated with {name} {before[name]}, not {value}")
    workspace.note(parameters=before | wanted)
    # What it has made is kept: the same command goes on.
    with _folder(workspace, lambda: None), _session(options, notice) as session:
        with _stage(workspace, session, "validate"):
            run_validate(session, workspace, notice, **vars(checking))
        verdicts = workspace.read(session, VERDICTS)
        counted = {str(kind): int(number) for kind, number in verdicts.groupBy("verdict").count().collect()}
        defects = int(verdicts.where("defect").count())
        return counted | ({DEFECTS: defects} if defects else {})


def coverage(options: SessionOptions, output: Path, *, notice: Notice = no_notice) -> None:
    """The stage alone, on the tables in `output`."""
    workspace = Workspace.finished(output)
    if workspace.has(COVERAGE):
        raise OutputError(f"{output} has its coverage already")
    with (
        _folder(workspace, workspace.forget_work),
        _session(options, notice) as session,
        _stage(workspace, session, "coverage"),
    ):
        run_coverage(session, workspace, notice)


def report(
    options: SessionOptions, output: Path, *, compare: Path | None = None, notice: Notice = no_notice
) -> Document:
    """The stage alone, on the tables in `output`; an older report is replaced."""
    before = _compared(compare)
    workspace = Workspace.finished(output)
    with _folder(workspace, workspace.forget_work), _session(options, notice) as session:
        if workspace.has(EVENTS):
            _count(session, workspace)
        return write_report(session, workspace, notice, before)


def sql(options: SessionOptions, output: Path, query: str, *, rows_max: int, notice: Notice = no_notice) -> Answer:
    """A query on the tables in `output`."""
    Workspace.finished(output)
    with _session(options, notice) as session, watched(session, "query", notice):
        return ask(session, output, query, rows_max)


def sweep(
    options: SessionOptions,
    plans: Plans,
    output: Path,
    *,
    mutant: Mutant | None = None,
    until_found: bool = False,
    resume: bool = False,
    notice: Notice = no_notice,
) -> Document:
    """Runs of the reference, simulated, checked and counted; with a mutant, of the broken reference."""
    named = None if mutant is None else mutant.name
    parameters = {
        "command": "sweep",
        "sweep": plans.as_dict(),
        "mutant": named,
        "until_found": until_found,
        "spec_hash": spec_hash(),
    }
    workspace = Workspace.begin(output, parameters, resume=resume)
    with (
        _folder(workspace, workspace.forget_if_empty),
        _reference(options, mutant) as (changed, digest),
        _session(changed, notice) as session,
    ):
        with _stage(workspace, session, "sweep"):
            found = run_sweep(
                session,
                workspace,
                plans,
                notice,
                reference=digest,
                is_broken=mutant is not None,
                until_found=until_found,
            )
        verdicts = workspace.read(session, VERDICTS)
        kinds = dict(verdicts.groupBy("verdict").count().collect())
        (events,) = verdicts.agg({"events": "sum"}).collect()[0]
        counted = {kind: kinds.get(kind, 0) for kind in ("accepted", "rejected", "inconclusive")} | {"events": events}
        workspace.note(account=counted, work={"sweep": events}, sweep=found | {"mutant": named})
        return write_report(session, workspace, notice)


@contextmanager
def _reference(options: SessionOptions, mutant: Mutant | None) -> Iterator[tuple[SessionOptions, str]]:
    """The options with the packages of a broken reference, and the digest of what the workers must import."""
    if mutant is None or not reference_edits(mutant):
        yield options, reference_digest()
        return
    with edited_packages({"kraft_reference": reference_edits(mutant)}) as environment:
        packages = Path(environment["PYTHONPATH"].split(":")[0])
        yield replace(options, packages=packages), digest_of(packages / "kraft_reference")
