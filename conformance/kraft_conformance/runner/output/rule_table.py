"""Verdict of a run on each rule, from the vectors or cases about it."""

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum

from kraft_conformance.runner.outcome import Status
from kraft_conformance.runner.output.results import Results
from kraft_conformance.runner.output.run import Run
from kraft_conformance.runner.output.wording import clip
from kraft_spec.rules import Rule


class Verdict(StrEnum):
    """Verdict on a rule, most significant first."""

    FAIL = "fail"
    PASS = "pass"
    UNOBSERVED = "unobserved"
    UNSUPPORTED = "unsupported"
    NOT_RUN = "not run"
    NO_VECTOR = "no vector"


WORST_FIRST = tuple(Verdict)

FAILED = (Status.FAIL, Status.ERROR, Status.EXPECTED_FAILURE)
"""Statuses of a difference, expected or not."""
PASSED = (Status.PASS, Status.UNEXPECTED_PASS)
"""Statuses without a difference."""


def passes_of(results: Results) -> str:
    """Return the number of passes among all vectors of the profile, such as `3 failing, 540 of 561, state`."""
    catalogue, about = results.catalogue, results.about
    total = sum(about.profile in catalogue.vector(name).requires.profiles for name in catalogue)
    words = [f"{len(results.of_status(*PASSED))} of {total}", about.observability]
    if failing := len(results.of_status(*FAILED)):
        words.insert(0, f"{failing} failing")
    if about.profile != "kip":
        words.append(clip(about.profile, 40))
    return ", ".join(words)


@dataclass(frozen=True)
class RuleRow:
    """Row of an active rule."""

    rule: Rule
    statuses: Counter[Status]
    """Statuses of its vectors that were run."""
    vectors: int
    """Number of its vectors under the profile, run or not."""
    reason: str
    """Reason why there is no vector; empty if there is one, or no reason is recorded."""

    @property
    def verdict(self) -> Verdict:
        """The most significant verdict of its vectors."""
        if not self.vectors:
            return Verdict.NO_VECTOR
        return next((verdict for verdict, among in _SAYING.items() if self._among(among)), Verdict.NOT_RUN)

    def _among(self, among: tuple[Status, ...]) -> int:
        return sum(self.statuses[status] for status in among)

    @property
    def left(self) -> int:
        """Number of vectors that were not run, or skipped."""
        return self.vectors - sum(self.statuses.values()) + self.statuses[Status.SKIPPED]

    @property
    def number(self) -> int:
        """Number of vectors with the verdict."""
        return self._among(_SAYING[self.verdict]) if self.verdict in _SAYING else self.left

    @property
    def is_whole(self) -> bool:
        """True if every vector has the verdict."""
        return self.number == self.vectors

    @property
    def words(self) -> str:
        """The verdict, with the number of vectors if not all have it: `pass 3 of 5`."""
        return str(self.verdict) if self.is_whole else f"{self.verdict} {self.number} of {self.vectors}"


_SAYING = {
    Verdict.FAIL: FAILED,
    Verdict.PASS: PASSED,
    Verdict.UNOBSERVED: (Status.UNOBSERVED, Status.INCONCLUSIVE),
    Verdict.UNSUPPORTED: (Status.UNSUPPORTED,),
}
"""Statuses of vectors that result in each verdict."""


def rule_rows(run: Run) -> tuple[RuleRow, ...]:
    """Return the rows of the run's rules, in the order of the registry."""
    rows = []
    for covered in run.coverage:
        statuses = Counter([run.by_id[name].status for name in covered.vectors if name in run.by_id])
        rows.append(RuleRow(covered.rule, statuses, len(covered.vectors), covered.reason))
    return tuple(rows)
