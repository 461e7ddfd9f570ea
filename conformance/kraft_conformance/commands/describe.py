"""`kraft-spec describe`: the quorum at any point of a trace.  Rules: cli.describe-status, cli.describe-replication."""

from pathlib import Path
from typing import Annotated, Any

import typer

from kraft_conformance.commands.options import Json
from kraft_conformance.console import print_json
from kraft_conformance.directories.cluster_directory import HISTORY
from kraft_conformance.directories.errors import refused
from kraft_conformance.directories.history import read_history
from kraft_conformance.directories.view import view_of
from kraft_conformance.directories.view_text import replication_rows, replication_text, status_rows, status_text
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import usage_error
from kraft_conformance.trace_files import lines_of

Trace = Annotated[str, typer.Argument(help="A trace, .gz, .parquet or - too, or a cluster directory.")]
At = Annotated[int | None, typer.Option("--at", min=0, help="After this sequence; default: at the end.")]
Status = Annotated[bool, typer.Option("--status", help="Leader, high watermark, lag, voters, uncommitted changes.")]
Replication = Annotated[bool, typer.Option("--replication", help="Each voter and observer: how far it is.")]


def describe(
    trace: Trace, status: Status = False, replication: Replication = False, at: At = None, as_json: Json = False
) -> int:
    """Print the quorum of a trace as kafka-metadata-quorum describes it; -1, none and unknown: not observed."""
    if not status and not replication:
        raise usage_error("expected --status, --replication or both")
    source: Path | str = trace
    if Path(trace).is_dir():
        source = Path(trace) / HISTORY
        if not source.exists():
            raise refused(f"{trace}: nothing has run in this cluster directory yet, expected {HISTORY} in it")
        # The history of a cluster directory is this reference's own: what was altered in it is no view of anything.
        read_history(source)
    with lines_of(str(source)) as lines:
        seen = view_of(lines, at)
    if as_json:
        document: dict[str, Any] = {"source": str(source), "sequence": seen.sequence, "time_ms": seen.time_ms}
        if status:
            document["status"] = status_rows(seen)
        if replication:
            document["replication"] = replication_rows(seen)
        print_json(document)
        return ExitCode.CONFORMANT
    parts = ([status_text(seen)] if status else []) + ([replication_text(seen)] if replication else [])
    print("\n\n".join(parts))
    return ExitCode.CONFORMANT
