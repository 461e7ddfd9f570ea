"""Run as every format shows it: vectors on an adapter, or cases of `kraft-spec live` on a process."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar, Literal, NamedTuple, Protocol

from kraft_conformance.protocol.messages import Software
from kraft_conformance.runner.outcome import FAILING, Outcome, Status
from kraft_conformance.runner.reports import counts
from kraft_vectors.rule_coverage import RuleCoverage


class TestItem(Protocol):
    """A vector or a case."""

    @property
    def title(self) -> str:
        """Title."""

    @property
    def rules(self) -> tuple[str, ...]:
        """Ids of the rules that it tests."""


class RunHead(Protocol):
    """First line of a result; each kind of run has more fields."""

    @property
    def runner(self) -> Software:
        """Name and version of this program."""

    @property
    def implementation(self) -> Software:
        """Name and version of the tested implementation."""


class Run(ABC):
    """Results of a run."""

    noun: ClassVar[Literal["vector", "case"]]
    """Noun for its items."""
    program: ClassVar[str]
    """The command, such as `kraft-spec live`."""
    group: ClassVar[str]
    """Prefix of the class names in JUnit XML."""
    statuses: ClassVar[tuple[Status, ...]]
    """Possible statuses."""
    about: RunHead
    outcomes: tuple[Outcome, ...]
    """Outcomes in the order of the selection."""

    @property
    @abstractmethod
    def command(self) -> str:
        """Command line of the implementation or its adapter, or its address."""

    @property
    @abstractmethod
    def facts(self) -> Mapping[str, str]:
        """Facts about the run by name, apart from the implementation."""

    @property
    @abstractmethod
    def remarks(self) -> tuple[str, ...]:
        """The facts as sentences."""

    @property
    @abstractmethod
    def coverage(self) -> tuple[RuleCoverage, ...]:
        """Rules in the order of the registry, with the ids of the vectors or cases about each."""

    @abstractmethod
    def asked(self, asked_id: str) -> TestItem:
        """Return the vector or case of an outcome."""

    @abstractmethod
    def repetition(self, outcome: Outcome) -> str:
        """Return the command that runs it again."""

    @property
    def implementation(self) -> str:
        """Name and version of the tested implementation."""
        name, version = self.about.implementation.name, self.about.implementation.version
        return f"{name} {version}" if version else name

    @cached_property
    def by_id(self) -> dict[str, Outcome]:
        """Outcomes by id."""
        return {outcome.id: outcome for outcome in self.outcomes}

    @cached_property
    def counts(self) -> dict[str, int]:
        """Number of outcomes with each status, without zeros."""
        return counts(self.outcomes)

    def of_status(self, *statuses: Status) -> tuple[Outcome, ...]:
        """Return the outcomes with one of these statuses."""
        return tuple([outcome for outcome in self.outcomes if outcome.status in statuses])


class Reason(NamedTuple):
    """Reason why some vectors or cases neither pass nor fail."""

    status: Status
    reason: str
    ids: tuple[str, ...]


def reasons(run: Run) -> tuple[Reason, ...]:
    """Return each reason once, by status, most frequent first."""
    ids_by_reason: dict[tuple[Status, str], list[str]] = {}
    for outcome in run.outcomes:
        if outcome.status not in (*FAILING, Status.PASS):
            ids_by_reason.setdefault((outcome.status, outcome.reason), []).append(outcome.id)
    order = list(Status)
    listed = [Reason(status, reason, tuple(ids)) for (status, reason), ids in ids_by_reason.items()]
    return tuple(sorted(listed, key=lambda reason: (order.index(reason.status), -len(reason.ids), reason.reason)))
