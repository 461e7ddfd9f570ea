"""Hidden events of replicas of the simulator, of which only the messages are kept."""

from dataclasses import replace

import pytest
from msgspec import structs

from kraft_reference.cluster import workload
from kraft_reference.cluster.plan import RunPlan
from kraft_reference.cluster.workload import Faults, Preset, Workload
from kraft_reference.configuration import Configuration
from kraft_traces.check.model import trace_model
from kraft_traces.check.run import check_lines
from kraft_traces.check.verdict import VerdictKind
from kraft_traces.encode import encode_line, event_line
from kraft_traces.inference.inferring import infer
from kraft_traces.inference.moves import Moves
from kraft_traces.inference.nodes import Node
from kraft_traces.inference.replica import ReplicaModel
from kraft_traces.inference.search import DEFAULT_BOUND, Search
from kraft_traces.inference.sightings import Seen, Sighting, known_of
from kraft_traces.inference.traced import seen_of
from kraft_traces.lines import EventLine

TCP = Preset(
    "tcp",
    "what connections of TCP do, with crashes and cuts",
    Workload(append_interval_ms=120),
    replace(Faults(), crash_interval_ms=4000, cut_interval_ms=5000),
)


def run(monkeypatch: pytest.MonkeyPatch, seed: int) -> tuple[list[EventLine], Configuration]:
    monkeypatch.setitem(workload.WORKLOADS, "tcp", TCP)
    simulation = RunPlan(seed=seed, steps=300, workload="tcp").simulation()
    return [event_line(occurrence) for occurrence in simulation.run()], simulation.configuration


def verdict_on(seen: tuple[Seen, ...], configuration: Configuration, opaque: set[int]) -> VerdictKind:
    found = infer(trace_model(), configuration, seen, opaque)
    assert found.failure is None
    assert found.messages == sum(getattr(one, "source", 0) in opaque for one in seen)
    return check_lines(found.lines, configuration, "inferred", own=False).kind


@pytest.mark.parametrize("opaque", [{1}, {1, 2}, {1, 2, 3}], ids=len)
@pytest.mark.parametrize("seed", range(1, 4))
def test_what_is_inferred_from_the_wire_is_accepted(
    monkeypatch: pytest.MonkeyPatch, seed: int, opaque: set[int]
) -> None:
    lines, configuration = run(monkeypatch, seed)
    assert verdict_on(seen_of(lines, opaque), configuration, opaque) is VerdictKind.ACCEPTED


@pytest.mark.parametrize("opaque", [{1}, {1, 2}], ids=len)
def test_messages_are_seen_when_they_pass_the_wire(monkeypatch: pytest.MonkeyPatch, opaque: set[int]) -> None:
    lines, configuration = run(monkeypatch, 2)
    seen = seen_of(lines, opaque, frames=True)
    assert {one.arrives for one in seen if isinstance(one, Sighting)} == {True, False}
    assert verdict_on(seen, configuration, opaque) is VerdictKind.ACCEPTED


def test_the_same_is_inferred_again(monkeypatch: pytest.MonkeyPatch) -> None:
    lines, configuration = run(monkeypatch, 1)
    seen = seen_of(lines, {1, 2, 3})
    one, other = (infer(trace_model(), configuration, seen, {1, 2, 3}) for _ in range(2))
    assert [*map(encode_line, one.lines)] == [*map(encode_line, other.lines)]


def test_a_fetch_of_a_follower_to_another_is_left_out_only_if_the_answer_tells_it_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines, configuration = run(monkeypatch, 1)
    seen = list(seen_of(lines, {1}))
    replica = ReplicaModel(trace_model(), configuration, 1)
    asked = next(one for one in seen if isinstance(one, Sighting) and one.type == "FetchRequest" and one.source == 1)
    answer = next(one for one in seen if isinstance(one, Sighting) and one.request == asked.number)
    state = {"role": "Follower", "epoch": 4, "leader_id": 9}
    monkeypatch.setattr(replica, "field", lambda _, name: state[name])
    told = {
        (4, 9): True,
        (4, None): True,
        (3, 5): True,
        (5, None): False,
        (4, 8): False,
    }
    for (epoch, leader), nothing_new in told.items():
        seen[answer.number] = answer._replace(message=structs.replace(answer.message, epoch=epoch, leader_id=leader))
        search = Search(replica, known_of(seen), DEFAULT_BOUND)
        assert search.is_elsewhere(asked) is nothing_new, (epoch, leader)
    state["leader_id"] = asked.destination
    assert not search.is_elsewhere(asked)


@pytest.mark.parametrize(
    ("leader", "endpoint", "goes_back"), [(9, "replica-9:9093", True), (9, "", False), (-1, "", False)]
)
def test_a_prospective_that_fetches_goes_back_to_a_leader_that_it_can_reach(
    monkeypatch: pytest.MonkeyPatch, leader: int, endpoint: str, goes_back: bool
) -> None:
    """Another one looks for a leader, which the model explains."""
    lines, configuration = run(monkeypatch, 1)
    seen = list(seen_of(lines, {1}))
    replica = ReplicaModel(trace_model(), configuration, 1)
    asked = next(one for one in seen if isinstance(one, Sighting) and one.type == "FetchRequest" and one.source == 1)
    answer = next(one for one in seen if isinstance(one, Sighting) and one.request == asked.number)
    seen[answer.number] = answer._replace(message=structs.replace(answer.message, epoch=4, leader_id=None))
    state = {"role": "Prospective", "epoch": 4, "leader_id": leader, "leader_endpoint": endpoint}
    monkeypatch.setattr(replica, "field", lambda _, name: state[name])
    assert Search(replica, known_of(seen), DEFAULT_BOUND).is_elsewhere(asked) is goes_back


def test_the_first_request_of_each_replica_is_handled_next_and_the_first_that_never_is_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines, configuration = run(monkeypatch, 1)
    seen = seen_of(lines, {1})
    replica = ReplicaModel(trace_model(), configuration, 1)
    known = known_of(seen)
    to_it = [one for one in seen if isinstance(one, Sighting) and one.destination == 1 and one.request is None]
    answered = [one for one in to_it if one.number in known.answers and one.source == 2]
    never = [one for one in to_it if one.number not in known.answers and one.source == 2]
    node = Node(replica.start, requests=tuple(sorted(one.number for one in (*answered, *never))))
    target = next(one for one in seen if isinstance(one, Sighting) and one.source == 1)
    moves = Moves(replica, known, target, target.number, thorough=False)
    first = {one[0].number for one in (answered, never) if one}
    assert set(moves._next_requests(node)) == first
    assert len(first) == 2
