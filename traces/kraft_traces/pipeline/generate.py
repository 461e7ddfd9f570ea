"""The stage `generate`: runs of the reference's cluster, straight to the tables that `ingest` makes of files."""

from collections.abc import Iterable, Iterator
from typing import Any

from pyspark.sql import functions as sf

from kraft_reference.cluster.plan import RunPlan
from kraft_spec.experiments.playing import simulation_of
from kraft_spec.fingerprint import spec_hash
from kraft_traces.checkpoint_types import CheckpointLine
from kraft_traces.encode import encode_line, header_line
from kraft_traces.lines import EndLine, EventLine
from kraft_traces.own import own_generator
from kraft_traces.pipeline.assembly import Assembly
from kraft_traces.pipeline.batches import Row, frame_of, map_rows
from kraft_traces.pipeline.chunks import Notice, run_chunks
from kraft_traces.pipeline.ingest import INTAKE_TABLES, write_tables
from kraft_traces.pipeline.plans import Plans, plan_of, source_of
from kraft_traces.pipeline.schemas import INTAKE, PLANS
from kraft_traces.pipeline.session import parallelism
from kraft_traces.pipeline.spread import TASKS_PER_CORE, buckets_for
from kraft_traces.pipeline.store import Workspace
from kraft_traces.writer import line_maker

CHUNK_EVENTS = 200_000
"""About so many events are simulated at a time, and checked at a time."""


def generate(plans: Any) -> Any:
    """The transformation: a DataFrame of `PLANS` to one of `INTAKE`."""
    return map_rows(plans.select(*PLANS.names), _simulate, INTAKE)


def _simulate(plans: Iterable[Row]) -> Iterator[Row]:
    for row in plans:
        yield from simulated(plan_of(row), row["checkpoint_every"])


def simulated(plan: RunPlan, checkpoint_every: int | None = None) -> Iterator[Row]:
    """The rows of a run, in the form of `schemas.INTAKE`; one that breaks an invariant says so and is not complete."""
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


def plans_frame(session: Any, plans: Plans, first: int, last: int) -> Any:
    """A DataFrame of `PLANS`, as many rows to a task as to another."""
    rows = list(plans.rows(first, last))
    tasks = buckets_for(session, len(rows))
    frame = frame_of(session, rows, PLANS.arrow)
    return frame.repartitionById(tasks, (sf.col("index") % sf.lit(tasks)).cast("int"))


def run_generate(session: Any, workspace: Workspace, plans: Plans, notice: Notice) -> None:
    """Run the stage."""
    # Not fewer than there are tasks.
    wanted = max(parallelism(session) * TASKS_PER_CORE, CHUNK_EVENTS // plans.steps)
    per_chunk = int(workspace.facts().get("plans_in_wave") or wanted)
    chunks = -(-len(plans) // per_chunk)
    workspace.note(plans_in_wave=per_chunk, waves=chunks)

    def chunk(number: int) -> None:
        chosen = plans_frame(session, plans, number * per_chunk, (number + 1) * per_chunk)
        write_tables(session, workspace, number, generate(chosen))

    run_chunks(session, "generate", workspace.missing_chunks(INTAKE_TABLES, chunks), chunk, notice)
    workspace.finish_tables(INTAKE_TABLES, chunks)
