"""Hidden events of replicas of the simulator, of which only the messages are kept."""

import itertools
from collections.abc import Sequence
from dataclasses import replace

import pytest
from msgspec import structs
from tests.traces.inference.traced import seen_of

from kraft_reference.configuration import Configuration
from kraft_reference.profile import KIP, Profile
from kraft_simulation import workload
from kraft_simulation.plan import RunPlan
from kraft_simulation.simulation import Simulation
from kraft_simulation.workload import Faults, Preset, Workload
from kraft_traces.check.model import trace_model
from kraft_traces.check.run import check_lines
from kraft_traces.check.verdict import VerdictKind
from kraft_traces.effects import TracedSend
from kraft_traces.encode import encode_line, event_line
from kraft_traces.inference.captured import CapturedMessage
from kraft_traces.inference.events import Events
from kraft_traces.inference.facts import facts_of
from kraft_traces.inference.hidden_events import HiddenEvents
from kraft_traces.inference.inferring import infer, opaque_profile
from kraft_traces.inference.nodes import Node
from kraft_traces.inference.replica import ReplicaModel
from kraft_traces.inference.search import DEFAULT_BOUND, Explained, Search
from kraft_traces.inference.timing import LeastTimeouts
from kraft_traces.lines import EventLine

IDS = frozenset((1, 2, 3))
TCP = Preset(
    "tcp",
    "what connections of TCP do, with crashes and cuts",
    Workload(append_interval_ms=120),
    replace(Faults(), crash_interval_ms=4000, cut_interval_ms=5000),
)


def run(monkeypatch: pytest.MonkeyPatch, seed: int, profile: Profile = KIP) -> tuple[list[EventLine], Configuration]:
    monkeypatch.setitem(workload.WORKLOADS, "tcp", TCP)
    plan = RunPlan(seed=seed, steps=300, workload="tcp")
    configuration = replace(plan.configuration(), profile=profile)
    simulation = Simulation(configuration, seed, TCP.workload, TCP.faults, steps=plan.steps)
    lines = [event_line(occurrence) for occurrence in simulation.run()]
    return lines, replace(configuration, profile=opaque_profile(profile))


def verdict_on(observations: tuple[CapturedMessage, ...], configuration: Configuration) -> VerdictKind:
    timeouts = configuration.timeouts
    least = LeastTimeouts(timeouts.election_timeout_ms, timeouts.fetch_timeout_ms, timeouts.request_timeout_ms)
    result = infer(trace_model(), configuration, observations, IDS, least=dict.fromkeys(IDS, least))
    assert result.failure is None
    assert result.messages == len(observations)
    return check_lines(result.lines, configuration, "inferred", own=False).kind


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in (2, 3))])
def test_what_is_inferred_from_the_wire_is_accepted(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    lines, configuration = run(monkeypatch, seed)
    assert verdict_on(seen_of(lines), configuration) is VerdictKind.ACCEPTED


@pytest.mark.nightly
def test_the_same_is_inferred_again(monkeypatch: pytest.MonkeyPatch) -> None:
    lines, configuration = run(monkeypatch, 1)
    observations = seen_of(lines)
    first, second = (infer(trace_model(), configuration, observations, IDS) for _ in range(2))
    assert [*map(encode_line, first.lines)] == [*map(encode_line, second.lines)]


@pytest.mark.nightly
def test_whom_a_follower_asks_when_its_leader_does_not_answer_is_inferred(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rule: fetch.who-fetches."""
    lines, configuration = run(monkeypatch, 1, opaque_profile(KIP))
    observations = seen_of(lines)
    fetches = [line for line in lines if line.event == "PollFetch" and getattr(line.state, "searching", False)]
    assert fetches
    assert any(getattr(line.input, "destination", None) != getattr(line.state, "leader_id", None) for line in fetches)
    assert verdict_on(observations, configuration) is VerdictKind.ACCEPTED


def moves_before(
    replica: ReplicaModel, observations: Sequence[CapturedMessage], target: CapturedMessage
) -> HiddenEvents:
    events = Events(replica, facts_of(observations), target, target.number)
    return HiddenEvents(events, target, target.number, thorough=False)


def up_to(search: Search, observations: Sequence[CapturedMessage], target: CapturedMessage) -> None:
    """Follow replica 1 up to a message of its own."""
    for observation in observations[: target.number]:
        if observation.source == 1:
            search.sent(observation)
        elif observation.destination == 1:
            search.received(observation)


def test_a_leader_out_of_reach_is_asked_before_another_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection that backs off outlasts the role.  Rule: fetch.who-fetches."""
    lines, configuration = run(monkeypatch, 1)
    observations = list(seen_of(lines))
    fetches = [
        observation for observation in observations if observation.type == "FetchRequest" and observation.source == 1
    ]
    again = fetches[9]
    other = 5 - again.destination
    elsewhere = again._replace(message=structs.replace(again.message, destination=other))
    observations[again.number] = elsewhere
    search = Search(ReplicaModel(trace_model(), configuration, 1), facts_of(observations), DEFAULT_BOUND)
    up_to(search, observations, again)
    result = search.sent(elsewhere)
    assert isinstance(result, Explained)
    events = [event.line.event for event in itertools.islice(result.nodes[0].history(), 4)]
    assert events == ["PollFetch", "RequestTimeout", "PollFetch", "HandleFetchResponse"]


def test_a_request_is_not_handled_with_another_answer_than_the_one_that_is_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines, configuration = run(monkeypatch, 1)
    observations = list(seen_of(lines))
    answer = next(
        observation for observation in observations if observation.type == "VoteResponse" and observation.source == 1
    )
    assert answer.request is not None
    replica = ReplicaModel(trace_model(), configuration, 1)
    search = Search(replica, facts_of(observations), DEFAULT_BOUND)
    up_to(search, observations, answer)

    def handled() -> int:
        moves = moves_before(replica, observations, answer)
        return len([*moves._handle(search.nodes[0], answer.request, 0.0)])  # type: ignore[arg-type]

    assert handled() == 1
    observations[answer.number] = answer._replace(message=structs.replace(answer.message, epoch=9))
    assert handled() == 0


def test_the_first_request_of_each_replica_is_handled_next_or_any_that_never_is_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines, configuration = run(monkeypatch, 1)
    observations = seen_of(lines)
    replica = ReplicaModel(trace_model(), configuration, 1)
    facts = facts_of(observations)
    to_it = [
        observation for observation in observations if observation.destination == 1 and observation.request is None
    ]
    answered = [message for message in to_it if message.number in facts.answers and message.source == 2]
    never = [message for message in to_it if message.number not in facts.answers and message.source == 2]
    node = Node(replica.start, requests=tuple(sorted(sent.number for sent in (*answered, *never))))
    target = next(observation for observation in observations if observation.source == 1)
    moves = moves_before(replica, observations, target)
    assert len(answered) > 1
    assert never
    assert set(moves._next_requests(node)) == {answered[0].number, *[request.number for request in never]}
    later = next(request.number for request in answered if request.number > never[0].number)
    (after, _), *_ = moves._events.taken(node, moves._events.delivery(node, later), 0.0, later)
    assert never[0].number not in after.requests


def test_an_event_that_shows_one_message_sends_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new leader announces itself to two voters at once."""
    lines, configuration = run(monkeypatch, 1)
    observations = list(seen_of(lines))
    announcements = (observation for observation in observations if observation.type == "BeginQuorumEpochRequest")
    first = next(message for message in announcements if message.source == 1)
    replica = ReplicaModel(trace_model(), configuration, 1)
    search = Search(replica, facts_of(observations), DEFAULT_BOUND)
    up_to(search, observations, first)
    node, events = search.nodes[0], Events(replica, facts_of(observations), first, first.number)
    for place in node.responses:
        node = next((after for after, _ in events.taken(node, events.delivery(node, place), 0.0, place)), node)
    poll = events.line(node, "Poll")
    assert [len(step.sends) for _, step in events.taken(node, poll, 0.0)] == [2]
    observed = (TracedSend(structs.replace(first.message, id="1.2", correlation_id=0)),)
    assert not [*events.taken(node, structs.replace(poll, effects=observed), 0.0)]
