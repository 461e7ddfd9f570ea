"""Notes about the adapters of a run, on which its verdict depends."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from kraft_conformance.random_runs.durations import Durations
from kraft_conformance.random_runs.plan import KnownDifference
from kraft_simulation.violation import Violation
from kraft_spec.difference import Difference
from kraft_spec.rules import Level as RuleLevel
from kraft_traces.effects import TracedEffect
from kraft_vectors.features import Level


class CountsOtherwiseError(Exception):
    """An adapter writes earlier or in other portions, so a crash point that counts the reference's writes is wrong."""


@dataclass(frozen=True, slots=True)
class FirstDifference:
    """First step in which an adapter differs from the reference.

    A later step replaces one in which only timers differ, because a timer has no consequence before it fires.
    """

    sequence: int
    """Sequence number of the event; 0 for the initial state of the replica."""
    replica_id: int
    event: str | None
    role: str | None
    """Role of the replica before the event."""
    differences: tuple[Difference, ...]
    level: Level
    """Lowest observability at which one of the differences shows."""
    rules: tuple[str, ...] = ()
    """Rules behind the differences, most likely first."""
    rule_level: RuleLevel = "MUST"
    """Level of the violated rule, as far as it is known."""
    note: str = ""
    """Defect of kraft-spec that prevented the ranking of the rules; else empty."""

    @property
    def key(self) -> tuple[str | None, str]:
        """Identity of the difference in shorter runs: the event and the field, without numbers."""
        name = self.differences[0].field
        return self.event, "".join(c for c in name if not c.isdigit())

    @property
    def is_of_timers(self) -> bool:
        """True if only timers differ."""
        return is_of_timers(self.differences)

    @property
    def is_death(self) -> bool:
        """True if the process of the replica has ended by itself."""
        return self.differences[0].field == "died"

    def where(self) -> str:
        """Return the step in words."""
        if self.event is None:
            return f"before the first event at replica {self.replica_id}"
        return f"event {self.sequence}, {self.event} at replica {self.replica_id}"


def is_of_timers(differences: Iterable[Difference]) -> bool:
    """True if all differences are about timers."""
    return all(difference.field.startswith("StartTimer") for difference in differences)


class KnownStep(NamedTuple):
    """Step with known differences only, after which the run continued."""

    sequence: int
    replica_id: int
    known: tuple[KnownDifference, ...]


@dataclass(slots=True)
class Notes:
    """Notes that the replicas of a run write and the runner reads."""

    known: tuple[KnownDifference, ...] = ()
    """Known differences, which do not fail the run."""
    passed: list[KnownStep] = field(default_factory=list)
    """Steps with known differences."""
    first: FirstDifference | None = None
    passes_timers: bool = False
    """True if a run that ends at the first difference continues after one of timers."""
    explaining: tuple[TracedEffect, ...] | None = None
    """Effects of the first step that differs, completed by the reference's, for the model to explain."""
    is_over: bool = False
    """True if the run cannot continue: the state of an adapter that hides it differs from the reference's."""
    undecided: str | None = None
    """Reason why the rest of the run cannot be judged."""
    latitude: dict[str, None] = field(default_factory=dict)
    """Reasons of the allowed alternatives that occurred, in order."""
    limits: dict[str, None] = field(default_factory=dict)
    """Hidden parts of the adapters, in words."""
    shown: int = 0
    """Number of outputs that the adapters have shown."""
    left_out: dict[str, None] = field(default_factory=dict)
    """Expected parts that were not shown."""
    is_mixed: bool = False
    """True if a state after a difference has fields of the reference on which cluster properties depend."""
    durations: dict[tuple[str, str], Durations] = field(default_factory=dict)
    """Durations of each implementation, by name and version."""
    asking: tuple[int, str] | None = None
    """Replica that has the current request, and the request."""

    @property
    def reasons(self) -> tuple[str, ...]:
        """Reasons of all known differences, each once."""
        return tuple(dict.fromkeys(difference.reason for step in self.passed for difference in step.known))

    def is_known_to_break(self, violation: Violation) -> bool:
        """True if a known difference explains the violation: it ended the run there, or may break the property."""
        return any(
            violation.property_name in difference.breaks and violation.replica_id == step.replica_id
            for step in self.passed
            for difference in step.known
        ) or (bool(self.passed) and violation.sequence == self.passed[-1].sequence)
