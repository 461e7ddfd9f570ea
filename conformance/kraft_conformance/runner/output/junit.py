"""JUnit XML: inconclusive, unobserved, unsupported and expected failures are `skipped` with their status."""

from typing import Any

from junitparser import Error, Failure, JUnitXml, Skipped, TestCase, TestSuite

from kraft_conformance.runner.outcome import Outcome, Status
from kraft_conformance.runner.output.run import Run
from kraft_conformance.runner.output.wording import visible
from kraft_conformance.runner.reports import details
from kraft_vectors.profiles import shown_profile


def junit(run: Run) -> bytes:
    """Return the document, without times and host names: the same results give the same bytes."""
    suite = TestSuite(run.program)
    for outcome in run.outcomes:
        group, _, name = outcome.id.replace("/", ".").partition(".")
        case = TestCase(name, f"{run.group}.{group}")
        reason = visible(outcome.reason)
        match outcome.status:
            case Status.PASS:
                pass
            case Status.FAIL | Status.UNEXPECTED_PASS:
                case.result = [_marked(Failure(reason, str(outcome.status)), outcome, run)]
            case Status.ERROR:
                case.result = [_marked(Error(reason, visible(outcome.fault)), outcome, run)]
            case _:
                case.result = [Skipped(f"{outcome.status}: {reason}", str(outcome.status))]
        suite.add_testcase(case)
    facts = {name: shown_profile(value) if name == "profile" else value for name, value in run.facts.items()}
    for fact, value in {"implementation": run.implementation, **facts}.items():
        suite.add_property(fact, visible(value))
    document = JUnitXml()
    document.add_testsuite(suite)
    written: bytes = document.tostring()  # type: ignore[no-untyped-call]
    return written


def _marked(mark: Any, outcome: Outcome, run: Run) -> Any:
    mark.text = visible(details(outcome, run.repetition(outcome)), keep="\n")
    return mark
