"""The options of `kraft-spec admin reassign`, and what is said about them."""

from pathlib import Path
from typing import Annotated

import typer

from kraft_conformance.console import shown, stderr
from kraft_conformance.directories.reassignment_json import ReassignmentFile, read_reassignment
from kraft_conformance.failure import usage_error

JsonFile = Annotated[
    Path, typer.Option("--reassignment-json-file", help="The partitions and their replicas, in Kafka's format.")
]
MaybeJsonFile = Annotated[
    Path | None, typer.Option("--reassignment-json-file", help="The partitions to cancel; default: all that move.")
]
Additional = Annotated[bool, typer.Option("--additional", help="Also while others are being reassigned.")]
Rounds = Annotated[
    int | None,
    typer.Option(
        "--rounds", min=0, max=1_000_000, help="How many rounds the cluster works; 0: none. Default: until all is done."
    ),
]
Throttle = Annotated[
    int | None, typer.Option("--throttle", help="Bytes a second: taken, and without effect, as no bytes move.")
]
Controllers = Annotated[
    str | None,
    typer.Option(
        "--bootstrap-controller", help="For the quorum: controllers, host:port with commas; default: the quorum's own."
    ),
]
ZooKeeper = Annotated[str | None, typer.Option("--zookeeper", help="Refused: use --bootstrap-server.")]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Cancel nothing; print a file that names what would be cancelled.")
]


def read_asked(source: Path) -> ReassignmentFile:
    """What a file asks for; what it says in vain is warned about.

    Raises:
        CommandError: the file is not what it must be.
    """
    asked = read_reassignment(source)
    for warning in asked.warnings:
        warn(warning)
    return asked


def warn(text: str) -> None:
    """Say something beside the output."""
    stderr.print(shown(f"warning: {text}"), soft_wrap=True)


def check_connection(zookeeper: str | None, command: str | None = None) -> None:
    """Refuse --zookeeper.  Rule: cli.reassign-connection.

    Raises:
        CommandError: it is given.
    """
    if zookeeper is None:
        return
    never = "" if command is None else f", and ZooKeeper has no `{command}`"
    raise usage_error(
        f"--zookeeper {zookeeper}: reassignments go through the admin API{never}; "
        "use --bootstrap-server bN:9092, or nothing (cli.reassign-connection)"
    )


def check_controllers_option(controllers: str | None, names_quorum: bool) -> None:
    """Refuse --bootstrap-controller for a request that has nothing for the quorum.

    Raises:
        CommandError: it is given all the same.
    """
    if controllers is not None and not names_quorum:
        raise usage_error(
            f"--bootstrap-controller {controllers}: is for the quorum's own partition, which is not named; "
            "brokers forward the others: --bootstrap-server bN:9092"
        )
