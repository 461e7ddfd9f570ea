"""JUnit XML: what is unobserved, unsupported or fails as expected counts as skipped, and says so."""

from typing import Any

from junitparser import Error, Failure, JUnitXml, Skipped, TestCase, TestSuite

from kraft_conformance.runner.outcome import Outcome, Status
from kraft_conformance.runner.output.results import Results
from kraft_conformance.runner.output.wording import visible
from kraft_conformance.runner.reports import details
from kraft_conformance.vectors.catalogue import Catalogue
from kraft_conformance.vectors.profiles import shown_profile


def junit(results: Results, catalogue: Catalogue) -> bytes:
    """The document: no times and no machine, so that the same results give the same bytes."""
    suite = TestSuite("kraft-spec conformance")
    for outcome in results.outcomes:
        group, _, name = outcome.id.partition(".")
        case = TestCase(name, f"kraft-spec.{group}")
        reason = visible(outcome.reason)
        match outcome.status:
            case Status.PASS:
                pass
            case Status.FAIL | Status.UNEXPECTED_PASS:
                case.result = [_marked(Failure(reason, str(outcome.status)), outcome, results)]
            case Status.ERROR:
                case.result = [_marked(Error(reason, visible(outcome.fault)), outcome, results)]
            case _:
                case.result = [Skipped(f"{outcome.status}: {reason}", str(outcome.status))]
        suite.add_testcase(case)
    about = results.about
    suite.add_property("implementation", visible(f"{about.implementation.name} {about.implementation.version}"))
    suite.add_property("profile", visible(shown_profile(about.profile)))
    if about.note:
        suite.add_property("note", about.note)
    suite.add_property("observability", about.observability)
    suite.add_property("suite", about.suite.version)
    suite.add_property("manifest", about.suite.manifest_sha256)
    document = JUnitXml()
    document.add_testsuite(suite)
    written: bytes = document.tostring()  # type: ignore[no-untyped-call]
    return written


def _marked(mark: Any, outcome: Outcome, results: Results) -> Any:
    mark.text = visible(details(outcome, results.repetition(outcome)), keep="\n")
    return mark
