"""Each check and the mutants that it detects: what the catalogues state, and runs listed in checks.toml.

What detects the mutants of the model is in the catalogue of mutants and in that of model checks; the file does not
repeat it.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files

import msgspec

from kraft_dev.markdown import Section
from kraft_dev.mutants.checks import Check, Layer
from kraft_dev.mutants.runs import Found, Judge, Run, judge_runs
from kraft_dev.mutants.subjects import Subject
from kraft_dev.mutants.tool import Means
from kraft_dev.results import Cell
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
    """The run of the mutant in which it does."""
    beside: tuple[str, ...] = ()
    """Stronger properties, which the same event violates: without them this check would be the one to detect it."""

    def __str__(self) -> str:
        """The run, and what else it violates."""
        return f"{self.run}, beside {', '.join(self.beside)}" if self.beside else str(self.run)


class Aside(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A check that is no promise of the protocol, and what shows that it can fail."""

    layer: Layer
    check: str
    reason: str


class Listed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The file."""

    detected: tuple[Detected, ...] = ()
    aside: tuple[Aside, ...] = ()


@cache
def load_checks() -> Listed:
    """Read checks.toml.

    Raises:
        msgspec.DecodeError: It is malformed.
    """
    return msgspec.toml.decode((files(__package__) / "checks.toml").read_bytes(), type=Listed)


def is_evidence(subject: Subject) -> bool:
    """True if a check is listed with the mutant."""
    return any(one.mutant == subject.name for one in load_checks().detected)


def run_again(subject: Subject, _means: Means) -> Iterator[Cell]:
    """Run again what is listed of a mutant: a cell for each check that is to be the first to detect it.

    Raises:
        EditError: An edit does not fit any more.
        ChildError: The process failed.
    """
    for one in load_checks().detected:
        if one.mutant == subject.name:
            problem = problem_of(one)
            if problem:
                other = another_run(one)
                problem += f"; {'no run' if other is None else other} does"
            yield Cell("checks", not problem, f"{one.layer} {one.check}", str(one), 1, problem=problem)


def problem_of(detected: Detected) -> str:
    """Run it again: why this is not what is listed; empty if it is.

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


def check_problems(checks: Sequence[Check], catalogue: Catalogue, listed: Listed) -> Iterator[str]:
    """What is wrong, in sentences: checks that detect nothing, and entries for what there is not."""
    reasons = {(one.layer, one.check) for one in listed.aside}
    for check in checks:
        if not (any(_detected_by(check, catalogue, listed)) or (check.layer, check.name) in reasons):
            yield f"{check.layer} {check.name}: no mutant that it detects"
    known, mutants = {(check.layer, check.name) for check in checks}, {mutant.name for mutant in catalogue.mutants}
    entries: tuple[Detected | Aside, ...] = (*listed.detected, *listed.aside)
    for one in entries:
        mutant = one.mutant if isinstance(one, Detected) else ""
        if (one.layer, one.check) not in known or (mutant and mutant not in mutants):
            yield f"{one.layer} {one.check}: listed with mutant {mutant or 'none'}: one of the two does not exist"


def _detected_by(check: Check, catalogue: Catalogue, listed: Listed) -> Iterator[tuple[str, str]]:
    """Mutants, or slices with a rule broken, that a check detects, each with how that is known."""
    stated = [one for one in catalogue.mutants if one.evidence is not None and not isinstance(one.evidence, Covered)]
    if check.layer == "model":
        for model in CHECKS:
            if model.violates == check.name:
                yield model.name, "the slice of this name must violate it"
    for detected in listed.detected:
        if (detected.layer, detected.check) == (check.layer, check.name):
            yield detected.mutant, str(detected)
    for mutant in stated:
        evidence = mutant.evidence
        assert evidence is not None
        assert not isinstance(evidence, Covered)
        by_line = isinstance(evidence, Schedule)
        if evidence.property == check.name and check.layer == ("trace line" if by_line else "model"):
            yield mutant.name, "by the evidence of the mutant"


def checks_section(checks: Sequence[Check], catalogue: Catalogue, listed: Listed) -> Section:
    """The table of checks."""
    words = (
        "Each check stands with the mutants, or slices with a rule broken or left out, that it detects first or alone; "
        "the last column is about the first of them.",
        "`python -m kraft_dev mutants --tool evidence` runs those of the models, "
        "and `--tool checks` the listed runs of the others.",
    )
    reasons = {(one.layer, one.check): one.reason for one in listed.aside}
    rows = []
    for check in checks:
        detected = list(_detected_by(check, catalogue, listed))
        names = ", ".join(dict.fromkeys(name for name, _ in detected))
        how = detected[0][1] if detected else ""
        none = f"none: {reasons.get((check.layer, check.name), '')}"
        rows.append((f"{check.layer}: {check.name}", check.kind, names or none, how))
    return Section("Checks", words, ("check", "kind", "detects", "how the first is known"), tuple(rows))
