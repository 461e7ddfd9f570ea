"""`python -m kraft_dev grade`: broken references behind the adapter, and what notices them."""

import os
from typing import Annotated

import typer
from msgspec import to_builtins

from kraft_conformance.commands.options import Json
from kraft_conformance.console import print_json, progress, shown, stdout, table
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError, usage_error
from kraft_conformance.vectors.manifest import VectorFileError
from kraft_dev.grading.campaign import GradingPlan
from kraft_dev.grading.campaign import grade as grade_mutants
from kraft_dev.grading.checking import not_caught_any_more, problems
from kraft_dev.grading.excluding import ExcludedError
from kraft_dev.grading.grader import GradingError
from kraft_dev.grading.naming import naming_bytes, naming_of
from kraft_dev.grading.naming import score as naming_score
from kraft_dev.grading.random_part import RandomRuns
from kraft_dev.grading.subjects import graded_mutants
from kraft_dev.grading.table import TARGET, Row, Table, TableError, load_table, score, table_bytes
from kraft_dev.grading.trace_naming import trace_naming_of
from kraft_dev.mutation import machine_made
from kraft_dev.mutation.survivors import SurvivorError
from kraft_dev.results import result_file
from kraft_spec.edits import EditError
from kraft_spec.mutants import Mutant, MutantError
from kraft_traces.streams import whole_file

Words = Annotated[
    list[str] | None,
    typer.Option("-k", help="Only mutants with this in the name or in a rule; repeatable: all must fit."),
]
Seeded = Annotated[bool, typer.Option("--seeded/--no-seeded", help="Leave the named mutants out.")]
Machine = Annotated[
    int, typer.Option(min=0, help="Grade so many machine-made mutants too, each up to its first vector.")
]
Seed = Annotated[int, typer.Option(min=0, help="Of the sample of machine-made mutants.")]
VectorsOnly = Annotated[
    bool,
    typer.Option(
        "--vectors-only",
        help="Leave the random mode out, which has the mutants of the quorum part that no vector notices.",
    ),
]
First = Annotated[bool, typer.Option("--first", help="Leave a mutant alone once a vector notices.")]
NamingOnly = Annotated[
    bool,
    typer.Option(
        "--naming",
        help="Grade only which rule the first failure names: each mutant up to the first vector that fails.",
    ),
]
TracesOnly = Annotated[
    bool,
    typer.Option(
        "--traces",
        help="Grade only which rule `validate` names of the first trace of each mutant that it rejects.",
    ),
]
Check = Annotated[
    bool,
    typer.Option(
        "--check", help="Grade nothing: hold the published table to the mutants, and run the vectors it names."
    ),
]
Jobs = Annotated[int | None, typer.Option("--jobs", "-j", min=1, help="Mutants at a time; default: the processors.")]
Record = Annotated[bool, typer.Option("--record", help="Keep the result for the site, with the commit.")]


def grade(
    words: Words = None,
    use_seeded: Seeded = True,
    machine: Machine = 0,
    seed: Seed = 1,
    vectors_only: VectorsOnly = False,
    first: First = False,
    check: Check = False,
    naming: NamingOnly = False,
    traces: TracesOnly = False,
    jobs: Jobs = None,
    record: Record = False,
    as_json: Json = False,
) -> int:
    """Grade the suite: which vectors notice which broken reference, and at which level.

    Exit code 1: fewer than 90 of 100 mutants are caught by vectors, or a named one by nothing.
    Equivalent ones don't count.
    With --naming and --traces the exit code says only that it is done.
    """
    if words and record:
        raise usage_error("a published table has all mutants: --record does not go with -k")
    chosen = _chosen(tuple(words or ())) if use_seeded else ()
    jobs = jobs or os.cpu_count() or 1
    if check:
        return _check(chosen)
    if naming:
        return _name(chosen, machine, seed, jobs, record=record, as_json=as_json)
    if traces:
        return _name_traces(chosen, as_json=as_json)
    if not chosen and not machine:
        raise usage_error("nothing to grade: no named mutants, and no --machine N")
    if machine and not machine_made.is_available():
        raise CommandError(
            "machine-made mutants need Cosmic Ray: install kraft-spec with the extra `mutation`", ExitCode.UNAVAILABLE
        )
    done = _graded(GradingPlan(chosen, machine, seed, None if vectors_only else RandomRuns(), first, jobs))
    if record:
        with whole_file(result_file("grading")) as output:
            output.write(table_bytes(done))
    if as_json:
        print_json(to_builtins(done))
    else:
        _show(done)
    return ExitCode.CONFORMANT if holds(done) else ExitCode.VIOLATION


def _name(chosen: tuple[Mutant, ...], machine: int, seed: int, jobs: int, *, record: bool, as_json: bool) -> int:
    with progress("mutants", len(chosen) + machine) as advance:
        done = naming_of(chosen, machine, seed, jobs, lambda row: advance(say=row.mutant))
    if record:
        with whole_file(result_file("naming")) as output:
            output.write(naming_bytes(done))
    if as_json:
        print_json(to_builtins(done))
        return ExitCode.CONFORMANT
    for row in (*done.seeded, *done.machine):
        verdict = "none" if not row.vector else "first" if row.named[:1] == row.breaks[:1] else "other"
        stdout.print(shown(f"{verdict:6} {row.mutant}: {row.vector}: {', '.join(row.named[:3])}"), soft_wrap=True)
    for kind, rows in (("named", done.seeded), ("machine-made", done.machine)):
        counted = naming_score(rows)
        words = f"{counted.first} first, {counted.among} of the mutant's rules, {counted.early} among the first three"
        stdout.print(shown(f"{kind}: {counted.failed} fail; {words}"), style="bold", soft_wrap=True)
    return ExitCode.CONFORMANT


def _name_traces(chosen: tuple[Mutant, ...], *, as_json: bool) -> int:
    with progress("mutants", len(chosen)) as advance:
        rows = trace_naming_of(chosen, lambda row: advance(say=row.mutant))
    rejected = [row for row in rows if row.where]
    if as_json:
        print_json([row._asdict() for row in rows])
        return ExitCode.CONFORMANT
    for row in rows:
        verdict = "none" if not row.where else "first" if row.is_first else "other"
        stdout.print(shown(f"{verdict:6} {row.mutant}: {row.where}: {', '.join(row.named[:3])}"), soft_wrap=True)
    first, early = sum(row.is_first for row in rejected), sum(row.breaks[0] in row.named[:3] for row in rejected)
    words = f"{len(rows)} mutants, {len(rejected)} rejected: the rule is named first of {first}, among three of {early}"
    stdout.print(shown(words), style="bold", soft_wrap=True)
    return ExitCode.CONFORMANT


def holds(done: Table) -> bool:
    """Do vectors catch enough of all mutants, and anything every named one?"""
    every = score((*done.seeded, *(() if done.machine is None else done.machine.rows)))
    named = score(done.seeded)
    return every.share >= TARGET and (named.together == named.mutants or not done.random)


def _chosen(words: tuple[str, ...]) -> tuple[Mutant, ...]:
    try:
        return graded_mutants(words)
    except MutantError as error:
        raise usage_error(str(error)) from error


def _graded(plan: GradingPlan) -> Table:
    try:
        with progress("mutants", len(plan.mutants) + plan.machine) as advance:
            return grade_mutants(plan, lambda row: advance(say=_said(row)), lambda step: advance(0, step))
    except VectorFileError as error:
        raise CommandError(str(error), ExitCode.BAD_INPUT) from error
    except GradingError as error:
        raise CommandError(str(error), ExitCode.INTERNAL_ERROR) from error
    except ValueError as error:
        if isinstance(error, EditError | ExcludedError | SurvivorError):
            raise CommandError(str(error), ExitCode.INTERNAL_ERROR) from error
        raise usage_error(str(error)) from error


def _check(chosen: tuple[Mutant, ...]) -> int:
    try:
        published = load_table()
    except TableError as error:
        raise CommandError(str(error), ExitCode.INTERNAL_ERROR) from error
    names = {one.name for one in chosen}
    rows = [row for row in published.seeded if row.mutant in names]
    found = problems(published)
    with progress("mutants", len(rows)) as advance:
        found += not_caught_any_more(rows, lambda row: advance(say=row.mutant))
    for one in found:
        stdout.print(shown(one), style="red", soft_wrap=True)
    stdout.print(shown(f"{len(rows)} rows run again, {len(found)} problems"), style="bold")
    return ExitCode.VIOLATION if found else ExitCode.CONFORMANT


def _said(row: Row) -> str:
    return f"{row.mutant}: {row.first or ('random mode' if row.caught else 'NOTHING')}"


def _show(done: Table) -> None:
    if done.seeded:
        _show_rows(f"Named mutants behind the adapter, {done.vectors} vectors", done.seeded)
    if done.machine is not None:
        _show_rows(f"Machine-made mutants (seed {done.machine.seed})", done.machine.rows)


def _show_rows(title: str, rows: tuple[Row, ...]) -> None:
    drawn = table(title, "mutant", "level", "caught by", "vectors", "without injection")
    for row in rows:
        caught_by = row.first or (f"random mode, run {row.random.runs}" if row.random else "")
        caught_by = caught_by or ("excluded" if row.excluded else "NOTHING")
        number = str(row.vectors) if row.counted else f"{row.vectors} or more"
        drawn.add_row(row.mutant, row.level or "", caught_by, number, "" if row.history is None else "yes")
    stdout.print(drawn)
    counted = score(rows)
    words = (
        f"{counted.vectors} of {counted.mutants} caught by vectors ({counted.share:.1%}): at wire {counted.wire}, "
        f"at effects {counted.effects}, at state {counted.state}, without state injection {counted.history}; "
        f"by vectors or random mode {counted.together}; {counted.excluded} excluded"
    )
    stdout.print(shown(words), style="bold", soft_wrap=True)
