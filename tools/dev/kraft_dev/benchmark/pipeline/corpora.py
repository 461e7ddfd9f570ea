"""The corpora of traces that the pipeline is measured with: files on disk, one for each trace."""

import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path

from kraft_dev.benchmark.recording import recording
from kraft_reference.cluster.plan import RunPlan
from kraft_reference.cluster.workload import WORKLOADS

TENFOLD = 10


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured.

    Attributes:
        traces: of the usual corpus.
        small_traces: of the one that makes a session warm.
        trace_events: events in each of them.
        long_events: events in the one trace with checkpoints.
        checkpoint_every: after how many events it has one.
    """

    traces: int = 2_000
    small_traces: int = 200
    trace_events: int = 500
    long_events: int = 1_000_000
    checkpoint_every: int = 10_000


SMALL = Sizes(20, 2, 10, 60, 20)
"""For a first look: the figures say nothing."""


def _write(path: Path, plan: RunPlan) -> None:
    path.write_bytes(recording(plan, plan.steps).content)


def write_corpus(
    folder: Path, traces: int, events: int, processors: int, on_trace: Callable[[], None], first_seed: int = 1
) -> None:
    """Write traces of all workloads in turn, in processes of their own.

    Args:
        folder: is made.
        traces: how many.
        events: of each, where its run goes on for so long.
        processors: how many to make at a time.
        on_trace: is called after each.
        first_seed: of the first; each has its own.
    """
    folder.mkdir()
    paths = [folder / f"{index:06}.jsonl" for index in range(traces)]
    plans = [
        RunPlan(seed=first_seed + index, steps=events, workload=workload)
        for index, workload in enumerate(islice(cycle(WORKLOADS), traces))
    ]
    with ProcessPoolExecutor(processors, multiprocessing.get_context("spawn")) as pool:
        for _ in pool.map(_write, paths, plans, chunksize=8):
            on_trace()


def write_tenfold(folder: Path, target: Path) -> None:
    """Each file of a folder under ten names: to the pipeline these are different files."""
    target.mkdir()
    for file in folder.iterdir():
        for number in range(TENFOLD):
            (target / f"{number}-{file.name}").hardlink_to(file)
