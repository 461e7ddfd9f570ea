"""`kraft-spec pipeline`: many traces on Spark."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from kraft_conformance.commands.options import Candidates, Every, Json, Seeds, SwitchOff, known_rules, seeds_of
from kraft_conformance.commands.pipeline_shown import show_account, show_answer, show_made, show_report, show_sweep
from kraft_conformance.commands.pipeline_words import (
    Conf,
    known_mutant,
    plans_of,
    session_options,
)
from kraft_conformance.console import Notice, print_json, say, stage_progress, stderr
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError, need
from kraft_reference.cluster.workload import WORKLOADS
from kraft_reference.profile import PROFILES
from kraft_traces.check import CANDIDATES_MAX, EVERY
from kraft_traces.pipeline.failures import (
    AccountingError,
    InputError,
    MasterUnreachableError,
    OutputError,
    PipelineError,
    QueryError,
    SparkError,
)

app = typer.Typer(no_args_is_help=True, help="Many traces: verdicts, coverage and a report, on Spark.")

Input = Annotated[
    list[str],
    typer.Option("--input", "-i", help="Files, folders, patterns: JSON lines, gzip, Parquet with a column `line`."),
]
Output = Annotated[Path, typer.Option("--output", "-o", help="Folder for the tables and the report; not there yet.")]
Tables = Annotated[Path, typer.Option("--output", "-o", help="Folder with the tables of a run.")]
Master = Annotated[str, typer.Option("--master", help="Spark's master: local[*], local[N], spark://HOST:PORT.")]
Resume = Annotated[bool, typer.Option("--resume", help="Take up a run that was stopped.")]
Compare = Annotated[
    Path | None, typer.Option("--compare", help="Output of an earlier run: the report says what is worse than there.")
]
Since = Annotated[
    Path | None, typer.Option("--since", help="Output of an earlier run: traces that it has judged are not checked.")
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
CheckpointEvery = Annotated[
    int | None, typer.Option(min=1, help="Put a checkpoint after each so many events: long traces in parts.")
]

_LOCAL = "local[*]"


@app.command()
def run(
    inputs: Input,
    output: Output,
    master: Master = _LOCAL,
    resume: Resume = False,
    since: Since = None,
    compare: Compare = None,
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
            since=since,
            compare=compare,
            notice=notice,
        )
    if as_json:
        print_json(document)
    else:
        show_account(document["account"])
        show_report(document, output)
    return _code(document["account"], document)


@app.command()
def ingest(
    inputs: Input,
    output: Output,
    master: Master = _LOCAL,
    resume: Resume = False,
    conf: Conf = None,
    spark_log: Chatter = False,
    as_json: Json = False,
) -> int:
    """Only the first stage: files to tables."""
    with _pipeline(output) as (runs, notice):
        options = session_options(runs, master, conf, spark_log)
        made = runs.ingest(options, inputs, output, resume=resume, notice=notice)
    show_made(made, output, as_json)
    return ExitCode.BAD_INPUT if made["quarantine"] else ExitCode.CONFORMANT


@app.command()
def generate(
    seeds: Seeds,
    output: Output,
    workload: Workloads = None,
    profile: Annotated[
        list[str] | None, typer.Option("--profile", "-p", help=f"{', '.join(PROFILES)}; repeatable; default: kip.")
    ] = None,
    steps: Steps = 500,
    replicas: Replicas = None,
    switch_off: SwitchOff = None,
    checkpoint_every: CheckpointEvery = None,
    master: Master = _LOCAL,
    resume: Resume = False,
    conf: Conf = None,
    spark_log: Chatter = False,
    as_json: Json = False,
) -> int:
    """Simulate runs of the reference, one for each seed, workload and profile, straight to tables."""
    with _pipeline(output) as (runs, notice):
        given, off = seeds_of(seeds), known_rules(switch_off)
        plans = plans_of(given, workload, profile, steps, replicas, switched_off=off, checkpoint_every=checkpoint_every)
        options = session_options(runs, master, conf, spark_log)
        made = runs.generate(options, plans, output, resume=resume, notice=notice)
    return show_made(made, output, as_json)


@app.command()
def validate(
    output: Tables,
    master: Master = _LOCAL,
    every: Every = EVERY,
    candidates: Candidates = CANDIDATES_MAX,
    conf: Conf = None,
    spark_log: Chatter = False,
    as_json: Json = False,
) -> int:
    """Only the stage that holds the traces in tables to the model."""
    with _pipeline(output) as (runs, notice):
        options = session_options(runs, master, conf, spark_log)
        made = runs.validate(options, output, checking=runs.Checking(every, candidates), notice=notice)
    show_made(made, output, as_json)
    return ExitCode.INTERNAL_ERROR if made.get(runs.DEFECTS) and not made.get("rejected") else _code(made)


@app.command()
def coverage(output: Tables, master: Master = _LOCAL, conf: Conf = None, spark_log: Chatter = False) -> int:
    """Only the stage that counts what the checked traces show."""
    with _pipeline(output) as (runs, notice):
        runs.coverage(session_options(runs, master, conf, spark_log), output, notice=notice)
    return ExitCode.CONFORMANT


@app.command()
def report(
    output: Tables,
    compare: Compare = None,
    master: Master = _LOCAL,
    conf: Conf = None,
    spark_log: Chatter = False,
    as_json: Json = False,
) -> int:
    """Make the report of a run again from its tables."""
    with _pipeline(output) as (runs, notice):
        options = session_options(runs, master, conf, spark_log)
        document = runs.report(options, output, compare=compare, notice=notice)
    if as_json:
        print_json(document)
    else:
        show_report(document, output)
    return ExitCode.CONFORMANT


@app.command()
def sql(
    query: Annotated[str, typer.Argument(help="As 'SELECT verdict, count(*) FROM verdicts GROUP BY verdict'.")],
    output: Tables,
    rows: Annotated[int, typer.Option(min=1, help="Most rows that are shown.")] = 100,
    master: Master = _LOCAL,
    conf: Conf = None,
    spark_log: Chatter = False,
    as_json: Json = False,
) -> int:
    """Answer a query on the tables of a run, which stay as they are.

    The names of the tables are those of their folders. Exit code: 64 if that is no query, or cannot be answered.
    """
    with _pipeline(output) as (runs, notice):
        options = session_options(runs, master, conf, spark_log)
        answer = runs.sql(options, output, query, rows_max=rows, notice=notice)
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
    mutant: Annotated[
        str | None, typer.Option(help="Switch a mutant of the reference on, and stop when it is found.")
    ] = None,
    to_the_end: Annotated[bool, typer.Option("--all", help="With a mutant: go on after it is found.")] = False,
    master: Master = _LOCAL,
    resume: Resume = False,
    conf: Conf = None,
    spark_log: Chatter = False,
    as_json: Json = False,
) -> int:
    """Simulate, check and count many schedules without keeping them.

    Failures are told apart by action, rule and field. With a mutant, exit code 1 says that it was found.
    """
    with _pipeline(output) as (runs, notice):
        chosen = known_mutant(mutant)
        workloads, profiles = workload or list(WORKLOADS), profile or list(PROFILES)
        seeds = -(-schedules // (len(workloads) * len(profiles)))
        given = range(first_seed, first_seed + seeds)
        plans = plans_of(given, workloads, profiles, steps, replicas, count=schedules)
        document = runs.sweep(
            session_options(runs, master, conf, spark_log),
            plans,
            output,
            mutant=chosen,
            until_found=mutant is not None and not to_the_end,
            resume=resume,
            notice=notice,
        )
    if as_json:
        print_json(document)
    else:
        show_sweep(document, output)
    return _code(document["account"], document)


@contextmanager
def _pipeline(output: Path) -> Iterator[tuple[Any, Notice]]:
    """The commands of the pipeline, and a progress bar for the time of the block."""
    need("the pipeline", "pipeline")
    try:
        with stage_progress() as notice:
            yield import_module("kraft_traces.pipeline.runs"), notice
    except KeyboardInterrupt:
        _hint(output)
        raise
    except PipelineError as error:
        if isinstance(error, SparkError):
            _hint(output)
        raise CommandError(str(error), _ERROR_CODES[type(error)]) from error


_ERROR_CODES: Mapping[type[PipelineError], ExitCode] = {
    MasterUnreachableError: ExitCode.UNAVAILABLE,
    SparkError: ExitCode.INTERNAL_ERROR,
    OutputError: ExitCode.CANNOT_WRITE,
    InputError: ExitCode.NO_INPUT,
    AccountingError: ExitCode.INTERNAL_ERROR,
    QueryError: ExitCode.USAGE,
}


def _hint(output: Path) -> None:
    output = Path(os.path.abspath(output))
    if output.with_name(f"{output.name}.unfinished").is_dir():
        said = "what is done is kept: the same command with --resume goes on"
    elif (output / ".work").is_dir():
        said = "what is done is kept: the same command goes on"
    else:
        said = "nothing half-written is left"
    say(said, console=stderr)


def _code(counted: Mapping[str, int], document: Mapping[str, Any] | None = None) -> ExitCode:
    """What the numbers of traces by verdict, and in quarantine, mean."""
    if counted.get("rejected") or (document is not None and document["violations"]):
        return ExitCode.VIOLATION
    if document is not None and any(one["defect"] for one in document["inconclusive"]):
        return ExitCode.INTERNAL_ERROR
    if counted.get("traces_quarantined"):
        return ExitCode.BAD_INPUT
    return ExitCode.INCONCLUSIVE if counted.get("inconclusive") else ExitCode.CONFORMANT
