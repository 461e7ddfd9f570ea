"""`kraft-spec conformance report` and `matrix`: results of earlier runs in other formats."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from kraft_cli.commands.options import Json
from kraft_conformance.console import print_json, printable, say, stderr, stdout, table
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError
from kraft_conformance.runner.faults import AdapterFault, CannotStart, OtherVersion, UnknownProfile
from kraft_conformance.runner.outcome import FAILING, Outcome, Status
from kraft_conformance.runner.output.files import Target, check_targets, targets_of, write_all, write_whole
from kraft_conformance.runner.output.lines import lines_of, read_results
from kraft_conformance.runner.output.matrix import Matrix, matrix_document, matrix_markdown, matrix_of, matrix_page
from kraft_conformance.runner.output.results import Results
from kraft_conformance.runner.reports import Cause, common_causes, counts, details, headline
from kraft_vectors.catalogue import Catalogue
from kraft_vectors.manifest import VectorFileError
from kraft_vectors.texts import counted

JsonLines = Annotated[
    bool, typer.Option("--json", help="JSON lines: the run, one for each vector, then a summary; `report` reads them.")
]
Junit = Annotated[Path | None, typer.Option("--junit", help="Write JUnit XML to this file.")]
Sarif = Annotated[Path | None, typer.Option("--sarif", help="Write SARIF 2.1.0 to this file.")]
Markdown = Annotated[Path | None, typer.Option("--markdown", help="Write Markdown to this file.")]
Html = Annotated[Path | None, typer.Option("--html", help="Write one HTML page that needs nothing else to this file.")]
Folder = Annotated[Path | None, typer.Option("--vectors", help="A folder of vectors; default: those of the package.")]
Result = Annotated[Path, typer.Argument(help="What `run --json` wrote; `-` for standard input.")]
ResultFiles = Annotated[list[Path], typer.Argument(help="What `run --json` wrote, one file for each implementation.")]


def report(
    result: Result,
    as_json: JsonLines = False,
    junit: Junit = None,
    sarif: Sarif = None,
    markdown: Markdown = None,
    html: Html = None,
    folder: Folder = None,
) -> int:
    """Show what a run said, or write the files that it would have written; the exit code says only that it is done."""
    targets = targets_of(junit=junit, sarif=sarif, markdown=markdown, html=html)
    check_targets(targets, as_json)
    with suite_errors():
        catalogue = Catalogue(folder)
        results = read_results(result, catalogue)
        if note := results.other_suite:
            say(note, console=stderr)
        deliver(results, as_json, targets)
    return ExitCode.CONFORMANT


def matrix(
    files: ResultFiles,
    html: Html = None,
    markdown: Markdown = None,
    as_json: Json = False,
    folder: Folder = None,
) -> int:
    """Compare implementations, versions or levels: a table of rules, from the results of their runs."""
    targets = targets_of(html=html, markdown=markdown)
    check_targets(targets, as_json)
    with suite_errors():
        catalogue = Catalogue(folder)
        made = matrix_of([(path, read_results(path, catalogue)) for path in files])
        for note in made.notes:
            say(note, console=stderr)
        made_as = {"html": matrix_page, "markdown": matrix_markdown}
        written = {target: made_as[target.option](made) for target in targets}
        for target, content in written.items():
            write_whole(target.path, content)
        if as_json:
            print_json(matrix_document(made, catalogue))
        elif not targets:
            _show_matrix(made)
    return ExitCode.CONFORMANT


def _show_matrix(made: Matrix) -> None:
    drawn = table("rules by implementation", "rule", *[str(printable(column.label)) for column in made.columns])
    # Rule ids are not wrapped, so that they can be copied.
    drawn.columns[0].no_wrap = True
    for row in made.rows:
        drawn.add_row(row.rule.id, *[cell.words for cell in row.cells])
    stdout.print(drawn)
    for column in made.columns:
        numbers = ", ".join(f"{number} {verdict}" for verdict, number in sorted(column.verdicts.items()))
        say(f"{column.label}: {numbers} (vectors: {column.passes})")


# -------------------------------------------------------------------------------------------------------------
# Output that `run` and `replay` have as well.
# -------------------------------------------------------------------------------------------------------------


def show_outcomes(
    outcomes: Sequence[Outcome], repeated: Callable[[Outcome], str], causes: Sequence[Cause] = (), of: str = ""
) -> None:
    """Show the failures, the reasons for undecided outcomes, and the counts, with the suite's name."""
    for outcome in outcomes:
        if outcome.status in FAILING:
            show_failure(outcome, details(outcome, repeated(outcome)).splitlines())
        elif outcome.status is Status.EXPECTED_FAILURE:
            say(f"{outcome.status} {outcome.id}: {outcome.reason}")
    undecided = [it for it in outcomes if it.status not in (*FAILING, Status.PASS, Status.EXPECTED_FAILURE)]
    for (status, reason), number in Counter((outcome.status, outcome.reason) for outcome in undecided).items():
        say(f"{number} {status}: {reason}")
    for cause in causes:
        say(cause)
    say(f"{counted(len(outcomes), 'vector')}{of and f' of {of}'}: {counts_in_words(outcomes)}", "bold")


def show_failure(outcome: Outcome, lines: Iterable[str]) -> None:
    """Show a failing vector or run, with all details."""
    say(headline(outcome), "bold red")
    for line in lines:
        say(f"  {line}")


def counts_in_words(outcomes: Sequence[Outcome]) -> str:
    """Return the number of outcomes with each status."""
    return ", ".join(f"{number} {status}" for status, number in counts(outcomes).items())


@contextmanager
def suite_errors() -> Iterator[None]:
    """Turn errors of a vector file, or of an adapter's hello, into messages with exit codes."""
    try:
        yield
    except VectorFileError as error:
        raise CommandError(str(error), ExitCode.BAD_INPUT) from error
    except AdapterFault as fault:
        code, text = ExitCode.BAD_INPUT, f"the adapter did not answer hello: {fault}"
        if isinstance(fault, CannotStart):
            code, text = ExitCode.UNAVAILABLE, f"the adapter cannot be started: {fault}"
        elif isinstance(fault, OtherVersion | UnknownProfile):
            text = str(fault)
        suffix = f"\nstandard error: {fault.stderr.rstrip()}" if fault.stderr else ""
        raise CommandError(text + suffix, code) from fault


def deliver(results: Results, as_json: bool, targets: Sequence[Target]) -> None:
    """Write and show the results in the requested formats.

    Raises:
        CommandError: a file cannot be written.
    """
    write_all(targets, results)
    if as_json:
        for line in lines_of(results):
            print(line)
    elif not any(target.is_standard_output for target in targets):
        suite = results.about.suite
        show_outcomes(
            results.outcomes, results.repetition, common_causes(results.outcomes), str(suite) if suite.version else ""
        )
        if results.about.note:
            say(results.about.note)
