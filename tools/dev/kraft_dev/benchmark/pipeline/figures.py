"""What is measured of the pipeline, and what it is held to."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kraft_conformance.console import progress
from kraft_dev.benchmark.figure import Figure
from kraft_dev.benchmark.long_trace import record_long_trace
from kraft_dev.benchmark.pipeline.corpora import Sizes, write_corpus, write_tenfold
from kraft_dev.benchmark.pipeline.running import Measured, run_session

CORES = 2
"""The figures are meant for two."""

NAMES = ("cores", "tenfold", "long")
"""The measurements, in their order."""

MEMORY_SLACK = 1.15
"""What counts as the same memory: a Java heap and Python's allocator grow in steps."""

TENFOLD_SECONDS = 360.0
"""For ten million events."""

Runs = tuple[Measured, ...]
"""Those of one session, in their order; the first makes it warm."""


@dataclass(frozen=True, slots=True)
class PipelineSpeed:
    """All that was measured; a measurement that was not asked for is None.

    Attributes:
        two: runs in one session on two cores: a small corpus, the usual one, and that ten times if it was asked for.
        one: runs in one session on one core: the small corpus, the usual one.
        long: runs of one trace with checkpoints, in a session on one core, and in one on two; both are warm.
    """

    two: Runs | None = None
    one: Runs | None = None
    long: Runs | None = None

    def figures(self) -> list[Figure]:
        """What is held to something."""
        return list(self._figures())

    def _figures(self) -> Iterator[Figure]:
        if self.two is not None and self.one is not None:
            yield _against("two cores against one", self.one[1], self.two[1], 1.8)
        if self.two is not None and len(self.two) > 2:
            usual, tenfold = self.two[1:]
            name = f"{tenfold.events:,} events"
            yield Figure(name, tenfold.seconds, TENFOLD_SECONDS, "s", at_most=True)
            for role, peak in usual.peak_bytes.items():
                if peak:
                    name = f"a tenfold corpus, peak memory of the {role}"
                    yield Figure(name, tenfold.peak_bytes[role] / peak, MEMORY_SLACK, at_most=True)
        if self.long is not None:
            one, two = self.long
            yield _against("checkpointed trace, two cores against one", one, two, 1.7)

    def as_dict(self) -> dict[str, Any]:
        """For --json."""
        return {**asdict(self), "figures": [figure.as_dict() for figure in self.figures()]}


def _against(name: str, one: Measured, two: Measured, target: float) -> Figure:
    return Figure(name, one.seconds / two.seconds, target)


def measure_pipeline(sizes: Sizes, wanted: Sequence[str], folder: Path, settings: Mapping[str, str]) -> PipelineSpeed:
    """Measure what is wanted of `NAMES`.

    Args:
        sizes: how much.
        wanted: of what.
        folder: for the traces and the tables; some 2 KB for each event.
        settings: of Spark, for all sessions.

    Raises:
        BenchmarkError: a measured process fails.
    """

    def session(what: str, cores: int, *inputs: Path) -> Runs:
        with progress(f"{what}: {', '.join(path.name for path in inputs)}", len(inputs)) as step:
            return tuple(run_session(f"local[{cores}]", inputs, folder, step, settings))

    small, usual, tenfold, long = (folder / name for name in ("small", "usual", "tenfold", "long"))
    with progress("simulating the small corpus", sizes.small_traces) as step:
        write_corpus(small, sizes.small_traces, sizes.trace_events, CORES, step, first_seed=1_000_001)
    measured: dict[str, Runs] = {}
    if "cores" in wanted or "tenfold" in wanted:
        with progress("simulating the usual corpus", sizes.traces) as step:
            write_corpus(usual, sizes.traces, sizes.trace_events, CORES, step)
        inputs = [small, usual]
        if "tenfold" in wanted:
            write_tenfold(usual, tenfold)
            inputs.append(tenfold)
        measured["two"] = session("two cores", CORES, *inputs)
    if "cores" in wanted:
        measured["one"] = session("one core", 1, small, usual)
    if "long" in wanted:
        long.mkdir()
        record_long_trace(sizes.long_events, long / "long.jsonl", checkpoint_every=sizes.checkpoint_every)
        measured["long"] = tuple(session("long trace", cores, small, long)[-1] for cores in (1, CORES))
    return PipelineSpeed(**measured)
