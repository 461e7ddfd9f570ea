"""Text of a run's outcomes: counts, exit code, common causes, and the details of a vector that does not pass."""

import re
import shlex
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.runner.outcome import FAILING, Outcome, Status
from kraft_spec.difference import Difference
from kraft_spec.rules import load_registry
from kraft_vectors.texts import counted

_PLACE = re.compile(r" to \d+|\[\d+\]")
WIDTH = 78
"""Maximum number of columns of a line of details; consoles indent it by two."""


class Cause(NamedTuple):
    """A rule that several failures name first."""

    rule: str
    failures: tuple[str, ...]
    """Ids of vectors."""
    field: str
    """Field in which all of them differ; empty if there is none."""
    event: str
    """Event at which all of them fail; empty if there is none."""

    def __str__(self) -> str:
        verb = "all differ" if len(self.failures) > 1 else "differs"
        where = f", {verb} in {self.field}" if self.field else ""
        after = f" after {self.event}" if self.field and self.event else ""
        return f"{self.rule}: {counted(len(self.failures), 'failure')}{where}{after}"


def common_causes(outcomes: Iterable[Outcome]) -> tuple[Cause, ...]:
    """Group the failures of a run by the rule that they name first, largest group first; empty for one failure."""
    by_rule: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        if outcome.status is Status.FAIL and outcome.rules:
            by_rule.setdefault(outcome.rules[0], []).append(outcome)
    if sum(map(len, by_rule.values())) < 2:
        return ()
    causes = [_cause(rule, failures) for rule, failures in by_rule.items()]
    return tuple(sorted(causes, key=lambda cause: -len(cause.failures)))


def _cause(rule: str, failures: list[Outcome]) -> Cause:
    fields = [
        dict.fromkeys(_PLACE.sub("", difference.field) for difference in outcome.differences) for outcome in failures
    ]
    shared = next((name for name in fields[0] if all(name in names for names in fields)), "")
    events = {outcome.event for outcome in failures}
    event = (events.pop() or "") if len(events) == 1 else ""
    return Cause(rule, tuple([outcome.id for outcome in failures]), shared, event)


def exit_code(outcomes: Sequence[Outcome]) -> ExitCode:
    """Return the exit code for these outcomes."""
    statuses = {outcome.status for outcome in outcomes}
    if statuses & set(FAILING):
        return ExitCode.VIOLATION
    if not statuses & {Status.PASS, Status.EXPECTED_FAILURE}:
        return ExitCode.NOTHING_JUDGED
    return ExitCode.INCONCLUSIVE if statuses & {Status.INCONCLUSIVE, Status.UNOBSERVED} else ExitCode.CONFORMANT


def counts(outcomes: Sequence[Outcome]) -> dict[str, int]:
    """Return the number of outcomes with each status, without zeros."""
    numbers = Counter(outcome.status for outcome in outcomes)
    return {str(status): numbers[status] for status in Status if numbers[status]}


def headline(outcome: Outcome) -> str:
    """Return the status of a vector or run, its id, and the requirement level of the rule that it breaks."""
    level = "" if outcome.rule_level is None else f" ({outcome.rule_level})"
    return f"{outcome.status.upper()} {outcome.id}{level}"


def repetition(
    command: str,
    vector_id: str,
    profile: str | None = None,
    vectors: str | None = None,
    timeout_s: float | None = None,
) -> str:
    """Return the command that runs a vector again and shows the lines of the protocol."""
    words = ["kraft-spec", "conformance", "replay", vector_id, "--adapter", command]
    words += ["--profile", profile] if profile else []
    words += ["--vectors", vectors] if vectors else []
    return shlex.join(words + (["--timeout", f"{timeout_s:g}"] if timeout_s is not None else []))


def details(outcome: Outcome, repeat: str) -> str:
    """Return everything about a vector that does not pass, as lines; the last is the command that repeats it."""
    lines = [outcome.reason]
    if outcome.differences:
        where = outcome.reason.partition(": ")[0]
        lines = [where if outcome.event is None else f"{where}, {outcome.event}"] if outcome.step is not None else []
        for difference in outcome.differences:
            lines += difference_lines(difference)
    lines += rule_lines(outcome.rules)
    texts = (outcome.why, outcome.provenance and f"outcome: {outcome.provenance}")
    for text in (*texts, outcome.remark and f"note: {outcome.remark}"):
        lines += wrap(text)
    if outcome.stderr:
        lines.append(f"standard error: {outcome.stderr.rstrip()}")
    if outcome.wire_log:
        lines += ["on the wire:", *(f"  {line}" for line in outcome.wire_log.splitlines())]
    lines.append(f"repeat: {repeat}")
    return "\n".join(lines)


def difference_lines(difference: Difference) -> Iterator[str]:
    """Yield the line of a difference; three lines if one would be too long."""
    if len(line := str(difference)) <= WIDTH:
        yield line
        return
    yield difference.field
    yield f"  expected: {difference.expected}"
    yield f"  actual:   {difference.actual}"


def rule_lines(rules: Sequence[str]) -> Iterator[str]:
    """Yield the first rule with its title, then the ids of the others."""
    if not rules:
        return
    first, *related = rules
    rule = load_registry().by_id.get(first)
    yield from wrap(f"rule {first}: {rule.title}" if rule else f"rule {first}")
    if related:
        yield from wrap(f"related rules: {', '.join(related)}")


def wrap(text: str) -> list[str]:
    """Break a text at spaces into lines of `WIDTH` columns; the second and later lines are indented."""
    return textwrap.wrap(text, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
