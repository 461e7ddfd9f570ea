"""What the outcomes of a run come to: the counts, the exit code, and a vector that does not pass in lines."""

import shlex
from collections import Counter
from collections.abc import Sequence

from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.runner.outcome import FAILING, Outcome, Status


def exit_code(outcomes: Sequence[Outcome]) -> ExitCode:
    """What the outcomes say to the shell."""
    statuses = {outcome.status for outcome in outcomes}
    if statuses & set(FAILING):
        return ExitCode.VIOLATION
    if not statuses & {Status.PASS, Status.EXPECTED_FAILURE}:
        return ExitCode.NOTHING_JUDGED
    return ExitCode.INCONCLUSIVE if Status.UNOBSERVED in statuses else ExitCode.CONFORMANT


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
        lines = [where if outcome.event is None else f"{where}, {outcome.event}", *map(str, outcome.differences)]
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
    lines.append(f"repeat: {repeat}")
    return "\n".join(lines)
