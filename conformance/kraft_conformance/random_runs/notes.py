"""What the adapters of one run have shown so far, as far as the verdict on the run hangs on it."""

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
    """An adapter does its writes earlier or in other portions, and was to die after a number of the reference's."""


@dataclass(frozen=True, slots=True)
class FirstDifference:
    """The first step in which an adapter does something else than the reference.

    One in which only timers differ gives way to a later one: from a timer nothing follows before it fires.
    """

    sequence: int
    """Of the event; 0 for the state in which the replica begins."""
    replica_id: int
    event: str | None
    role: str | None
    """The replica's role before the event."""
    differences: tuple[Difference, ...]
    level: Level
    """The lowest at which any of it shows."""
    rules: tuple[str, ...] = ()
    """Those behind what differs, the likeliest first."""
    rule_level: RuleLevel = "MUST"
    """What is not kept, as far as that is known."""
    note: str = ""
    """Why the rules are missing, if a defect of kraft-spec kept it from ranking them."""

    @property
    def key(self) -> tuple[str | None, str]:
        """What stays the same when the run is made shorter: the event and the field, without numbers."""
        name = self.differences[0].field
        return self.event, "".join(c for c in name if not c.isdigit())

    @property
    def is_of_timers(self) -> bool:
        """Does nothing but the timers differ?"""
        return is_of_timers(self.differences)

    @property
    def is_death(self) -> bool:
        """Has the process of the replica ended by itself?"""
        return self.differences[0].field == "died"

    def where(self) -> str:
        """The step, in words."""
        if self.event is None:
            return f"before the first event at replica {self.replica_id}"
        return f"event {self.sequence}, {self.event} at replica {self.replica_id}"


def is_of_timers(differences: Iterable[Difference]) -> bool:
    """Is there nothing but timers among what differs?"""
    return all(difference.field.startswith("StartTimer") for difference in differences)


class Passed(NamedTuple):
    """A step in which an adapter did what it is known to do otherwise; the run went on."""

    sequence: int
    replica_id: int
    known: tuple[KnownDifference, ...]


@dataclass(slots=True)
class Notes:
    """Filled in by the replicas of a run, read by whoever runs it."""

    known: tuple[KnownDifference, ...] = ()
    """A difference that is one of these ends no run."""
    passed: list[Passed] = field(default_factory=list)
    """The steps with such a difference."""
    first: FirstDifference | None = None
    passes_timers: bool = False
    """A run that ends at the first difference goes on after one of timers."""
    explaining: tuple[TracedEffect, ...] | None = None
    """What the replica did in that step, and the reference where its effects are hidden: for the model to explain."""
    is_over: bool = False
    """What happens next cannot be known: an adapter that hides its state has parted from the reference."""
    undecided: str | None = None
    """Why nothing can be said from here on."""
    latitude: dict[str, None] = field(default_factory=dict)
    """The reasons for which something was allowed to be otherwise, in the order of their coming up."""
    limits: dict[str, None] = field(default_factory=dict)
    """What of the adapters cannot be seen, in words."""
    shown: int = 0
    """How many outputs the adapters have shown."""
    left_out: dict[str, None] = field(default_factory=dict)
    """What was expected and not shown."""
    is_mixed: bool = False
    """A state after a difference has fields of the reference on which properties of clusters hang."""
    durations: dict[tuple[str, str], Durations] = field(default_factory=dict)
    """Of each implementation, by its name and version."""
    asking: tuple[int, str] | None = None
    """The replica that is asked now, and about what."""

    @property
    def reasons(self) -> tuple[str, ...]:
        """Those of all known differences, each once."""
        return tuple(dict.fromkeys(difference.reason for step in self.passed for difference in step.known))

    def is_known_to_break(self, violation: Violation) -> bool:
        """Is it what is known that breaks a property: the run ended there, or the replica is known to break it?"""
        return any(
            violation.property_name in difference.breaks and violation.replica_id == step.replica_id
            for step in self.passed
            for difference in step.known
        ) or (bool(self.passed) and violation.sequence == self.passed[-1].sequence)
