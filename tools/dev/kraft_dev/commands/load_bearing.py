"""`python -m kraft_dev load-bearing`: each safety rule, and what breaks without it."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from kraft_conformance.console import progress, stdout
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError, usage_error
from kraft_dev.load_bearing.evidence import not_as_recorded, run_evidence, safety_rules_section
from kraft_dev.load_bearing.recorded import recorded_bytes
from kraft_dev.load_bearing.searching import Found, leaves_open
from kraft_dev.markdown import show as show_sections
from kraft_mutants import Catalogue, Exhaustive, Mutant, MutantError, Schedule, load_catalogue
from kraft_mutants.load_bearing import rows, with_evidence
from kraft_reference.profile import KIP, PROFILES
from kraft_spec.counterexamples import text_of
from kraft_spec.edits import EditError
from kraft_spec.rules import load_registry
from kraft_spec.rules.scope import load_scope
from kraft_spec.tlc.model_report import Progress
from kraft_traces.streams import whole_file

GROUPS = ("sample", "all")

Names = Annotated[
    list[str] | None,
    typer.Argument(
        help="Rule ids or names of mutants to check with TLC, or `sample`, or `all`; without one: the list."
    ),
]
Workers = Annotated[int, typer.Option(min=1, help="Threads of TLC where no shortest counterexample is wanted.")]
Show = Annotated[bool, typer.Option("--show", help="Print each counterexample that TLC finds, step by step.")]
RecordCounterexamples = Annotated[
    Path | None,
    typer.Option(
        "--record-counterexamples",
        help="Write the shortest counterexamples to a folder, a file for each mutant: where the rules' pages have "
        "them from is tools/dev/kraft_dev/load_bearing/counterexamples.",
    ),
]

OfProfile = Annotated[
    str,
    typer.Option("--profile", help="Who decides what the searches leave open; those that leave nothing are not run."),
]


def load_bearing(
    names: Names = None,
    workers: Workers = 2,
    record_counterexamples: RecordCounterexamples = None,
    show: Show = False,
    profile: OfProfile = KIP.name,
) -> int:
    """Show for each safety rule what TLC finds violated when the model does not keep it; with names, run TLC.

    Exit code 1 when TLC finds something else than the table says; under a profile of Apache Kafka, another property.
    """
    try:
        catalogue = load_catalogue()
    except MutantError as error:
        raise CommandError(str(error), ExitCode.INTERNAL_ERROR) from error
    if not names:
        if show or record_counterexamples is not None:
            raise usage_error("which counterexamples? Name a rule or a mutant, or `sample`, or `all`")
        show_sections([safety_rules_section(rows(catalogue, load_registry(), load_scope().outside))])
        return ExitCode.CONFORMANT
    if record_counterexamples is not None and not record_counterexamples.is_dir():
        raise CommandError(f"there is no folder {record_counterexamples} to write to", ExitCode.CANNOT_WRITE)
    if profile not in PROFILES:
        raise usage_error(f"no profile {profile!r}, expected one of {', '.join(PROFILES)}")
    if profile != KIP.name and record_counterexamples is not None:
        raise usage_error(f"the recorded counterexamples are those of {KIP.name}")
    chosen = _chosen(catalogue, names, profile)
    found: list[Found] = []
    for mutant in chosen:
        found.append(_run(mutant, profile, workers))
        if profile == KIP.name and record_counterexamples is None and not found[-1].problem:
            found[-1] = replace(found[-1], problem=not_as_recorded(mutant, found[-1]))
        stdout.print(one_line(mutant, found[-1]), markup=False, soft_wrap=True)
        if show:
            stdout.print(shown(mutant, found[-1]), markup=False, highlight=False, soft_wrap=True)
        if record_counterexamples is not None:
            _record_counterexample(record_counterexamples, mutant, found[-1])
    return ExitCode.VIOLATION if any(one.problem for one in found) else ExitCode.CONFORMANT


def _chosen(catalogue: Catalogue, names: list[str], profile: str) -> tuple[Mutant, ...]:
    candidates = [mutant for mutant in with_evidence(catalogue) if profile == KIP.name or leaves_open(mutant)]
    chosen: dict[str, Mutant] = {}
    for name in names:
        if name in GROUPS:
            selected = [mutant for mutant in candidates if name == "all" or mutant.sample]
        else:
            selected = [mutant for mutant in candidates if name in (mutant.name, mutant.rules[0])]
        if not selected:
            known = "evidence" if profile == KIP.name else f"a search in which {profile} decides"
            raise usage_error(
                f"{name!r} is no rule or mutant with {known}; `python -m kraft_dev load-bearing` lists them"
            )
        chosen.update((mutant.name, mutant) for mutant in selected)
    return tuple(chosen.values())


def _run(mutant: Mutant, profile: str, workers: int) -> Found:
    with progress(f"without {mutant.rules[0]}") as advance:

        def show(reached: Progress) -> None:
            advance(0, f"without {mutant.rules[0]}: {reached.states_distinct} states, depth {reached.depth}")

        try:
            return run_evidence(mutant, show, profile=profile, workers=workers)
        except EditError as error:
            raise CommandError(f"mutant {mutant.name}: {error}", ExitCode.INTERNAL_ERROR) from error


def one_line(mutant: Mutant, found: Found) -> str:
    """A mutant and what was found."""
    head = f"{'FAIL' if found.problem else 'ok  '} without {mutant.rules[0]} ({mutant.name})"
    if found.problem:
        return f"{head}: {found.problem}"
    if not found.violated:
        return f"{head}: no counterexample in {found.where}, as stated; {found.seconds:.0f} s"
    return f"{head}: {found.violated} after {found.length} in {found.where}; {found.seconds:.0f} s"


def shown(mutant: Mutant, found: Found) -> str:
    """The counterexample step by step, or why there is nothing to show."""
    if found.counterexample is not None:
        return text_of(found.counterexample)
    if isinstance(mutant.evidence, Schedule):
        return f"the counterexample is the schedule {found.where}, up to its line {found.length}\n"
    return "no counterexample\n"


def _record_counterexample(folder: Path, mutant: Mutant, found: Found) -> None:
    """A shortest counterexample that is as stated is recorded; others are not the same at each run."""
    if found.counterexample is not None and isinstance(mutant.evidence, Exhaustive) and not found.problem:
        with whole_file(folder / f"{mutant.name}.json") as output:
            output.write(recorded_bytes(found.counterexample))
