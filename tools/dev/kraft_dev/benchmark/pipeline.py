"""Benchmark of `kraft-spec pipeline run`: on one core and two, with ten times as many traces, and with a long trace."""

import json
import multiprocessing
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryFile

import psutil

from kraft_conformance.console import progress
from kraft_dev.benchmark.figure import BenchmarkError, Figure
from kraft_dev.benchmark.long_trace import record_long_trace
from kraft_dev.benchmark.recording import record_run
from kraft_simulation.plan import RunPlan
from kraft_simulation.workload import WORKLOADS

TRACE_EVENTS = 500
TENFOLD = 10
SECONDS_FOR_TEN_MILLIONS = 360.0
MEMORY_SLACK = 1.15
"""Factor within which memory counts as equal, because a Java heap and Python's allocator grow in steps."""
_LOOK_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Run:
    """A run of the pipeline.

    Attributes:
        events: Checked lines.
        seconds: Duration of the whole command, Spark's start included.
        stages: Seconds of each stage, from the report.
        peaks: Peak resident bytes of a process, by its kind: driver, Java, worker.
    """

    events: int
    seconds: float
    stages: dict[str, float]
    peaks: dict[str, int]

    @property
    def staged_seconds(self) -> float:
        """Total seconds of all stages."""
        return sum(self.stages.values())


def measure_pipeline(folder: Path, traces: int) -> Iterator[Figure]:
    """Record traces in `folder`, about 2 KB per event, and check them.

    Raises:
        BenchmarkError: Not all of them are accepted.
    """
    usual, tenfold, long = (folder / name for name in ("usual", "tenfold", "long.jsonl"))
    long_events = traces * TRACE_EVENTS
    _write_corpus(usual, traces)
    _link_tenfold(usual, tenfold)
    record_long_trace(long_events, long)
    few = _run(usual, 2)
    yield from _costs(few, "2 cores")
    many = _run(tenfold, 2)
    yield from _costs(many, "2 cores", SECONDS_FOR_TEN_MILLIONS * many.events / 1e7)
    for role, peak in many.peaks.items():
        yield Figure(f"{role}, most memory", peak / 1e6, unit="MB")
        yield Figure(f"{role}, most memory, against a tenth of it", peak / few.peaks[role], MEMORY_SLACK, at_most=True)
    alone = _run(tenfold, 1)
    yield from _costs(alone, "1 core")
    yield Figure("2 cores against 1", alone.staged_seconds / many.staged_seconds, 1.8)
    single = _run(long, 1)
    yield from _costs(single, "one trace")
    for role, peak in single.peaks.items():
        yield Figure(f"one trace: {role}, most memory", peak / 1e6, unit="MB")


def _costs(run: Run, what: str, target: float | None = None) -> Iterator[Figure]:
    name = f"{run.events:,} events, {what}"
    yield Figure(name, run.seconds, target, "s", at_most=True)
    for stage, seconds in run.stages.items():
        yield Figure(f"{name}: {stage}", seconds, unit="s")


def _write_corpus(folder: Path, traces: int) -> None:
    folder.mkdir()
    paths = [folder / f"{index:06}.jsonl" for index in range(traces)]
    plans = [
        RunPlan(seed=1 + index, steps=TRACE_EVENTS, workload=workload)
        for index, workload in enumerate(islice(cycle(WORKLOADS), traces))
    ]
    with (
        progress(f"simulating {traces:,} traces", traces) as advance,
        ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool,
    ):
        for _ in pool.map(_write, paths, plans, chunksize=8):
            advance()


def _write(path: Path, plan: RunPlan) -> None:
    path.write_bytes(record_run(plan).content)


def _link_tenfold(folder: Path, target: Path) -> None:
    # The pipeline treats these copies as different files.
    target.mkdir()
    for file in folder.iterdir():
        for number in range(TENFOLD):
            (target / f"{number}-{file.name}").hardlink_to(file)


def _run(traces: Path, cores: int) -> Run:
    output = traces.parent / f"{traces.name}-on-{cores}"
    words = ("pipeline", "run", "--input", str(traces), "--output", str(output), "--master", f"local[{cores}]")
    command = [sys.executable, "-m", "kraft_cli.cli", *words, "--json"]
    with progress(f"checking {traces.name} on {cores}"), TemporaryFile() as stdout, TemporaryFile() as words_of_spark:
        began = time.monotonic()
        process = subprocess.Popen(command, stdout=stdout, stderr=words_of_spark)
        peaks = _watched(process)
        seconds = time.monotonic() - began
        stdout.seek(0)
        words_of_spark.seek(0)
        if process.returncode:
            last = words_of_spark.read().decode(errors="replace")[-2000:]
            raise BenchmarkError(f"kraft-spec pipeline run ends with {process.returncode}: {last}")
        report = json.load(stdout)
    stages = {stage["stage"]: stage["seconds"] for stage in report["throughput"]}
    return Run(report["account"]["events"], seconds, stages, peaks)


def _watched(process: "subprocess.Popen[bytes]") -> dict[str, int]:
    root = psutil.Process(process.pid)
    peaks = Counter[str]()
    while process.poll() is None:
        for member in (root, *root.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):
                role = _role(member, root)
                peaks[role] = max(peaks[role], member.memory_info().rss)
        time.sleep(_LOOK_SECONDS)
    return dict(peaks)


def _role(process: psutil.Process, root: psutil.Process) -> str:
    if process == root:
        return "driver"
    return "worker" if "pyspark.daemon" in process.cmdline() else "Java"
