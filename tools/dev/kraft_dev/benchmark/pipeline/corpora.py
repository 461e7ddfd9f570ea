"""The corpora of traces that the pipeline is measured with: files on disk, one for each trace."""

import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import chain, cycle, islice
from pathlib import Path
from typing import NamedTuple

from kraft_dev.benchmark.recording import recording
from kraft_reference.cluster.plan import RunPlan
from kraft_reference.cluster.workload import WORKLOADS

GIANT_WORKLOAD = "snapshots"
"""Logs that are cut now and then, so that an event costs as much at the end of a giant as at its beginning."""

TENFOLD = 10
"""How much larger the large corpus is than the small one."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured.

    Attributes:
        traces: of the large corpus; a tenth of them is the small one.
        trace_events: events in each of them.
        giant_events: events in the one giant of the skewed corpus.
        tiny_traces: traces beside it.
        tiny_events: events in each of these.
        long_events: events in the one trace with checkpoints.
        checkpoint_every: after how many events it has one.
    """

    traces: int = 2_000
    trace_events: int = 500
    giant_events: int = 60_000
    tiny_traces: int = 4_000
    tiny_events: int = 30
    long_events: int = 1_000_000
    checkpoint_every: int = 10_000


SMALL = Sizes(20, 10, 60, 4, 10, 60, 20)
"""For a first look: the figures say nothing."""


class _Piece(NamedTuple):
    """A trace to be made."""

    path: Path
    seed: int
    workload: str
    events: int


def _pieces(folder: Path, traces: int, events: int, first_seed: int) -> Iterator[_Piece]:
    """Traces of all workloads in turn, each with its own seed."""
    for index, workload in enumerate(islice(cycle(WORKLOADS), traces)):
        yield _Piece(folder / f"{index:06}.jsonl", first_seed + index, workload, events)


def _write(piece: _Piece) -> None:
    plan = RunPlan(seed=piece.seed, steps=piece.events, workload=piece.workload)
    piece.path.write_bytes(recording(plan, piece.events).content)


def _write_all(pieces: Iterable[_Piece], processors: int, on_trace: Callable[[], None]) -> None:
    """Make traces in processes of their own."""
    with ProcessPoolExecutor(processors, multiprocessing.get_context("spawn")) as pool:
        for _ in pool.map(_write, pieces, chunksize=8):
            on_trace()


def write_corpus(
    folder: Path, traces: int, events: int, processors: int, on_trace: Callable[[], None], first_seed: int = 1
) -> None:
    """Write traces of all workloads in turn.

    Args:
        folder: is made.
        traces: how many.
        events: of each, where its run goes on for so long.
        processors: how many to make at a time.
        on_trace: is called after each.
        first_seed: of the first; each has its own.
    """
    folder.mkdir()
    _write_all(_pieces(folder, traces, events, first_seed), processors, on_trace)


def write_skewed(folder: Path, sizes: Sizes, processors: int, on_trace: Callable[[], None]) -> None:
    """Write one giant and very many tiny traces into a new folder."""
    folder.mkdir()
    giant = _Piece(folder / "giant.jsonl", 1, GIANT_WORKLOAD, sizes.giant_events)
    tiny = _pieces(folder, sizes.tiny_traces, sizes.tiny_events, first_seed=2)
    # The giant first: it takes longest.
    _write_all(chain([giant], tiny), processors, on_trace)
