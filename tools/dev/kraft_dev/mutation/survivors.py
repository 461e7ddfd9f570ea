"""What is known about the machine-made mutants that survive: equivalent with an argument, or a check is missing."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files

import msgspec

from kraft_dev.mutation.machine_made import Key, MachineMade
from kraft_dev.mutation.sighting import Outcome

KILL_TARGET = 0.95
"""Share of the mutants that are not equivalent."""


class SurvivorError(ValueError):
    """The file of survivors is wrong."""


class Survivor(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One entry of `survivors.toml`."""

    file: str
    operator: str
    before: str
    after: str
    occurrence: int = 0
    equivalent: str = ""
    missing: str = ""

    @property
    def key(self) -> Key:
        """What names the mutant."""
        return Key(self.file, self.operator, self.before, self.after, self.occurrence)


class _SurvivorFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    survivor: tuple[Survivor, ...] = ()


def load_survivors() -> Mapping[Key, Survivor]:
    """Read `survivors.toml`.

    Raises:
        SurvivorError: It is malformed, names a mutant twice, or an entry has not exactly one of the two verdicts.
    """
    name = "survivors.toml"
    try:
        entries = msgspec.toml.decode((files(__package__) / name).read_bytes(), type=_SurvivorFile).survivor
    except msgspec.DecodeError as error:
        raise SurvivorError(f"{name}: {error}") from error
    known: dict[Key, Survivor] = {}
    for entry in entries:
        if entry.key in known:
            raise SurvivorError(f"{name}: twice: {entry.key.describe()}")
        if bool(entry.equivalent) == bool(entry.missing):
            raise SurvivorError(f"{name}: expected either `equivalent` or `missing`: {entry.key.describe()}")
        known[entry.key] = entry
    return known


@dataclass(frozen=True, slots=True)
class KillRate:
    """How a sample of machine-made mutants fared.

    Attributes:
        by_tools: Killed by a tool of the suite.
        raised: Of these, killed by an exception or a hang and not by a check.
        by_tests: Killed by the unit tests alone.
        equivalent: Survivors that nothing could kill.
        missing: The other survivors, classified or not.
    """

    by_tools: int
    raised: int
    by_tests: int
    equivalent: int
    missing: int

    @property
    def of_all(self) -> float:
        """Killed by anything, among the mutants that are not equivalent."""
        killed = self.by_tools + self.by_tests
        return killed / max(1, killed + self.missing)

    @property
    def of_tools(self) -> float:
        """Killed without the unit tests, among the same."""
        return self.by_tools / max(1, self.by_tools + self.by_tests + self.missing)

    @property
    def reaches_target(self) -> bool:
        """Is that enough?"""
        return self.of_all >= KILL_TARGET


def kill_rate(made: Iterable[MachineMade], outcomes: Iterable[Outcome], known: Mapping[Key, Survivor]) -> KillRate:
    """Count what became of the mutants; the outcomes are in their order."""
    by_tools = raised = by_tests = equivalent = missing = 0
    for mutant, outcome in zip(made, outcomes, strict=True):
        first = outcome.first
        if first is None:
            entry = known.get(mutant.key)
            is_equivalent = entry is not None and bool(entry.equivalent)
            equivalent += is_equivalent
            missing += not is_equivalent
        elif first.tool == "tests":
            by_tests += 1
        else:
            by_tools += 1
            raised += first.what.startswith(("raises ", "hangs: "))
    return KillRate(by_tools, raised, by_tests, equivalent, missing)
