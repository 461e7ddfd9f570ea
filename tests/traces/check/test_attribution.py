"""A rejected line names first the rules behind what differs."""

from itertools import pairwise

import pytest
from msgspec.structs import replace
from tests.misnamed import MISNAMED, Misnamed
from tests.traces.check.cases import elected

from kraft_mutants.attribution import Given, defects
from kraft_mutants.attribution.mutated import outcomes
from kraft_mutants.playing import simulation_of
from kraft_reference.configuration import Configuration
from kraft_reference.events import Draw
from kraft_reference.replica import Replica
from kraft_reference.state import ReplicaState
from kraft_simulation.occurrence import Occurrence
from kraft_simulation.plan import RunPlan
from kraft_spec.edits import EditError
from kraft_traces.check import RejectionKind, check_occurrences
from kraft_traces.check.attribution import attribute_line, line_differences
from kraft_traces.effects import traced_effect
from kraft_traces.encode import event_line
from kraft_traces.lines import EventLine
from kraft_traces.restore import crash_point_of, event_of
from kraft_traces.states import traced_state


def steps_of(workload: str) -> tuple[Configuration, list[tuple[ReplicaState, Occurrence]]]:
    """A run's events at replicas, each with the state before it."""
    simulation = RunPlan(3, replicas=3, steps=300, workload=workload).simulation()
    by_replica: dict[int | None, list[Occurrence]] = {}
    for occurrence in simulation.run():
        by_replica.setdefault(occurrence.replica_id, []).append(occurrence)
    by_replica.pop(None, None)
    pairs = [(first.state, line) for of_one in by_replica.values() for first, line in pairwise(of_one) if first.state]
    return simulation.configuration, pairs


@pytest.mark.parametrize("workload", ["chaos", "crashes", "impatient-changes", "old-voters"])
def test_a_line_of_the_reference_differs_in_nothing_from_its_step(workload: str) -> None:
    configuration, steps = steps_of(workload)
    assert len(steps) > 200
    for before, following in steps:
        line = event_line(following)
        replica, event, draw = Replica(before, configuration), event_of(line), Draw(following.sequence, 0, 0)
        died = crash_point_of(line)
        if died is None:
            step = replica.step(event, draw)  # type: ignore[arg-type]  # it happens at a replica
        else:
            step = replica.crash_during(event, draw, died.completed, died.log_end_offset)  # type: ignore[arg-type]
        assert line_differences(line, step) == ()


def wrong_line(bug: Misnamed) -> tuple[EventLine, ReplicaState, Configuration]:
    """The first line of a run that shows something else with a bug, and the state before it."""
    configuration, steps = steps_of(bug.workload)
    for before, following in sorted(steps, key=lambda step: step[1].sequence):
        line = event_line(following)
        event = event_of(line)
        if crash_point_of(line) is not None:
            continue
        circumstances = Given(before, configuration, event, Draw(following.sequence, 0, 0))  # type: ignore[arg-type]
        for _, wrong in outcomes(circumstances, {bug.name: bug.edits}):
            effects = tuple([traced_effect(following.sequence, effect) for effect in wrong.effects])
            recorded = replace(line, state=traced_state(wrong.state), effects=effects, refusal=wrong.refusal)
            if line_differences(recorded, Replica(before, configuration).step(event, circumstances.draw)):  # type: ignore[arg-type]
                return recorded, before, configuration
    raise AssertionError("the run does not meet the bug")


@pytest.mark.parametrize("bug", [bug for bug in MISNAMED if bug.workload], ids=lambda bug: bug.name)
def test_a_rejected_line_names_the_broken_rule_first(bug: Misnamed) -> None:
    line, before, configuration = wrong_line(bug)
    attribution = attribute_line(line, event_of(line), before, configuration, ("discovery.bootstrap",))  # type: ignore[arg-type]
    assert attribution.rules[0] == bug.rule


def fail(*_: object) -> None:
    raise EditError("elections.py: 'x' stands there 0 times, expected once")


def test_a_defect_of_attribution_leaves_the_verdict_and_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kraft_traces.check.diagnosis.attribute_line", fail)
    story = elected()
    line = story.line("FetchTimeout", 1)
    with pytest.raises(EditError):
        story.rejection_of(line)
    monkeypatch.setattr(defects, "RAISES", False)
    rejection = story.rejection_of(line)
    assert (rejection.kind, rejection.rules[0]) == (RejectionKind.NOT_ENABLED, "state.roles")
    assert rejection.note.startswith("the rules are not ranked, the verdict stands: EditError: elections.py: ")


def test_a_rejection_names_no_rule_behind_it_where_nobody_asks_for_one() -> None:
    """The generator of vectors reads only the verdict under another profile."""
    run = RunPlan(0, steps=400, workload="elections", mutants=("prevote.follower.rejects-after-fetch",))
    occurrences = tuple(simulation_of(run).run())
    named, plain = (
        check_occurrences(occurrences, run.configuration(), "run", attributes=attributes).rejection
        for attributes in (True, False)
    )
    assert named is not None
    assert plain is not None
    assert "prevote.follower.rejects-after-fetch" in named.explained_by
    assert plain.explained_by == ()
    assert (plain.line, plain.kind, plain.differences) == (named.line, named.kind, named.differences)
