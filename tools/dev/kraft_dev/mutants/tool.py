"""Tools, their resources, and their progress inside a mutant's process."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from kraft_dev.mutants.subjects import Subject
from kraft_dev.results import Cell


class ToolError(Exception):
    """A tool cannot be used, or rejects the unmodified reference."""


@dataclass(frozen=True, slots=True)
class Means:
    """Resources of the tools.

    Attributes:
        edges: Function that returns the file of the model's edges, enumerated if necessary.
        seconds: Time limit of a process; processes in which a tool runs have their own limits.
        one_vector: True to stop at the first vector that detects; otherwise all run.
        vectors: Vectors to run; all if empty.
        profile: Profile that decides open questions of a model check.
        workers: Threads of TLC where no shortest counterexample is required.
        records: True to record a different counterexample; otherwise it is a problem.
    """

    edges: Callable[[], Path] = Path
    seconds: float = 900.0
    one_vector: bool = False
    vectors: frozenset[str] = frozenset()
    profile: str = "kip"
    workers: int = 1
    records: bool = False


def has_edits(subject: Subject) -> bool:
    """True for a mutant of the reference."""
    return bool(subject.edits)


@dataclass(frozen=True, slots=True)
class Tool:
    """A way to detect a mutant.

    Attributes:
        name: Value of `--tool`.
        does: Description in a sentence.
        cells: Results for a mutant: one cell for each of its detectors, the cheapest first.
        detectors: Names in the cells; the tool's own name if empty.
        applies: True for the mutants that the tool can run on.
    """

    name: str
    does: str
    cells: Callable[[Subject, Means], Iterable[Cell]]
    detectors: tuple[str, ...] = ()
    applies: Callable[[Subject], bool] = has_edits


@dataclass(slots=True)
class Tally:
    """Progress of a tool, kept outside of it so that it survives an exception.

    Attributes:
        edges: File with the edges of the model, for the tool that replays them.
        amount: Number of events or edges so far.
        where: Current workload and seed, or scenario.
    """

    edges: Path | None = None
    amount: int = 0
    where: str = ""


Look = Callable[[Tally], str]
"""Function that checks the imported reference and returns the first problem, or "".
An exception of the reference propagates to the caller, which treats it as a problem.

An exception out of the reference is left to the caller, for whom it is a finding like any other.
"""
