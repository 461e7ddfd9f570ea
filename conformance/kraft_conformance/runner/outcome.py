"""What a vector comes to, as values."""

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
"""So many rules a failure names, the likeliest first."""


class Status(StrEnum):
    """The status of one vector or case."""

    PASS = "pass"
    FAIL = "fail"
    ERROR = "error"
    INCONCLUSIVE = "inconclusive"
    """The state that a case begins with was not reached."""
    UNOBSERVED = "unobserved"
    UNSUPPORTED = "unsupported"
    SKIPPED = "skipped"
    EXPECTED_FAILURE = "expected failure"
    UNEXPECTED_PASS = "unexpected pass"


class Failed(Exception):  # noqa: N818 - carried to `run_vector`
    """A step, from 1, or the state that a vector begins with, for step 0, shows something else."""

    def __init__(
        self, step: int, event: str | None, differences: tuple[Difference, ...], effects: tuple[Any, ...] | None = None
    ) -> None:
        super().__init__(step, event, differences)
        self.step = step
        self.event = event
        # A timer that is missing says less than what it stands beside.
        self.differences = tuple(sorted(differences, key=lambda difference: difference.field.startswith("StartTimer ")))
        self.effects = effects


class Outcome(Struct, frozen=True, omit_defaults=True):
    """The status of a vector, and why; the fields in the order in which reports have them."""

    id: str
    status: Status
    reason: str = ""
    """Empty for a pass."""
    step: Count | None = None
    """The step that fails, from 1; 0 for the state that the vector begins with."""
    event: str | None = None
    rule_level: Level | None = None
    """Of a failure: SHOULD or MAY where no MUST need be broken to do what was seen; MUST where that is not known."""
    fault: str | None = None
    """Of an error: the kind of fault."""
    stderr: str = ""
    """Of an error: the end of what the adapter wrote to standard error."""
    wire_log: str = ""
    """Of a case that does not pass: what went over the wire, and the end of what the process wrote to its output."""
    provenance: str = ""
    """Of a vector whose outcome is that of an experimental profile alone: where it was read, and if it was."""
    remark: str = ""
    """What else is known of a failure."""
    why: str = ""
    """Of a failure: what makes its first rule the likeliest."""
    rules: tuple[str, ...] = ()
    """Of a vector that fails: those that decide it."""
    differences: tuple[Difference, ...] = ()
    left_out: tuple[str, ...] = ()
    """What was expected and not shown, whether anything hangs on it or not."""
    effects: tuple[dict[str, Any], ...] | None = None
    """Of a step that fails: what the adapter showed in it, as plain JSON values."""
    suspects: tuple[str, ...] = ()
    """Of a step that fails: the mutants of the catalogue that do just what was seen."""

    def as_dict(self) -> dict[str, Any]:
        """For JSON: what is empty is left out."""
        document: dict[str, Any] = to_builtins(self)
        return document


def without_should(outcome: Outcome) -> Outcome:
    """The outcome for those who ask of MUST alone: what only a SHOULD or a MAY decides is left out."""
    if outcome.status is not Status.FAIL or outcome.rule_level in (None, "MUST"):
        return outcome
    reason = f"excluded by --must-only, because only a {outcome.rule_level} decides it: {outcome.rules[0]}"
    return Outcome(outcome.id, Status.SKIPPED, reason)


@dataclass(frozen=True, slots=True)
class ExpectedFailure:
    """What is known of a vector that fails."""

    reason: str
    fields: tuple[str, ...] = ("",)
    """What differs: how the name of each field begins that may."""
    is_always_seen: bool = True
    """Whether a pass says that the list is out of date."""


def against_expectation(outcome: Outcome, expected_failures: Mapping[str, ExpectedFailure]) -> Outcome:
    """The outcome in view of a list of failures that are known, with their reasons.

    An error is none of them: an adapter that hangs, dies or talks nonsense has not shown the failure that is known.
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
"""With any of these the implementation does not conform, or the list of expected failures is out of date."""
