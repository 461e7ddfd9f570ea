"""`python -m kraft_dev bench`: measure the figures of docs/contributing.md in one run."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from kraft_conformance.console import progress, say, stderr
from kraft_conformance.exit_codes import ExitCode
from kraft_dev.benchmark.checking import measure_checking
from kraft_dev.benchmark.figure import Figure, describe_machine, show_figures
from kraft_dev.benchmark.long_trace import measure_long_trace
from kraft_dev.benchmark.pipeline import measure_pipeline
from kraft_dev.benchmark.recording import record_workloads
from kraft_dev.benchmark.simulating import measure_simulation
from kraft_dev.benchmark.whole_commands import measure_short, measure_slice
from kraft_traces.check import EVERY

MixEvents = Annotated[int, typer.Option(min=10, help="Events of each workload for checking and for simulating.")]
LongTraceEvents = Annotated[
    int | None,
    typer.Option("--long-trace", min=10, help="Measure only the checking of one trace with this many events."),
]
Pipeline = Annotated[
    int | None,
    typer.Option("--pipeline", min=2, help="Measure only the pipeline, on this many traces and on ten times as many."),
]
Every = Annotated[int, typer.Option(min=1, help="Number of events between checks of the full invariants.")]


def bench(
    mix_events: MixEvents = 2000,
    every: Every = EVERY,
    long_trace: LongTraceEvents = None,
    pipeline: Pipeline = None,
) -> int:
    """Measure the speed of checking and of simulating, beside the targets.

    The exit code is 0 even if targets are missed: they are meant for an idle machine with two cores.
    """
    before = describe_machine()
    with TemporaryDirectory(prefix="kraft-spec-bench-") as folder:
        if long_trace is not None:
            figures = measure_long_trace(long_trace, Path(folder))
        elif pipeline is not None:
            figures = []
            for figure in measure_pipeline(Path(folder), pipeline):
                # The pipeline takes half an hour, so print the other figures before it starts.
                say(": ".join(figure.cells()[:2]), console=stderr)
                figures.append(figure)
        else:
            figures = measure(mix_events, every)
    show_figures(figures)
    say(f"before: {before}")
    say(f"after:  {describe_machine()}")
    return ExitCode.CONFORMANT


def measure(mix_events: int, every: int) -> list[Figure]:
    """Measure everything, with progress on standard error."""
    with progress(f"simulating {mix_events} events of each workload"):
        figures = [measure_simulation(mix_events)]
    with progress("checking traces of each workload"):
        figures += measure_checking(record_workloads(mix_events), every=every)
    with progress("a short trace from the shell"):
        figures.append(measure_short())
    with progress("a model check in both ways"):
        figures.append(measure_slice())
    return figures
