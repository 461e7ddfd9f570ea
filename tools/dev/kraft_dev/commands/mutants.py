"""`python -m kraft_dev mutants`: check which tools detect each mutant."""

import os
from collections.abc import Iterator, Sequence
from typing import Annotated

import typer

from kraft_conformance.console import progress, say, stdout
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError, usage_error
from kraft_dev.commands.options import Edges, Record, need_folder_of
from kraft_dev.edges import EdgeFileError
from kraft_dev.markdown import show
from kraft_dev.mutants import machine_made
from kraft_dev.mutants.listing import entry_of, line_of_entry, load_listed, record_listed
from kraft_dev.mutants.measuring import problems, runner
from kraft_dev.mutants.recorded import record_counterexample, steps_in_words
from kraft_dev.mutants.searching import leaves_open
from kraft_dev.mutants.subjects import Subject, UndetectableError, foreign_subjects, seeded_subjects
from kraft_dev.mutants.tables import line_of, measured_sections
from kraft_dev.mutants.tool import Means, Tool, ToolError
from kraft_dev.mutants.tools import EVIDENCE, SUITE, TOOLS, detections, is_asked
from kraft_dev.results import SCHEMA, Result, ResultError, Row, measured_now, record_result
from kraft_mutants import MutantError
from kraft_reference.profile import KIP, PROFILES
from kraft_spec.edits import EditError
from kraft_vectors.manifest import VectorFileError

Names = Annotated[
    list[str] | None,
    typer.Argument(help="Mutants, ids of their main rules, or `sample`; default: all of the catalogue."),
]
ToolNames = Annotated[
    list[str] | None,
    typer.Option("--tool", help=f"Run this tool instead of the listed ones; repeatable. {', '.join(TOOLS)}."),
]
Seeded = Annotated[bool, typer.Option("--seeded/--no-seeded", help="Skip the mutants of the catalogue.")]
Machine = Annotated[int, typer.Option(min=0, help="Number of machine-made mutants to add.")]
Foreign = Annotated[bool, typer.Option("--foreign", help="Add the bugs of other implementations of Raft.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of the sample of machine-made mutants.")]
Every = Annotated[int, typer.Option(min=1, help="Run every Nth listed mutant, and all unlisted ones.")]
Jobs = Annotated[
    int | None, typer.Option("--jobs", "-j", min=1, help="Mutants in parallel; default: number of processors.")
]
Profile = Annotated[
    str, typer.Option("--profile", help="Profile for the decisions that a search of `evidence` leaves open.")
]
Show = Annotated[bool, typer.Option("--show", help="Print each counterexample that TLC finds, step by step.")]
List = Annotated[bool, typer.Option("--list", help="List the mutants, and run no tool.")]


def mutants(
    names: Names = None,
    tool: ToolNames = None,
    use_seeded: Seeded = True,
    machine: Machine = 0,
    foreign: Foreign = False,
    seed: Seed = 1,
    every: Every = 1,
    jobs: Jobs = None,
    edges: Edges = None,
    profile: Profile = KIP.name,
    record: Record = False,
    show_steps: Show = False,
    list_only: List = False,
) -> int:
    """Run tools on mutants: each must be detected as detected_by.toml lists.

    An unlisted or machine-made mutant meets each tool of the suite up to the first that detects it.
    `--tool` selects tools instead; with `--record` all tools and all vectors run.
    `--record` writes the list entries of these mutants, TLC's counterexamples, and, if all mutants and tools
    were selected, the result for the site.
    Exit code 1 if a tool contradicts the stated result, nothing detects a mutant, or too few are detected.
    """
    tools = _tools(tool or (), profile, record=record)
    need_folder_of(edges)
    try:
        seeded = _each_nth(_seeded(names or (), tools, profile), every) if use_seeded or names else ()
        if list_only:
            for subject in seeded:
                say(f"{subject.name}: {subject.change}")
            return ExitCode.CONFORMANT
        made, population = _machine_made(machine, seed)
        subjects = (*seeded, *made, *(foreign_subjects() if foreign else ()))
        if not subjects:
            raise usage_error("no mutants are selected: --no-seeded needs --machine N or --foreign")
        at_a_time = jobs or os.cpu_count() or 1
        workers = max(1, at_a_time // len(subjects))
        means = Means(profile=profile, workers=workers, records=record)
        with (
            progress("mutants", len(subjects)) as advance,
            runner(edges, lambda step: advance(0, step), tools, means) as run,
        ):
            rows = run.rows(subjects, jobs=at_a_time, on_row=lambda row: advance(what=line_of(row)))
        if record:
            record_listed(rows)
            _record_counterexamples(rows)
        if record and not (names or tool or every > 1) and use_seeded:
            more = ["--machine", str(machine), "--seed", str(seed)] if machine else []
            words = " ".join(["python -m kraft_dev mutants", *more, *(["--foreign"] * foreign), "--record"])
            now = measured_now("mutants")
            record_result(Result(SCHEMA, "mutants", words, now, population=population, rows=rows))
    except (EdgeFileError, VectorFileError) as error:
        raise CommandError(str(error), ExitCode.BAD_INPUT) from error
    except (EditError, MutantError, ResultError, ToolError, UndetectableError) as error:
        raise CommandError(str(error), ExitCode.INTERNAL_ERROR) from error
    failures = tuple(problems(rows, tools))
    for line in _lines(rows, failures, is_listed=not tools, show_steps=show_steps):
        stdout.print(line, markup=False, highlight=False, soft_wrap=True)
    show(measured_sections(rows))
    return ExitCode.VIOLATION if failures else ExitCode.CONFORMANT


def _tools(names: Sequence[str], profile: str, *, record: bool) -> tuple[Tool, ...]:
    """Return the selected tools; empty to run those that each mutant is listed with."""
    for name in names:
        if name not in TOOLS:
            raise usage_error(f"no tool {name!r}; there are {', '.join(TOOLS)}")
    tools = tuple(tool for name, tool in TOOLS.items() if name in names or (record and not names))
    if record and names and tools != (EVIDENCE,):
        raise usage_error(f"--record needs all tools, or --tool {EVIDENCE.name}")
    if profile not in PROFILES:
        raise usage_error(f"no profile {profile!r}, expected one of {', '.join(PROFILES)}")
    if profile != KIP.name and (tools != (EVIDENCE,) or record):
        raise usage_error(f"--profile {profile} needs --tool {EVIDENCE.name}; only {KIP.name} can be recorded")
    return tools


def _seeded(names: Sequence[str], tools: Sequence[Tool], profile: str) -> tuple[Subject, ...]:
    """Return the mutants of these names that the tools apply to.

    Raises:
        CommandError: No such mutant, or no tool applies to it.
    """

    def is_asked_about(subject: Subject) -> bool:
        if profile != KIP.name and not (subject.mutant and leaves_open(subject.mutant)):
            return False
        return any(tool.applies(subject) for tool in tools or SUITE)

    try:
        for name in names:
            if not any(map(is_asked_about, seeded_subjects([name]))):
                raise usage_error(
                    f"none of {', '.join(tool.name for tool in tools or SUITE)} applies to {name}"
                    + (f" where {profile} decides" if profile != KIP.name else "")
                )
        return tuple(filter(is_asked_about, seeded_subjects(names)))
    except MutantError as error:
        raise usage_error(str(error)) from error


def _each_nth(subjects: Sequence[Subject], every: int) -> tuple[Subject, ...]:
    """Return every Nth listed mutant, and all unlisted ones."""
    listed = load_listed()
    there = [subject.name for subject in subjects if subject.name in listed]
    left_out = set(there) - set(there[::every])
    return tuple(subject for subject in subjects if subject.name not in left_out)


def _machine_made(number: int, seed: int) -> tuple[tuple[Subject, ...], int]:
    """Return a sample of machine-made mutants, and the size of the population."""
    if not number:
        return (), 0
    if not machine_made.is_available():
        reason = "machine-made mutants need Cosmic Ray: install kraft-spec with the extra `mutation`"
        raise CommandError(reason, ExitCode.UNAVAILABLE)
    return machine_made.sample(number, seed)


def _record_counterexamples(rows: Sequence[Row]) -> None:
    """Record the counterexamples of exhaustive searches, which are the shortest, if they are as stated."""
    for row in rows:
        cell = row.by(EVIDENCE.name)
        if cell is not None and cell.counterexample and not cell.problem:
            record_counterexample(row.name, cell.counterexample)


def _lines(rows: Sequence[Row], failures: Sequence[str], *, is_listed: bool, show_steps: bool) -> Iterator[str]:
    """Yield the number of mutants, a line for each, the problems, and the list entries that are missing."""
    if len(rows) > 1:
        detected = sum(bool(detections(row)) for row in rows)
        yield f"{len(rows)} mutants, {sum(map(is_asked, rows))} run by the suite, which detects {detected}"
    for row in rows:
        yield line_of(row)
        cell = row.by(EVIDENCE.name)
        if show_steps and cell is not None:
            yield (
                steps_in_words(cell.counterexample) if cell.counterexample else f"no counterexample but {cell.where}\n"
            )
    yield from failures
    listed = load_listed()
    for row in rows:
        entry = entry_of(row) if is_listed and row.kind == "seeded" else {}
        if entry and row.name not in listed:
            yield f"not listed in detected_by.toml: {line_of_entry(row.name, entry).strip()}"
