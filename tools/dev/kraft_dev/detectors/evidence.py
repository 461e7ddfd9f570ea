"""Each check and the broken rules that it detects: what the catalogues say, and runs recorded in evidence.toml.

The models' evidence is in the catalogue of mutants and in that of model checks; it is not repeated in the file.
"""

from collections.abc import Callable, Iterator, Sequence
from importlib.resources import files

import msgspec

from kraft_dev.broken_runs import Found, Judge, Run, judge_runs
from kraft_dev.detectors.checks import Check, Layer
from kraft_dev.markdown import Section
from kraft_dev.results import Cell, Row
from kraft_mutants import Catalogue, Covered, Schedule, load_catalogue
from kraft_simulation.workload import WORKLOADS
from kraft_spec.models import CHECKS

SEEDS = 50
"""Of every workload, for a run in the place of one that shows nothing any more."""


class Detected(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A check that detects a mutant first."""

    layer: Layer
    check: str
    mutant: str
    run: Run
    """The run of the broken reference in which it does."""
    beside: tuple[str, ...] = ()
    """Stronger properties, which the same event violates: without them this check would be the one to detect it."""


class Aside(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A check that is no promise of the protocol, and what shows that it can fail."""

    layer: Layer
    check: str
    reason: str


class Evidence(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The file."""

    detected: tuple[Detected, ...] = ()
    aside: tuple[Aside, ...] = ()


def load_evidence() -> Evidence:
    """Read evidence.toml.

    Raises:
        msgspec.DecodeError: It is malformed.
    """
    return msgspec.toml.decode((files("kraft_dev.detectors") / "evidence.toml").read_bytes(), type=Evidence)


def problem_of(detected: Detected) -> str:
    """Run it again: why this is not what is recorded; empty if it is.

    Raises:
        MutantError: There is no such mutant.
        EditError: An edit does not fit any more.
        ChildError: The process failed.
    """
    (found,) = _judged(detected, [detected.run])
    first = [name for name in found.properties if name not in detected.beside][:1]
    if first == [detected.check] and set(detected.beside) <= set(found.properties):
        return ""
    said = ", ".join(found.properties) or "nothing"
    beside = f" beside {', '.join(detected.beside)}" if detected.beside else ""
    return f"{detected.run} of {detected.mutant} violates {said}, not {detected.check}{beside}"


def run_again(chosen: Sequence[Detected], on_step: Callable[[str], None]) -> Iterator[str]:
    """Run the recorded evidence again; what is wrong with it, in sentences."""
    for one in chosen:
        on_step(f"{one.layer} {one.check}")
        if problem := problem_of(one):
            other = another_run(one)
            yield f"{one.layer} {one.check}: {problem}; {'no run' if other is None else other} does"


def another_run(detected: Detected, seeds: int = SEEDS) -> Run | None:
    """The first run of which the check is the first to detect something; None if there is none."""
    for seed in range(seeds):
        for found in _judged(detected, [Run(workload, seed) for workload in WORKLOADS]):
            if found.properties[:1] == (detected.check,):
                return found.run
    return None


def _judged(detected: Detected, runs: Sequence[Run]) -> tuple[Found, ...]:
    """What these runs of its mutant violate, by the layer of the check."""
    judge: Judge = "simulator" if detected.layer == "simulator" else "line"
    return judge_runs(load_catalogue()[detected.mutant], judge, runs)


def check_rows(checks: Sequence[Check], catalogue: Catalogue, evidence: Evidence) -> tuple[Row, ...]:
    """A row for each check; a cell for each mutant, or slice with a rule broken or left out, that it detects."""
    reasons = {(aside.layer, aside.check): aside.reason for aside in evidence.aside}
    return tuple(
        Row(
            f"{check.layer}: {check.name}",
            change=check.kind,
            cells=tuple(_detected_by(check, catalogue, evidence)),
            reason=reasons.get((check.layer, check.name), ""),
        )
        for check in checks
    )


def check_problems(rows: Sequence[Row], catalogue: Catalogue, evidence: Evidence) -> Iterator[str]:
    """What is wrong, in sentences: checks that detect nothing, and evidence for what there is not."""
    for row in rows:
        if not (row.cells or row.reason):
            yield f"{row.name}: no mutant and no switched-off rule that it detects"
    known, mutants = {row.name for row in rows}, {mutant.name for mutant in catalogue.mutants}
    recorded: tuple[Detected | Aside, ...] = (*evidence.detected, *evidence.aside)
    for one in recorded:
        mutant = one.mutant if isinstance(one, Detected) else ""
        if f"{one.layer}: {one.check}" not in known or (mutant and mutant not in mutants):
            yield f"{one.layer}: {one.check}: evidence of mutant {mutant or 'none'} for what does not exist"


def _detected_by(check: Check, catalogue: Catalogue, evidence: Evidence) -> Iterator[Cell]:
    if check.layer == "model":
        for model in CHECKS:
            if model.violates == check.name:
                yield Cell(model.name, True, where="the slice of this name must violate it")
        for mutant in catalogue.mutants:
            stated = mutant.evidence
            if stated is not None and not isinstance(stated, Covered | Schedule) and stated.property == check.name:
                yield Cell(mutant.name, True, where=f"by {type(stated).__name__.lower()} search")
    for one in evidence.detected:
        if (one.layer, one.check) == (check.layer, check.name):
            beside = f", beside {', '.join(one.beside)}" if one.beside else ""
            yield Cell(one.mutant, True, where=f"{one.run}{beside}")
    if check.layer == "trace line":
        for mutant in catalogue.mutants:
            if isinstance(mutant.evidence, Schedule) and mutant.evidence.property == check.name:
                schedule = mutant.evidence
                run = schedule.scenario or f"a run of {schedule.workload}"
                yield Cell(mutant.name, True, where=f"TLC held to {run}")


def checks_section(rows: Sequence[Row]) -> Section:
    """The table of checks."""
    words = (
        "Each check stands with the mutants, or slices with a rule broken or left out, that it detects first or alone; "
        "the last column is about the first of them.",
        "The models' mutants are judged by TLC (`python -m kraft_dev load-bearing all`), the others by the recorded "
        "runs (`python -m kraft_dev matrix checks --again`).",
    )
    return Section("Checks", words, ("check", "kind", "detects", "how the first is known"), tuple(map(_cells, rows)))


def _cells(row: Row) -> tuple[str, ...]:
    names = dict.fromkeys(cell.detector for cell in row.cells)
    how = row.cells[0].where if row.cells else ""
    return row.name, row.change, ", ".join(names) or f"none: {row.reason}", how
