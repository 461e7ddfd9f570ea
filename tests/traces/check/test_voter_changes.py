"""Cases that only runs with voter changes have: numbers of requests that no line records, and lists that differ."""

from dataclasses import replace

import pytest
from tests.traces.check.alterations import line_of
from tests.traces.check.cases import Story
from tests.traces.check.foreign import without
from tests.traces.check.recorded import recorded, verdict_on
from tests.traces.checkpointed import FOREIGN

from kraft_reference.events import Poll
from kraft_simulation.scenarios.scenario import cluster
from kraft_traces.check import VerdictKind
from kraft_traces.encode import encode_line


@pytest.mark.parametrize("is_answered", [True, False])
def test_the_answer_shows_the_number_of_its_request_and_nothing_else_does(is_answered: bool) -> None:
    trace = recorded("voter-changes", 3)
    place, request = next(
        (n, line) for n, line in enumerate(trace.lines) if line.event == "RemoveVoter" and not line.refusal
    )
    omitted = [("input", "request"), *([] if is_answered else [("state",), ("effects",)])]
    lines = [*trace.lines[:place], line_of(without(request, *omitted)), *trace.lines[place + 1 :]]
    verdict = verdict_on(trace.header(FOREIGN), map(encode_line, lines))
    assert verdict.kind is (VerdictKind.ACCEPTED if is_answered else VerdictKind.INCONCLUSIVE), verdict
    assert is_answered or "input.request is missing" in str(verdict.reason)


def test_replicas_formatted_with_other_lists_disagree_about_the_voters() -> None:
    alike = cluster(3)
    third = replace(alike.replicas[3], initial_voters=alike.voters - {alike.replicas[2].key})
    apart = replace(alike, replicas={**alike.replicas, 3: third})
    for configuration, broken in ((alike, None), (apart, ("ConfigAgreement",))):
        story = Story(configuration)
        checker = story.checker()
        actual = checker.feed(2, story.tell(story.world.happen(1, Poll())))
        rejection = checker.finish(complete=True, rejection=actual).rejection
        assert (rejection and rejection.properties) == broken
