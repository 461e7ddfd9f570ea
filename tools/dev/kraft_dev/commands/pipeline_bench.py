"""`python -m kraft_dev pipeline-bench`: the figures of docs/pipeline.md, measured in one run."""

import json
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from kraft_conformance.commands.options import Json
from kraft_conformance.commands.pipeline_words import Conf, spark_settings
from kraft_conformance.console import print_json, show_table
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError, need, usage_error
from kraft_dev.benchmark.figure import BenchmarkError, show_figures, show_machines, this_machine
from kraft_dev.benchmark.pipeline.corpora import SMALL, Sizes
from kraft_dev.benchmark.pipeline.figures import NAMES, PipelineSpeed, measure_pipeline
from kraft_dev.benchmark.pipeline.running import Measured
from kraft_traces.streams import whole_file

FORMAT = "kraft-pipeline-bench/1"

Only = Annotated[list[str] | None, typer.Option("--only", help=f"Measure only this; repeatable: {', '.join(NAMES)}.")]
Small = Annotated[bool, typer.Option("--small", help="Tiny corpora, to see that it works; the figures say nothing.")]
Target = Annotated[Path | None, typer.Option("--output", "-o", help="Write the figures to this file too, as JSON.")]
Folder = Annotated[Path | None, typer.Option("--folder", help="For traces and tables while it runs: some 6 GB.")]


def pipeline_bench(
    only: Only = None,
    small: Small = False,
    output: Target = None,
    folder: Folder = None,
    traces: Annotated[int | None, typer.Option(min=20, help="Traces of the usual corpus; 2000.")] = None,
    conf: Conf = None,
    as_json: Json = False,
) -> int:
    """Measure the pipeline on one core and on two, as the corpus grows, and on one long trace.

    The exit code is 0 whether the figures are reached or not: they are meant for an idle machine with two cores.
    """
    for name in only or ():
        if name not in NAMES:
            raise usage_error(f"--only {name}: expected one of {', '.join(NAMES)}")
    sizes = SMALL if small else Sizes()
    if traces is not None:
        sizes = replace(sizes, traces=traces)
    wanted = [name for name in NAMES if not only or name in only]
    settings = spark_settings(conf)
    need("the pipeline", "pipeline")
    before = this_machine()
    try:
        with TemporaryDirectory(prefix="kraft-spec-bench-", dir=folder) as place:
            measured = measure_pipeline(sizes, wanted, Path(place), settings)
    except BenchmarkError as error:
        raise CommandError(str(error), ExitCode.INTERNAL_ERROR) from error
    except OSError as error:
        raise CommandError(f"the traces cannot be written: {error}", ExitCode.CANNOT_WRITE) from error
    after = this_machine()
    document = {
        "format": FORMAT,
        "sizes": asdict(sizes),
        "settings": settings,
        "before": asdict(before),
        "after": asdict(after),
        **measured.as_dict(),
    }
    if output is not None:
        _write(output, document)
    if as_json:
        print_json(document)
    else:
        show_figures(measured.figures())
        _show_runs(measured)
        show_machines(before, after)
    return ExitCode.CONFORMANT


def _write(target: Path, document: dict[str, Any]) -> None:
    try:
        with whole_file(target) as stream:
            stream.write(json.dumps(document, indent=2, sort_keys=True).encode() + b"\n")
    except OSError as error:
        raise CommandError(f"{target} cannot be written: {error.strerror or error}", ExitCode.CANNOT_WRITE) from error


_NAMES = {
    "two": ("local[2], small, cold", "local[2], usual", "local[2], tenfold"),
    "one": ("local[1], small, cold", "local[1], usual"),
    "long": ("local[1], one long trace", "local[2], one long trace"),
}
"""What the runs of a session are, by the measurement."""


_ROLES = ("driver", "java", "worker")


def _show_runs(measured: PipelineSpeed) -> None:
    runs = [pair for kind, names in _NAMES.items() for pair in zip(names, getattr(measured, kind) or (), strict=False)]
    rows = [_row(name, run) for name, run in runs]
    heads = ("run", "events", "seconds", "ingest", "validate", "coverage", "events/s", "CPU µs/event", "of it Java")
    show_table("Runs, by the clock", heads, rows)
    peaks = [
        (name, *(f"{run.peak_bytes[role] / 1e6:,.0f}" for role in _ROLES), run.processes["worker"])
        for name, run in runs
    ]
    show_table("Peak memory of one process, MB", ("run", *_ROLES, "workers"), peaks)


def _row(name: str, run: Measured) -> tuple[str, ...]:
    stages = (f"{run.stages[stage]:.1f}" for stage in ("ingest", "validate", "coverage"))
    cpu = (f"{seconds / run.events * 1e6:.0f}" for seconds in (run.all_cpu_seconds, run.cpu_seconds["java"]))
    return (name, f"{run.events:,}", f"{run.seconds:.1f}", *stages, f"{run.per_second:,.0f}", *cpu)
