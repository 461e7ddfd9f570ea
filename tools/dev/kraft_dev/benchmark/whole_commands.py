"""Benchmark of whole commands, with their start and their child processes."""

import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from kraft_dev.benchmark.figure import BenchmarkError, Figure
from kraft_dev.benchmark.recording import record_run
from kraft_simulation.plan import RunPlan

SHORT_EVENTS = 100
SHORT_TARGET = 1.3
"""Maximum CPU seconds of `kraft-spec validate` on a short trace."""

SLICE = "voters-truncation"
SLICE_TARGET = 2.5
"""CPU time of TLC's interpreter divided by that of the compiled model, on a model check of voter changes."""


def cpu_seconds(work: Callable[[], object]) -> float:
    """Return the CPU time of the processes that `work` starts and waits for."""
    began = _children_cpu()
    work()
    return _children_cpu() - began


def _children_cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run_command(*words: str) -> None:
    """Run `kraft-spec` with these arguments, which must succeed.

    Raises:
        BenchmarkError: it does not.
    """
    command = [sys.executable, "-m", "kraft_cli.cli", *words]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    if finished.returncode != 0:
        raise BenchmarkError(f"kraft-spec {words[0]} ends with {finished.returncode}: {finished.stderr[-2000:]}")


def measure_short() -> Figure:
    """Measure `kraft-spec validate` on one trace: the median of five runs after a warm-up run.

    Raises:
        BenchmarkError: the trace is not accepted.
    """
    short = record_run(RunPlan(seed=1, steps=SHORT_EVENTS, workload="calm"))
    with TemporaryDirectory(prefix="kraft-spec-bench-") as folder:
        file = Path(folder) / "short.jsonl"
        file.write_bytes(short.content)
        costs = [cpu_seconds(lambda: run_command("validate", str(file))) for _ in range(6)]
    return Figure("validate, short trace", median(costs[1:]), SHORT_TARGET, "CPU s", at_most=True)


def measure_slice() -> Figure:
    """Measure a model check with one worker, alternately compiled and interpreted; return the ratio of the medians.

    Raises:
        BenchmarkError: the check fails.
    """
    words = ("model", SLICE, "--workers", "1")
    run_command(*words)
    compiled: list[float] = []
    interpreted: list[float] = []
    for _ in range(3):
        compiled.append(cpu_seconds(lambda: run_command(*words)))
        interpreted.append(cpu_seconds(lambda: run_command(*words, "--interpreted")))
    return Figure(f"model check {SLICE}, against interpreting", median(interpreted) / median(compiled), SLICE_TARGET)
