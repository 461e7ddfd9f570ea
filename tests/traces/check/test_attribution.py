"""A rejected line names first the rules behind what differs."""

from itertools import pairwise

import pytest

from kraft_reference.cluster.occurrence import Occurrence
from kraft_reference.cluster.plan import RunPlan
from kraft_reference.configuration import Configuration
from kraft_reference.events import Draw
from kraft_reference.replica import Replica
from kraft_reference.state import ReplicaState
from kraft_traces.check.attribution import line_differences
from kraft_traces.encode import event_line
from kraft_traces.restore import crash_point_of, event_of


def steps_of(workload: str) -> tuple[Configuration, list[tuple[ReplicaState, Occurrence]]]:
    """A run's events at replicas, each with the state before it."""
    simulation = RunPlan(3, replicas=3, steps=300, workload=workload).simulation()
    by_replica: dict[int | None, list[Occurrence]] = {}
    for one in simulation.run():
        by_replica.setdefault(one.replica_id, []).append(one)
    by_replica.pop(None, None)
    found = [(first.state, one) for of_one in by_replica.values() for first, one in pairwise(of_one) if first.state]
    return simulation.configuration, found


@pytest.mark.parametrize("workload", ["chaos", "crashes", "impatient-changes", "old-voters"])
def test_a_line_of_the_reference_differs_in_nothing_from_its_step(workload: str) -> None:
    configuration, steps = steps_of(workload)
    assert len(steps) > 200
    for before, one in steps:
        line = event_line(one)
        replica, event, draw = Replica(before, configuration), event_of(line), Draw(one.sequence, 0, 0)
        died = crash_point_of(line)
        if died is None:
            step = replica.step(event, draw)  # type: ignore[arg-type]  # it happens at a replica
        else:
            step = replica.crash_during(event, draw, died.completed, died.log_end_offset)  # type: ignore[arg-type]
        assert line_differences(line, step) == ()
