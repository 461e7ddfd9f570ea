"""`python -m kraft_dev detectors`: each check, and the broken rule that it detects."""

from dataclasses import asdict
from typing import Annotated

import typer

from kraft_conformance.commands.options import Json
from kraft_conformance.console import print_json, progress, shown, stderr, stdout, table
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError
from kraft_dev.detectors.checks import all_checks
from kraft_dev.detectors.evidence import Evidence, load_evidence, problem_of
from kraft_dev.detectors.fields import lies_of_traces, wanted_fields
from kraft_dev.detectors.observability import MutantRow, mutant_rows
from kraft_dev.detectors.table import DetectorRow, FieldRow, Fields, check_rows, field_rows
from kraft_dev.grading.table import TableError, load_table
from kraft_dev.mutation.killers import KillersError, load_killers
from kraft_dev.results import measured_now, result_bytes, result_file
from kraft_spec.edits import EditError
from kraft_spec.mutants import MutantError, load_catalogue
from kraft_traces.streams import whole_file

Verify = Annotated[bool, typer.Option("--verify", help="Run every mutant again whose run is recorded: minutes.")]
Record = Annotated[bool, typer.Option("--record", help="Keep the result for the site, with the commit.")]


def detectors(verify: Verify = False, record: Record = False, as_json: Json = False) -> int:
    """Show which mutant or switched-off rule each check detects first, who sees each mutant, and make fields lie.

    Exit code 1 when a check detects nothing, a field lies unseen, or nothing but unit tests sees a mutant.
    """
    try:
        catalogue = load_catalogue()
        seen = mutant_rows(catalogue, load_table(), load_killers())
    except (KillersError, MutantError, TableError) as error:
        raise CommandError(str(error), ExitCode.INTERNAL_ERROR) from error
    evidence = load_evidence()
    checks = check_rows(all_checks(), catalogue, evidence)
    with progress("making fields lie") as advance:
        lies = lies_of_traces(lambda lie: advance(0, f"lies: {lie.field}"))
    fields = field_rows(wanted_fields(), lies, evidence.blind)
    failed = _verified(evidence) if verify else ()
    if record:
        with whole_file(result_file("fields")) as output:
            output.write(result_bytes(Fields(measured_now("fields"), fields)))
    if as_json:
        print_json(
            {
                "checks": [asdict(row) for row in checks],
                "fields": [asdict(row) for row in fields],
                "mutants": [asdict(row) for row in seen],
                "verified": verify,
                "failed": failed,
            }
        )
    else:
        _show(checks, fields)
        _show_mutants(seen)
        for problem in failed:
            stdout.print(f"not as recorded: {problem}", markup=False, soft_wrap=True)
    problems = [*failed, *(row.problem for row in checks), *(row.problem for row in fields)]
    problems += [row.problem for row in seen]
    return ExitCode.VIOLATION if any(problems) else ExitCode.CONFORMANT


def _verified(evidence: Evidence) -> tuple[str, ...]:
    """What the recorded runs do not show any more."""
    problems: list[str] = []
    with progress("running mutants", len(evidence.detected)) as advance:
        for one in evidence.detected:
            try:
                problem = problem_of(one)
            except (EditError, MutantError) as error:
                problem = str(error)
            if problem:
                stderr.print(problem, markup=False, soft_wrap=True)
                problems.append(f"{one.layer} {one.check}: {problem}")
            advance(1, f"{one.layer} {one.check}")
    return tuple(problems)


def _show(checks: tuple[DetectorRow, ...], fields: tuple[FieldRow, ...]) -> None:
    wrong = sum(bool(row.problem) for row in checks)
    drawn = table(
        f"{len(checks)} checks, {wrong} that detect nothing", "where", "check", "detects", "how the first is known"
    )
    for row in checks:
        words = [row.problem or row.reason or f"{len(row.detects)}: {row.detects[0]}", row.how]
        drawn.add_row(row.check.layer, row.check.name, *words)
    stdout.print(drawn)
    wrong = sum(bool(row.problem) for row in fields)
    drawn = table(
        f"{len(fields)} fields of a trace, {wrong} that lie unseen", "field", "said", "lie", "seen by", "names"
    )
    for field in fields:
        lie = field.lie
        said, says, seen_by = ("", "", "") if lie is None else (lie.said, lie.says, lie.seen_by or "nobody")
        names = "" if lie is None else "; ".join(lie.names)
        drawn.add_row(field.field, said, says, seen_by, "; ".join(filter(None, (names, field.reason, field.problem))))
    stdout.print(drawn)


def _show_mutants(rows: tuple[MutantRow, ...]) -> None:
    wrong = sum(bool(row.problem) for row in rows)
    drawn = table(f"{len(rows)} mutants, {wrong} that only unit tests see", "mutant", "seen at", "by")
    for row in rows:
        drawn.add_row(shown(row.mutant), row.level, shown(row.problem or row.by or row.reason))
    stdout.print(drawn)
