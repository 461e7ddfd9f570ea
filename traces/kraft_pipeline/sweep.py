"""Stage `sweep`: runs of the reference are simulated, checked and counted, but not kept."""

from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

from kraft_mutants.playing import simulation_of
from kraft_pipeline.checking import raised_row, row_of
from kraft_pipeline.coverage import write_coverage
from kraft_pipeline.journal import Journal
from kraft_pipeline.observed import FIRST_ROLE, events_of
from kraft_pipeline.plans import Plans, source_of
from kraft_pipeline.progress import Notice
from kraft_pipeline.schemas import TALLIES, VERDICTS
from kraft_pipeline.store import Workspace
from kraft_pipeline.stretches import trace_id_of
from kraft_pipeline.units import Row, Write, units_wanted
from kraft_simulation.plan import RunPlan
from kraft_simulation.simulation import Simulation
from kraft_simulation.violation import Violation
from kraft_traces.check.model import trace_model
from kraft_traces.check.run import check_lines
from kraft_traces.encode import encode_line, event_line
from kraft_traces.lines import EventLine
from kraft_traces.own import GENERATOR_NAME

STAGE = "sweep"

UNIT_EVENTS = 50_000
"""Maximum number of simulated events of a unit with more than one run, which takes some seconds."""

_TABLES = (TALLIES, VERDICTS)
_TALLIED = ("event", "pre_vote", "role_before", "role_after", "fault", "errors")


def _sweep(unit: int, write: Write, journal: Journal, *, plans: Plans, per_unit: int) -> None:
    for index in range(unit * per_unit, min((unit + 1) * per_unit, len(plans))):
        plan = plans.plan(index)
        row = journal.row(str(index), source_of(plan), partial(sweep_run, plan))
        for tally in row["tallies"]:
            write(TALLIES, tally)
        write(VERDICTS, row["verdict"])


def sweep_run(plan: RunPlan, deaths: int = 0) -> Row:
    """Simulate and check a run; return rows of its `verdict` and of the `tallies` of its steps of the model.

    `deaths` of workers do not end the attempts, because no foreign input can have caused them.
    """
    # Outside of the try block, because a failing start of Java is not a defect of the reference.
    trace_model()
    source = source_of(plan)
    trace: Row = {
        "trace_id": trace_id_of(source, 1),
        "source": source,
        "generator": GENERATOR_NAME,
        "workload": plan.workload,
        "profile": plan.profile,
        "command": plan.command_line(),
    }
    events: list[_SimulatedEvent] = []
    steps = None
    try:
        simulation = simulation_of(plan)
        verdict = check_lines(_lines(simulation, events), simulation.configuration, source, own=True)
        rejection = verdict.rejection
        # The checker reads ahead; events after a wrong line do not count.
        violation = simulation.violation if rejection is None else events[rejection.sequence - 1].violation
        trace["violation"] = None if violation is None else str(violation)
        verdict_row = row_of(trace, verdict)
        steps = verdict.events
    except Exception as error:  # a defect of the reference may raise anything
        verdict_row = raised_row(trace, error)
    return {
        "verdict": verdict_row,
        "tallies": _tallies(trace["trace_id"], plan, [event.raw for event in events[:steps]]),
    }


class _SimulatedEvent(NamedTuple):
    """Event of a run: its line, and the violation that the reference has detected by then."""

    raw: bytes
    violation: Violation | None


def _lines(simulation: Simulation, events: list[_SimulatedEvent]) -> Iterator[EventLine]:
    for occurrence in simulation.run():
        line = event_line(occurrence)
        events.append(_SimulatedEvent(encode_line(line), simulation.violation))
        yield line


def _tallies(trace_id: str, plan: RunPlan, lines: list[bytes]) -> list[Row]:
    if not lines:
        return []
    roles: dict[int, str | None] = dict.fromkeys(plan.configuration().replicas, FIRST_ROLE)
    rows = events_of(trace_id, b"".join(lines), 1, roles).select(_TALLIED).to_pylist()
    counted = Counter((*(row[name] for name in _TALLIED[:-1]), tuple(row["errors"])) for row in rows)
    return [
        {"trace_id": trace_id, **dict(zip(_TALLIED, facts, strict=True)), "events": events}
        for facts, events in counted.items()
    ]


def run_sweep(session: Any, workspace: Workspace, plans: Plans, notice: Notice) -> None:
    """Run the stage, and `coverage`."""
    if not workspace.has(VERDICTS):
        # Fixed once, even if the run is resumed with another number of cores.
        wanted = min(UNIT_EVENTS // plans.steps, len(plans) // units_wanted(session))
        per_unit = int(workspace.facts().get("plans_in_unit", max(1, wanted)))
        workspace.note(plans_in_unit=per_unit)
        work = partial(_sweep, plans=plans, per_unit=per_unit)
        workspace.make(session, STAGE, range(-(-len(plans) // per_unit)), _TABLES, work, notice)
        workspace.finish_tables(STAGE, _TABLES)
    tallies, verdicts = workspace.read(session, TALLIES), workspace.read(session, VERDICTS)
    write_coverage(session, workspace, tallies, verdicts, notice)
