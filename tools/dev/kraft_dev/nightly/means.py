"""What a part of a night is, and what its items may use."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kraft_dev.nightly.record import Item


@dataclass(frozen=True, slots=True)
class Means:
    """What an item may use.

    Attributes:
        checkpoints: Folder for checkpoints of model checks; they belong to one text of the model.
        resume: Go on from checkpoints.
        workers: Threads of TLC, and processes elsewhere.
        time_limit_seconds: Replaces the limit of every check that has one; None to keep them.
        say: Shows how far the item is.
    """

    checkpoints: Path
    resume: bool
    workers: int
    time_limit_seconds: float | None
    say: Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a night.

    Attributes:
        name: Name on the command line and in the record.
        what: What it checks.
        items: Names of its items, in their order.
        run: Runs one.
    """

    name: str
    what: str
    items: Callable[[], tuple[str, ...]]
    run: Callable[[str, Means], Item]
