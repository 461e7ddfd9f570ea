"""`python -m kraft_dev bench`: the figures of docs/contributing.md, measured in one run."""

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from kraft_conformance.commands.options import Json
from kraft_conformance.console import print_json, progress
from kraft_conformance.exit_codes import ExitCode
from kraft_dev.benchmark import recording
from kraft_dev.benchmark.checking import measure_checking, measure_log_length
from kraft_dev.benchmark.figure import Figure, show_figures, show_machines, this_machine
from kraft_dev.benchmark.long_trace import measure_long_trace
from kraft_dev.benchmark.simulating import measure_simulation
from kraft_dev.benchmark.usual_way import compare
from kraft_dev.benchmark.whole_commands import measure_short, measure_slice, measure_two
from kraft_traces.check import EVERY

LOG_LENGTHS = (50, 200, 1000, 4000)

SHORT_EVENTS = 100

Traces = Annotated[int, typer.Option(min=1, help="Traces to check in our way and in the usual one.")]
Events = Annotated[int, typer.Option(min=1, help="Events in each of these traces.")]
Sample = Annotated[
    int | None, typer.Option(min=1, help="Measure the usual way with so many of the traces and extrapolate.")
]
MixEvents = Annotated[int, typer.Option(min=10, help="Events of each workload for checking and for simulating.")]
LogLengths = Annotated[
    list[int] | None, typer.Option("--log-length", min=10, help="Log length to check at; repeatable. 50 200 1000 4000.")
]
LongTraceEvents = Annotated[
    int | None, typer.Option("--long-trace", min=10, help="Measure only this: checking one trace of so many events.")
]
Every = Annotated[int, typer.Option(min=1, help="Check the full invariants every so many events, and at the end.")]


def bench(
    traces: Traces = 100,
    events: Events = 500,
    sample: Sample = None,
    mix_events: MixEvents = 2000,
    log_length: LogLengths = None,
    every: Every = EVERY,
    long_trace: LongTraceEvents = None,
    as_json: Json = False,
) -> int:
    """Measure the speed of checking and of simulating, beside the targets.

    The exit code is 0 whether the targets are reached or not: they are meant for an idle machine with two cores.
    """
    before = this_machine()
    if long_trace is not None:
        with TemporaryDirectory(prefix="kraft-spec-bench-") as folder:
            found = measure_long_trace(long_trace, Path(folder))
    else:
        found = measure(traces, events, sample, mix_events, log_length or LOG_LENGTHS, every)
    after = this_machine()
    if as_json:
        figures = [figure.as_dict() for figure in found]
        print_json({"before": asdict(before), "after": asdict(after), "figures": figures})
    else:
        show_figures(found)
        show_machines(before, after)
    return ExitCode.CONFORMANT


def measure(
    traces: int, events: int, sample: int | None, mix_events: int, log_lengths: Iterable[int], every: int
) -> list[Figure]:
    """Measure everything; progress goes to standard error."""
    with progress(f"simulating {mix_events} events of each workload"):
        found = measure_simulation(mix_events)
    with progress("checking traces of each workload"):
        mix = recording.mix(mix_events)
        found += measure_checking(mix, every=every)
    with progress("checking against log length"):
        found += [measure_log_length(recording.with_log_of(one), one, every=every) for one in log_lengths]
    with TemporaryDirectory(prefix="kraft-spec-bench-") as folder:
        with progress("two checkers against one"):
            found.append(measure_two(mix, Path(folder) / "mix"))
        with progress("a short trace from the shell"):
            short = next(recording.short_traces(1, SHORT_EVENTS))
            found.append(measure_short(short, Path(folder) / "short"))
    with progress("a model check in both ways"):
        found.append(measure_slice())
    number = min(traces, sample or traces)
    with progress(f"one process of TLC for each of {number} traces", number) as advance:
        compared = recording.short_traces(traces, events)
        found += compare(list(compared), sample=sample, every=every, on_trace=advance)
    return found
