"""Settings that the rules leave open are accepted at any replica of other software; what comes close to it is wrong."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache

import msgspec
import pytest
from tests.traces.check.alterations import line_from
from tests.traces.check.cases import THREE, Story
from tests.traces.check.recorded import Recorded, verdict_on
from tests.traces.checkpointed import FOREIGN
from tests.traces.places import document_of

from kraft_reference.configuration import Configuration
from kraft_reference.events import (
    Crash,
    Draw,
    ElectionTimeout,
    Event,
    FetchTimeout,
    Poll,
    PollFetch,
    Restart,
    Shutdown,
)
from kraft_reference.profile import with_settings
from kraft_reference.replica import Replica, Step
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState
from kraft_simulation.occurrence import Occurrence
from kraft_simulation.plan import RunPlan
from kraft_simulation.simulation import Simulation
from kraft_traces.alternatives.decisions import OPEN_DECISIONS
from kraft_traces.check import Rejection, TraceChecker, Verdict, VerdictKind
from kraft_traces.check.model import trace_model
from kraft_traces.encode import encode_line, event_line, header_line
from kraft_traces.inference.inferring import opaque_profile
from kraft_traces.lines import EventLine
from kraft_traces.state_types import TracedState

OTHERWISE = {
    "announced_to": "all",
    "announcement_again": "by-timer",
    "diverging_cut": "smaller-offset",
    "end_quorum_fetched_flag": "kept",
    "leader_high_watermark": "unknown",
    "own_vote_at_restart": "unattached",
    "unanswered_fetch": "servers-too",
}


def simulated(plan: RunPlan, make: Callable[[ReplicaState, Configuration], Replica]) -> Simulation:
    preset = plan.preset()
    arguments = (plan.configuration(), plan.seed, preset.workload, preset.faults)
    return Simulation(*arguments, steps=plan.steps, make_replica=make)


@cache
def recorded_with(answers: tuple[tuple[str, str], ...], workload: str, seed: int, steps: int) -> Recorded:
    """A run in which replica 1 answers as the profile says and the others otherwise; its header knows nothing of it."""

    def make(state: ReplicaState, configuration: Configuration) -> Replica:
        chosen: Mapping[str, str] = dict(answers) if state.key.id > 1 else {}
        return Replica(state, replace(configuration, profile=with_settings(configuration.profile, **chosen)))

    simulation = simulated(RunPlan(seed, steps=steps, workload=workload), make)
    trace = Recorded(simulation.configuration, simulation.run())
    assert simulation.violation is None
    return trace


def verdict(trace: Recorded) -> Verdict:
    return verdict_on(trace.header(FOREIGN), trace.raw)


@pytest.mark.parametrize("workload", ["crashes", "chaos"])
def test_other_answers_are_right_and_the_verdict_names_them(workload: str) -> None:
    trace = recorded_with(tuple(OTHERWISE.items()), workload, 5, 400)
    actual = verdict(trace)
    assert actual.kind is VerdictKind.ACCEPTED, actual
    taken = {setting.decision: setting.answer for setting in actual.open_answers}
    assert "leader_high_watermark" in taken
    assert taken.items() <= OTHERWISE.items()


def test_the_reference_has_no_choice() -> None:
    trace = recorded_with((("leader_high_watermark", "unknown"),), "crashes", 5, 400)
    assert verdict_on(trace.header(), trace.raw).kind is VerdictKind.REJECTED


def test_a_trace_that_hides_its_state_may_answer_otherwise() -> None:
    trace = recorded_with(tuple(OTHERWISE.items()), "elections", 5, 200)
    raw = [encode_line(msgspec.structs.replace(line, state=msgspec.UNSET)) for line in trace.lines]
    assert verdict_on(trace.header(FOREIGN), raw).kind is VerdictKind.ACCEPTED


def test_whom_a_follower_asks_is_shown_or_the_header_says_it() -> None:
    """Rule: fetch.who-fetches."""
    trace = recorded_with((("unanswered_fetch", "servers-too"),), "chaos", 5, 400)
    assert [setting.decision for setting in verdict(trace).open_answers] == ["unanswered_fetch"]
    hidden = [encode_line(msgspec.structs.replace(line, state=msgspec.UNSET)) for line in trace.lines]
    assert verdict_on(trace.header(FOREIGN), hidden).kind is VerdictKind.REJECTED
    profile = opaque_profile(trace.configuration.profile)
    header_text = encode_line(header_line(replace(trace.configuration, profile=profile), FOREIGN))
    assert verdict_on(header_text, hidden).kind is VerdictKind.ACCEPTED


def test_to_whom_a_leader_announces_itself_is_seen_in_what_it_sends() -> None:
    """Apache Kafka shows no state of its connections.  Rule: begin-quorum.resend."""
    trace = recorded_with((("announced_to", "all"), ("announcement_again", "by-timer")), "chaos", 5, 300)

    def without_connections(line: EventLine) -> EventLine:
        if line.state is msgspec.UNSET:
            return line
        return msgspec.structs.replace(line, state=msgspec.structs.replace(line.state, awaiting=msgspec.UNSET))

    raw = [encode_line(without_connections(line)) for line in trace.lines]
    verdict = verdict_on(trace.header(FOREIGN), raw)
    assert verdict.kind is VerdictKind.ACCEPTED, verdict
    assert "announced_to" in [setting.decision for setting in verdict.open_answers]


def test_every_event_that_asks_for_an_answer_says_so() -> None:
    """In any other event all the answers come to the same."""
    missed: list[tuple[str, str]] = []

    class Asked(Replica):
        def step(self, event: Event, draw: Draw) -> Step:
            before = self.state
            done = super().step(event, draw)
            name = event_line(Occurrence(1, 0, event, before.key.id, "1.1", (), None, state=done.state)).event
            for decision in OPEN_DECISIONS:
                for answer in () if name in decision.events else decision.answers(self.configuration.profile):
                    profile = with_settings(self.configuration.profile, **{decision.name: answer})
                    other = Replica(before, replace(self.configuration, profile=profile))
                    if other.step(event, draw) != done:
                        missed.append((name, decision.name))
            return done

    for workload in ("chaos", "static-voters", "reassignments"):
        list(simulated(RunPlan(3, steps=400, workload=workload), Asked).run())
    assert not missed


# -------------------------------------------------------------------------------------------------------------
# Near misses.
# -------------------------------------------------------------------------------------------------------------


def candidate_that_restarts(**answers: str) -> tuple[Story, EventLine]:
    """A replica that asks for votes, dies, and starts again with other answers."""
    story = Story(replace(THREE, profile=with_settings(THREE.profile, **answers)))
    story.tell(story.world.happen(1, ElectionTimeout()), story.world.happen(1, Poll()))
    story.deliver_all(to=(1, 2))
    assert story.world.state(1).role is Role.CANDIDATE
    story.tell(story.world.happen(1, Crash(story.world.state(1).log.end_offset)))
    return story, story.tell(story.world.happen(1, Restart()))


def rejection_of(story: Story, line: EventLine) -> Rejection | None:
    checker = TraceChecker(trace_model(), THREE, "trace.jsonl", own=False)
    for number, earlier in enumerate(story.lines[:-1], 2):
        assert checker.feed(number, earlier) is None
    return checker.feed(len(story.lines) + 1, line)


@pytest.mark.parametrize("answer", ["candidate", "prospective", "unattached"])
def test_a_restart_with_an_own_vote_has_three_ways_to_keep_it(answer: str) -> None:
    story, line = candidate_that_restarts(own_vote_at_restart=answer)
    assert rejection_of(story, line) is None
    assert isinstance(line.state, TracedState)
    forgets = msgspec.structs.replace(line, state=msgspec.structs.replace(line.state, voted_key=None))
    rejection = rejection_of(story, forgets)
    assert rejection is not None
    assert "durable.restart.voted-self" in rejection.rules


@pytest.mark.parametrize(("timer_fired", "granted", "is_right"), [(False, False, True), (True, False, False)])
def test_a_follower_may_go_on_refusing_until_its_timer_fires(timer_fired: bool, granted: bool, is_right: bool) -> None:
    story = Story(replace(THREE, profile=replace(THREE.profile, end_quorum_fetched_flag="kept")))
    story.elect(1)
    story.tell(story.world.happen(1, Poll()))
    story.deliver_all()
    for follower in (2, 3):
        story.tell(story.world.happen(follower, PollFetch(1)))
        story.deliver_all()
    story.tell(story.world.happen(1, Shutdown()), story.world.happen(1, Poll()))
    story.deliver_all(to=(2, 3))
    story.tell(story.world.happen(2, FetchTimeout()), story.world.happen(2, Poll()))
    if timer_fired:
        story.tell(story.world.happen(3, FetchTimeout()))
    ((request, _),) = story.world.messages(source=2, destination=3)
    line = story.tell(story.world.deliver(request))
    assert rejection_of(story, line) is None
    document = document_of(line)
    document["effects"][0]["message"]["granted"] = granted
    assert (rejection_of(story, line_from(document)) is None) is is_right
