"""Search for the violation of a mutant: break the model, and let TLC search a counterexample.

The broken model is a copy of the modules with the mutant's edits, and a module `Mutant` that extends the model
check and may narrow its bounds.
Some counterexamples are too deep for a search.  A scenario, or the first failing run of the simulator,
leads there: TLC follows this schedule, with one successor for each line of the mutant's trace.
The property and length stated by the mutant are compared with TLC's result.
"""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from kraft_dev.mutants.recorded import counterexample_of, recorded_text
from kraft_dev.mutants.runs import Run, judge_runs
from kraft_dev.results import Cell
from kraft_mutants import find_mutants, omitted_rules
from kraft_mutants.catalogue import MutantError, model_edits
from kraft_mutants.mutant import Covered, Exhaustive, Mutant, Schedule
from kraft_reference.profile import KIP, PROFILES
from kraft_spec.edits import apply_edits
from kraft_spec.models import Configuration, find_check, model_directory, takes_profile, under_profile
from kraft_spec.models.check import ModelCheck
from kraft_spec.models.running import decided_by
from kraft_spec.tlc.model_check import ModelCheckOptions, check_model
from kraft_spec.tlc.model_report import ModelCheckReport, Outcome

MODULE = "Mutant"
"""Name of the generated module and configuration."""

_ABOUT_LOCAL_FORMS = ("LocalForms",)
"""Properties that a broken protocol need not satisfy."""

_ABOUT_REDUCTIONS = ("DeadHaveNoEffect", "DeadStayDead")
"""Assumptions of the bounds. A counterexample needs none of them; a search without a violation needs all of them."""

EVIDENCE = "evidence"
"""Name of TLC as a detector."""

Bounds = Exhaustive | Covered
"""Evidence that may widen or narrow the bounds of a model check."""


def leaves_open(mutant: Mutant) -> bool:
    """True if the evidence searches model checks in which the profile decides something."""
    slices = _slices(mutant)
    return bool(slices) and all(map(takes_profile, slices))


def search(
    mutant: Mutant,
    *,
    profile: str = KIP.name,
    workers: int = 1,
    heap_megabytes: int | None = None,
) -> Cell:
    """Search the broken model as the mutant's evidence says.

    Under another profile than `kip` a counterexample may have another length.

    Raises:
        MutantError: The evidence is a schedule, or there is none.
        EditError: An edit does not fit the model.
        ModelCheckError, JarMissing, JarMismatch, JavaMissing: TLC cannot be run.
        ValueTextError: A counterexample is not printed as TLC prints values.
    """
    evidence = mutant.evidence
    if not isinstance(evidence, Bounds):
        raise MutantError(f"mutant {mutant.name} has no evidence that a search of the model gives")
    checks = [under_profile(check, profile) for check in _slices(mutant)]
    problem, broken = "" if checks else "no slice was searched", None
    for check in checks:
        options = ModelCheckOptions(
            workers=1 if isinstance(evidence, Exhaustive) else workers,
            simulation=check.simulation,
            check_deadlock=False,
            heap_megabytes=heap_megabytes,
            time_limit_seconds=check.time_limit_seconds,
            brief=mutant.sample,
        )
        with broken_model(mutant, check, evidence) as folder:
            report = check_model(folder, MODULE, MODULE, options)
        broken = broken or (report if report.violated else None)
        if isinstance(evidence, Exhaustive):
            problem = _problem(report, evidence.property, evidence.states if profile == KIP.name else None)
        else:
            problem = problem or _problem_of_covered(report, check)
    where = ", ".join(check.name for check in checks)
    if broken is None:
        return Cell(EVIDENCE, where=where, problem=problem)
    return _found(broken.violated, len(broken.trace), where, problem, recorded_text(counterexample_of(mutant, broken)))


def _found(violated: str, length: int, where: str, problem: str = "", counterexample: str = "") -> Cell:
    return Cell(EVIDENCE, True, violated, where, length, problem=problem, counterexample=counterexample)


def _slices(mutant: Mutant) -> tuple[ModelCheck, ...]:
    match mutant.evidence:
        case Exhaustive(check=name):
            return (find_check(name),)
        case Covered(checks=names):
            return tuple(map(find_check, names))
    return ()


def _problem(report: ModelCheckReport, expected: str, states: int | None) -> str:
    if report.outcome is not Outcome.VIOLATION:
        message_lines = report.message.splitlines()
        return f"expected a violation of {expected}, found {report.outcome.value}" + (
            f": {message_lines[0]}" if message_lines else ""
        )
    if report.violated != expected:
        return f"expected a violation of {expected}, found one of {report.violated}"
    if states is not None and len(report.trace) != states:
        return f"expected a counterexample of {states} states, found one of {len(report.trace)}"
    return ""


def _problem_of_covered(report: ModelCheckReport, check: ModelCheck) -> str:
    if report.violated:
        return f"{check.name} violates {report.violated} after {len(report.trace)} states: no other rule covers it"
    if report.outcome is not Outcome.OK or check.simulation is not None:
        return f"{check.name} was not searched to its end: {report.outcome.value}"
    return ""


@contextmanager
def broken_model(mutant: Mutant, check: ModelCheck, bounds: Bounds) -> Iterator[Path]:
    """Yield a temporary folder with the broken modules and with `Mutant.tla` and `Mutant.cfg`.

    Raises:
        EditError: An edit does not fit.
    """
    with tempfile.TemporaryDirectory(prefix="kraft-spec-mutant-") as temporary:
        folder = Path(temporary) / "kraft_spec" / "tla"
        shutil.copytree(model_directory(), folder)
        # Apply the check's own mutants first, except for a rule that this mutant omits as well. A first state that the
        # evidence gives obeys all other rules.
        own_start = isinstance(bounds, Exhaustive) and bool(bounds.initial)
        first = () if own_start else find_mutants(sorted(set(check.mutants) - omitted_rules(mutant)))
        apply_edits(Path(temporary), model_edits(*first, mutant))
        apply_edits(folder, decided_by(PROFILES[check.profile]))
        heading = f" MODULE {MODULE} ".center(77, "-")
        module = f"{heading}\nEXTENDS {check.configuration.module}\n{bounds.definitions}\n{'=' * 77}\n"
        (folder / f"{MODULE}.tla").write_text(module, encoding="utf-8")
        configuration = broken_configuration(check.configuration, bounds)
        (folder / f"{MODULE}.cfg").write_text(configuration.text, encoding="utf-8")
        yield folder


def broken_configuration(of_slice: Configuration, bounds: Bounds) -> Configuration:
    """Return the configuration of a model check for a broken model, narrowed by `bounds`.

    Claims about reductions are checked only where no violation is expected.
    `bounds.properties` replaces the checked properties by names from the model check.
    """
    wanted = bounds.properties if isinstance(bounds, Exhaustive) else ()
    initial = bounds.initial if isinstance(bounds, Exhaustive) else ""
    unasked = _ABOUT_LOCAL_FORMS if isinstance(bounds, Covered) else (*_ABOUT_LOCAL_FORMS, *_ABOUT_REDUCTIONS)

    def asked(names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(name for name in names if name not in unasked and (not wanted or name in wanted))

    return replace(
        of_slice,
        module=MODULE,
        init=initial or of_slice.init,
        replaces={**of_slice.replaces, **bounds.constants},
        invariants=asked(of_slice.invariants),
        properties=asked(of_slice.properties),
    )


def follow_schedule(mutant: Mutant) -> Cell:
    """Check the broken model against the mutant's schedule, in a separate process.

    Raises:
        MutantError: The mutant's evidence is no schedule.
        EditError: An edit does not fit.
        ChildError: The process failed; the message is the end of its output.
    """
    evidence = mutant.evidence
    if not isinstance(evidence, Schedule):
        raise MutantError(f"mutant {mutant.name} is not held to a schedule")
    judged = judge_runs(mutant, "line", _runs(evidence), until=evidence.property)
    for violation in judged:
        if evidence.property in violation.properties:
            return _found(
                " and ".join(violation.properties), violation.lines, violation.run.scenario or str(violation.run)
            )
    last = next((violation for violation in reversed(judged) if violation.problem or violation.properties), None)
    tried = "no run violates anything"
    if last is not None:
        violated = ", ".join(last.properties)
        tried = f"{last.run}: {last.problem or f'TLC finds {violated} violated'}"
    return Cell(EVIDENCE, problem=f"expected a violation of {evidence.property}, found none; {tried}")


def _runs(evidence: Schedule) -> tuple[Run, ...]:
    """Return the scenario; or the simulated runs, each shrunk and whole."""
    if evidence.scenario:
        return (Run(scenario=evidence.scenario),)
    return tuple(
        Run(evidence.workload, seed, steps=evidence.steps, shrunk=shrunk)
        for seed in range(evidence.seeds)
        for shrunk in (True, False)
    )
