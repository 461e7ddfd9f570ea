"""`kraft-spec describe`: the quorum at any point of a trace.  Rules: cli.describe-status, cli.describe-replication."""

from typing import Annotated, Any

import typer

from kraft_conformance.commands.options import Json
from kraft_conformance.console import print_json
from kraft_conformance.description.text import replication_rows, replication_text, status_rows, status_text
from kraft_conformance.description.view import view_of
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import usage_error
from kraft_conformance.trace_files import lines_of

Trace = Annotated[str, typer.Argument(help="A trace, .gz, .parquet or - too.")]
At = Annotated[int | None, typer.Option("--at", min=0, help="After this sequence; default: at the end.")]
Status = Annotated[bool, typer.Option("--status", help="Leader, high watermark, lag, voters, uncommitted changes.")]
Replication = Annotated[bool, typer.Option("--replication", help="Each voter and observer: how far it is.")]


def describe(
    trace: Trace, status: Status = False, replication: Replication = False, at: At = None, as_json: Json = False
) -> int:
    """Print the quorum of a trace as kafka-metadata-quorum describes it; -1, none and unknown: not observed."""
    if not status and not replication:
        raise usage_error("expected --status, --replication or both")
    with lines_of(trace) as lines:
        seen = view_of(lines, at)
    if as_json:
        document: dict[str, Any] = {"source": trace, "sequence": seen.sequence, "time_ms": seen.time_ms}
        if status:
            document["status"] = status_rows(seen)
        if replication:
            document["replication"] = replication_rows(seen)
        print_json(document)
        return ExitCode.CONFORMANT
    parts = ([status_text(seen)] if status else []) + ([replication_text(seen)] if replication else [])
    print("\n\n".join(parts))
    return ExitCode.CONFORMANT
