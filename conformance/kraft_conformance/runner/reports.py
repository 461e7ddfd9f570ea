"""The outcomes of a run for machines: JSON lines, and JUnit XML."""

import json
import shlex
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError
from kraft_conformance.runner.outcome import FAILING, Outcome, Status
from kraft_conformance.vectors.profiles import EXPERIMENTAL, shown_profile, summary_of
from kraft_traces.streams import whole_file


def exit_code(outcomes: Sequence[Outcome]) -> ExitCode:
    """What the outcomes say to the shell."""
    statuses = {outcome.status for outcome in outcomes}
    if statuses & set(FAILING):
        return ExitCode.VIOLATION
    if Status.UNOBSERVED in statuses or not statuses & {Status.PASS, Status.EXPECTED_FAILURE}:
        return ExitCode.INCONCLUSIVE
    return ExitCode.CONFORMANT


def counts(outcomes: Sequence[Outcome]) -> dict[str, int]:
    """How many vectors have each status, those that none has left out."""
    counted = Counter(outcome.status for outcome in outcomes)
    return {str(status): counted[status] for status in Status if counted[status]}


def repetition(command: str, vector_id: str, profile: str | None = None) -> str:
    """The one command that runs a vector again and shows what was said."""
    words = ["kraft-spec", "conformance", "replay", vector_id, "--adapter", command]
    return shlex.join(words + (["--profile", profile] if profile else []))


def json_lines(outcomes: Sequence[Outcome], command: str, profile: str | None = None, ran_under: str = "") -> list[str]:
    """A line for each vector, and one with the counts and the exit code.

    Args:
        outcomes: what the vectors came to.
        command: starts the adapter.
        profile: the one that was asked for, to be asked for again.
        ran_under: the one that was run under, asked for or not.
    """
    lines = []
    for outcome in outcomes:
        document = outcome.as_dict()
        if outcome.status in FAILING:
            document["repeat"] = repetition(command, outcome.id, profile)
        lines.append(_line({"kind": "vector", **document}))
    summary = {"kind": "summary", "counts": counts(outcomes), "exit_code": int(exit_code(outcomes))}
    if ran_under:
        summary |= {"profile": ran_under, "experimental": ran_under in EXPERIMENTAL}
    if note := summary_of(ran_under):
        summary["note"] = note
    lines.append(_line(summary))
    return lines


def _line(document: dict[str, Any]) -> str:
    return json.dumps(document, sort_keys=True, ensure_ascii=False)


def details(outcome: Outcome, command: str, profile: str | None = None) -> str:
    """Everything that is known of a vector that does not pass, in lines."""
    lines = [outcome.reason]
    if outcome.differences:
        where = outcome.reason.partition(": ")[0]
        lines = [where if outcome.event is None else f"{where}, {outcome.event}", *map(str, outcome.differences)]
    if outcome.rules:
        lines.append(f"rules: {', '.join(outcome.rules)}")
    if outcome.provenance:
        lines.append(f"outcome: {outcome.provenance}")
    if outcome.stderr:
        lines.append(f"standard error: {outcome.stderr.rstrip()}")
    lines.append(f"repeat: {repetition(command, outcome.id, profile)}")
    return "\n".join(lines)


def write_junit(
    path: Path, outcomes: Sequence[Outcome], command: str, profile: str | None = None, ran_under: str = ""
) -> None:
    """Write JUnit XML: what is unobserved, unsupported or fails as expected counts as skipped, and says so.

    Raises:
        CommandError: the library for it is not installed.
        OSError: the file cannot be written.
    """
    try:
        from junitparser import Error, Failure, JUnitXml, Skipped, TestCase, TestSuite
    except ImportError as error:
        wanted = "JUnit XML needs the package junitparser: pip install 'kraft-spec[conformance]'"
        raise CommandError(wanted, ExitCode.UNAVAILABLE) from error
    suite = TestSuite("kraft-spec conformance")
    if ran_under:
        suite.add_property("profile", shown_profile(ran_under))
    if note := summary_of(ran_under):
        suite.add_property("note", note)
    for outcome in outcomes:
        group, _, name = outcome.id.partition(".")
        case = TestCase(name, f"kraft-spec.{group}")
        match outcome.status:
            case Status.PASS:
                pass
            case Status.FAIL | Status.UNEXPECTED_PASS:
                case.result = [_marked(Failure(outcome.reason, str(outcome.status)), outcome, command, profile)]
            case Status.ERROR:
                case.result = [_marked(Error(outcome.reason, outcome.fault), outcome, command, profile)]
            case _:
                case.result = [Skipped(f"{outcome.status}: {outcome.reason}", str(outcome.status))]
        suite.add_testcase(case)
    document = JUnitXml()
    document.add_testsuite(suite)
    with whole_file(path) as stream:
        stream.write(document.tostring())  # type: ignore[no-untyped-call]


def _marked(mark: Any, outcome: Outcome, command: str, profile: str | None) -> Any:
    mark.text = "".join(c if c.isprintable() or c == "\n" else "?" for c in details(outcome, command, profile))
    return mark
