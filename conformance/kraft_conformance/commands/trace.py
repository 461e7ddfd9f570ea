"""`kraft-spec trace`: traces as files."""

from pathlib import Path
from typing import Annotated

import typer

from kraft_conformance.console import say, stderr
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError, usage_error
from kraft_traces.merge import MergeError, merge, read_process_trace, replicas_without_trace
from kraft_traces.streams import whole_file

app = typer.Typer(help="Join the traces of several processes into one.", no_args_is_help=True)

Files = Annotated[list[Path], typer.Argument(help="The trace of each process.")]
Output = Annotated[Path, typer.Option("--output", "-o", help="The merged trace.")]


@app.callback()
def _callback() -> None:
    """Join the traces of several processes into one."""


@app.command("merge")
def merge_traces(files: Files, output: Output) -> int:
    """Join traces in causal order: each process's own order, and sent before received.

    Exit code 65 where causality is broken: the message names file, line and message, and nothing is written.
    """
    if output.resolve() in {path.resolve() for path in files}:
        raise usage_error(f"--output {output}: is one of the traces, expected another file")
    try:
        traces = [read_process_trace(path) for path in files]
        for trace in traces:
            if trace.is_torn:
                say(f"{trace.source}: the last line is torn, and left out", console=stderr)
        if missing := replicas_without_trace(traces):
            named = ", ".join(map(str, missing))
            say(f"no trace of replica {named}: `validate` cannot say what they have sent", console=stderr)
        lines = list(merge(traces))
    except MergeError as error:
        raise CommandError(str(error), ExitCode.BAD_INPUT) from error
    with whole_file(output) as stream:
        stream.writelines(lines)
    say(f"{output}: {len(lines) - 2} events of {len(files)} traces", console=stderr)
    return ExitCode.CONFORMANT
