"""The stage `sweep`: runs simulated, checked and counted in one go, and not kept unless they fail."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from hashlib import sha256
from itertools import islice
from typing import Any, NamedTuple

from pyspark.sql import functions as sf

from kraft_reference.cluster.plan import RunPlan
from kraft_reference.cluster.simulation import Simulation
from kraft_reference.cluster.violation import Violation
from kraft_spec.edits import package_folder
from kraft_spec.experiments.playing import simulation_of
from kraft_spec.fingerprint import spec_hash
from kraft_traces.check import EVERY
from kraft_traces.check.run import check_lines
from kraft_traces.encode import encode_line, event_line, header_line
from kraft_traces.lines import EventLine
from kraft_traces.own import GENERATOR_NAME, own_generator
from kraft_traces.pipeline.assembly import first_roles, trace_id_of
from kraft_traces.pipeline.batches import Row, map_rows
from kraft_traces.pipeline.checking import raised_row, ready_model, row_of
from kraft_traces.pipeline.chunks import Notice, run_chunks
from kraft_traces.pipeline.coverage import write_coverage
from kraft_traces.pipeline.generate import CHUNK_EVENTS, plans_frame
from kraft_traces.pipeline.journal import Journals
from kraft_traces.pipeline.observed import event_row
from kraft_traces.pipeline.plans import Plans, plan_of, source_of
from kraft_traces.pipeline.schemas import PLANS, SCHEDULES, SWEPT, TALLIES, VERDICTS
from kraft_traces.pipeline.session import parallelism
from kraft_traces.pipeline.spread import TASKS_PER_CORE
from kraft_traces.pipeline.store import Workspace

_TALLIED = ("event", "pre_vote", "role_before", "role_after", "fault")


@dataclass(frozen=True)
class Found:
    """What a sweep has come to.

    Attributes:
        schedules: how many runs were made.
        failing: how many of them fail.
        first: the number of the first failing run, counted from 1; None if there is none.
    """

    schedules: int
    failing: int
    first: int | None


def sweep(plans: Any, journals: Journals, *, every: int = EVERY, reference: str = "", is_broken: bool = False) -> Any:
    """The transformation: a DataFrame of `PLANS` to one of `SWEPT`.

    Args:
        plans: the runs.
        journals: what they say of these runs is taken from them, the rest goes there at once.
        every: after how many events the full invariants are checked.
        reference: digest that the reference of the workers must have (`reference_digest`); empty for any.
        is_broken: whether the runs are those of a mutant.
    """
    work = partial(_sweep, journals=journals, every=every, reference=reference, is_broken=is_broken)
    return map_rows(plans.select(*PLANS.names), work, SWEPT)


def _sweep(plans: Iterable[Row], *, journals: Journals, every: int, reference: str, is_broken: bool) -> Iterator[Row]:
    if reference and reference_digest() != reference:
        raise RuntimeError("the workers import another reference than the one that is to be swept")
    with journals.opened() as journal:
        for row in plans:
            index, plan = row["index"], plan_of(row)

            def made(_: int, index: int = index, plan: RunPlan = plan) -> Row:
                return swept(index, plan, every, is_broken=is_broken)

            yield journal.row(str(index), source_of(plan), made)


@cache
def reference_digest() -> str:
    """A digest of the reference that this process imports."""
    return digest_of(package_folder("kraft_reference"))


def digest_of(folder: Any) -> str:
    """A digest of the Python files below a folder."""
    digest = sha256()
    for file in sorted(folder.rglob("*.py")):
        digest.update(f"{file.relative_to(folder).as_posix()}\0".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()


def swept(index: int, plan: RunPlan, every: int, *, is_broken: bool = False) -> Row:
    """The row of `SWEPT` of a run; of a broken reference no command line repeats it.

    The model has all rules in force, also those that the run leaves out: that is what the sweep is to find.
    """
    ready_model()
    source = source_of(plan)
    trace: Row = {
        "trace_id": trace_id_of(source, 1),
        "source": source,
        "first_line": 1,
        "generator": GENERATOR_NAME,
        "workload": plan.workload,
        "profile": plan.profile,
        "command": None if is_broken else plan.command_line(),
        "violation": None,
    }
    seen: list[_Seen] = []
    prefix = None
    try:
        simulation = simulation_of(plan)
        verdict = check_lines(_lines(simulation, seen), simulation.configuration, source, own=True, every=every)
        rejection = verdict.rejection
        # The checker reads ahead: what comes after a wrong line is not looked at.
        violation = simulation.violation if rejection is None else seen[rejection.sequence - 1].violation
        trace["violation"] = None if violation is None else str(violation)
        verdict_row = row_of(trace, verdict)
        del seen[verdict.events :]
        if rejection is not None:
            prefix = _prefix(plan, rejection.sequence)
    except Exception as error:  # a broken reference may raise anything
        verdict_row = raised_row(trace, error)
    failed = verdict_row["verdict"] == "rejected" or trace["violation"] is not None
    schedule = {"index": index, "trace_id": trace["trace_id"], "failed": failed, "prefix": prefix}
    counted = Counter(one.tallied for one in seen)
    return {"schedule": schedule, "verdict": verdict_row, "tallies": _tallies(trace["trace_id"], counted)}


class _Seen(NamedTuple):
    """Of an event of a run: what is counted of it, and what the reference itself has found wrong by then."""

    tallied: tuple[Any, ...]
    violation: Violation | None


def _lines(simulation: Simulation, seen: list[_Seen]) -> Iterator[EventLine]:
    roles = first_roles(simulation.configuration.replicas)
    for occurrence in simulation.run():
        line, replica = event_line(occurrence), occurrence.replica_id
        row = event_row("", 0, line, None if replica is None else roles[replica])
        if replica is not None:
            roles[replica] = row["role_after"]
        seen.append(_Seen((*(row[name] for name in _TALLIED), tuple(row["errors"])), simulation.violation))
        yield line


def _prefix(plan: RunPlan, sequence: int) -> bytes:
    """The trace of a run up to an event: made again, because that is cheaper than keeping every run's."""
    simulation = simulation_of(plan)
    header = header_line(simulation.configuration, own_generator(plan.seed, plan.workload), spec_hash=spec_hash())
    # What the model is not told, it does not leave out.
    return encode_line(header) + b"".join(encode_line(event_line(one)) for one in islice(simulation.run(), sequence))


def _tallies(trace_id: str, counted: Counter[tuple[Any, ...]]) -> list[Row]:
    rows: list[Row] = []
    for (*facts, errors), events in counted.items():
        facts_row = dict(zip(_TALLIED, facts, strict=True))
        rows.append({"trace_id": trace_id, **facts_row, "errors": list(errors), "events": events})
    return rows


def chunk_cuts(count: int, first: int, most: int) -> list[int]:
    """Where chunks begin, and where the last ends: the first has `first` runs, each after it twice as many as the one
    before, but not more than `most`."""
    cuts, size = [0], first
    while cuts[-1] < count:
        cuts.append(min(count, cuts[-1] + size))
        size = min(most, 2 * size)
    return cuts


def run_sweep(
    session: Any,
    workspace: Workspace,
    plans: Plans,
    notice: Notice,
    *,
    reference: str,
    is_broken: bool,
    until_found: bool,
) -> Found:
    """Run the stage, and `coverage`."""
    tasks = parallelism(session) * TASKS_PER_CORE
    most = max(tasks, (CHUNK_EVENTS // 10 if until_found else CHUNK_EVENTS) // plans.steps)
    # What is found early should be found soon.
    first, most = workspace.facts().get("plans_in_waves") or (tasks if until_found else most, most)
    workspace.note(plans_in_waves=[first, most])
    cuts = chunk_cuts(len(plans), first, most)
    chunks = len(cuts) - 1
    tables = (SCHEDULES, VERDICTS, TALLIES)
    journals = Journals(workspace.work_file("journals"))

    def chunk(number: int) -> None:
        chosen = plans_frame(session, plans, cuts[number], cuts[number + 1])
        if not workspace.has_chunk(SWEPT, number):
            noted = journals.of_chunk(number)
            workspace.write_chunk(SWEPT, number, sweep(chosen, noted, reference=reference, is_broken=is_broken))
            noted.forget()
        staged = session.read.schema(SWEPT.ddl).parquet(str(workspace.chunk_path(SWEPT, number)))
        parts = {
            SCHEDULES: staged.select("schedule.*"),
            VERDICTS: staged.select("verdict.*"),
            TALLIES: staged.select(sf.explode("tallies").alias("tally")).select("tally.*"),
        }
        for table, rows in parts.items():
            if not workspace.has_chunk(table, number):
                workspace.write_chunk(table, number, rows.repartition(1).sortWithinPartitions("trace_id"))
        workspace.drop_chunk(SWEPT, number)

    def has_failed(number: int) -> bool:
        path = str(workspace.chunk_path(SCHEDULES, number))
        return bool(session.read.schema(SCHEDULES.ddl).parquet(path).where("failed").head(1))

    if not workspace.has(TALLIES):
        done = chunks
        unfinished = workspace.missing_chunks(tables, chunks)
        if until_found:
            for number in range(chunks):
                missing = [] if number not in unfinished else [number]
                run_chunks(session, f"sweep, schedule {cuts[number] + 1} on", missing, chunk, notice)
                if has_failed(number):
                    done = number + 1
                    break
        else:
            run_chunks(session, "sweep", unfinished, chunk, notice)
        workspace.finish_tables(tables, done)
    tallies, verdicts = workspace.read(session, TALLIES), workspace.read(session, VERDICTS)
    write_coverage(session, workspace, tallies, verdicts, notice)
    return found(session, workspace)


def found(session: Any, workspace: Workspace) -> Found:
    """What a finished sweep has come to."""
    (row,) = (
        workspace.read(session, SCHEDULES)
        .agg(sf.count("*"), sf.count_if("failed"), sf.min(sf.when(sf.col("failed"), sf.col("index"))))
        .collect()
    )
    return Found(int(row[0]), int(row[1]), None if row[2] is None else int(row[2]) + 1)
