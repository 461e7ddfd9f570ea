"""`kraft-spec view`: a trace as an HTML page."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from kraft_cli.trace_files import lines_of
from kraft_cli.verdicts import partition_summary, summary
from kraft_conformance.console import progress, say, stderr
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError, usage_error
from kraft_traces.errors import EmptyTraceError, TraceError
from kraft_traces.partitions.reader import is_partition_trace
from kraft_traces.streams import atomic_file
from kraft_traces.view import display_name, inconclusive_reason, page_of, read_document
from kraft_traces.view.partitions import partition_page_of, read_partition_document

Trace = Annotated[str, typer.Argument(help="A trace: a file, .gz and .parquet too, or - for standard input.")]
Output = Annotated[
    str,
    typer.Option(
        "--output",
        "-o",
        metavar="<path>",
        help="The page to write: one HTML file that needs no other; - writes it to standard output.",
    ),
]
Unchecked = Annotated[bool, typer.Option("--no-check", help="Don't check the trace; Java is not needed then.")]
Title = Annotated[str | None, typer.Option("--title", help="Of the page; default: the file's name.")]


def view(trace: Trace, output: Output, unchecked: Unchecked = False, title: Title = None) -> int:
    """Write a page that shows a trace: replicas as lanes over virtual time, messages, logs, and the state at each step.

    A trace of partition reassignment has partitions as lanes. The trace is checked; the page of a rejected one opens at
    its first wrong line. The exit code is 0 when the page is written, whatever the verdict; `kraft-spec validate` has
    codes for verdicts. A trace that cannot be read to its end has a page of what comes before; the error goes to
    standard error, and the exit code is that of the error, 65.
    """
    _check_output(trace, output)
    with lines_of(trace) as lines:
        if lines != "-" and Path(lines).is_file() and is_partition_trace(lines, trace):
            return _view_partitions(lines, output, unchecked, title or display_name(trace))
        with progress(f"reading {trace}"):
            document, verdict, broken = read_document(lines, checked=not unchecked)
        page = page_of(document, title or display_name(trace))
        line = None if verdict is None else summary(replace(verdict, source=trace))
        return _write_page(page, output, line, broken, len(document["events"]))


def _check_output(trace: str, output: str) -> None:
    """Refuse to replace the trace by its page, whatever their names."""
    if not output:
        raise usage_error("--output names no file")
    if output == "-":
        return
    read, written = Path("/dev/stdin" if trace == "-" else trace), Path(output)
    if read.exists() and written.exists() and read.samefile(written):
        raise usage_error(f"--output names the trace itself, {output}; the page would replace it")


def _view_partitions(trace: str, output: str, unchecked: bool, title: str) -> int:
    with progress(f"reading {trace}"):
        document, verdict, broken = read_partition_document(trace, checked=not unchecked)
    line = None if verdict is None else partition_summary(verdict)
    if verdict is not None and verdict.accepted and broken is not None:
        # A correct part of a trace is no verdict on the whole trace.
        line = f"{trace}: inconclusive after {verdict.events} accepted events: {inconclusive_reason(broken)}"
    return _write_page(partition_page_of(document, title), output, line, broken, len(document["events"]))


def _write_page(page: str, output: str, verdict: str | None, broken: TraceError | None, count: int) -> int:
    try:
        with atomic_file(Path(output)) as file:
            file.write(page.encode())
    except OSError as error:
        raise CommandError(f"{output}: {error.strerror}", ExitCode.CANNOT_WRITE) from error
    if output != "-":
        if verdict is not None:
            say(verdict)
        say(f"page: {output}")
    if broken is not None:
        before = f"The page holds {count} events, those before the first line that cannot be read:"
        text = "The page holds no event:" if isinstance(broken, EmptyTraceError) else before
        say(text, console=stderr)
        raise broken
    return ExitCode.CONFORMANT
