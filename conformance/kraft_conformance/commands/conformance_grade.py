"""`kraft-spec conformance grade`: broken references behind the adapter, and what notices them.

The options alone: what they do is imported when it is asked for, since other commands shall not wait for it.
"""

from pathlib import Path
from typing import Annotated

import typer

from kraft_conformance.commands.options import Json

Words = Annotated[
    list[str] | None,
    typer.Option("-k", help="Only mutants with this in the name or in a rule; repeatable: all must fit."),
]
Seeded = Annotated[bool, typer.Option("--seeded/--no-seeded", help="Leave the named mutants out.")]
Machine = Annotated[
    int, typer.Option(min=0, help="Grade so many machine-made mutants too, each up to its first vector.")
]
Seed = Annotated[int, typer.Option(min=0, help="Of the sample of machine-made mutants.")]
VectorsOnly = Annotated[
    bool,
    typer.Option(
        "--vectors-only",
        help="Leave the random mode out, which has the mutants of the quorum part that no vector notices.",
    ),
]
First = Annotated[bool, typer.Option("--first", help="Leave a mutant alone once a vector notices.")]
NamingOnly = Annotated[
    bool,
    typer.Option(
        "--naming",
        help="Grade only which rule the first failure names: each mutant up to the first vector that fails.",
    ),
]
TracesOnly = Annotated[
    bool,
    typer.Option(
        "--traces",
        help="Grade only which rule `validate` names of the first trace of each mutant that it rejects.",
    ),
]
Check = Annotated[
    bool,
    typer.Option(
        "--check", help="Grade nothing: hold the published table to the mutants, and run the vectors it names."
    ),
]
Jobs = Annotated[int | None, typer.Option("--jobs", "-j", min=1, help="Mutants at a time; default: the processors.")]
Record = Annotated[Path | None, typer.Option("--record", help="Write the tables to a file, as Markdown.")]
TableFile = Annotated[Path | None, typer.Option("--table", help="Write them to a file, as JSON.")]


def grading(
    words: Words = None,
    use_seeded: Seeded = True,
    machine: Machine = 0,
    seed: Seed = 1,
    vectors_only: VectorsOnly = False,
    first: First = False,
    check: Check = False,
    naming: NamingOnly = False,
    traces: TracesOnly = False,
    jobs: Jobs = None,
    record: Record = None,
    table_file: TableFile = None,
    as_json: Json = False,
) -> int:
    """Grade the suite: which vectors notice which broken reference, and at which level.

    Exit code 1: fewer than 90 of 100 mutants are caught by vectors, or a named one by nothing.
    Equivalent ones don't count.
    With --naming and --traces the exit code says only that it is done.
    """
    from kraft_conformance.commands.conformance_grading import Asked, graded

    asked = Asked(
        words=tuple(words or ()),
        use_seeded=use_seeded,
        machine=machine,
        seed=seed,
        vectors_only=vectors_only,
        first=first,
        check=check,
        naming=naming,
        traces=traces,
        jobs=jobs,
        record=record,
        table_file=table_file,
        as_json=as_json,
    )
    return graded(asked)
