"""Kafka's leader adds or refuses a new voter that lags behind its log.  Rule: add-voter.catch-up-first."""

from dataclasses import replace

import pytest
from tests.traces.check.cases import Story

from kraft_reference.configuration import Configuration
from kraft_reference.events import AddVoter, ClientAppend, Poll, PollFetch
from kraft_reference.profile import KIP, with_settings
from kraft_simulation.scenarios.scenario import cluster, without_list
from kraft_traces.check import TraceChecker, Verdict, VerdictKind
from kraft_traces.check.model import trace_model

FOUR = cluster(4, (1, 2, 3), formatted=without_list(4))


def under(setting: str) -> Configuration:
    return replace(FOUR, profile=with_settings(KIP, f"kip-{setting}", lagging_voter=setting))


def addition(setting: str, *, has_fetched: bool = True) -> Story:
    """A run to the ApiVersions response of a new voter, which lags by one record."""
    story = Story(under(setting))
    story.elect(1)
    fetching = (2, 3, 4) if has_fetched else (2, 3)
    for replica in fetching * 2:
        story.happen(replica, PollFetch(1))
        story.deliver_all()
    story.happen(1, ClientAppend(7))
    key = story.world.state(4).key
    story.happen(1, AddVoter(1, key, story.configuration.replicas[4].endpoint))
    story.happen(1, Poll())
    story.deliver_all()
    assert "HandleApiVersionsResponse" in [line.event for line in story.lines]
    return story


def verdict_of(story: Story, setting: str, *, own: bool = False) -> Verdict:
    checker = TraceChecker(trace_model(), under(setting), "trace.jsonl", own=own)
    rejections = (checker.feed(number, line) for number, line in enumerate(story.lines, 2))
    rejection = next(filter(None, rejections), None)
    return checker.finish(complete=True, rejection=rejection)


@pytest.mark.parametrize("taken", ["refused", "added"])
@pytest.mark.parametrize("setting", ["refused", "added"])
def test_a_leader_with_a_clock_adds_or_refuses_a_voter_that_lags(setting: str, taken: str) -> None:
    story = addition(taken)
    voters = story.world.state(1).voters
    assert (len(voters) == 4) is (taken == "added")
    verdict = verdict_of(story, setting)
    assert verdict.kind is VerdictKind.ACCEPTED, verdict
    assert [it.answer for it in verdict.open_answers] == ([] if setting == taken else [taken])


@pytest.mark.parametrize("taken", ["refused", "added"])
def test_without_a_clock_it_waits(taken: str) -> None:
    verdict = verdict_of(addition(taken), "awaited")
    assert verdict.rejection is not None
    assert verdict.rejection.event == "HandleApiVersionsResponse"
    assert "add-voter.catch-up-first" in verdict.rejection.rules


def test_a_leader_with_a_clock_does_not_wait() -> None:
    assert verdict_of(addition("awaited"), "refused").kind is VerdictKind.REJECTED


def test_a_voter_that_has_never_fetched_is_refused_under_either_setting() -> None:
    story = addition("added", has_fetched=False)
    assert len(story.world.state(1).voters) == 3
    assert verdict_of(story, "added", own=True).kind is VerdictKind.ACCEPTED
