"""What a run says of each rule, by the vectors or cases that are about it."""

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum

from kraft_conformance.runner.outcome import Status
from kraft_conformance.runner.output.results import Results
from kraft_conformance.runner.output.run import Run
from kraft_conformance.runner.output.wording import said
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

FAILED = (Status.FAIL, Status.ERROR, Status.EXPECTED_FAILURE)
"""The implementation does something else, whatever its list of expected failures says."""
PASSED = (Status.PASS, Status.UNEXPECTED_PASS)
"""It does what is expected of it."""


def passes_of(results: Results) -> str:
    """Count the passes of all vectors of the profile, run or not: `3 failing, 540 of 561, state`."""
    catalogue, about = results.catalogue, results.about
    total = sum(about.profile in catalogue.vector(name).requires.profiles for name in catalogue)
    words = [f"{len(results.of_status(*PASSED))} of {total}", about.observability]
    if failing := len(results.of_status(*FAILED)):
        words.insert(0, f"{failing} failing")
    if about.profile != "kip":
        words.append(said(about.profile, 40))
    return ", ".join(words)


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
        """What the vectors say that say most; `words` says of how many."""
        if not self.vectors:
            return Verdict.NO_VECTOR
        return next((verdict for verdict, among in _SAYING.items() if self._among(among)), Verdict.NOT_RUN)

    def _among(self, among: tuple[Status, ...]) -> int:
        return sum(self.statuses[status] for status in among)

    @property
    def left(self) -> int:
        """How many vectors were not run, or skipped."""
        return self.vectors - sum(self.statuses.values()) + self.statuses[Status.SKIPPED]

    @property
    def number(self) -> int:
        """How many vectors have the verdict."""
        return self._among(_SAYING[self.verdict]) if self.verdict in _SAYING else self.left

    @property
    def is_whole(self) -> bool:
        """Whether every vector has the verdict."""
        return self.number == self.vectors

    @property
    def words(self) -> str:
        """The verdict, and of how many vectors where it is not all: `pass 3 of 5`."""
        return str(self.verdict) if self.is_whole else f"{self.verdict} {self.number} of {self.vectors}"


_SAYING = {
    Verdict.FAIL: FAILED,
    Verdict.PASS: PASSED,
    Verdict.UNOBSERVED: (Status.UNOBSERVED, Status.INCONCLUSIVE),
    Verdict.UNSUPPORTED: (Status.UNSUPPORTED,),
}
"""Which statuses of its vectors give a rule the verdict."""


def rule_rows(run: Run) -> tuple[RuleRow, ...]:
    """The rules in question, in the order of the registry."""
    rows = []
    for covered in run.coverage:
        statuses = Counter([run.by_id[name].status for name in covered.vectors if name in run.by_id])
        rows.append(RuleRow(covered.rule, statuses, len(covered.vectors), covered.reason))
    return tuple(rows)
