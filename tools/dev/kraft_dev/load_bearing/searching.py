"""Is a rule load-bearing?  Break it in the model and let TLC look for a counterexample.

The broken model is a copy of the modules with the mutant's edits, and a module `Mutant` that extends the slice and
may narrow its bounds.
What a mutant says about itself (the property, the length) is compared with what TLC finds.
A mutant held to a schedule needs the checker of traces: see `kraft_dev.load_bearing.schedule`.
"""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from kraft_reference.profile import KIP, PROFILES
from kraft_spec.edits import apply_edits
from kraft_spec.experiments import model_edits_without
from kraft_spec.models import Configuration, find_check, model_directory, takes_profile, under_profile
from kraft_spec.models.check import ModelCheck
from kraft_spec.models.running import decided_by
from kraft_spec.mutants.catalogue import MutantError, model_edits
from kraft_spec.mutants.mutant import Covered, Exhaustive, Mutant
from kraft_spec.tlc.model_check import ModelCheckOptions, check_model
from kraft_spec.tlc.model_report import ModelCheckReport, Outcome, Progress

MODULE = "Mutant"
"""Name of the generated module and configuration."""

_ABOUT_LOCAL_FORMS = ("LocalForms",)
"""A broken protocol need not keep them."""

_ABOUT_REDUCTIONS = ("DeadHaveNoEffect", "DeadStayDead")
"""What the slice's bounds rest on: a counterexample needs none of it, a search that finds none needs all of it."""

Bounds = Exhaustive | Covered
"""What may widen or narrow the bounds of a slice."""


@dataclass(frozen=True, slots=True)
class Search:
    """One search of a broken model.

    Attributes:
        check: Name of the slice.
        violated: The property found violated; empty if none was.
        states: Length of the counterexample; 0 if there is none.
        exhaustive: Whether the whole state space was searched.
        report: TLC's findings.
    """

    check: str
    violated: str
    states: int
    exhaustive: bool
    report: ModelCheckReport


@dataclass(frozen=True, slots=True)
class EvidenceReport:
    """What the searches of a mutant found, against what the mutant says.

    Attributes:
        mutant: The mutant.
        searches: One for each slice that was searched.
        problem: Why this is not what the mutant says; empty if it is.
    """

    mutant: Mutant
    searches: tuple[Search, ...]
    problem: str


def leaves_open(mutant: Mutant) -> bool:
    """Is its evidence a search of slices where a profile decides something?"""
    slices = _slices(mutant)
    return bool(slices) and all(map(takes_profile, slices))


def gather(
    mutant: Mutant,
    on_progress: Callable[[Progress], None] | None = None,
    *,
    profile: str = KIP.name,
    workers: int = 1,
    heap_megabytes: int | None = None,
) -> EvidenceReport:
    """Search the broken model as the mutant's evidence says, and compare.

    Where another profile decides than `kip`, a counterexample may have another length.

    Raises:
        MutantError: The evidence is a schedule, or there is none.
        EditError: An edit does not fit the model any more.
        ModelCheckError, JarMissing, JarMismatch, JavaMissing: TLC cannot be run.
    """
    evidence = mutant.evidence
    if not isinstance(evidence, Bounds):
        raise MutantError(f"mutant {mutant.name} has no evidence that a search of the model gives")
    threads = 1 if isinstance(evidence, Exhaustive) else workers
    searches = tuple(
        _search(mutant, under_profile(check, profile), evidence, on_progress, threads, heap_megabytes)
        for check in _slices(mutant)
    )
    if isinstance(evidence, Covered):
        return EvidenceReport(mutant, searches, _problem_of_covered(searches))
    states = evidence.states if profile == KIP.name else None
    return EvidenceReport(mutant, searches, _problem(searches[0], evidence.property, states))


def _slices(mutant: Mutant) -> tuple[ModelCheck, ...]:
    match mutant.evidence:
        case Exhaustive(check=name):
            return (find_check(name),)
        case Covered(checks=names):
            return tuple(map(find_check, names))
    return ()


def _problem(search: Search, expected: str, states: int | None) -> str:
    if search.report.outcome is not Outcome.VIOLATION:
        said = search.report.message.splitlines()
        return f"expected a violation of {expected}, found {search.report.outcome.value}" + (
            f": {said[0]}" if said else ""
        )
    if search.violated != expected:
        return f"expected a violation of {expected}, found one of {search.violated}"
    if states is not None and search.states != states:
        return f"expected a counterexample of {states} states, found one of {search.states}"
    return ""


def _problem_of_covered(searches: tuple[Search, ...]) -> str:
    for search in searches:
        if search.violated:
            return f"{search.check} violates {search.violated} after {search.states} states: the rule is load-bearing"
        if not search.exhaustive:
            return f"{search.check} was not searched to its end: {search.report.outcome.value}"
    return "" if searches else "no slice was searched"


def _search(
    mutant: Mutant,
    check: ModelCheck,
    bounds: Bounds | None,
    on_progress: Callable[[Progress], None] | None,
    workers: int,
    heap_megabytes: int | None,
) -> Search:
    options = ModelCheckOptions(
        workers=workers,
        simulation=check.simulation,
        check_deadlock=False,
        heap_megabytes=heap_megabytes,
        time_limit_seconds=check.time_limit_seconds,
        brief=mutant.sample,
    )
    with broken_model(mutant, check, bounds) as folder:
        report = check_model(folder, MODULE, MODULE, options, on_progress=on_progress)
    exhaustive = report.outcome is Outcome.OK and check.simulation is None
    states = len(report.trace) if report.outcome is Outcome.VIOLATION else 0
    return Search(check.name, report.violated, states, exhaustive, report)


@contextmanager
def broken_model(mutant: Mutant, check: ModelCheck, bounds: Bounds | None = None) -> Iterator[Path]:
    """Yield a folder with the broken modules and with `Mutant.tla` and `Mutant.cfg`, gone afterwards.

    Raises:
        EditError: An edit does not fit.
    """
    with tempfile.TemporaryDirectory(prefix="kraft-spec-mutant-") as temporary:
        folder = Path(temporary) / "tla"
        shutil.copytree(model_directory(), folder)
        # What a mutant leaves out anyway, its slice need not leave out once more; a first state of its own is one under
        # all other rules.
        own_start = isinstance(bounds, Exhaustive) and bool(bounds.initial)
        without = set() if own_start else set(check.without) - set(mutant.switched_off)
        apply_edits(Path(temporary), (*model_edits_without(without), *model_edits(mutant)))
        apply_edits(folder, decided_by(PROFILES[check.profile]))
        definitions = "" if bounds is None else bounds.definitions
        heading = f" MODULE {MODULE} ".center(77, "-")
        module = f"{heading}\nEXTENDS {check.configuration.module}\n{definitions}\n{'=' * 77}\n"
        (folder / f"{MODULE}.tla").write_text(module, encoding="utf-8")
        configuration = broken_configuration(check.configuration, bounds)
        (folder / f"{MODULE}.cfg").write_text(configuration.text, encoding="utf-8")
        yield folder


def broken_configuration(of_slice: Configuration, bounds: Bounds | None) -> Configuration:
    """The configuration of a slice for a broken model, narrowed by `bounds`.

    The claims about the slice's reductions are checked where nothing must be found, and only there.
    `bounds.properties` replaces what is checked: names from the slice.
    """
    wanted = bounds.properties if isinstance(bounds, Exhaustive) else ()
    initial = bounds.initial if isinstance(bounds, Exhaustive) else ""
    constants = {} if bounds is None else bounds.constants
    unasked = _ABOUT_LOCAL_FORMS if isinstance(bounds, Covered) else (*_ABOUT_LOCAL_FORMS, *_ABOUT_REDUCTIONS)

    def asked(names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(name for name in names if name not in unasked and (not wanted or name in wanted))

    return replace(
        of_slice,
        module=MODULE,
        init=initial or of_slice.init,
        replaces={**of_slice.replaces, **constants},
        invariants=asked(of_slice.invariants),
        properties=asked(of_slice.properties),
    )
