"""`kraft-spec view`: a trace as one page to look at."""

from pathlib import Path
from typing import Annotated

import typer

from kraft_conformance.console import progress, shown, stderr, stdout
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError
from kraft_conformance.verdicts import summary
from kraft_traces.partitions.reader import is_partition_trace
from kraft_traces.streams import whole_file
from kraft_traces.view import name_of, page_of, read_document

Trace = Annotated[str, typer.Argument(help="A trace: a file, .gz too, or - for standard input.")]
Output = Annotated[Path, typer.Option("--output", "-o", help="The page to write: one HTML file that needs no other.")]
Unchecked = Annotated[bool, typer.Option("--no-check", help="Don't check the trace; Java is not needed then.")]
Title = Annotated[str | None, typer.Option("--title", help="Of the page; default: the file's name.")]


def view(trace: Trace, output: Output, unchecked: Unchecked = False, title: Title = None) -> int:
    """Write a page that shows a trace: replicas as lanes over virtual time, messages, logs, and the state at each step.

    The trace is checked; the page of a rejected one opens at its first wrong line. The exit code is 0 when the page is
    written, whatever the verdict; `kraft-spec validate` has codes for verdicts. A trace that cannot be read to its end
    has a page of what comes before; the error goes to standard error, and the exit code is that of the error, 65.
    """
    if trace != "-" and Path(trace).is_file() and is_partition_trace(trace, trace):
        detail = "a trace of partition reassignment has no page; expected a kraft-trace/1 of the quorum"
        raise CommandError(f"{trace}: {detail}", ExitCode.BAD_INPUT)
    with progress(f"reading {trace}"):
        reading = read_document(trace, checked=not unchecked)
    page = page_of(reading.document, title or name_of(trace))
    try:
        with whole_file(output) as file:
            file.write(page.encode())
    except OSError as error:
        raise CommandError(f"{output}: {error.strerror}", ExitCode.CANNOT_WRITE) from error
    if str(output) != "-":
        if reading.verdict is not None:
            stdout.print(shown(summary(reading.verdict)), soft_wrap=True)
        stdout.print(shown(f"page: {output}"), soft_wrap=True)
    if reading.broken is not None:
        count = len(reading.document["events"])
        said = f"The page holds {count} events, those before the first line that cannot be read:"
        stderr.print(shown(said), soft_wrap=True)
        raise reading.broken
    return ExitCode.CONFORMANT
