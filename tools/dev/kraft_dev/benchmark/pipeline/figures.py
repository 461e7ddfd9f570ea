"""What is measured of the pipeline, and what it is held to."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kraft_conformance.console import progress
from kraft_dev.benchmark.figure import Figure
from kraft_dev.benchmark.long_trace import record_long_trace
from kraft_dev.benchmark.pipeline.corpora import TENFOLD, Sizes, write_corpus, write_skewed
from kraft_dev.benchmark.pipeline.running import BareMeasured, Measured, run_bare, run_session

CORES = 2
"""The figures are meant for two."""

NAMES = ("cores", "processor", "bare", "growth", "skew", "long")
"""The measurements, in their order."""

MEMORY_SLACK = 1.15
"""What counts as the same memory: a Java heap and Python's allocator grow in steps."""

Runs = tuple[Measured, ...]
"""Those of one session, in their order."""


@dataclass(frozen=True, slots=True)
class PipelineSpeed:
    """All that was measured; a measurement that was not asked for is None.

    Attributes:
        two: runs in one session on two cores: the small corpus unmeasured, the small corpus again, the large one.
        one: runs in one session on one core: the small corpus unmeasured, the large one.
        processor: the same with Spark's Java process on that core too, where `local[1]` lets it have the other one.
        bare: two bare checkers on the large corpus.
        skewed: runs in one session on two cores: the small corpus unmeasured, the skewed corpus.
        long: runs of one trace with checkpoints, in a session on one core, and in one on two; both are warm.
    """

    two: Runs | None = None
    one: Runs | None = None
    processor: Runs | None = None
    bare: BareMeasured | None = None
    skewed: Runs | None = None
    long: Runs | None = None

    def figures(self) -> list[Figure]:
        """The ratios; only of `validate`, or of the whole run, as their names say."""
        return list(self._figures())

    def _figures(self) -> Iterator[Figure]:
        if self.two is not None:
            two = self.two[-1]
            for name, runs in (("local[2] against local[1]", self.one), ("two processors against one", self.processor)):
                if runs is not None:
                    yield from _against(name, runs[-1], two, 1.8)
            if self.bare is not None:
                name, per_second = "against two bare checkers", self.bare.per_second
                yield Figure(f"{name}, validate", two.validated_per_second / per_second, 0.75)
                yield Figure(f"{name}, whole run", two.per_second / per_second)
            yield from _growth(*self.two[1:])
        if self.skewed is not None:
            skewed = self.skewed[-1]
            used = skewed.all_cpu_seconds / skewed.seconds / CORES
            yield Figure("skew, share of two cores' time that is used", used, 0.9)
        if self.long is not None:
            one, two = self.long
            yield from _against("checkpointed trace, two cores against one", one, two, 1.7)

    def as_dict(self) -> dict[str, Any]:
        """For --json."""
        return {**asdict(self), "figures": [figure.as_dict() for figure in self.figures()]}


def _against(name: str, one: Measured, two: Measured, target: float) -> Iterator[Figure]:
    yield Figure(f"{name}, whole run", one.seconds / two.seconds, target)
    yield Figure(f"{name}, validate", one.stages["validate"] / two.stages["validate"], target)


def _growth(small: Measured, large: Measured) -> Iterator[Figure]:
    # What was asked for may not be ten times as many events to the last.
    scale = TENFOLD * small.events / large.events
    yield Figure("a tenfold corpus, time of the whole run", large.seconds / small.seconds * scale, 11.0, at_most=True)
    for role, peak in small.peak_bytes.items():
        if peak:
            name = f"a tenfold corpus, peak memory of the {role}"
            yield Figure(name, large.peak_bytes[role] / peak, MEMORY_SLACK, at_most=True)


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

    def session(what: str, cores: int, *inputs: Path, processors: int | None = None) -> Runs:
        with progress(f"{what}: {', '.join(path.name for path in inputs)}", len(inputs)) as step:
            return tuple(run_session(f"local[{cores}]", inputs, folder, step, settings, processors))

    small, large, skewed, long = (folder / name for name in ("small", "large", "skewed", "long"))
    few = max(1, sizes.traces // TENFOLD)
    on_large = not {"cores", "processor", "bare", "growth"}.isdisjoint(wanted)
    with progress("simulating the small corpus", few) as step:
        write_corpus(small, few, sizes.trace_events, CORES, step, first_seed=1_000_001)
    if on_large:
        with progress("simulating the large corpus", sizes.traces) as step:
            write_corpus(large, sizes.traces, sizes.trace_events, CORES, step)
    measured: dict[str, Any] = {}
    if on_large:
        measured["two"] = session("two cores", CORES, small, small, large)
    if "cores" in wanted:
        measured["one"] = session("one core", 1, small, large)
    if "processor" in wanted:
        measured["processor"] = session("one processor", 1, small, large, processors=1)
    if "bare" in wanted:
        with progress(f"{CORES} bare checkers"):
            measured["bare"] = run_bare(sorted(small.iterdir()), sorted(large.iterdir()), CORES)
    if "skew" in wanted:
        with progress("simulating the skewed corpus", sizes.tiny_traces + 1) as step:
            write_skewed(skewed, sizes, CORES, step)
        measured["skewed"] = session("skew", CORES, small, skewed)
    if "long" in wanted:
        long.mkdir()
        record_long_trace(sizes.long_events, long / "long.jsonl", checkpoint_every=sizes.checkpoint_every)
        measured["long"] = tuple(session("long trace", cores, small, long)[-1] for cores in (1, CORES))
    return PipelineSpeed(**measured)
