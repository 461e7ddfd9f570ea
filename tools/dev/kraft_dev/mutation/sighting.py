"""What a tool of the suite says of a broken reference, as values."""

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Target:
    """What a tool is given beside the `kraft_reference` that its process imports.

    Attributes:
        edges: File with the edges of the model, for the tool that replays them.
    """

    edges: Path | None = None


@dataclass(slots=True)
class Tally:
    """How far a tool has come; kept outside of it, so that it is known after an exception too.

    Attributes:
        amount: Events, edges or tests so far, the one in progress included where the tool counts that way.
        where: What the tool is looking at: a workload and seed, a scenario.
    """

    amount: int = 0
    where: str = ""


@dataclass(frozen=True, slots=True)
class Sighting:
    """What a tool found wrong.

    Attributes:
        what: The violated property, the differing fields, the failed assertion; in few words.
        where: Where it was seen.
    """

    what: str
    where: str


@dataclass(frozen=True, slots=True)
class Attack:
    """One tool against one mutant.

    Attributes:
        tool: Its name.
        killed: Whether the tool found the mutant.
        what: What it found; empty if nothing.
        where: Where.
        amount: Events, edges or tests until then, or in all.
        seconds: Time by the clock, imports counted, the start of Python not.
        skipped: Why the tool was not used; empty if it was.
    """

    tool: str
    killed: bool = False
    what: str = ""
    where: str = ""
    amount: int = 0
    seconds: float = 0.0
    skipped: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """All that was tried against one mutant.

    Attributes:
        name: The mutant's.
        attacks: One for each tool that was tried, cheapest first.
    """

    name: str
    attacks: tuple[Attack, ...] = field(default=())

    @property
    def first(self) -> Attack | None:
        """The cheapest tool that kills the mutant; None if none does."""
        return next((attack for attack in self.attacks if attack.killed), None)

    def by(self, tool: str) -> Attack | None:
        """What came of this tool; None if it was not tried."""
        return next((attack for attack in self.attacks if attack.tool == tool), None)
