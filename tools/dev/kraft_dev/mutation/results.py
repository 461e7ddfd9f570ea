"""What a run of `python -m kraft_dev mutants` found, as values and as JSON."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from kraft_dev.mutation.machine_made import Key, MachineMade
from kraft_dev.mutation.sighting import Outcome
from kraft_dev.mutation.survivors import KillRate, Survivor, kill_rate
from kraft_spec.mutants import Mutant


@dataclass(frozen=True, slots=True)
class MachineMadeOutcomes:
    """A sample of machine-made mutants and what became of it.

    Attributes:
        seed: Of the sample.
        population: From how many changes it was drawn.
        made: The sample.
        outcomes: One for each, in the same order.
        known: The survivors that somebody has looked at.
    """

    seed: int
    population: int
    made: tuple[MachineMade, ...]
    outcomes: tuple[Outcome, ...]
    known: Mapping[Key, Survivor]

    @property
    def rate(self) -> KillRate:
        """The kill rate."""
        return kill_rate(self.made, self.outcomes, self.known)

    @property
    def survivors(self) -> tuple[tuple[MachineMade, Survivor | None], ...]:
        """Those that nothing killed, each with what is known about it."""
        return tuple(
            (made, self.known.get(made.key))
            for made, outcome in zip(self.made, self.outcomes, strict=True)
            if outcome.first is None
        )


@dataclass(frozen=True, slots=True)
class Results:
    """Everything that one run found.

    Attributes:
        command: The line that repeats it.
        baseline: What the tools did on the unbroken reference.
        mutants: The seeded mutants.
        outcomes: One for each, in the same order.
        machine: The machine-made ones; None if none were asked for.
    """

    command: str
    baseline: Outcome
    mutants: tuple[Mutant, ...]
    outcomes: tuple[Outcome, ...]
    machine: MachineMadeOutcomes | None

    @property
    def unkilled(self) -> tuple[str, ...]:
        """Names of the seeded mutants that no tool kills."""
        return tuple(outcome.name for outcome in self.outcomes if outcome.first is None)

    @property
    def holds(self) -> bool:
        """Is every seeded mutant killed, and enough of the machine-made?"""
        return not self.unkilled and (self.machine is None or self.machine.rate.reaches_target)

    def as_dict(self) -> dict[str, Any]:
        """For --json."""
        seeded = [
            {**asdict(outcome), "rules": mutant.rules, "bug": mutant.bug, "killed": outcome.first is not None}
            for mutant, outcome in zip(self.mutants, self.outcomes, strict=True)
        ]
        return {
            "command": self.command,
            "holds": self.holds,
            "baseline": asdict(self.baseline),
            "seeded": seeded,
            "unkilled": self.unkilled,
            "machine": None if self.machine is None else _machine_document(self.machine),
        }


def _machine_document(machine: MachineMadeOutcomes) -> dict[str, Any]:
    rate = machine.rate
    mutants = []
    for made, outcome in zip(machine.made, machine.outcomes, strict=True):
        entry = machine.known.get(made.key) if outcome.first is None else None
        mutants.append(
            {
                **made.key._asdict(),
                "line": made.line,
                "attacks": [asdict(attack) for attack in outcome.attacks],
                "killed_by": None if outcome.first is None else outcome.first.tool,
                "equivalent": entry.equivalent if entry else "",
                "missing": entry.missing if entry else "",
            }
        )
    return {
        "seed": machine.seed,
        "population": machine.population,
        "mutants": mutants,
        **asdict(rate),
        "kill_rate": round(rate.of_all, 4),
        "kill_rate_without_unit_tests": round(rate.of_tools, 4),
    }
