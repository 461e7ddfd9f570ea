"""docs/kafka.md says of each finding which releases have it, as recorded.json has it."""

import re
from collections.abc import Iterator

from tests.conformance.commands import DOCS

from kraft_conformance.runner.outcome import Status
from kraft_kafka.recorded import RecordedRun, load_recorded


def rows() -> Iterator[tuple[str, str]]:
    """The cells "releases" and "test" of each finding."""
    result, _, _ = (DOCS / "kafka.md").read_text(encoding="utf-8").partition("## Run a release")
    for line in result.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 4 and cells[1] not in ("releases", "---", "as said"):
            yield cells[1].partition(";")[0], cells[3]


def shows(run: RecordedRun, test: str) -> bool:
    names = set(re.findall(r"`(?:kraft-spec kafka finding )?([\w.-]+)`", test))
    vectors = {name for name, status in run.statuses.items() if status is Status.EXPECTED_FAILURE}
    return not names.isdisjoint({*run.findings, *vectors})


def expected_words(test: str) -> str | None:
    """`all`, or `since 4.2`; None if a vector or a finding is not what the test is."""
    runs = load_recorded().releases
    showing = [run.version for run in runs if shows(run, test)]
    if not showing:
        return None
    assert showing == [run.version for run in runs][-len(showing) :], f"{test}: not in a later release"
    return "all" if len(showing) == len(runs) else "since " + ".".join(showing[0].split(".")[:2])


def test_each_finding_names_the_releases_that_were_recorded_to_have_it() -> None:
    text = {test: releases for releases, test in rows()}
    recorded = {test: words for test in text if (words := expected_words(test)) is not None}
    assert len(recorded) >= 8
    assert {test: text[test] for test in recorded} == recorded
