"""`kraft-spec trace`: trace files."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from kraft_conformance.console import say, stderr
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError, usage_error
from kraft_traces.merge import merge, replicas_without_trace
from kraft_traces.process_trace import MergeError, ProcessTrace, read_process_trace
from kraft_traces.streams import atomic_file

app = typer.Typer(help="Join the traces of several processes into one.", no_args_is_help=True)

Files = Annotated[list[Path], typer.Argument(help="The trace of each process.")]
Output = Annotated[Path, typer.Option("--output", "-o", help="The merged trace.")]


@app.callback()
def _callback() -> None:
    """Join the traces of several processes into one."""


@app.command("merge")
def merge_traces(files: Files, output: Output) -> int:
    """Join traces in causal order: each process's own order, and sent before received.

    Events that the files lack are marked as not recorded, and the merged trace is not complete then.
    Exit code 65 where causality is broken: the message names file, line and message, and nothing is written.
    """
    if output.resolve() in {path.resolve() for path in files}:
        raise usage_error(f"--output {output}: is one of the traces, expected another file")
    try:
        traces = [read_process_trace(path) for path in files]
        for trace in traces:
            for text in _describe_gaps(trace):
                say(text, console=stderr)
        if missing := replicas_without_trace(traces):
            named = ", ".join(map(str, missing))
            say(f"no trace of replica {named}: the merged trace marks its events as not recorded", console=stderr)
        lines = list(merge(traces))
    except MergeError as error:
        raise CommandError(str(error), ExitCode.BAD_INPUT) from error
    with atomic_file(output) as stream:
        stream.writelines(lines)
    say(f"{output}: {len(lines) - 2} events of {len(files)} traces", console=stderr)
    return ExitCode.CONFORMANT


def _describe_gaps(trace: ProcessTrace) -> Iterator[str]:
    """Yield a line for each gap in the file of a process."""
    for index, text in trace.gaps.items():
        number = trace.events[index][0] if index < len(trace.events) else trace.events[-1][0] + 1
        yield f"{trace.source}:{number}: {text}: the merged trace marks the gap"
    if trace.is_torn:
        yield f"{trace.source}: the last line is incomplete and is omitted: the merged trace is not complete"
    if not trace.is_over:
        yield f"{trace.source}: the end line says that the run was not over: the merged trace is not complete"
