"""What a tool is, what it may use, and how far it has come inside of a mutant's process."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from kraft_dev.mutants.subjects import Subject
from kraft_dev.results import Cell


class ToolError(Exception):
    """A tool cannot be used, or finds fault with the unbroken reference."""


@dataclass(frozen=True, slots=True)
class Means:
    """What a tool may use.

    Attributes:
        edges: Gives the file with the model's edges, which it enumerates if it has to.
        seconds: After these a process hangs; those in which a tool looks by itself have limits of their own.
        one_vector: Whether one vector that detects is enough; else all are asked.
        vectors: Only these are asked; all if empty.
        profile: Who decides what a search of the model leaves open.
        workers: Threads of TLC where no shortest counterexample is wanted.
        records: Whether another counterexample than the recorded one takes its place; it is a problem if not.
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
    """A way to see what is wrong with a mutant.

    Attributes:
        name: As `--tool` takes it.
        does: In a sentence.
        cells: What it says of a mutant: one cell for each of its detectors, the first that detects is the cheapest.
        detectors: Names in the cells; its own if empty.
        applies: True for the mutants that it can be asked about.
    """

    name: str
    does: str
    cells: Callable[[Subject, Means], Iterable[Cell]]
    detectors: tuple[str, ...] = ()
    applies: Callable[[Subject], bool] = has_edits


@dataclass(slots=True)
class Tally:
    """Kept outside of the tool, so that it is known after an exception too.

    Attributes:
        edges: File with the edges of the model, for the tool that replays them.
        amount: Events or edges so far, the one in progress included where the tool counts that way.
        where: What the tool is looking at: a workload and seed, a scenario.
    """

    edges: Path | None = None
    amount: int = 0
    where: str = ""


Look = Callable[[Tally], str]
"""Looks for what is wrong with the reference that this process imports, and says the first thing; "" if it finds none.

An exception out of the reference is left to the caller, for whom it is a finding like any other.
"""
