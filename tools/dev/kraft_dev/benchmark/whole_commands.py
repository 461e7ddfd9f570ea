"""What whole commands cost, their start and the processes that they start included."""

import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from kraft_dev.benchmark.figure import BenchmarkError, Figure
from kraft_dev.benchmark.pipeline.running import run_bare
from kraft_dev.benchmark.recording import Recording

SHORT_TARGET = 1.3
"""CPU seconds of `kraft-spec validate` on a short trace, at most."""

TWO_TARGET = 1.8
"""How many times as many lines two checkers check on two cores."""

SLICE = "voters-truncation"
SLICE_TARGET = 2.5
"""How many times less CPU time a slice of voter changes takes than when TLC interprets the model."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Of commands, until the last of their processes ended."""

    seconds: float
    """By the clock."""
    cpu_seconds: float


def cost_of(work: Callable[[], object]) -> Cost:
    """What the processes cost that `work` starts and waits for."""
    clock, cpu = time.perf_counter(), _children_cpu()
    work()
    return Cost(time.perf_counter() - clock, _children_cpu() - cpu)


def _children_cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run_command(*words: str) -> None:
    """Run `kraft-spec` with these words, and expect it to succeed.

    Raises:
        BenchmarkError: it does not.
    """
    command = [sys.executable, "-m", "kraft_conformance.cli", *words]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    if finished.returncode != 0:
        raise BenchmarkError(f"kraft-spec {words[0]} ends with {finished.returncode}: {finished.stderr[-2000:]}")


def write_files(recordings: Sequence[Recording], folder: Path) -> list[Path]:
    """A file of each trace in a new folder."""
    folder.mkdir()
    files = [folder / f"{one.name}.jsonl" for one in recordings]
    for one, file in zip(recordings, files, strict=True):
        file.write_bytes(one.content)
    return files


def measure_short(one: Recording, folder: Path, runs: int = 5) -> Figure:
    """`kraft-spec validate` on one trace: the median of some runs, the first of which is not counted.

    Raises:
        BenchmarkError: the trace is not accepted.
    """
    (file,) = write_files([one], folder)
    costs = [cost_of(lambda: run_command("validate", str(file))) for _ in range(runs + 1)]
    seconds = median(cost.cpu_seconds for cost in costs[1:])
    return Figure("validate, short trace", seconds, SHORT_TARGET, "CPU s", at_most=True)


def measure_two(recordings: Sequence[Recording], folder: Path, passes: int = 4, pairs: int = 3) -> Figure:
    """How many times as many lines two checkers check side by side as one does alone; the median of some pairs.

    Each has made twice as many passes before: until then Java's compilers still take a part of the second core.

    Raises:
        BenchmarkError: a trace is not accepted.
    """
    files = write_files(recordings, folder) * passes
    ratios: list[float] = []
    for _ in range(pairs):
        one, two = run_bare(files * 2, files, 1), run_bare(files * 4, files * 2, 2)
        ratios.append(two.per_second / one.per_second)
    return Figure("two checkers against one", median(ratios), TWO_TARGET)


def measure_slice(name: str = SLICE, pairs: int = 3) -> Figure:
    """Check a slice by one worker, in turn with its compiled model at hand and interpreted by TLC; the medians count.

    Raises:
        BenchmarkError: the check fails.
    """
    words = ("model", name, "--workers", "1")
    run_command(*words)
    compiled: list[float] = []
    interpreted: list[float] = []
    for _ in range(pairs):
        compiled.append(cost_of(lambda: run_command(*words)).cpu_seconds)
        interpreted.append(cost_of(lambda: run_command(*words, "--interpreted")).cpu_seconds)
    return Figure(f"model check {name}, against interpreting", median(interpreted) / median(compiled), SLICE_TARGET)
