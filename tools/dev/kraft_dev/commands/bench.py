"""`python -m kraft_dev bench`: the figures of docs/contributing.md, measured in one run."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from kraft_conformance.commands.options import Json
from kraft_conformance.console import print_json, progress, stdout, table
from kraft_conformance.exit_codes import ExitCode
from kraft_dev.benchmark import recording
from kraft_dev.benchmark.checking import (
    CHECK_TARGET,
    INTERPRETED_TARGET,
    OTHERS_TARGET,
    TAIL_EVENTS,
    CheckingSpeed,
    LogLengthSpeed,
    measure_checking,
    measure_log_length,
)
from kraft_dev.benchmark.figure import Figure, Machine, this_machine
from kraft_dev.benchmark.long_trace import LongTrace, measure_long_trace
from kraft_dev.benchmark.simulating import SIMULATION_TARGET, SimulationSpeed, measure_simulation
from kraft_dev.benchmark.usual_way import RATIO_TARGET, Comparison, compare
from kraft_dev.benchmark.whole_commands import (
    SHORT_TARGET,
    SLICE_TARGET,
    TWO_TARGET,
    SliceSpeed,
    measure_short,
    measure_slice,
    measure_two,
)
from kraft_dev.commands.figures import print_figures, print_machines
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


@dataclass(frozen=True, slots=True)
class Measurements:
    """All that a run of the benchmark measured."""

    before: Machine
    after: Machine
    simulation: SimulationSpeed
    checking: CheckingSpeed
    log_lengths: tuple[LogLengthSpeed, ...]
    two_checkers: float
    """How many times as many lines as one."""
    short_cpu_seconds: float
    """Of `kraft-spec validate` on a trace of `SHORT_EVENTS`."""
    slice: SliceSpeed
    comparison: Comparison

    def figures(self) -> tuple[Figure, ...]:
        """What has a target."""
        checking, comparison = self.checking, self.comparison
        return (
            Figure("trace checking, one core", checking.per_cpu_second, CHECK_TARGET, "events/s"),
            Figure("the same of other software", checking.of_others, OTHERS_TARGET, "events/s"),
            Figure("against interpreting", checking.ratio, INTERPRETED_TARGET),
            Figure("against TLC per trace, CPU time", comparison.cpu_ratio, RATIO_TARGET),
            Figure("two checkers against one", self.two_checkers, TWO_TARGET),
            Figure("validate, short trace", self.short_cpu_seconds, SHORT_TARGET, "CPU s", at_most=True),
            Figure(f"model check {self.slice.name}, against interpreting", self.slice.ratio, SLICE_TARGET),
            Figure("simulation, traced", self.simulation.per_cpu_second, SIMULATION_TARGET, "events/s"),
        )

    def as_dict(self) -> dict[str, Any]:
        """For --json."""
        comparison = self.comparison
        return {
            **asdict(self),
            "comparison": {**asdict(comparison), "ratio": comparison.ratio, "cpu_ratio": comparison.cpu_ratio},
            "figures": [figure.as_dict() for figure in self.figures()],
        }


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
    if long_trace is not None:
        with TemporaryDirectory(prefix="kraft-spec-bench-") as folder:
            long = measure_long_trace(long_trace, Path(folder))
        if as_json:
            print_json({**asdict(long), "slowdown": long.slowdown, "growth": long.growth})
        else:
            _show_long_trace(long)
        return ExitCode.CONFORMANT
    measured = measure(traces, events, sample, mix_events, tuple(log_length or LOG_LENGTHS), every)
    if as_json:
        print_json(measured.as_dict())
    else:
        _show(measured)
    return ExitCode.CONFORMANT


def measure(
    traces: int, events: int, sample: int | None, mix_events: int, log_lengths: tuple[int, ...], every: int
) -> Measurements:
    """Measure everything; progress goes to standard error."""
    before = this_machine()
    with progress(f"simulating {mix_events} events of each workload"):
        simulated = measure_simulation(mix_events)
    with progress("checking traces of each workload"):
        mix = recording.mix(mix_events)
        checked = measure_checking(mix, every=every)
    rows: list[LogLengthSpeed] = []
    with progress("checking against log length", len(log_lengths)) as advance:
        for length in log_lengths:
            rows.append(measure_log_length(recording.with_log_of(length), length, every=every))
            advance()
    with TemporaryDirectory(prefix="kraft-spec-bench-") as folder:
        with progress("two checkers against one"):
            two = measure_two(mix, Path(folder) / "mix")
        with progress("a short trace from the shell"):
            short = measure_short(next(recording.short_traces(1, SHORT_EVENTS)), Path(folder) / "short")
    with progress("a model check in both ways"):
        slice_speed = measure_slice()
    number = min(traces, sample or traces)
    with progress(f"one process of TLC for each of {number} traces", number) as advance:
        compared = compare(list(recording.short_traces(traces, events)), sample=sample, every=every, on_trace=advance)
    return Measurements(before, this_machine(), simulated, checked, tuple(rows), two, short, slice_speed, compared)


def _show(measured: Measurements) -> None:
    print_figures(measured.figures())
    sections: tuple[Callable[[Measurements], None], ...] = (
        _show_checking,
        _show_log_lengths,
        _show_comparison,
        _show_simulation,
    )
    for section in sections:
        section(measured)
    print_machines(measured.before, measured.after)


def _show_checking(measured: Measurements) -> None:
    speed = measured.checking
    drawn = table("Trace checking", "", "")
    drawn.add_row("traces, events", f"{speed.traces}, {speed.events:,} of {speed.bytes_per_event:.0f} bytes each")
    drawn.add_row("K, events between full invariants", f"{speed.every}, and at the end")
    drawn.add_row("events/s on one core (CPU time)", f"{speed.per_cpu_second:,.0f}")
    drawn.add_row("events/s by the clock", f"{speed.per_second:,.0f}")
    drawn.add_row("events/s on one core without warm-up", f"{speed.first_pass:,.0f}")
    stdout.print(drawn)


def _show_log_lengths(measured: Measurements) -> None:
    title = f"Trace checking against log length, over the last {TAIL_EVENTS} events of a run"
    drawn = table(title, "records in the log", "events in the trace", "events/s on one core", "of the first")
    for row in measured.log_lengths:
        share = row.per_cpu_second / measured.log_lengths[0].per_cpu_second
        drawn.add_row(f"{row.records:,}", f"{row.events:,}", f"{row.per_cpu_second:,.0f}", f"{share:.0%}")
    stdout.print(drawn)


def _show_comparison(measured: Measurements) -> None:
    compared = measured.comparison
    title = f"{compared.traces} traces, {compared.events:,} events, start-up counted on both sides"
    drawn = table(title, "", "seconds by the clock", "CPU seconds")
    drawn.add_row("kraft-spec validate", f"{compared.own_seconds:.1f}", f"{compared.own_cpu_seconds:.1f}")
    usual = "one process of tlc2.TLC per trace"
    if compared.is_extrapolated:
        usual += f" (extrapolated from {compared.usual_traces})"
    drawn.add_row(usual, f"{compared.usual_seconds:.1f}", f"{compared.usual_cpu_seconds:.1f}")
    drawn.add_row("ratio", f"{compared.ratio:.1f}", f"{compared.cpu_ratio:.1f}")
    drawn.add_row("one process of TLC with a single event", f"{compared.start_seconds:.1f}", "")
    stdout.print(drawn)


def _show_long_trace(long: LongTrace) -> None:
    title = f"One trace of {long.events:,} events, {long.appends:,} of them appends, {long.bytes_read / 1e6:.0f} MB"
    columns = ("lines checked", "CPU seconds", "Java heap in use", "Python objects")
    drawn = table(title, *columns)
    for stretch in long.stretches:
        drawn.add_row(
            f"{stretch.events:,}",
            f"{stretch.seconds:.1f}",
            f"{stretch.java_bytes / 1e6:.1f} MB",
            f"{stretch.python_objects:,}",
        )
    stdout.print(drawn)
    stdout.print(f"last stretch / median stretch, CPU time: {long.slowdown:.2f}")
    stdout.print(f"Java heap after the last stretch / after the first: {long.growth:.2f}")


def _show_simulation(measured: Measurements) -> None:
    speed = measured.simulation
    drawn = table("Simulation with tracing on", "", "")
    drawn.add_row("runs, events", f"{speed.runs}, {speed.events:,}; {speed.bytes_written / 1e6:.1f} MB of traces")
    drawn.add_row("events/s (CPU time)", f"{speed.per_cpu_second:,.0f}")
    drawn.add_row("events/s by the clock", f"{speed.per_second:,.0f}")
    stdout.print(drawn)
