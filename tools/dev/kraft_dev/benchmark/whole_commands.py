"""What whole commands cost, their start and the processes that they start included."""

import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from kraft_dev.benchmark.figure import BenchmarkError, Figure
from kraft_dev.benchmark.recording import recording
from kraft_simulation.plan import RunPlan

SHORT_EVENTS = 100
SHORT_TARGET = 1.3
"""CPU seconds of `kraft-spec validate` on a short trace, at most."""

SLICE = "voters-truncation"
SLICE_TARGET = 2.5
"""How many times less CPU time a slice of voter changes takes than when TLC interprets the model."""


def cpu_seconds(work: Callable[[], object]) -> float:
    """The CPU time of the processes that `work` starts and waits for."""
    began = _children_cpu()
    work()
    return _children_cpu() - began


def _children_cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run_command(*words: str) -> None:
    """Run `kraft-spec` with these words, and expect it to succeed.

    Raises:
        BenchmarkError: it does not.
    """
    command = [sys.executable, "-m", "kraft_cli.cli", *words]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    if finished.returncode != 0:
        raise BenchmarkError(f"kraft-spec {words[0]} ends with {finished.returncode}: {finished.stderr[-2000:]}")


def measure_short() -> Figure:
    """`kraft-spec validate` on one trace: the median of five runs after a first one that is not counted.

    Raises:
        BenchmarkError: the trace is not accepted.
    """
    one = recording(RunPlan(seed=1, steps=SHORT_EVENTS, workload="calm"))
    with TemporaryDirectory(prefix="kraft-spec-bench-") as folder:
        file = Path(folder) / "short.jsonl"
        file.write_bytes(one.content)
        costs = [cpu_seconds(lambda: run_command("validate", str(file))) for _ in range(6)]
    return Figure("validate, short trace", median(costs[1:]), SHORT_TARGET, "CPU s", at_most=True)


def measure_slice() -> Figure:
    """Check a slice by one worker, in turn with its compiled model at hand and interpreted by TLC; the medians count.

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
