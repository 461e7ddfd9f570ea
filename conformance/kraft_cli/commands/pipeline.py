"""`kraft-spec pipeline`: many traces on Spark."""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from kraft_cli.commands.options import Candidates, Every, Json
from kraft_cli.commands.pipeline_shown import show_account, show_answer, show_report, show_schemas, show_sweep
from kraft_conformance.console import Notice, print_json, say, stage_progress, stderr
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError, need, usage_error
from kraft_pipeline.failures import (
    AccountingError,
    InputError,
    MasterUnreachableError,
    OutputError,
    PipelineError,
    QueryError,
    SparkError,
)
from kraft_reference.profile import PROFILES
from kraft_simulation.workload import WORKLOADS
from kraft_traces.check import CANDIDATES_MAX, EVERY

Conf = Annotated[list[str] | None, typer.Option("--conf", help="A setting of Spark, NAME=VALUE; repeatable.")]


def session_options(runs: Any, master: str, conf: list[str] | None, spark_log: bool) -> Any:
    """Return the `runs.SessionOptions` of a command.

    Raises:
        CommandError: the master or a setting is malformed.
    """
    settings: dict[str, str] = {}
    for setting in conf or ():
        name, equals, value = setting.partition("=")
        if not equals or not name.startswith("spark."):
            raise usage_error(f"--conf {setting}: expected a setting of Spark, spark.NAME=VALUE")
        settings[name] = value
    if not re.fullmatch(r"local(\[(\*|[1-9]\d*)(,[1-9]\d*)?\])?|local-cluster\[.+\]|[a-z0-9]+(:.+)?", master):
        raise usage_error(f"--master {master}: expected local[*], local[N] or spark://HOST:PORT")
    return runs.SessionOptions(master=master, spark_log=spark_log, settings=settings)


def plans_of(
    seeds: range,
    workloads: list[str] | None,
    profiles: list[str] | None,
    steps: int,
    replicas: int | None,
    **more: Any,
) -> Any:
    """Return the `Plans` of a command; None means every workload, and the profile `kip`.

    Raises:
        CommandError: a name is unknown, or there is nothing to simulate.
    """
    from kraft_pipeline.plans import Plans

    workloads, profiles = workloads or list(WORKLOADS), profiles or ["kip"]
    try:
        return Plans(seeds.start, len(seeds), tuple(workloads), tuple(profiles), steps, replicas, **more)
    except InputError as error:
        raise usage_error(str(error)) from error


app = typer.Typer(no_args_is_help=True, help="Many traces: verdicts, coverage and a report, on Spark.")

Input = Annotated[
    list[str],
    typer.Option("--input", "-i", help="Files, folders, patterns: JSON lines, gzip, Parquet with a column `line`."),
]
Output = Annotated[Path, typer.Option("--output", "-o", help="Folder for the tables and the report; not there yet.")]
Master = Annotated[str, typer.Option("--master", help="Spark's master: local[*], local[N], spark://HOST:PORT.")]
Resume = Annotated[bool, typer.Option("--resume", help="Take up a run that was stopped.")]
Archive = Annotated[
    Path | None,
    typer.Option(
        "--archive",
        help="Folder of earlier runs: what they have judged is not checked, and this run is appended.",
    ),
]
Chatter = Annotated[bool, typer.Option("--spark-log", help="Let Spark's own log go to standard error.")]
Workloads = Annotated[
    list[str] | None,
    typer.Option("--workload", "-w", help=f"Repeatable; default: all. {', '.join(WORKLOADS)}."),
]
Profiles = Annotated[
    list[str] | None, typer.Option("--profile", "-p", help=f"{', '.join(PROFILES)}; repeatable; default: all.")
]
Steps = Annotated[int, typer.Option(min=1, help="Events of a run before its faults stop.")]
Replicas = Annotated[int | None, typer.Option(min=1, max=9, help="Number of voters; default: 3, 5, 4, 2 by seed.")]
_LOCAL = "local[*]"


@app.command()
def run(
    inputs: Input,
    output: Output,
    master: Master = _LOCAL,
    resume: Resume = False,
    archive: Archive = None,
    every: Every = EVERY,
    candidates: Candidates = CANDIDATES_MAX,
    conf: Conf = None,
    spark_log: Chatter = False,
    as_json: Json = False,
) -> int:
    """Check every trace of the input: ingest, validate, coverage and report.

    What is malformed goes to quarantine and stops nothing. Exit code: 1 if a trace is rejected, else 65 if one is in
    quarantine, else 2 if one is inconclusive; 3 before these two if the checker failed on one.
    """
    with _pipeline(output) as (runs, notice):
        options = session_options(runs, master, conf, spark_log)
        checking = runs.Checking(every, candidates)
        document = runs.run(
            options,
            inputs,
            output,
            resume=resume,
            checking=checking,
            archive=archive,
            notice=notice,
        )
    if as_json:
        print_json(document)
    else:
        show_account(document["account"])
        show_report(document, output)
    return _exit_code(document)


@app.command()
def sql(
    query: Annotated[str, typer.Argument(help="As 'SELECT verdict, count(*) FROM verdicts GROUP BY verdict'.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Folder with the tables of a run.")] = None,
    archive: Annotated[Path | None, typer.Option(help="Folder that `run --archive` has made.")] = None,
    rows: Annotated[int, typer.Option(min=1, help="Most rows that are shown.")] = 100,
    master: Master = _LOCAL,
    conf: Conf = None,
    spark_log: Chatter = False,
    as_json: Json = False,
) -> int:
    """Answer a query on the tables of a run, or of all runs in an archive, which stay as they are.

    The names of the tables are those of their folders. Exit code: 64 if that is no query, or cannot be answered.
    """
    if (output is None) == (archive is None):
        raise usage_error("expected --output FOLDER or --archive FOLDER")
    with _pipeline(output) as (runs, notice):
        options = session_options(runs, master, conf, spark_log)
        answer = runs.sql(options, query, output=output, archive=archive, rows_max=rows, notice=notice)
    show_answer(answer, as_json)
    return ExitCode.CONFORMANT


@app.command()
def sweep(
    output: Output,
    schedules: Annotated[int, typer.Option(min=1, help="How many runs, over all workloads and profiles.")] = 10_000,
    first_seed: Annotated[int, typer.Option(min=0, help="The smallest seed.")] = 0,
    workload: Workloads = None,
    profile: Profiles = None,
    steps: Steps = 500,
    replicas: Replicas = None,
    master: Master = _LOCAL,
    resume: Resume = False,
    conf: Conf = None,
    spark_log: Chatter = False,
    as_json: Json = False,
) -> int:
    """Simulate, check and count many schedules without keeping them.

    Failures are distinguished by action, rule and field.
    """
    with _pipeline(output) as (runs, notice):
        workloads, profiles = workload or list(WORKLOADS), profile or list(PROFILES)
        seeds = -(-schedules // (len(workloads) * len(profiles)))
        seed_range = range(first_seed, first_seed + seeds)
        plans = plans_of(seed_range, workloads, profiles, steps, replicas, count=schedules)
        document = runs.sweep(
            session_options(runs, master, conf, spark_log),
            plans,
            output,
            resume=resume,
            notice=notice,
        )
    if as_json:
        print_json(document)
    else:
        show_sweep(document, output)
    return _exit_code(document)


@app.command()
def tables(as_json: Json = False) -> int:
    """List the tables of runs and archives, with each column's type and meaning."""
    need("the pipeline", "pipeline")
    schemas = import_module("kraft_pipeline.schemas")
    show_schemas((*schemas.TABLES, schemas.TALLIES, schemas.RUNS), as_json)
    return ExitCode.CONFORMANT


@contextmanager
def _pipeline(output: Path | None) -> Iterator[tuple[Any, Notice]]:
    """Yield the pipeline's functions, with a progress bar for the time of the block."""
    need("the pipeline", "pipeline")
    try:
        with stage_progress() as notice:
            yield import_module("kraft_pipeline.runs"), notice
    except KeyboardInterrupt:
        _say_hint(output)
        raise
    except PipelineError as error:
        if isinstance(error, SparkError):
            _say_hint(output)
        raise CommandError(str(error), _ERROR_CODES[type(error)]) from error


_ERROR_CODES: Mapping[type[PipelineError], ExitCode] = {
    MasterUnreachableError: ExitCode.UNAVAILABLE,
    SparkError: ExitCode.INTERNAL_ERROR,
    OutputError: ExitCode.CANNOT_WRITE,
    InputError: ExitCode.NO_INPUT,
    AccountingError: ExitCode.INTERNAL_ERROR,
    QueryError: ExitCode.USAGE,
}


def _say_hint(output: Path | None) -> None:
    if output is None:
        return
    output = Path(os.path.abspath(output))
    if output.with_name(f"{output.name}.unfinished").is_dir():
        text = "what is done is kept: the same command with --resume goes on"
    else:
        text = "nothing half-written is left"
    say(text, console=stderr)


def _exit_code(document: Mapping[str, Any]) -> ExitCode:
    """Return the exit code for the numbers of traces by verdict, and in quarantine."""
    account = document["account"]
    if account["rejected"] or document["violations"]:
        return ExitCode.VIOLATION
    if any(reason["defect"] for reason in document["inconclusive"]):
        return ExitCode.INTERNAL_ERROR
    if account.get("traces_quarantined"):
        return ExitCode.BAD_INPUT
    return ExitCode.INCONCLUSIVE if account.get("inconclusive") else ExitCode.CONFORMANT
