"""`python -m kraft_dev matrix`: mutants, and what detects them."""

import os
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from kraft_conformance.console import progress, say
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError, usage_error
from kraft_dev.commands.options import Edges, Record, need_folder_of
from kraft_dev.detectors.checks import all_checks
from kraft_dev.detectors.evidence import check_problems, check_rows, checks_section, load_evidence, run_again
from kraft_dev.edges import EdgeFileError
from kraft_dev.markdown import show
from kraft_dev.matrix import machine_made
from kraft_dev.matrix.adapter import REPLY_TIMEOUT_S
from kraft_dev.matrix.measuring import Plan, measure, problems
from kraft_dev.matrix.page import mutants_section, sections_of, tools_section
from kraft_dev.matrix.subjects import Subject, UndetectableError, seeded_subjects
from kraft_dev.matrix.tool import Means, Tool, ToolError
from kraft_dev.matrix.tools import KINDS, TOOLS
from kraft_dev.matrix.vectors import not_detected_any_more
from kraft_dev.results import ResultError, Row, load_result, record_result
from kraft_mutants import MutantError, load_catalogue
from kraft_spec.edits import EditError
from kraft_vectors.manifest import VectorFileError

KIND_NAMES = (*KINDS, "checks")

What = Annotated[
    str,
    typer.Argument(
        help="mutants: up to the first tool that detects them. grading: the conformance vectors, at each level. "
        "naming: which rule a failure names. checks: every check, and a mutant that it detects."
    ),
]
Names = Annotated[list[str] | None, typer.Argument(help="Seeded mutants; default: all of them.")]
ToolNames = Annotated[list[str] | None, typer.Option("--tool", help=f"Only this; repeatable. {', '.join(TOOLS)}.")]
Seeded = Annotated[bool, typer.Option("--seeded/--no-seeded", help="Leave the seeded mutants out.")]
Machine = Annotated[int, typer.Option(min=0, help="So many machine-made mutants too.")]
Seed = Annotated[int, typer.Option(min=0, help="Of the sample of machine-made mutants.")]
Every = Annotated[
    int, typer.Option(min=1, help="Of the seeded mutants that are recorded only each Nth, and all that are not.")
]
Jobs = Annotated[int | None, typer.Option("--jobs", "-j", min=1, help="Mutants at a time; default: the processors.")]
Again = Annotated[
    bool,
    typer.Option("--again", help="Run again what is recorded: the vectors of the grading, the runs of the checks."),
]
List = Annotated[bool, typer.Option("--list", help="List the seeded mutants and the tools, and try none.")]


def matrix(
    what: What,
    names: Names = None,
    tool: ToolNames = None,
    use_seeded: Seeded = True,
    machine: Machine = 0,
    seed: Seed = 1,
    every: Every = 1,
    jobs: Jobs = None,
    edges: Edges = None,
    record: Record = False,
    again: Again = False,
    list_only: List = False,
) -> int:
    """Break the reference on purpose, and see what detects each mutant.

    What nothing detects is a missing check: exit code 1. So is too small a share of the machine-made mutants.
    Nothing is said about mutants as long as a tool finds fault with the unbroken reference.
    """
    if what not in KIND_NAMES:
        raise usage_error(f"no matrix {what!r}; there are {', '.join(KIND_NAMES)}")
    if what not in KINDS and (names or tool or machine or list_only):
        raise usage_error(f"the matrix of {what} has no mutants and no tools to choose from")
    if again and what not in ("grading", "checks"):
        raise usage_error(f"--again is for grading and checks, not for {what}")
    if record and (names or tool or again or every > 1 or what == "checks"):
        raise usage_error("what is recorded has all mutants and all tools, measured anew; checks are not recorded")
    need_folder_of(edges)
    words = ["python", "-m", "kraft_dev", "matrix", what, *(names or ())]
    words += [word for name in tool or () for word in ("--tool", name)]
    words += [] if use_seeded else ["--no-seeded"]
    words += ["--every", str(every)] if every > 1 else []
    words += ["--machine", str(machine), "--seed", str(seed)] if machine else []
    command = shlex.join(words)
    try:
        if what == "checks":
            found = _show_checks(again=again)
        else:
            chosen = _each_nth(_chosen(names or ()), what, every) if use_seeded or names else ()
            if list_only:
                return _list(chosen)
            if again:
                return _again(chosen)
            at_a_time = jobs or os.cpu_count() or 1
            plan = Plan(what, command, chosen, _tools(tool or ()), machine, seed, edges=edges, jobs=at_a_time)
            found = _measure(plan, record=record)
    except (EdgeFileError, VectorFileError) as error:
        raise CommandError(str(error), ExitCode.BAD_INPUT) from error
    except (EditError, MutantError, ResultError, ToolError, UndetectableError) as error:
        raise CommandError(str(error), ExitCode.INTERNAL_ERROR) from error
    _show_problems(found)
    return ExitCode.VIOLATION if found else ExitCode.CONFORMANT


def _chosen(names: Sequence[str]) -> tuple[Subject, ...]:
    load_catalogue()
    try:
        return seeded_subjects(names)
    except MutantError as error:
        raise usage_error(str(error)) from error


def _each_nth(subjects: Sequence[Subject], what: str, every: int) -> tuple[Subject, ...]:
    """Each Nth of the mutants that the recorded matrix has, and those that it has not."""
    recorded = load_result(what)
    known = {row.name for row in (() if recorded is None else recorded.rows)}
    there = [subject.name for subject in subjects if subject.name in known]
    left_out = set(there) - set(there[::every])
    return tuple(subject for subject in subjects if subject.name not in left_out)


def _tools(names: Sequence[str]) -> tuple[Tool, ...]:
    for name in names:
        if name not in TOOLS:
            raise usage_error(f"no tool {name!r}; there are {', '.join(TOOLS)}")
    return tuple(tool for name, tool in TOOLS.items() if name in names)


def _measure(plan: Plan, *, record: bool) -> Sequence[str]:
    """Show a matrix, and say what is wrong by it."""
    if not plan.seeded and not plan.machine:
        raise usage_error("nothing to try: no seeded mutants, and no --machine N")
    if plan.machine and not machine_made.is_available():
        raise CommandError(
            "machine-made mutants need Cosmic Ray: install kraft-spec with the extra `mutation`", ExitCode.UNAVAILABLE
        )
    with progress("mutants", len(plan.seeded) + plan.machine) as advance:
        found = measure(plan, lambda step: advance(0, step), lambda row: advance(what=_said(row)))
    if record:
        record_result(found)
    show(sections_of(found))
    return problems(found)


def _said(row: Row) -> str:
    return f"{row.name}: {'NOTHING detects it' if row.first is None else row.first.detector}"


def _show_checks(*, again: bool) -> Sequence[str]:
    """Show the checks, and say what is wrong with them."""
    catalogue, evidence = load_catalogue(), load_evidence()
    rows = check_rows(all_checks(), catalogue, evidence)
    found = list(check_problems(rows, catalogue, evidence))
    if again:
        with progress("recorded runs", len(evidence.detected)) as advance:
            found += run_again(evidence.detected, lambda step: advance(what=step))
    show([checks_section(rows)])
    return found


def _again(chosen: Iterable[Subject]) -> int:
    recorded = load_result("grading")
    names = {subject.name for subject in chosen}
    rows = [row for row in (() if recorded is None else recorded.rows) if row.name in names]
    with progress("mutants", len(rows)) as advance:
        found = not_detected_any_more(rows, Means(Path, REPLY_TIMEOUT_S), lambda row: advance(what=row.name))
    _show_problems(found)
    say(f"{len(rows)} rows run again, {len(found)} problems", "bold")
    return ExitCode.VIOLATION if found else ExitCode.CONFORMANT


def _show_problems(found: Iterable[str]) -> None:
    for one in found:
        say(one, "red")


def _list(chosen: Sequence[Subject]) -> int:
    show([mutants_section(chosen, load_result("grading")), tools_section()])
    return ExitCode.CONFORMANT
