"""`python -m kraft_dev kafka-bugs`: check that the suite detects the mutants of Apache Kafka."""

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

Names = Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help="Bugs; default: all of them.")]
Version = Annotated[str | None, typer.Option("--version", help="A release of Kafka; default: the newest.")]


def kafka_bugs(names: Names = None, version: Version = None, record: Record = False) -> int:
    """Plant bugs in Apache Kafka's own classes, one at a time, and run the vectors that pass without them.

    Exit code 1 when there is a bug whose rule no failing vector names among its first; 69 when Kafka cannot be run.
    """
    known = dict(mutants())
    for unknown in {*(names or ())} - known.keys():
        raise usage_error(f"no bug {unknown!r}; there are {', '.join(known)}")
    release = version or newest()
    if release not in releases():
        raise usage_error(f"no release {release!r}, expected one of {', '.join(releases())}")
    if record and names:
        raise usage_error("--record keeps all bugs, expected no names beside it")
    asked = [known[name] for name in names or known]
    with progress(f"Kafka {release} with bugs", len(asked)) as advance:
        found = bugs_of(release, lambda row: advance(1, row.name), asked)
    if record:
        record_result(found)
    show([section_of(found)])
    named = [cell.detects for row in found.rows if (cell := row.by(NAMED)) is not None]
    return ExitCode.CONFORMANT if all(named) else ExitCode.VIOLATION
