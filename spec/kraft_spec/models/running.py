"""Execution of the model checks, with the actions of Next that fired."""

import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory

from kraft_reference.profile import KIP, PROFILES, Profile
from kraft_spec.compiled.building import CompilationError
from kraft_spec.compiled.checks import compiled_check
from kraft_spec.compiled.exploring import Unexplorable, explore, explorer_checkpoint
from kraft_spec.edits import Edit, apply_edits
from kraft_spec.mapping import profile_to_model
from kraft_spec.models.check import CheckReport, ModelCheck, Way
from kraft_spec.models.firing import firing_actions
from kraft_spec.tlc.model_check import Checkpoints, ModelCheckError, ModelCheckOptions, check_model, latest_checkpoint
from kraft_spec.tlc.model_report import ModelCheckReport, Outcome, Progress, TraceState

_NEXT_DISJUNCT = re.compile(r"^\s*\\/ .*?\b(\w+)\([^()]*\)\s*$")
_IN_NEXT = re.compile(r"line (\d+), .* of module KRaft")


def model_directory() -> Path:
    """Return the folder of the TLA+ modules and configurations."""
    return Path(str(files("kraft_spec") / "tla"))


@lru_cache(maxsize=8)
def next_actions(directory: Path | None = None) -> dict[int, str]:
    """Return the action of each disjunct of Next in KRaft.tla, by line from 1: see `actions_of_next`."""
    return actions_of_next(((directory or model_directory()) / "KRaft.tla").read_text(encoding="utf-8"))


def actions_of_next(text: str) -> dict[int, str]:
    """Return the action of each disjunct of Next in the text of KRaft.tla, by line from 1.

    TLC reports a disjunct with two quantifiers as "Next" with a line number; the text of the line names the action.
    """
    lines = text.splitlines()
    start = lines.index("Next ==")
    actions: dict[int, str] = {}
    for number, line in enumerate(lines[start + 1 :], start=start + 2):
        disjunct = _NEXT_DISJUNCT.match(line)
        if disjunct is None:
            break
        actions[number] = disjunct.group(1)
    return actions


def fired_actions(report: ModelCheckReport, directory: Path | None = None) -> dict[str, int]:
    """Return the number of states that each action generated, by name; empty if the report has no coverage."""
    actions = next_actions(directory)
    fired: dict[str, int] = {}
    for count in report.actions:
        name = actions.get(count.line, count.name) if count.module == "KRaft" else count.name
        fired[name] = fired.get(name, 0) + count.states_generated
    return fired


def counterexample_actions(report: ModelCheckReport, directory: Path | None = None) -> frozenset[str]:
    """Return the names of the actions in the report's counterexample; empty if it has none."""
    actions = next_actions(directory)
    return frozenset(action_of(state, actions) for state in report.trace)


def action_of(state: TraceState, actions: Mapping[int, str]) -> str:
    """Return the action that led to a state of a counterexample, from the lines of Next: see `actions_of_next`."""
    place = _IN_NEXT.fullmatch(state.location)
    return actions.get(int(place[1]), state.action) if place else state.action


def write_model(check: ModelCheck, folder: Path, directory: Path | None = None) -> Path:
    """Write the check's modules and its configuration NAME.cfg into a new folder, and return it.

    Args:
        check: The check.
        folder: Must not exist.
        directory: Folder of the modules, for a changed copy of the model; the package's own if None.
            A check with mutants needs `kraft_mutants.models.mutated_model(check.mutants)`.

    Raises:
        ValueError: The check has mutants, and `directory` is None.
        OSError: The folder exists, or cannot be written.
        EditError: The modules of `directory` do not accept the decisions of a profile.
    """
    if check.mutants and directory is None:
        raise ValueError(f"{check.name} has the mutants {', '.join(check.mutants)}, expected the folder of their model")
    shutil.copytree(model_directory() if directory is None else directory, folder)
    apply_edits(folder, decided_by(PROFILES[check.profile]))
    (folder / f"{check.name}.cfg").write_text(check.configuration.text, encoding="utf-8")
    return folder


def decided_by(profile: Profile) -> tuple[Edit, ...]:
    """Return the edits that set a profile's decisions; the unedited modules have those of `kip`."""
    if profile == KIP:
        return ()
    decisions = ", ".join(f'{name} |-> "{setting}"' for name, setting in profile_to_model(profile).items())
    return (Edit("MCBounds.tla", "Profile == KipProfile\n", f"Profile == [{decisions}]\n"),)


def run_check(
    check: ModelCheck,
    on_progress: Callable[[Progress], None] | None = None,
    *,
    workers: int = 1,
    directory: Path | None = None,
    checkpoint_directory: Path | None = None,
    resume: bool = False,
    time_limit_seconds: float | None = None,
    heap_megabytes: int | None = None,
    coverage: bool = False,
    way: Way = Way.COMPILED,
) -> CheckReport:
    """Run a check.

    Args:
        check: The check.
        on_progress: Called whenever TLC reports progress.
        workers: Threads of TLC; a check that must find a violation uses one, so that the counterexample is shortest.
        directory: Folder of the modules, for a changed copy of the model; the package's own if None.
        checkpoint_directory: Parent of the checkpoint folders, one for each check.
        resume: Continue from the check's newest checkpoint, if there is one.
        time_limit_seconds: Replaces the check's own limit; stopping early is then an expected outcome.
        heap_megabytes: Java's heap; TLC's own choice if None.
        coverage: Let TLC count the actions of a check that has coverage, which takes several times as long; otherwise a
            search of the same state space determines whether the actions fire.
        way: Evaluator of the model.

    Raises:
        ModelCheckError, JarMissing, JarMismatch, JavaMissing: TLC cannot be run.
    """
    checkpoints: Checkpoints | None = None
    if checkpoint_directory is not None and check.simulation is None:
        folder = checkpoint_directory / check.name
        folder.mkdir(parents=True, exist_ok=True)
        latest = explorer_checkpoint if way in (Way.EXPLORED, Way.JUDGED) else latest_checkpoint
        checkpoints = Checkpoints(folder, recover=latest(folder) if resume else None)
    if time_limit_seconds is not None:
        check = replace(check, time_limit_seconds=time_limit_seconds)
    options = ModelCheckOptions(
        workers=1 if check.violates else workers,
        simulation=check.simulation,
        checkpoints=checkpoints,
        check_deadlock=False,
        coverage=check.coverage and coverage,
        heap_megabytes=heap_megabytes,
        time_limit_seconds=check.time_limit_seconds,
        brief=check.brief or bool(check.violates),
    )
    with TemporaryDirectory(prefix="kraft-spec-model-") as temporary:
        model = write_model(check, Path(temporary) / "model", directory)
        if way in (Way.EXPLORED, Way.JUDGED):
            report = _explore(check, model, replace(options, both=way is Way.JUDGED), on_progress)
            never_fired = tuple(sorted(check.fires - _fired(check, report, model)))
            return CheckReport(check, report, never_fired, way)
        if way is Way.BOTH or (way is Way.COMPILED and _compiling_pays(check, options)):
            try:
                jar = compiled_check(model, check.configuration.module, check.name)
                options = replace(options, compiled=jar, both=way is Way.BOTH)
            except CompilationError as error:
                if way is Way.BOTH:
                    raise ModelCheckError(f"{check.name} is not compiled: {error}") from error
        report = check_model(model, check.configuration.module, check.name, options, on_progress=on_progress)
        never_fired = tuple(sorted(check.fires - _fired(check, report, model)))
        return CheckReport(check, report, never_fired, Way.INTERPRETED if options.compiled is None else way)


def _explore(
    check: ModelCheck, model: Path, options: ModelCheckOptions, on_progress: Callable[[Progress], None] | None
) -> ModelCheckReport:
    if check.simulation is not None:
        raise ModelCheckError(f"{check.name} is not explored: it consists of random behaviours")
    try:
        return explore(model, check.configuration.module, check.name, options, on_progress=on_progress).report
    except (CompilationError, Unexplorable) as error:
        raise ModelCheckError(f"{check.name} is not explored: {error}") from error


def _compiling_pays(check: ModelCheck, options: ModelCheckOptions) -> bool:
    """Return True if compiling saves more time than it takes. TLC interprets fairness: temporal checks gain little."""
    return not (options.brief or options.coverage or check.configuration.specification)


def _fired(check: ModelCheck, report: ModelCheckReport, model: Path) -> frozenset[str]:
    if check.violates:
        return counterexample_actions(report, model)
    if check.fires and not report.actions and report.outcome in (Outcome.OK, Outcome.TIME_LIMIT):
        return frozenset(firing_actions(check, check.fires, next_actions(model), model))
    return frozenset(name for name, states in fired_actions(report, model).items() if states)
