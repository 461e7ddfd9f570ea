"""What the outcomes of a run come to: the counts, the exit code, and a vector that does not pass in lines."""

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.runner.outcome import FAILING, Outcome, Status
from kraft_vectors.texts import counted

_PLACE = re.compile(r" to \d+|\[\d+\]")


class Cause(NamedTuple):
    """A rule, and the failures that are put down to it."""

    rule: str
    failures: tuple[str, ...]
    """Ids of vectors."""
    field: str
    """In which all of them differ; empty if there is none."""
    event: str
    """In which all of them fail; empty if there is none."""

    def __str__(self) -> str:
        where = f", {'all ' if len(self.failures) > 1 else ''}with {self.field}" if self.field else ""
        after = f" after {self.event}" if self.field and self.event else ""
        return f"{counted(len(self.failures), 'failure')}{where}{after}: {self.rule}"


def common_causes(outcomes: Iterable[Outcome]) -> tuple[Cause, ...]:
    """The failures of a run by the rule that they name first, most of them first; nothing for a single failure."""
    of_rule: dict[str, list[Outcome]] = {}
    for one in outcomes:
        if one.status is Status.FAIL and one.rules:
            of_rule.setdefault(one.rules[0], []).append(one)
    if sum(map(len, of_rule.values())) < 2:
        return ()
    found = [_cause(rule, of_it) for rule, of_it in of_rule.items()]
    return tuple(sorted(found, key=lambda cause: -len(cause.failures)))


def _cause(rule: str, failures: list[Outcome]) -> Cause:
    fields = [dict.fromkeys(_PLACE.sub("", each.field) for each in one.differences) for one in failures]
    shared = next((name for name in fields[0] if all(name in others for others in fields)), "")
    events = {one.event for one in failures}
    event = (events.pop() or "") if len(events) == 1 else ""
    return Cause(rule, tuple([one.id for one in failures]), shared, event)


def exit_code(outcomes: Sequence[Outcome]) -> ExitCode:
    """What the outcomes say to the shell."""
    statuses = {outcome.status for outcome in outcomes}
    if statuses & set(FAILING):
        return ExitCode.VIOLATION
    if not statuses & {Status.PASS, Status.EXPECTED_FAILURE}:
        return ExitCode.NOTHING_JUDGED
    return ExitCode.INCONCLUSIVE if statuses & {Status.INCONCLUSIVE, Status.UNOBSERVED} else ExitCode.CONFORMANT


def counts(outcomes: Sequence[Outcome]) -> dict[str, int]:
    """How many vectors have each status, those that none has left out."""
    counted = Counter(outcome.status for outcome in outcomes)
    return {str(status): counted[status] for status in Status if counted[status]}


def headline(outcome: Outcome) -> str:
    """The status of a vector or a run, its id, and the level of the rule that it breaks."""
    level = "" if outcome.rule_level is None else f" ({outcome.rule_level})"
    return f"{outcome.status.upper()} {outcome.id}{level}"


def repetition(
    command: str,
    vector_id: str,
    profile: str | None = None,
    vectors: str | None = None,
    timeout_s: float | None = None,
) -> str:
    """The one command that runs a vector again and shows what was said."""
    words = ["kraft-spec", "conformance", "replay", vector_id, "--adapter", command]
    words += ["--profile", profile] if profile else []
    words += ["--vectors", vectors] if vectors else []
    return shlex.join(words + (["--timeout", f"{timeout_s:g}"] if timeout_s is not None else []))


def details(outcome: Outcome, repeat: str) -> str:
    """Everything that is known of a vector that does not pass, in lines; the last is the command that repeats it."""
    lines = [outcome.reason]
    if outcome.differences:
        where = outcome.reason.partition(": ")[0]
        lines = [where if outcome.event is None else f"{where}, {outcome.event}"] if outcome.step is not None else []
        lines += map(str, outcome.differences)
    if outcome.rules:
        lines.append(f"rules: {', '.join(outcome.rules)}")
    if outcome.why:
        lines.append(f"why: {outcome.why}")
    if outcome.provenance:
        lines.append(f"outcome: {outcome.provenance}")
    if outcome.remark:
        lines.append(f"note: {outcome.remark}")
    if outcome.stderr:
        lines.append(f"standard error: {outcome.stderr.rstrip()}")
    if outcome.wire_log:
        lines += ["on the wire:", *(f"  {line}" for line in outcome.wire_log.splitlines())]
    lines.append(f"repeat: {repeat}")
    return "\n".join(lines)
