"""Fill a matrix of mutants, and judge it."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from time import monotonic

from kraft_dev.child import run_child
from kraft_dev.edges import stored_graph
from kraft_dev.matrix import machine_made
from kraft_dev.matrix.subjects import UNBROKEN, Subject, reason_of
from kraft_dev.matrix.tool import Means, Tool, ToolError
from kraft_dev.matrix.tools import ALL, KINDS
from kraft_dev.results import SCHEMA, Cell, Matrix, Row, measured_now, share, undetected

# ---------------------------------------------------------------------------------------------------------
# Running.
# ---------------------------------------------------------------------------------------------------------

LIMIT_FACTOR = 10
LIMIT_SECONDS_MIN = 60.0
"""A tool that takes ten times as long as on the unbroken reference, and a minute at least, hangs."""
BASELINE_LIMIT_SECONDS = 900.0


def record_edges(file: Path) -> None:
    """Enumerate the model's edges in a process of its own, because TLC keeps static state, and write them.

    Raises:
        ChildError: The process failed; the message is its last words.
    """
    run_child("kraft_dev.edges.enumeration", str(file))


@dataclass(slots=True)
class Runner:
    """Asks tools, each of which has to pass the unbroken reference before its first mutant.

    Attributes:
        edges: File that keeps the model's edges; enumerated when a tool first needs them, unless it has those of this
            very model.
        on_step: Told what happens meanwhile.
        one_vector: As `Means` has it.
        unbroken: What the tools said of the unbroken reference, by their names.
    """

    edges: Path
    on_step: Callable[[str], None]
    one_vector: bool = False
    unbroken: dict[str, tuple[Cell, ...]] = field(default_factory=dict)
    _limits: dict[str, float] = field(default_factory=dict)
    _locks: dict[str, Lock] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)
    _has_edges: bool = False

    def rows(
        self,
        subjects: Sequence[Subject],
        tools: Sequence[Tool],
        *,
        jobs: int = 1,
        behind_adapter: bool = False,
        on_row: Callable[[Row], None] = lambda _: None,
    ) -> tuple[Row, ...]:
        """A row for each subject, in their order, whatever came first; it ends with the first tool that detects.

        Args:
            subjects: The mutants.
            tools: Cheapest first.
            jobs: Mutants at a time.
            behind_adapter: As `reason_of` has it.
            on_row: Told each row.

        Raises:
            EditError: An edit does not fit the reference.
            ToolError: A tool finds fault with the unbroken reference, or cannot be used.
            ChildError: The model's edges cannot be enumerated.
        """

        def one(subject: Subject) -> Row:
            cells = tuple(self._cells(subject, tools))
            reason = reason_of(subject, behind_adapter=behind_adapter)
            row = Row(subject.name, subject.breaks, subject.change, cells, reason)
            on_row(row)
            return row

        with ThreadPoolExecutor(max_workers=jobs) as pool:
            futures = [pool.submit(one, subject) for subject in subjects]
            try:
                return tuple(future.result() for future in futures)
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _cells(self, subject: Subject, tools: Sequence[Tool]) -> Iterator[Cell]:
        for tool in tools:
            cells = tuple(tool.cells(subject, Means(self._edges, self._limit(tool), self.one_vector)))
            yield from cells
            if any(cell.detects for cell in cells):
                return

    def _limit(self, tool: Tool) -> float:
        """Seconds after which a process of the tool hangs, once it has passed the unbroken reference."""
        with self._lock:
            lock = self._locks.setdefault(tool.name, Lock())
        with lock:
            if tool.name not in self._limits:
                self.on_step(f"{tool.name} on the unbroken reference")
                began = monotonic()
                cells = tuple(tool.cells(UNBROKEN, Means(self._edges, BASELINE_LIMIT_SECONDS)))
                for cell in cells:
                    if cell.detects:
                        raise ToolError(
                            f"{tool.name} finds fault with the unbroken reference, so what it finds in a mutant says "
                            f"nothing ({cell.where}: {cell.what})"
                        )
                self.unbroken[tool.name] = cells
                self._limits[tool.name] = max(LIMIT_SECONDS_MIN, LIMIT_FACTOR * (monotonic() - began))
            return self._limits[tool.name]

    def _edges(self) -> Path:
        with self._lock:
            if not self._has_edges and stored_graph(self.edges) is None:
                self.on_step("enumerating the model's edges")
                record_edges(self.edges)
            self._has_edges = True
        return self.edges


@contextmanager
def runner(edges: Path | None, on_step: Callable[[str], None], *, one_vector: bool = False) -> Iterator[Runner]:
    """Yield a runner; the model's edges are in a temporary file if none is given."""
    with TemporaryDirectory(prefix="kraft-spec-edges-") as folder:
        yield Runner(edges or Path(folder) / "edges", on_step, one_vector)


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured.

    Attributes:
        name: One of `KINDS`.
        command: What repeats it.
        seeded: The seeded mutants.
        tools: Instead of the kind's, for seeded and machine-made mutants.
        machine: How many machine-made mutants.
        seed: Of their sample.
        edges: File that keeps the model's edges; a temporary one if None.
        jobs: Mutants at a time.
    """

    name: str
    command: str
    seeded: tuple[Subject, ...]
    tools: tuple[Tool, ...] = ()
    machine: int = 0
    seed: int = 1
    edges: Path | None = None
    jobs: int = 1


def measure(plan: Plan, on_step: Callable[[str], None], on_row: Callable[[Row], None]) -> Matrix:
    """Fill the matrix.

    Raises:
        EditError, UndetectableError: A mutant does not fit, or the list of what nothing can detect is wrong.
        ToolError: A tool finds fault with the unbroken reference, or cannot be used.
        ChildError: The model's edges cannot be enumerated.
        ValueError: There are not so many machine-made mutants.
    """
    kind = KINDS[plan.name]
    made: tuple[Subject, ...] = ()
    population = 0
    if plan.machine:
        on_step("drawing machine-made mutants")
        made, population = machine_made.sample(plan.machine, plan.seed)
    tools = plan.tools or kind.tools
    with runner(plan.edges, on_step, one_vector=kind.one_vector) as asked:
        rows, drawn = (
            asked.rows(subjects, tools, jobs=plan.jobs, behind_adapter=kind.behind_adapter, on_row=on_row)
            for subjects in (plan.seeded, made)
        )
        unbroken = [cell for tool in tools for cell in asked.unbroken.get(tool.name, ())]
    return Matrix(
        schema=SCHEMA,
        name=plan.name,
        command=plan.command,
        measured=measured_now(plan.name),
        seed=plan.seed if plan.machine else 0,
        population=population,
        unbroken=tuple(unbroken),
        rows=rows,
        drawn=drawn,
    )


def problems(matrix: Matrix) -> tuple[str, ...]:
    """What is wrong with the suite by a matrix, in sentences: mutants that nothing detects, or too few that are."""
    kind = KINDS[matrix.name]
    found = [
        f"nothing detects {row.name}: {row.change}; a check is missing for {', '.join(row.breaks)}"
        for row in undetected(matrix.rows)
        if kind.target == ALL
    ]
    for words, rows, target in (
        ("seeded", matrix.rows, kind.target),
        ("machine-made", matrix.drawn, kind.target_drawn),
    ):
        if rows and share(rows) < target < ALL:
            found.append(f"{share(rows):.1%} of the {words} mutants, less than {target:.0%}")
    return tuple(found)
