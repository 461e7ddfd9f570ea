"""Options that several commands of `kraft-spec prove` share."""

from typing import Annotated

import typer

from kraft_conformance.failure import usage_error

Smt2 = Annotated[
    str | None,
    typer.Option(
        "--smt2",
        metavar="DIR",
        help="Write each question to a file of this folder, in SMT-LIB 2. It may hold no other .smt2 files.",
    ),
]


def at_most_one(**given: object) -> None:
    """Refuse options that exclude each other; an option that is not given is None or False.

    Raises:
        CommandError: more than one is given.
    """
    names = [f"--{name}" for name, value in given.items() if value is not None and value is not False]
    if len(names) > 1:
        raise usage_error(f"{' and '.join(names)}: expected one of them")
