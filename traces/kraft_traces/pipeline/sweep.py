"""The stage `sweep`: runs simulated, checked and counted in one go, and not kept unless they fail."""

from collections import Counter
from collections.abc import Iterator
from functools import cache, partial
from hashlib import sha256
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq

from kraft_reference.cluster.plan import RunPlan
from kraft_reference.cluster.simulation import Simulation
from kraft_reference.cluster.violation import Violation
from kraft_spec.edits import package_folder
from kraft_spec.experiments.playing import simulation_of
from kraft_spec.fingerprint import spec_hash
from kraft_traces.check.run import check_lines
from kraft_traces.encode import encode_line, event_line, header_line
from kraft_traces.lines import EventLine
from kraft_traces.own import GENERATOR_NAME, own_generator
from kraft_traces.pipeline.assembly import first_roles, trace_id_of
from kraft_traces.pipeline.checking import raised_row, ready_model, row_of
from kraft_traces.pipeline.coverage import write_coverage
from kraft_traces.pipeline.generate import plans_in_unit
from kraft_traces.pipeline.journal import Journals
from kraft_traces.pipeline.observed import event_row
from kraft_traces.pipeline.plans import Plans, source_of
from kraft_traces.pipeline.progress import Notice
from kraft_traces.pipeline.schemas import SCHEDULES, TALLIES, VERDICTS
from kraft_traces.pipeline.store import Workspace
from kraft_traces.pipeline.units import UNIT_EVENTS, Row, units_wanted, written

SWEPT_TABLES = (TALLIES, VERDICTS, SCHEDULES)

_TALLIED = ("event", "pre_vote", "role_before", "role_after", "fault")


def _sweep(
    unit: int, *, folder: Path, plans: Plans, per_unit: int, journals: Journals, reference: str, is_broken: bool
) -> None:
    if reference_digest() != reference:
        raise RuntimeError("the workers import another reference than the one that is to be swept")
    journals = journals.of_unit(unit)
    with written(folder, unit, SWEPT_TABLES) as write, journals.opened() as journal:
        for index in range(unit * per_unit, min((unit + 1) * per_unit, len(plans))):
            plan = plans.plan(index)
            row = journal.row(str(index), source_of(plan), partial(_swept, index, plan, is_broken=is_broken))
            for tally in row["tallies"]:
                write(TALLIES, tally)
            write(VERDICTS, row["verdict"])
            write(SCHEDULES, row["schedule"])
    journals.forget()


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


def _swept(index: int, plan: RunPlan, _deaths: int, *, is_broken: bool) -> Row:
    """The rows of a run, by table; of a broken reference no command line repeats it.

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
        verdict = check_lines(_lines(simulation, seen), simulation.configuration, source, own=True)
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


def cuts(count: int, first: int, most: int) -> list[int]:
    """Where jobs begin, and where the last ends: the first has `first` units, each after it twice as many as the one
    before, but not more than `most`."""
    found, size = [0], first
    while found[-1] < count:
        found.append(min(count, found[-1] + size))
        size = min(most, 2 * size)
    return found


def run_sweep(
    session: Any,
    workspace: Workspace,
    plans: Plans,
    notice: Notice,
    *,
    reference: str,
    is_broken: bool,
    until_found: bool,
) -> dict[str, int | None]:
    """Run the stage, and `coverage`.  Returns how many runs were made, how many fail, and the first that does, from 1.

    Args:
        session: of Spark.
        workspace: of the run.
        plans: the runs.
        notice: is told how far it is.
        reference: digest that the reference of the workers must have (`reference_digest`).
        is_broken: whether the runs are those of a mutant.
        until_found: stop after the job in which a run fails.
    """
    # What is found early should be found soon.
    per_unit = plans_in_unit(session, workspace, plans, UNIT_EVENTS // 25 if until_found else UNIT_EVENTS)
    units, at_once = -(-len(plans) // per_unit), units_wanted(session)
    journals = Journals(workspace.work / "journals")
    work = partial(_sweep, plans=plans, per_unit=per_unit, journals=journals, reference=reference, is_broken=is_broken)
    if not workspace.has(SCHEDULES):
        for begin, end in pairwise(cuts(units, at_once, 16 * at_once) if until_found else (0, units)):
            name = f"sweep, schedule {begin * per_unit + 1} on" if until_found else "sweep"
            workspace.make(session, name, range(begin, end), SWEPT_TABLES, work, notice)
            if until_found and _failing(workspace.work / SCHEDULES.name):
                break
    workspace.finish_tables(SWEPT_TABLES)
    tallies, verdicts = workspace.read(session, TALLIES), workspace.read(session, VERDICTS)
    write_coverage(session, workspace, tallies, verdicts, notice)
    failing = _failing(workspace.path(SCHEDULES))
    first = min(failing) + 1 if failing else None
    return {"schedules": verdicts.count(), "failing": len(failing), "first": first}


def _failing(schedules: Path) -> list[int]:
    """The numbers of the runs that fail, from 0."""
    found: list[int] = pq.read_table(schedules, columns=["index"], filters=[("failed", "=", True)])["index"].to_pylist()
    return found
