"""Checks and the mutants that they detect: those stated in the catalogues, and runs listed in checks.toml.

The catalogues of mutants and of model checks state which checks detect mutants of the model; the file does not
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
"""Seeds of every workload to try when the listed run no longer detects the mutant."""


class Detected(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A check that is the first to detect a mutant."""

    layer: Layer
    check: str
    mutant: str
    run: Run
    """Run of the mutant in which the check detects it."""
    beside: tuple[str, ...] = ()
    """Stronger properties that the same event violates; without them this check would be the first."""

    def __str__(self) -> str:
        """Return the run and the stronger properties that it violates."""
        return f"{self.run}, beside {', '.join(self.beside)}" if self.beside else str(self.run)


class Aside(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A check that is not a property of the protocol, and a run that shows that it can fail."""

    layer: Layer
    check: str
    reason: str


class Listed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Contents of checks.toml."""

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
    return any(entry.mutant == subject.name for entry in load_checks().detected)


def run_again(subject: Subject, _means: Means) -> Iterator[Cell]:
    """Repeat the listed runs of a mutant; yield a cell for each check that must be the first to detect it.

    Raises:
        EditError: An edit does not fit the sources.
        ChildError: The process failed.
    """
    for entry in load_checks().detected:
        if entry.mutant == subject.name:
            problem = problem_of(entry)
            if problem:
                other = another_run(entry)
                problem += f"; {'no run' if other is None else other} does"
            yield Cell("checks", not problem, f"{entry.layer} {entry.check}", str(entry), 1, problem=problem)


def problem_of(detected: Detected) -> str:
    """Repeat a run; return why its result is not as listed, empty if it is.

    Raises:
        MutantError: There is no such mutant.
        EditError: An edit does not fit the sources.
        ChildError: The process failed.
    """
    (violation,) = _judged(detected, [detected.run])
    first = [name for name in violation.properties if name not in detected.beside][:1]
    if first == [detected.check] and set(detected.beside) <= set(violation.properties):
        return ""
    actual = ", ".join(violation.properties) or "nothing"
    beside = f" beside {', '.join(detected.beside)}" if detected.beside else ""
    return f"{detected.run} of {detected.mutant} violates {actual}, not {detected.check}{beside}"


def another_run(detected: Detected, seeds: int = SEEDS) -> Run | None:
    """Return the first run in which this check is the first to detect a violation; None if there is none."""
    for seed in range(seeds):
        for violation in _judged(detected, [Run(workload, seed) for workload in WORKLOADS]):
            if violation.properties[:1] == (detected.check,):
                return violation.run
    return None


def _judged(detected: Detected, runs: Sequence[Run]) -> tuple[Found, ...]:
    """Return the violations of these runs, according to the layer of the check."""
    judge: Judge = "simulator" if detected.layer == "simulator" else "line"
    return judge_runs(load_catalogue()[detected.mutant], judge, runs)


def check_problems(checks: Sequence[Check], catalogue: Catalogue, listed: Listed) -> Iterator[str]:
    """Yield problems in sentences: checks that detect nothing, and entries that refer to nothing."""
    reasons = {(aside.layer, aside.check) for aside in listed.aside}
    for check in checks:
        if not (any(_detected_by(check, catalogue, listed)) or (check.layer, check.name) in reasons):
            yield f"{check.layer} {check.name}: detects no mutant"
    known_checks, mutants = (
        {(check.layer, check.name) for check in checks},
        {mutant.name for mutant in catalogue.mutants},
    )
    entries: tuple[Detected | Aside, ...] = (*listed.detected, *listed.aside)
    for entry in entries:
        mutant = entry.mutant if isinstance(entry, Detected) else ""
        if (entry.layer, entry.check) not in known_checks or (mutant and mutant not in mutants):
            yield (
                f"{entry.layer} {entry.check}: listed with mutant {mutant or 'none'}, "
                "but the check or the mutant does not exist"
            )


def _detected_by(check: Check, catalogue: Catalogue, listed: Listed) -> Iterator[tuple[str, str]]:
    """Yield the mutants and model checks with an omitted rule that a check detects, each with its evidence."""
    stated = [
        mutant
        for mutant in catalogue.mutants
        if mutant.evidence is not None and not isinstance(mutant.evidence, Covered)
    ]
    if check.layer == "model":
        for model in CHECKS:
            if model.violates == check.name:
                yield model.name, "the model check of this name must violate it"
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
    """Return the table of checks."""
    words = (
        "Each check is listed with the mutants, or model checks with an omitted rule, that it detects first or alone; "
        "the last column gives the evidence for the first.",
        "`python -m kraft_dev mutants --tool evidence` runs those of the models, "
        "and `--tool checks` the listed runs of the others.",
    )
    reasons = {(aside.layer, aside.check): aside.reason for aside in listed.aside}
    rows = []
    for check in checks:
        detected = list(_detected_by(check, catalogue, listed))
        names = ", ".join(dict.fromkeys(name for name, _ in detected))
        how = detected[0][1] if detected else ""
        none = f"none: {reasons.get((check.layer, check.name), '')}"
        rows.append((f"{check.layer}: {check.name}", check.kind, names or none, how))
    return Section("Checks", words, ("check", "kind", "detects", "evidence for the first"), tuple(rows))
