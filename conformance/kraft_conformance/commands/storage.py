"""`kraft-spec admin storage`: the metadata directories of a simulated cluster.  Rule: cli.storage-format."""

from pathlib import Path
from typing import Annotated

import typer

from kraft_conformance.commands.options import Json
from kraft_conformance.console import print_json, say, stderr
from kraft_conformance.directories.checkpoint import FILE_NAME
from kraft_conformance.directories.cluster_directory import ClusterDirectory
from kraft_conformance.directories.features import kraft_version_of
from kraft_conformance.directories.formatting import (
    FormatRequest,
    Formatted,
    Voters,
    check_may_return,
    format_node,
)
from kraft_conformance.directories.names import (
    MalformedNameError,
    cluster_id,
    directory_id,
    initial_controllers,
    random_directory_id,
)
from kraft_conformance.directories.node import read_node
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import usage_error

app = typer.Typer(help="Format metadata directories, as kafka-storage does.", no_args_is_help=True)

ClusterDir = Annotated[
    Path,
    typer.Option(
        "--cluster-dir", "-d", envvar="KRAFT_SPEC_CLUSTER_DIR", help="The cluster directory: its nodes and history."
    ),
]
Config = Annotated[Path, typer.Option("--config", "-c", help="The properties of the node.")]
ClusterId = Annotated[str, typer.Option("--cluster-id", "-t", help="The same on all nodes.")]
Standalone = Annotated[bool, typer.Option("--standalone", "-s", help="This node is the only voter: on one node only.")]
Listed = Annotated[
    str | None,
    typer.Option(
        "--controller-quorum-voters",
        "--initial-controllers",
        "-I",
        help="The first voters, the same list on each: id-uuid@host:port or id@host:port:uuid, with commas.",
    ),
]
NoControllers = Annotated[
    bool, typer.Option("--no-initial-controllers", "-N", help="No voters: the node waits to be added.")
]
Release = Annotated[str | None, typer.Option("--release-version", "-r", help="A release, 4.1 for one.")]
Feature = Annotated[list[str] | None, typer.Option("--feature", "-f", help="kraft.version=0 or kraft.version=1.")]
DirectoryId = Annotated[
    str | None, typer.Option("--directory-id", help="In place of a random one, for runs that must repeat.")
]


@app.command("format")
def format_directory(
    cluster: ClusterId,
    config: Config,
    cluster_dir: ClusterDir = Path(),
    standalone: Standalone = False,
    voters: Listed = None,
    no_initial_controllers: NoControllers = False,
    release_version: Release = None,
    feature: Feature = None,
    own_directory_id: DirectoryId = None,
    as_json: Json = False,
) -> int:
    """Format the metadata directory of one node: its ids, and the bootstrap checkpoint with the first voters."""
    chosen = [
        option
        for option, given in (
            (Voters.STANDALONE, standalone),
            (Voters.LIST, voters is not None),
            (Voters.NONE, no_initial_controllers),
        )
        if given
    ]
    if len(chosen) > 1:
        raise usage_error(f"{' and '.join(chosen)}: expected one of them")
    try:
        request = FormatRequest(
            cluster_id=cluster_id(cluster),
            voters=chosen[0] if chosen else None,
            listed=() if voters is None else initial_controllers(voters),
            directory_id=None if own_directory_id is None else directory_id(own_directory_id),
            kraft_version=kraft_version_of(release_version, feature, "storage format"),
        )
    except MalformedNameError as error:
        raise usage_error(str(error)) from error
    node = read_node(config)
    check_may_return(ClusterDirectory(cluster_dir), node, request)
    formatted = format_node(ClusterDirectory(cluster_dir), node, request)
    for warning in formatted.warnings:
        say(f"warning: {warning}", console=stderr)
    _show(formatted, as_json)
    return ExitCode.CONFORMANT


@app.command("random-uuid")
def random_uuid() -> int:
    """Print a random directory id or cluster id."""
    print(random_directory_id())
    return ExitCode.CONFORMANT


def _show(formatted: Formatted, as_json: bool) -> None:
    one = formatted.directory
    level = 0 if one.is_static else 1
    if as_json:
        print_json(
            {
                "directory": str(one.path),
                "cluster_id": one.cluster_id,
                "node_id": one.key.id,
                "directory_id": one.key.directory_id,
                "kraft_version": level if one.voters or one.is_static else None,
                "voters": [str(voter) for voter in one.initial_keys],
                "warnings": list(formatted.warnings),
            }
        )
        return
    say(f"Formatted {one.path} for node {one.key} of cluster {one.cluster_id}.")
    listed = ", ".join(map(str, one.initial_keys))
    if one.voters is not None:
        say(f"{FILE_NAME}: kraft.version 1, voters {listed}.")
    elif one.is_static:
        say(f"Static voters {listed} (controller.quorum.voters), kraft.version 0.")
    else:
        waits = "waits to be added as a voter" if one.node.is_controller else "is a broker, which follows the quorum"
        say(f"No voters: the node {waits}.")
