"""Outcome of a vector, as values."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from kraft_spec.difference import Difference
from kraft_spec.rules import Level
from kraft_traces.values import Count

RULES_MAX = 5
"""Maximum number of rules that a failure names, most likely first."""


class Status(StrEnum):
    """Status of a vector or case."""

    PASS = "pass"
    FAIL = "fail"
    ERROR = "error"
    INCONCLUSIVE = "inconclusive"
    """The first state of the case was not reached."""
    UNOBSERVED = "unobserved"
    UNSUPPORTED = "unsupported"
    SKIPPED = "skipped"
    EXPECTED_FAILURE = "expected failure"
    UNEXPECTED_PASS = "unexpected pass"


class Failed(Exception):  # noqa: N818 - carried to `run_vector`
    """A step (from 1), or the state before the first (0), differs."""

    def __init__(
        self, step: int, event: str | None, differences: tuple[Difference, ...], effects: tuple[Any, ...] | None = None
    ) -> None:
        super().__init__(step, event, differences)
        self.step = step
        self.event = event
        # A missing timer says less than the other differences.
        self.differences = tuple(sorted(differences, key=lambda difference: difference.field.startswith("StartTimer ")))
        self.effects = effects


class Outcome(Struct, frozen=True, omit_defaults=True):
    """Status of a vector with its reason; the fields are in the order of reports."""

    id: str
    status: Status
    reason: str = ""
    """Empty for a pass."""
    step: Count | None = None
    """Step that fails, from 1; 0 for the state before the first."""
    event: str | None = None
    rule_level: Level | None = None
    """Level of a failure: SHOULD or MAY if no MUST has to be broken for this outcome; MUST if that is unknown."""
    fault: str | None = None
    """Kind of fault of an error."""
    stderr: str = ""
    """End of the adapter's standard error, of an error."""
    wire_log: str = ""
    """Wire log and end of the process's output, of a case that does not pass."""
    provenance: str = ""
    """Source of the expected outcome, if only an experimental profile has it."""
    remark: str = ""
    """Additional information about a failure."""
    why: str = ""
    """Reason why the first rule of a failure is the most likely."""
    rules: tuple[str, ...] = ()
    """Rules that decide a failure, most likely first."""
    differences: tuple[Difference, ...] = ()
    left_out: tuple[str, ...] = ()
    """Everything expected that was not shown, whether the verdict depends on it or not."""
    effects: tuple[dict[str, Any], ...] | None = None
    """Actual effects of the step that fails, as plain JSON values."""
    suspects: tuple[str, ...] = ()
    """Mutants of the catalogue that reproduce the step that fails."""

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON document, without empty fields."""
        document: dict[str, Any] = to_builtins(self)
        return document


def without_should(outcome: Outcome) -> Outcome:
    """Return the outcome under --must-only: a failure that only a SHOULD or MAY decides is skipped."""
    if outcome.status is not Status.FAIL or outcome.rule_level in (None, "MUST"):
        return outcome
    reason = f"excluded by --must-only, because only a {outcome.rule_level} decides it: {outcome.rules[0]}"
    return Outcome(outcome.id, Status.SKIPPED, reason)


@dataclass(frozen=True, slots=True)
class ExpectedFailure:
    """Known failure of a vector."""

    reason: str
    fields: tuple[str, ...] = ("",)
    """Prefixes of the fields that may differ."""
    is_always_seen: bool = True
    """True if a pass means that the list is out of date."""


def apply_expectation(outcome: Outcome, expected_failures: Mapping[str, ExpectedFailure]) -> Outcome:
    """Return the outcome with regard to the expected failures.

    An error is never expected: an adapter that hangs, dies or breaks the protocol has not shown the known failure.
    """
    expectation = expected_failures.get(outcome.id)
    if expectation is None:
        return outcome
    if outcome.status is Status.FAIL:
        unexpected = [
            difference.field
            for difference in outcome.differences
            if not difference.field.startswith(expectation.fields)
        ]
        if unexpected:
            return replace(outcome, remark=f"{unexpected[0]} is not part of the known difference: {expectation.reason}")
        return replace(outcome, status=Status.EXPECTED_FAILURE, reason=f"{expectation.reason} ({outcome.reason})")
    if outcome.status is Status.PASS and expectation.is_always_seen:
        return replace(outcome, status=Status.UNEXPECTED_PASS, reason=f"expected to fail: {expectation.reason}")
    return outcome


FAILING = (Status.FAIL, Status.ERROR, Status.UNEXPECTED_PASS)
"""Statuses of an implementation that does not conform, or of an outdated list of expected failures."""
