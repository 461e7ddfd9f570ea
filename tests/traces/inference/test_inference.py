"""Hidden events of replicas of the simulator, of which only the messages are kept."""

from dataclasses import replace

import pytest

from kraft_reference.cluster import workload
from kraft_reference.cluster.plan import RunPlan
from kraft_reference.cluster.workload import Faults, Preset, Workload
from kraft_reference.configuration import Configuration
from kraft_traces.check.model import trace_model
from kraft_traces.check.run import check_lines
from kraft_traces.check.verdict import VerdictKind
from kraft_traces.encode import encode_line, event_line
from kraft_traces.inference.inferring import infer
from kraft_traces.inference.sightings import Seen, Sighting
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
