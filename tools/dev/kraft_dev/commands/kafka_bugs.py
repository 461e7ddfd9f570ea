"""`python -m kraft_dev kafka-bugs`: check that the vectors detect the mutants of Apache Kafka."""

from typing import Annotated

import typer

from kraft_conformance.console import progress
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import usage_error
from kraft_dev.commands.options import Record
from kraft_dev.kafka_bugs import NAMED, bugs_of, section_of
from kraft_dev.markdown import show
from kraft_dev.results import record_result
from kraft_kafka.patching.patches import mutants
from kraft_kafka.releases import newest, releases

Names = Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help="Mutants; default: all.")]
Version = Annotated[str | None, typer.Option("--version", help="A release of Kafka; default: the newest.")]


def kafka_bugs(names: Names = None, version: Version = None, record: Record = False) -> int:
    """Run the vectors that Apache Kafka passes on each mutant of Kafka's own classes.

    Exit code 1 if no failing vector names the broken rule of a mutant among its first; 69 if Kafka cannot run.
    """
    patches = dict(mutants())
    for unknown in {*(names or ())} - patches.keys():
        raise usage_error(f"no bug {unknown!r}; there are {', '.join(patches)}")
    release = version or newest()
    if release not in releases():
        raise usage_error(f"no release {release!r}, expected one of {', '.join(releases())}")
    if record and names:
        raise usage_error("--record needs all mutants, expected no names")
    selected = [patches[name] for name in names or patches]
    with progress(f"Kafka {release} with bugs", len(selected)) as advance:
        result = bugs_of(release, lambda row: advance(1, row.name), selected)
    if record:
        record_result(result)
    show([section_of(result)])
    named = [cell.detects for row in result.rows if (cell := row.by(NAMED)) is not None]
    return ExitCode.CONFORMANT if all(named) else ExitCode.VIOLATION
