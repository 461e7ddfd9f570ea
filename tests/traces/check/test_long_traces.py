"""Memory for checking a trace does not depend on its length, where replicas take snapshots."""

from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

import pytest

from kraft_reference.events import ClientAppend
from kraft_simulation.plan import RunPlan
from kraft_simulation.simulation import Simulation
from kraft_traces.check import TraceChecker
from kraft_traces.check.model import trace_model
from kraft_traces.continuity import Continuity
from kraft_traces.encode import encode_line, event_line, header_line
from kraft_traces.lines import EventLine
from kraft_traces.own import own_generator
from kraft_traces.parsing import parse_header, parse_line

LINES = 30_000
LOOK_EVERY = 1_000


class Kept(NamedTuple):
    """Sizes of the checker's data after a line."""

    followed: int
    """Messages on their way, of the reader."""
    compared: int
    """The same with their content, of the checker."""
    network: int
    """The same in the state of the model."""
    records: int
    """Records that the model remembers as committed."""
    epochs: int
    """Epochs of which the model remembers who led them."""
    logs: int
    """Records in the logs of all replicas of the model."""


MOST = Kept(followed=50, compared=50, network=50, records=500, epochs=20, logs=1_000)
"""Bounds for any length."""


def busy_run(lines: int) -> Simulation:
    """The workload with snapshots, and no more records than a follower can fetch in the time."""
    plan = RunPlan(seed=1, workload="snapshots", steps=lines)
    preset = plan.preset()
    workload = replace(preset.workload, append_interval_ms=120)
    return Simulation(plan.configuration(), plan.seed, workload, preset.faults, steps=lines)


def kept(continuity: Continuity, checker: TraceChecker) -> Kept:
    """Count it."""
    (state,) = checker.states
    model = trace_model()
    network: Any = model.variable("network", state)
    history: Any = model.variable("history", state)
    replicas: Any = model.variable("replicas", state)
    return Kept(
        len(continuity),
        checker.messages_remembered,
        len(network),
        len(history["committed"]["log"]),
        len(history["epochs"]),
        sum(len(replica["log"]) for replica in replicas),
    )


@pytest.mark.nightly
@pytest.mark.slow
def test_thirty_thousand_lines_with_snapshots_are_checked_in_bounded_memory() -> None:
    simulation = busy_run(LINES)
    header = encode_line(header_line(simulation.configuration, own_generator()))
    continuity = Continuity(parse_header(header, "trace"), "trace")
    checker = TraceChecker(trace_model(), simulation.configuration, "trace", own=True)
    sizes: list[Kept] = []
    appended = last_epoch = 0
    for number, occurrence in enumerate(islice(simulation.run(), LINES), 2):
        appended += isinstance(occurrence.event, ClientAppend) and occurrence.refusal is None
        last_epoch = max(last_epoch, 0 if occurrence.state is None else occurrence.state.epoch)
        line = parse_line(encode_line(event_line(occurrence)), "trace", number)
        assert isinstance(line, EventLine)
        continuity.follow(line, number)
        assert checker.feed(number, line) is None
        if (number - 1) % LOOK_EVERY == 0:
            sizes.append(kept(continuity, checker))
    assert len(sizes) == LINES // LOOK_EVERY
    assert not checker.is_over
    for field, bound in MOST._asdict().items():
        assert max(getattr(observation, field) for observation in sizes) < bound, (field, sizes)
    # Without an end to it that would be kept.
    assert appended > 4 * MOST.records
    assert last_epoch > 4 * MOST.epochs
