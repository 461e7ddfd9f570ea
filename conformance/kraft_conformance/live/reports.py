"""What a live run comes to: its exit code, its lines, its JSON and JUnit."""

import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.live.cases import Case
from kraft_conformance.live.running import Result, Status

SCHEMA = "kraft-live-results/1"


def exit_code(results: Iterable[Result]) -> ExitCode:
    """What the results say to the shell."""
    statuses = {result.status for result in results}
    if Status.FAIL in statuses:
        return ExitCode.VIOLATION
    if not statuses & {Status.PASS, Status.KNOWN}:
        return ExitCode.NOTHING_JUDGED
    return ExitCode.INCONCLUSIVE if statuses & {Status.INCONCLUSIVE, Status.UNOBSERVED} else ExitCode.CONFORMANT


def summary(results: Sequence[Result]) -> str:
    """How many cases have each status, and how many rules the cases that were judged name."""
    counted = Counter(result.status for result in results)
    judged = {rule for one in results if one.status in (Status.PASS, Status.FAIL) for rule in one.case.rules}
    parts = [f"{counted[status]} {status}" for status in Status if counted[status]]
    return f"{', '.join(parts)}; {len(judged)} rules judged"


def lines(result: Result) -> list[str]:
    """A result for a reader."""
    head = f"{result.status.upper()} {result.case.id}"
    if result.status is Status.PASS:
        return [f"{head}: {result.case.title}"]
    if result.status is not Status.FAIL:
        log = [f"    {line}" for line in result.wire_log.splitlines()]
        return [f"{head}: {result.reason}", *log]
    return [
        f"{head}: {result.case.title}",
        f"  rules     {', '.join(result.rules)}",
        f"  judged    {result.reason}",
        f"  expected  {result.expected}",
        f"  actual    {result.actual}",
        "  on the wire:",
        *(f"    {line}" for line in result.wire_log.splitlines()),
    ]


def listed(case: Case) -> list[str]:
    """A case for a reader: its id, what is judged, the rules, in lines of at most 80 columns."""
    wide = textwrap.TextWrapper(80, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
    return [case.id, *wide.wrap(case.title), *wide.wrap(", ".join(case.rules))]


def as_dict(result: Result) -> dict[str, Any]:
    """A result for JSON; what is empty is left out."""
    fields: dict[str, Any] = {"case": result.case.id, "status": str(result.status)}
    fields |= {"rules": list(result.case.rules), "broken": list(result.rules), "reason": result.reason}
    fields |= {"expected": result.expected, "actual": result.actual, "wire_log": result.wire_log.splitlines()}
    return {name: value for name, value in fields.items() if value}


def document(results: Sequence[Result]) -> dict[str, Any]:
    """The whole run for JSON."""
    counted = Counter(str(result.status) for result in results)
    return {"schema": SCHEMA, "counts": dict(counted), "results": [as_dict(result) for result in results]}


def junit(results: Sequence[Result]) -> bytes:
    """JUnit XML: what is inconclusive, unobserved or known counts as skipped, and says so."""
    from junitparser import Failure, JUnitXml, Skipped, TestCase, TestSuite

    suite = TestSuite("kraft-spec live")
    for result in results:
        topic, _, name = result.case.id.partition("/")
        case = TestCase(name, f"kraft-spec.live.{topic}")
        if result.status is Status.FAIL:
            mark = Failure(f"{result.reason}: expected {result.expected}, actual {result.actual}", "fail")
            mark.text = "\n".join(lines(result))
            case.result = [mark]
        elif result.status is not Status.PASS:
            case.result = [Skipped(f"{result.status}: {result.reason}", str(result.status))]
        suite.add_testcase(case)
    whole = JUnitXml()
    whole.add_testsuite(suite)
    written: bytes = whole.tostring()  # type: ignore[no-untyped-call]
    return written
