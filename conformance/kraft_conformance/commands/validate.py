"""`kraft-spec validate`: traces against the model."""

import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from kraft_conformance.commands.options import Json
from kraft_conformance.commands.partition_validate import (
    is_partition_trace,
    partition_verdict,
    show_verdict,
    verdict_code,
    verdict_document,
    write_failing_lines,
)
from kraft_conformance.console import print_json, progress, shown, stderr, stdout
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError
from kraft_conformance.verdicts import EXIT_CODES, show_rejection, summary
from kraft_traces.check import (
    CANDIDATES_MAX,
    EVERY,
    OtherModelError,
    Verdict,
    check_reader,
    write_failing_prefix,
)
from kraft_traces.errors import TraceError
from kraft_traces.reader import open_trace
from kraft_traces.streams import trace_paths

Paths = Annotated[list[str], typer.Argument(help="Traces: files, .gz, folders, or - for standard input.")]
Strict = Annotated[bool, typer.Option("--strict", help="Refuse a trace that was written for another model.")]
Every = Annotated[int, typer.Option(min=1, help="Check the full invariants every so many events, and at the end.")]
Candidates = Annotated[int, typer.Option(min=1, help="Most candidate states of a trace that leaves fields out.")]
Prefixes = Annotated[
    Path | None, typer.Option("--prefixes", help="Folder for the failing prefix of a rejected trace; default: here.")
]


def validate(
    paths: Paths,
    strict: Strict = False,
    every: Every = EVERY,
    candidates: Candidates = CANDIDATES_MAX,
    prefixes: Prefixes = None,
    as_json: Json = False,
) -> int:
    """Check traces line by line against the TLA+ model: of quorums, and of partitions.

    A rejected line is named with the rules of its action and the fields or the condition that disagree; the trace up
    to it is written as NAME.failing.jsonl. Exit code: 1 if a trace is rejected, else 65 if one is malformed, else 66 if
    one cannot be read, else 2 if one is inconclusive.
    """
    if prefixes is not None and not prefixes.is_dir():
        raise CommandError(f"there is no folder {prefixes} to write failing prefixes to", ExitCode.CANNOT_WRITE)
    codes: set[ExitCode] = set()
    documents: list[dict[str, Any]] = []
    for path in paths:
        try:
            files = trace_paths(path)
        except TraceError as error:
            codes.add(_report_error(error, documents))
            continue
        for file in files:
            try:
                checked = _check(file, strict, every, candidates, prefixes or Path())
            except TraceError as error:
                codes.add(_report_error(error, documents))
                continue
            except OtherModelError as error:
                stderr.print(shown(error), soft_wrap=True)
                documents.append({"source": file, "kind": "malformed", "code": "OTHER_MODEL", "message": str(error)})
                codes.add(ExitCode.BAD_INPUT)
                continue
            codes.add(checked.code)
            documents.append(checked.document)
            if not as_json:
                checked.show()
    if as_json:
        print_json(documents)
    order = (
        ExitCode.VIOLATION,
        ExitCode.BAD_INPUT,
        ExitCode.NO_INPUT,
        ExitCode.INCONCLUSIVE,
    )
    return next((code for code in order if code in codes), ExitCode.CONFORMANT)


class _Checked(NamedTuple):
    code: ExitCode
    document: dict[str, Any]
    show: Callable[[], None]


def _check(file: str, strict: bool, every: int, candidates: int, prefixes: Path) -> _Checked:
    with tempfile.TemporaryDirectory() as folder:
        source = _kept(file, Path(folder))
        name = "stdin" if file == "-" else Path(file).name.removesuffix(".gz").removesuffix(".jsonl")
        prefix = prefixes / f"{name}.failing.jsonl"
        if is_partition_trace(source, file):
            return _check_partitions(file, source, prefix)
        with open_trace(source, source=file) as reader, progress(f"checking {file}") as advance:
            verdict = check_reader(reader, every=every, candidates_max=candidates, strict=strict, on_event=advance)
        if verdict.rejection is not None:
            write_failing_prefix(source, verdict.rejection, prefix)
    written = None if verdict.rejection is None else prefix
    document = {**verdict.as_dict(), "failing_prefix": None if written is None else str(written)}
    return _Checked(EXIT_CODES[verdict.kind], document, lambda: _show(verdict, written))


def _show(verdict: Verdict, prefix: Path | None) -> None:
    stdout.print(summary(verdict), markup=False, soft_wrap=True)
    if verdict.rejection is not None:
        show_rejection(stdout, verdict.rejection, prefix)


def _check_partitions(file: str, source: Path, prefix: Path) -> _Checked:
    verdict = partition_verdict(str(source), file)
    if not verdict.accepted:
        write_failing_lines(source, verdict, prefix)
    written = None if verdict.accepted else prefix
    document = {**verdict_document(verdict), "failing_prefix": None if written is None else str(written)}
    return _Checked(verdict_code(verdict), document, lambda: show_verdict(verdict, written))


def _kept(file: str, folder: Path) -> Path:
    """A trace that can be read twice: standard input and pipes are put in a file first."""
    if file != "-" and (Path(file).is_file() or not Path(file).exists()):
        return Path(file)
    kept = folder / "input"
    with kept.open("wb") as output:
        if file == "-":
            shutil.copyfileobj(sys.stdin.buffer, output)
        else:
            with Path(file).open("rb") as given:
                shutil.copyfileobj(given, output)
    return kept


def _report_error(error: TraceError, documents: list[dict[str, Any]]) -> ExitCode:
    stderr.print(shown(error), soft_wrap=True)
    documents.append(
        {
            "source": error.source,
            "kind": "malformed",
            "code": error.code,
            "line": error.line_number,
            "field": error.field,
            "message": str(error),
        }
    )
    return ExitCode.NO_INPUT if error.code in ("UNREADABLE_FILE", "NO_TRACES") else ExitCode.BAD_INPUT
