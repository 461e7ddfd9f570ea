"""Receivers of a leader's announcement that its clock chooses.  Rule: begin-quorum.resend."""

import msgspec
import pytest
from tests.traces.check.cases import Story, elected

from kraft_reference.events import BeginQuorumEpochTimeout, ElectionTimeout, Poll
from kraft_traces.check import RejectionKind, VerdictKind
from kraft_traces.lines import TracedInput


def announced() -> Story:
    """All follow leader 1, which announces itself again to 3 only, because 2 has just fetched."""
    story = elected()
    story.settle(2)
    story.happen(1, BeginQuorumEpochTimeout())
    story.happen(1, Poll((3,)))
    return story


@pytest.mark.parametrize("own", [True, False])
def test_an_announcement_to_some_of_the_voters_that_fetch_is_accepted(own: bool) -> None:
    story = announced()
    assert story.lines[-1].input == TracedInput(announce_to=(3,))
    assert story.checker(own=own).finish(complete=True).kind is VerdictKind.ACCEPTED


@pytest.mark.parametrize("announce_to", [(2,), (2, 3), ()])
def test_an_announcement_to_others_than_the_line_says_is_rejected(announce_to: tuple[int, ...]) -> None:
    story = announced()
    line = msgspec.structs.replace(story.lines.pop(), input=TracedInput(announce_to=announce_to))
    assert story.rejection_of(line).event == "Poll"


def test_a_voter_that_has_neither_acknowledged_nor_fetched_is_not_left_out() -> None:
    """The clock has no choice where a new leader announces itself first.  Rule: begin-quorum.on-election."""
    story = Story()
    story.happen(1, ElectionTimeout())
    for _ in ("Pre-Vote", "Vote"):
        story.happen(1, Poll())
        story.deliver_all()
    line = story.tell(story.world.happen(1, Poll((2, 3))))
    story.lines.pop()
    assert line.effects is not msgspec.UNSET
    to_2, _ = line.effects
    only_2 = msgspec.structs.replace(line, input=TracedInput(announce_to=(2,)), effects=(to_2,), state=msgspec.UNSET)
    assert story.rejection_of(only_2, own=False).kind is RejectionKind.NOT_ENABLED
