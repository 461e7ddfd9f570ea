"""`kraft-spec model`: the named model checks."""

from typing import Annotated

import typer

from kraft_conformance.commands.options import Json
from kraft_conformance.failure import usage_error

Name = Annotated[
    str | None, typer.Argument(help="A check, or a group: smoke, ci, nightly; without one they are listed.")
]


def model(name: Name = None, as_json: Json = False) -> int:
    """Model-check the specification with TLC."""
    raise usage_error("not there yet")
