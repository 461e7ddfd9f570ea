"""How far a tool has come inside of a mutant's process."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(slots=True)
class Tally:
    """Kept outside of the tool, so that it is known after an exception too.

    Attributes:
        edges: File with the edges of the model, for the tool that replays them.
        amount: Events, edges or tests so far, the one in progress included where the tool counts that way.
        where: What the tool is looking at: a workload and seed, a scenario.
    """

    edges: Path | None = None
    amount: int = 0
    where: str = ""


Look = Callable[[Tally], str]
"""Looks for what is wrong with the reference that this process imports, and says the first thing; "" if it finds none.

An exception out of the reference is left to the caller, for whom it is a finding like any other.
"""
