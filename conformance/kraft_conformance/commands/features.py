"""`kraft-spec admin features`: the kraft.version of a simulated quorum.  Rule: cli.features."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from kraft_conformance.commands.options import Json
from kraft_conformance.commands.quorum import Controllers, Servers
from kraft_conformance.commands.storage import ClusterDir, Feature, Release
from kraft_conformance.console import print_json, say, stderr
from kraft_conformance.directories.admin import Client, route
from kraft_conformance.directories.answers import show_outcome
from kraft_conformance.directories.cluster_directory import ClusterDirectory
from kraft_conformance.directories.errors import refused
from kraft_conformance.directories.features import KRAFT_VERSION, kraft_version_of, supported
from kraft_conformance.directories.quorum import open_quorum
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import usage_error
from kraft_reference.changes import ChangeKind
from kraft_reference.events import UpdateFeatures
from kraft_reference.pending_changes import finalized_version

app = typer.Typer(help="Upgrade and describe kraft.version, as kafka-features does.", no_args_is_help=True)

Metadata = Annotated[str | None, typer.Option("--metadata", help="Deprecated: the same as --release-version.")]


def _changing(verb: str) -> Callable[..., int]:
    def change(
        release_version: Release = None,
        feature: Feature = None,
        metadata: Metadata = None,
        bootstrap_server: Servers = None,
        bootstrap_controller: Controllers = None,
        cluster_dir: ClusterDir = Path(),
        as_json: Json = False,
    ) -> int:
        level = _level(release_version, feature, metadata, f"features {verb}")
        with open_quorum(ClusterDirectory(cluster_dir)) as (quorum, nodes):
            to = route(nodes, quorum, bootstrap_server, bootstrap_controller)
            low, high = supported(quorum, nodes, brokers_only=True)
            outcome = Client(quorum, to).ask(lambda number: UpdateFeatures(number, level, low, high))
        return show_outcome(f"{verb} {KRAFT_VERSION} to {level}", ChangeKind.UPGRADE, outcome, as_json)

    return change


app.command("upgrade", help="Raise kraft.version to what a release or the feature says.")(_changing("upgrade"))
app.command("downgrade", help="Ask for a lower kraft.version, which the leader refuses.")(_changing("downgrade"))


@app.command("describe")
def describe(cluster_dir: ClusterDir = Path(), as_json: Json = False) -> int:
    """Print the range of kraft.version that all nodes support, and the finalized level."""
    with open_quorum(ClusterDirectory(cluster_dir), changes=False) as (quorum, nodes):
        leader = quorum.leader()
        if leader is None:
            raise refused("nobody leads, so that nobody knows the finalized level")
        state = quorum.state(leader)
        low, high = supported(quorum, nodes)
        level = finalized_version(state, quorum.configuration)
        epoch = state.high_watermark - 1
    if as_json:
        print_json({"feature": KRAFT_VERSION, "min": low, "max": high, "finalized": level, "epoch": epoch})
    else:
        print(
            f"Feature: {KRAFT_VERSION}\tSupportedMinVersion: {low}\tSupportedMaxVersion: {high}\t"
            f"FinalizedVersionLevel: {level}\tEpoch: {epoch}"
        )
    return ExitCode.CONFORMANT


def _level(release: str | None, feature: list[str] | None, metadata: str | None, command: str) -> int:
    if metadata is not None:
        say("warning: --metadata is deprecated, use --release-version", console=stderr)
        if release is not None:
            raise usage_error("--metadata is --release-version: expected one of the two")
    level = kraft_version_of(release or metadata, feature, command)
    if level is None:
        raise usage_error(f"{command}: expected --release-version or --feature {KRAFT_VERSION}=LEVEL")
    return level
