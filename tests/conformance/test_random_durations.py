"""Timers of the wrong length, which no single step shows, and right ones of other lengths than the reference's."""

from collections.abc import Callable
from random import Random

import pytest
from msgspec.structs import replace
from tests.conformance.test_conformance_random import Changed

from kraft_conformance.protocol.messages import Reply, Request, RestartReply, Step, StepReply
from kraft_conformance.random_runs.campaign import RandomPlan, random_campaign
from kraft_conformance.random_runs.outcome import RandomOutcome
from kraft_conformance.random_runs.seats import InProcess
from kraft_conformance.runner.outcome import Status
from kraft_reference.effects import Timer
from kraft_traces.effects import TracedStartTimer
from kraft_traces.message_types import TracedEndQuorumEpochRequest

Length = Callable[[Request, TracedStartTimer], int]


def with_timers(length: Length) -> Callable[[Request, Reply], Reply]:
    """The reference with timers of these lengths, in milliseconds."""

    def changed(request: Request, reply: Reply) -> Reply:
        if not isinstance(reply, StepReply | RestartReply):
            return reply
        effects = [
            replace(one, duration_ms=length(request, one)) if isinstance(one, TracedStartTimer) else one
            for one in reply.effects
        ]
        return replace(reply, effects=tuple(effects))

    return changed


def is_backoff(request: Request, timer: TracedStartTimer) -> bool:
    return isinstance(request, Step) and timer.duration_ms == request.draw.election_backoff_ms


def constant(_: Request, timer: TracedStartTimer) -> int:
    return 1000 if timer.timer == Timer.ELECTION else timer.duration_ms


def without_a_bound(request: Request, timer: TracedStartTimer) -> int:
    return timer.duration_ms * (50 if is_backoff(request, timer) else 1)


def whatever_the_place(request: Request, timer: TracedStartTimer) -> int:
    hands_over = isinstance(request, Step) and isinstance(request.message, TracedEndQuorumEpochRequest)
    return 1000 if hands_over and timer.duration_ms else timer.duration_ms


def with_its_own_chance() -> Length:
    """From four lengths; a Candidate that lost waits as long as it would have for the answers; waits of a Follower
    that double from where the last one of its list waits half of the longest."""
    draw = Random(1)

    def length(request: Request, timer: TracedStartTimer) -> int:
        message = request.message if isinstance(request, Step) else None
        if isinstance(message, TracedEndQuorumEpochRequest) and 0 < timer.duration_ms < 1000:
            place = {125: 1, 250: 2, 500: 3, 1000: 4}[timer.duration_ms]
            assert isinstance(message.preferred_candidates, tuple)
            return (1000 >> len(message.preferred_candidates)) << place
        return draw.choice((300, 400, 500, 600)) if timer.timer == Timer.ELECTION else timer.duration_ms

    return length


def runs(length: Length, workload: str, seeds: range, replicas: int) -> tuple[RandomOutcome, ...]:
    seat = InProcess(lambda: Changed(with_timers(length)), "timers")
    plan = RandomPlan((seat,), seeds=seeds, workloads=(workload,), steps=1000, replicas=replicas, checks_model=False)
    return random_campaign(plan)


@pytest.mark.parametrize(
    ("length", "workload", "replicas", "rule", "said"),
    [
        (constant, "chaos", 3, "state.timers.random", "each time for 1000 ms"),
        (without_a_bound, "hasty-reassignments", 3, "state.candidate.lost", "a Candidate that lost waits"),
        (whatever_the_place, "elections", 5, "end-quorum.handle", "at place 2 of 4 preferred candidates"),
    ],
)
def test_timers_of_a_wrong_length_fail_under_their_rule(
    length: Length, workload: str, replicas: int, rule: str, said: str
) -> None:
    (one,) = runs(length, workload, range(1), replicas)
    assert (one.outcome.status, one.outcome.rules) == (Status.FAIL, (rule,))
    assert said in one.outcome.reason
    assert one.outcome.rule_level == ("SHOULD" if rule == "state.timers.random" else "MUST")


@pytest.mark.parametrize("workload", ["elections", "hasty-reassignments"])
def test_timers_of_other_right_lengths_pass(workload: str) -> None:
    assert {one.outcome.status for one in runs(with_its_own_chance(), workload, range(3), 5)} == {Status.PASS}
