"""Runs of the tools on mutants, and the judgement of their results."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from time import monotonic

from msgspec import structs

from kraft_dev.child import run_child
from kraft_dev.edges import stored_graph
from kraft_dev.mutants.listing import Listed, load_listed
from kraft_dev.mutants.subjects import UNBROKEN, Subject, reason_of
from kraft_dev.mutants.tool import Means, Tool, ToolError
from kraft_dev.mutants.tools import BY_DETECTOR, NAMING, RANDOM, SUITE, TOOLS, VECTORS, detections, is_asked
from kraft_dev.results import Cell, Row

LIMIT_FACTOR = 10
LIMIT_SECONDS_MIN = 60.0
"""Minimum time limit. The limit is ten times as long as on the unmodified reference; a tool that exceeds it hangs."""
NO_OPTIONS = Means()

VECTORS_TARGET = 0.9
"""Share of the seeded mutants that vectors must detect."""
MACHINE_TARGET = 0.95
"""Share of the machine-made mutants that the suite must detect, apart from undetectable ones."""


def record_edges(file: Path) -> None:
    """Enumerate the model's edges in a separate process, because TLC keeps static state, and write them.

    Raises:
        ChildError: The process failed; the message is the end of its output.
    """
    run_child("kraft_dev.edges.enumeration", str(file))


@dataclass(slots=True)
class Runner:
    """Runs tools; a tool that runs the reference must pass the unmodified one before its first mutant.

    Attributes:
        edges: File of the model's edges; enumerated when a tool first needs them, unless it has those of this
            very model.
        on_step: Called with the progress.
        tools: Tools to run. If empty, a listed mutant meets the detectors that it is listed with, and
            any other mutant the suite; in both cases one vector is enough.
        means: Other resources of the tools.
        listed: Detectors of the mutants.
    """

    edges: Path
    on_step: Callable[[str], None]
    tools: tuple[Tool, ...] = ()
    means: Means = NO_OPTIONS
    listed: Listed = field(default_factory=load_listed)
    _limits: dict[str, float] = field(default_factory=dict)
    _locks: dict[str, Lock] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)
    _has_edges: bool = False

    def rows(
        self, subjects: Sequence[Subject], *, jobs: int = 1, on_row: Callable[[Row], None] = lambda _: None
    ) -> tuple[Row, ...]:
        """Return a row for each subject, in their order.

        Args:
            subjects: The mutants.
            jobs: Number of mutants in parallel.
            on_row: Called with each row.

        Raises:
            EditError: An edit does not fit the reference.
            ToolError: A tool rejects the unmodified reference, or cannot be used.
            ChildError: The model's edges cannot be enumerated.
        """
        behind_adapter = bool(self.tools) and {*self.tools} <= {VECTORS, RANDOM, NAMING}

        def ask(subject: Subject) -> Row:
            reason = reason_of(subject, behind_adapter=behind_adapter)
            row = Row(subject.name, subject.breaks, subject.change, tuple(self._cells(subject)), reason, subject.kind)
            on_row(row)
            return row

        with ThreadPoolExecutor(max_workers=jobs) as pool:
            futures = [pool.submit(ask, subject) for subject in subjects]
            try:
                return tuple(future.result() for future in futures)
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _cells(self, subject: Subject) -> Iterator[Cell]:
        listed = self.listed.get(subject.name, {}) if subject.kind == "seeded" else {}
        if listed and not self.tools:
            yield from self._listed_cells(subject, listed)
            return
        # For a machine-made mutant the first vector is enough.
        one_vector = not self.tools or (subject.kind == "machine" and len(self.tools) > 1)
        is_detected = False
        for tool in self.tools or SUITE:
            if tool.applies(subject) and not (tool in SUITE and is_detected):
                cells = tuple(tool.cells(subject, replace(self._means(tool), one_vector=one_vector)))
                yield from cells
                is_detected = is_detected or (tool in SUITE and any(cell.detects for cell in cells))

    def _listed_cells(self, subject: Subject, listed: Mapping[str, str]) -> Iterator[Cell]:
        """Yield the cells of the detectors that a mutant is listed with; it is a problem if one does not detect it."""
        for tool in {BY_DETECTOR[detector]: None for detector in listed}:
            vectors = frozenset(where for detector, where in listed.items() if BY_DETECTOR[detector] is VECTORS)
            for cell in tool.cells(subject, replace(self._means(tool), vectors=vectors)):
                if cell.detector in listed:
                    where = f" by {listed[cell.detector]}" if tool is VECTORS else ""
                    problem = "" if cell.detects else f"does not detect it{where}, as detected_by.toml lists"
                    yield structs.replace(cell, problem=problem)

    def _means(self, tool: Tool) -> Means:
        return replace(self.means, edges=self._edges, seconds=self._limit(tool))

    def _limit(self, tool: Tool) -> float:
        """Return the time limit of the tool's process in seconds, once it has passed the unmodified reference."""
        with self._lock:
            lock = self._locks.setdefault(tool.name, Lock())
        with lock:
            if tool.name not in self._limits:
                self._limits[tool.name] = self._baseline(tool) if tool in (*SUITE, NAMING) else NO_OPTIONS.seconds
            return self._limits[tool.name]

    def _baseline(self, tool: Tool) -> float:
        self.on_step(f"{tool.name} on the unmodified reference")
        began = monotonic()
        for cell in tool.cells(UNBROKEN, Means(self._edges)):
            if cell.detects:
                raise ToolError(
                    f"{tool.name} rejects the unmodified reference, so its results for mutants are meaningless "
                    f"({cell.where}: {cell.what})"
                )
        return max(LIMIT_SECONDS_MIN, LIMIT_FACTOR * (monotonic() - began))

    def _edges(self) -> Path:
        with self._lock:
            if not self._has_edges and stored_graph(self.edges) is None:
                self.on_step("enumerating the model's edges")
                record_edges(self.edges)
            self._has_edges = True
        return self.edges


@contextmanager
def runner(
    edges: Path | None,
    on_step: Callable[[str], None],
    tools: Sequence[Tool] = (),
    means: Means = NO_OPTIONS,
) -> Iterator[Runner]:
    """Yield a runner; without a file of edges it uses a temporary one."""
    with TemporaryDirectory(prefix="kraft-spec-edges-") as folder:
        yield Runner(edges or Path(folder) / "edges", on_step, tuple(tools), means)


def share(rows: Sequence[Row]) -> float:
    """Return the detected share of the detectable mutants."""
    there = [row for row in rows if detections(row) or not row.reason]
    return sum(bool(detections(row)) for row in there) / max(1, len(there))


def problems(rows: Sequence[Row], tools: Sequence[Tool] = ()) -> Iterator[str]:
    """Yield problems in sentences: a tool contradicts the stated result, or nothing detects a mutant.

    Args:
        rows: Measured rows.
        tools: Tools that were run, as in `Runner`.
    """
    for row in rows:
        yield from (f"{row.name}: {cell.detector}: {cell.problem}" for cell in row.cells if cell.problem)
    seeded = [row for row in rows if row.kind == "seeded" and is_asked(row)]
    by_vectors = [row for row in seeded if any(cell.detector in VECTORS.detectors for cell in detections(row))]
    if VECTORS in tools and len(tools) in (1, len(TOOLS)) and len(by_vectors) < VECTORS_TARGET * len(seeded):
        yield f"vectors detect {len(by_vectors)} of {len(seeded)} seeded mutants, less than {VECTORS_TARGET:.0%}"
    if tuple(tools) != (VECTORS,):
        for row in seeded:
            if not (detections(row) or row.reason or any(cell.problem for cell in row.cells)):
                yield f"nothing detects {row.name}: {row.change}; add a check for {', '.join(row.breaks)}"
    made = [row for row in rows if row.kind == "machine" and is_asked(row)]
    if made and share(made) < MACHINE_TARGET and tuple(tools) != (VECTORS,):
        yield f"{share(made):.1%} of the machine-made mutants, less than {MACHINE_TARGET:.0%}"
