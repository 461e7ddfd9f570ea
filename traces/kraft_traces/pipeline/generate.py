"""The stage `generate`: runs of the reference's cluster, straight to the tables that `ingest` makes of files."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from kraft_reference.cluster.plan import RunPlan
from kraft_spec.experiments.playing import simulation_of
from kraft_spec.fingerprint import spec_hash
from kraft_traces.checkpoint_types import CheckpointLine
from kraft_traces.encode import encode_line, header_line
from kraft_traces.lines import EndLine, EventLine
from kraft_traces.own import own_generator
from kraft_traces.pipeline.assembly import Assembly
from kraft_traces.pipeline.ingest import INTAKE_TABLES, write_intake
from kraft_traces.pipeline.plans import Plans, source_of
from kraft_traces.pipeline.progress import Notice
from kraft_traces.pipeline.store import Workspace
from kraft_traces.pipeline.units import UNIT_EVENTS, Row, units_wanted, written
from kraft_traces.writer import line_maker


def simulated(plan: RunPlan, checkpoint_every: int | None = None) -> Iterator[Row]:
    """The rows of a run, as `take_in` gives them; one that breaks an invariant says so and is not complete."""
    simulation = simulation_of(plan)
    source = source_of(plan)
    generator = own_generator(plan.seed, plan.workload)
    header = header_line(simulation.configuration, generator, spec_hash=spec_hash(), switched_off=plan.switched_off)
    raw = encode_line(header)
    size, number = len(raw), 1
    lines = line_maker(simulation.configuration, checkpoint_every, plan.switched_off)
    assembly = Assembly(source, 1, raw, header)
    try:
        for occurrence in simulation.run():
            for line in lines(occurrence):
                raw = encode_line(line)
                size += len(raw)
                number += 1
                if isinstance(line, EventLine):
                    assembly.add_event(number, raw, line)
                elif isinstance(line, CheckpointLine):
                    assembly.add_checkpoint(raw, line)
        violation = None if simulation.violation is None else str(simulation.violation)
        end = EndLine(assembly.events, violation is None)
        raw = encode_line(end)
        assembly.add_end(raw, end)
        every = "" if checkpoint_every is None else f" --checkpoint-every {checkpoint_every}"
        yield from assembly.accepted(violation=violation, command=plan.command_line() + every)
    finally:
        assembly.close()
    yield {"file": {"source": source, "bytes": size + len(raw), "lines": number + 1, "traces": 1}}


def _generate(unit: int, *, folder: Path, plans: Plans, per_unit: int) -> None:
    with written(folder, unit, INTAKE_TABLES) as write:
        for index in range(unit * per_unit, min((unit + 1) * per_unit, len(plans))):
            write_intake(write, simulated(plans.plan(index), plans.checkpoint_every))


def run_generate(session: Any, workspace: Workspace, plans: Plans, notice: Notice) -> None:
    """Run the stage."""
    per_unit = plans_in_unit(session, workspace, plans, UNIT_EVENTS)
    work = partial(_generate, plans=plans, per_unit=per_unit)
    workspace.make(session, "generate", range(-(-len(plans) // per_unit)), INTAKE_TABLES, work, notice)
    workspace.finish_tables(INTAKE_TABLES)


def plans_in_unit(session: Any, workspace: Workspace, plans: Plans, events_max: int) -> int:
    """How many runs a unit has, decided once."""
    wanted = min(events_max // plans.steps, len(plans) // units_wanted(session))
    per_unit = int(workspace.facts().get("plans_in_unit", max(1, wanted)))
    workspace.note(plans_in_unit=per_unit)
    return per_unit
