"""What a run says of each rule, by the vectors that are about it."""

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum

from kraft_conformance.runner.outcome import FAILING, Status
from kraft_conformance.runner.output.results import Results
from kraft_conformance.vectors.catalogue import Catalogue
from kraft_conformance.vectors.rule_coverage import rule_coverage
from kraft_spec.rules import Rule


class Verdict(StrEnum):
    """The verdict on one rule, from what says most to what says least."""

    FAIL = "fail"
    PASS = "pass"
    UNOBSERVED = "unobserved"
    UNSUPPORTED = "unsupported"
    NOT_RUN = "not run"
    NO_VECTOR = "no vector"


WORST_FIRST = tuple(Verdict)

_FAILING = (*FAILING, Status.EXPECTED_FAILURE)


@dataclass(frozen=True)
class RuleRow:
    """One rule that holds."""

    rule: Rule
    statuses: Counter[Status]
    """Of the vectors about it that were run."""
    vectors: int
    """How many are about it under the profile, run or not."""
    reason: str
    """Why there is none; empty where there is one, or nothing is said."""

    @property
    def verdict(self) -> Verdict:
        """The verdict; a pass says no more than `passes` of `vectors`."""
        if not self.vectors:
            return Verdict.NO_VECTOR
        if any(self.statuses[status] for status in _FAILING):
            return Verdict.FAIL
        for status, verdict in _VERDICTS.items():
            if self.statuses[status]:
                return verdict
        return Verdict.NOT_RUN

    @property
    def failures(self) -> int:
        """How many vectors fail, expectedly or not."""
        return sum(self.statuses[status] for status in _FAILING)

    @property
    def passes(self) -> int:
        """How many vectors pass."""
        return self.statuses[Status.PASS]

    @property
    def left(self) -> int:
        """How many vectors were not run, or skipped."""
        return self.vectors - sum(self.statuses.values()) + self.statuses[Status.SKIPPED]

    @property
    def is_whole(self) -> bool:
        """Whether every vector has the verdict."""
        if self.verdict in (Verdict.NO_VECTOR, Verdict.NOT_RUN):
            return True
        return self.number == self.vectors

    @property
    def number(self) -> int:
        """How many vectors have the verdict."""
        match self.verdict:
            case Verdict.FAIL:
                return self.failures
            case Verdict.NO_VECTOR | Verdict.NOT_RUN:
                return self.left
            case _:
                return self.statuses[Status(self.verdict)]

    @property
    def words(self) -> str:
        """The verdict, and of how many vectors where it is not all: `pass 3 of 5`."""
        return str(self.verdict) if self.is_whole else f"{self.verdict} {self.number} of {self.vectors}"


_VERDICTS = {
    Status.PASS: Verdict.PASS,
    Status.UNOBSERVED: Verdict.UNOBSERVED,
    Status.UNSUPPORTED: Verdict.UNSUPPORTED,
}


def rule_rows(results: Results, catalogue: Catalogue) -> tuple[RuleRow, ...]:
    """Every rule that holds, in the order of the registry."""
    profile = results.about.profile
    asked_of_it = {name for name in catalogue if profile in catalogue.vector(name).requires.profiles}
    rows = []
    for covered in rule_coverage(catalogue.manifest.vectors):
        asked = [name for name in covered.vectors if name in asked_of_it]
        statuses = Counter(results.by_id[name].status for name in asked if name in results.by_id)
        reason = covered.reason
        if covered.vectors and not asked:
            reason = f"none under the profile {profile}"
        rows.append(RuleRow(covered.rule, statuses, len(asked), reason))
    return tuple(rows)
