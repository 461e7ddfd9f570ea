"""What is measured of the pipeline, and what it is held to."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

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

Progress = Callable[[str, int | None], AbstractContextManager[Callable[[], None]]]
"""Takes what is done and how many steps it has; gives what to call after each."""


@dataclass(frozen=True, slots=True)
class Long:
    """The checkpointed trace in a session on one core, and in one on two."""

    one: Measured
    two: Measured


@dataclass(frozen=True, slots=True)
class PipelineSpeed:
    """All that was measured; a measurement that was not asked for is None.

    Attributes:
        two: runs in one session on two cores: the small corpus unmeasured, the small corpus again, the large one.
        one: runs in one session on one core: the small corpus unmeasured, the large one.
        processor: the same with Spark's Java process on that core too, where `local[1]` lets it have the other one.
        bare: two bare checkers on the large corpus.
        skewed: runs in one session on two cores: the small corpus unmeasured, the skewed corpus.
        long: runs of one checkpointed trace.
    """

    two: tuple[Measured, ...] | None = None
    one: tuple[Measured, ...] | None = None
    processor: tuple[Measured, ...] | None = None
    bare: BareMeasured | None = None
    skewed: tuple[Measured, ...] | None = None
    long: Long | None = None

    def figures(self) -> list[Figure]:
        """The ratios; only of `validate`, or of the whole run, as their names say."""
        return [*self._against_one(), *self._against_bare(), *self._growth(), *self._skew(), *self._long()]

    def _against_one(self) -> list[Figure]:
        found: list[Figure] = []
        for name, runs in (("local[2] against local[1]", self.one), ("two processors against one", self.processor)):
            if self.two is not None and runs is not None:
                two, one = self.two[-1], runs[-1]
                validate = one.stages["validate"] / two.stages["validate"]
                found.append(Figure(f"{name}, whole run", one.seconds / two.seconds, 1.8))
                found.append(Figure(f"{name}, validate", validate, 1.8))
        return found

    def _against_bare(self) -> list[Figure]:
        if self.two is None or self.bare is None:
            return []
        two, bare = self.two[-1], self.bare
        return [
            Figure("against two bare checkers, validate", two.validated_per_second / bare.per_second, 0.75),
            Figure("against two bare checkers, whole run", two.per_second / bare.per_second, None),
        ]

    def _growth(self) -> list[Figure]:
        if self.two is None:
            return []
        _, small, large = self.two
        # What was asked for may not be ten times as many events to the last.
        scale = TENFOLD * small.events / large.events
        found = [
            Figure("a tenfold corpus, time of the whole run", large.seconds / small.seconds * scale, 11.0, at_most=True)
        ]
        for role, peak in small.peak_bytes.items():
            if peak:
                name = f"a tenfold corpus, peak memory of the {role}"
                found.append(Figure(name, large.peak_bytes[role] / peak, MEMORY_SLACK, at_most=True))
        return found

    def _skew(self) -> list[Figure]:
        if self.skewed is None:
            return []
        skewed = self.skewed[-1]
        return [
            Figure("skew, share of two cores' time that is used", skewed.all_cpu_seconds / skewed.seconds / CORES, 0.9)
        ]

    def _long(self) -> list[Figure]:
        if self.long is None:
            return []
        one, two = self.long.one, self.long.two
        validate = one.stages["validate"] / two.stages["validate"]
        return [
            Figure("checkpointed trace, two cores against one, whole run", one.seconds / two.seconds, 1.7),
            Figure("checkpointed trace, two cores against one, validate", validate, 1.7),
        ]

    def as_dict(self) -> dict[str, Any]:
        """For --json."""
        return {**asdict(self), "figures": [figure.as_dict() for figure in self.figures()]}


def measure_pipeline(
    sizes: Sizes, wanted: Sequence[str], folder: Path, progress: Progress, settings: Mapping[str, str]
) -> PipelineSpeed:
    """Measure what is wanted of `NAMES`.

    Args:
        sizes: how much.
        wanted: of what.
        folder: for the traces and the tables; some 2 KB for each event.
        progress: see `Progress`.
        settings: of Spark, for all sessions.

    Raises:
        BenchmarkError: a measured process fails.
    """

    def session(what: str, master: str, inputs: Sequence[Path], processors: int | None = None) -> tuple[Measured, ...]:
        with progress(f"{what}: {', '.join(path.name for path in inputs)}", len(inputs)) as step:
            return tuple(run_session(master, inputs, folder, step, settings, processors))

    small, large, skewed = folder / "small", folder / "large", folder / "skewed"
    few = max(1, sizes.traces // TENFOLD)
    on_large = [name for name in wanted if name in ("cores", "processor", "bare", "growth")]
    with progress("simulating the small corpus", few) as step:
        write_corpus(small, few, sizes.trace_events, CORES, step, first_seed=1_000_001)
    if on_large:
        with progress("simulating the large corpus", sizes.traces) as step:
            write_corpus(large, sizes.traces, sizes.trace_events, CORES, step)
    measured: dict[str, Any] = {}
    if on_large:
        measured["two"] = session("two cores", f"local[{CORES}]", [small, small, large])
    if "cores" in wanted:
        measured["one"] = session("one core", "local[1]", [small, large])
    if "processor" in wanted:
        measured["processor"] = session("one processor", "local[1]", [small, large], 1)
    if "bare" in wanted:
        with progress(f"{CORES} bare checkers", None):
            measured["bare"] = run_bare(sorted(small.iterdir()), sorted(large.iterdir()), CORES)
    if "skew" in wanted:
        with progress("simulating the skewed corpus", sizes.tiny_traces + 1) as step:
            write_skewed(skewed, sizes, CORES, step)
        measured["skewed"] = session("skew", f"local[{CORES}]", [small, skewed])
    if "long" in wanted:
        measured["long"] = measure_long(sizes, folder, session)
    return PipelineSpeed(**measured)


def measure_long(
    sizes: Sizes, folder: Path, session: Callable[[str, str, Sequence[Path]], tuple[Measured, ...]]
) -> Long:
    """Check one trace of `sizes.long_events` with checkpoints on one core, then on two; both sessions are warm.

    Args:
        sizes: how much.
        folder: has the small corpus in `small`.
        session: takes what to call it, the master, and the inputs.

    Raises:
        BenchmarkError: a measured process fails.
    """
    long = folder / "long"
    long.mkdir()
    record_long_trace(sizes.long_events, long / "long.jsonl", checkpoint_every=sizes.checkpoint_every)
    inputs = [folder / "small", long]
    one, two = (session("long trace", f"local[{cores}]", inputs)[-1] for cores in (1, CORES))
    return Long(one, two)
