"""A run as every format shows it: the vectors on an adapter, or the cases of `kraft-spec live` on a process."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar, Literal, NamedTuple, Protocol

from kraft_conformance.protocol.messages import Software
from kraft_conformance.runner.outcome import FAILING, Outcome, Status
from kraft_conformance.runner.reports import counts
from kraft_vectors.rule_coverage import RuleCoverage


class Asked(Protocol):
    """What is asked of an implementation: a vector or a case."""

    @property
    def title(self) -> str:
        """What it is about."""

    @property
    def rules(self) -> tuple[str, ...]:
        """The ids of the rules that decide it."""


class Head(Protocol):
    """What was run: the first line of a result, of which each kind of run has more fields."""

    @property
    def runner(self) -> Software:
        """This program."""

    @property
    def implementation(self) -> Software:
        """What was tested."""


class Run(ABC):
    """What came of a run."""

    noun: ClassVar[Literal["vector", "case"]]
    """What is asked."""
    program: ClassVar[str]
    """The command, as `kraft-spec live`."""
    group: ClassVar[str]
    """What the classes of JUnit's test cases begin with."""
    statuses: ClassVar[tuple[Status, ...]]
    """Those that there can be."""
    about: Head
    outcomes: tuple[Outcome, ...]
    """In the order in which they were asked for."""

    @property
    @abstractmethod
    def command(self) -> str:
        """The command line that starts the implementation or its adapter, or where it runs."""

    @property
    @abstractmethod
    def facts(self) -> Mapping[str, str]:
        """What a reader wants to know of the run, by name, beside the implementation."""

    @property
    @abstractmethod
    def remarks(self) -> tuple[str, ...]:
        """The same in sentences."""

    @property
    @abstractmethod
    def coverage(self) -> tuple[RuleCoverage, ...]:
        """The rules in question, in the order of the registry, with the ids of what was to be asked about each."""

    @abstractmethod
    def asked(self, asked_id: str) -> Asked:
        """The vector or the case of an outcome."""

    @abstractmethod
    def repetition(self, outcome: Outcome) -> str:
        """The one command that runs it again."""

    @property
    def implementation(self) -> str:
        """Name and version of what was tested."""
        name, version = self.about.implementation.name, self.about.implementation.version
        return f"{name} {version}" if version else name

    @cached_property
    def by_id(self) -> dict[str, Outcome]:
        """The outcomes by their ids."""
        return {outcome.id: outcome for outcome in self.outcomes}

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many have each status, those that none has left out."""
        return counts(self.outcomes)

    def of_status(self, *statuses: Status) -> tuple[Outcome, ...]:
        """The outcomes with one of these statuses."""
        return tuple([outcome for outcome in self.outcomes if outcome.status in statuses])


class Reason(NamedTuple):
    """Why some vectors or cases neither pass nor fail."""

    status: Status
    reason: str
    ids: tuple[str, ...]


def reasons(run: Run) -> tuple[Reason, ...]:
    """Each reason once: by status, the most frequent first."""
    ids_by_reason: dict[tuple[Status, str], list[str]] = {}
    for outcome in run.outcomes:
        if outcome.status not in (*FAILING, Status.PASS):
            ids_by_reason.setdefault((outcome.status, outcome.reason), []).append(outcome.id)
    order = list(Status)
    listed = [Reason(status, reason, tuple(ids)) for (status, reason), ids in ids_by_reason.items()]
    return tuple(sorted(listed, key=lambda reason: (order.index(reason.status), -len(reason.ids), reason.reason)))
