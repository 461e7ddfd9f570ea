"""Options shared by several commands."""

from pathlib import Path
from typing import Annotated

import typer

from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError

Edges = Annotated[
    Path | None,
    typer.Option(
        "--edges",
        help="File of the model's edges: read if the current model enumerated it, otherwise written, which takes "
        "minutes.",
    ),
]

Record = Annotated[
    bool,
    typer.Option(
        "--record", help="Record the result for the site, in build/results or the folder $KRAFT_SPEC_RESULTS."
    ),
]


def need_folder_of(file: Path | None) -> None:
    """Check, before anything runs, that the folder of an output file exists.

    Raises:
        CommandError: The folder does not exist.
    """
    if file is not None and not file.resolve().parent.is_dir():
        folder = file.resolve().parent
        raise CommandError(f"there is no folder {folder} to write {file.name} to", ExitCode.CANNOT_WRITE)
