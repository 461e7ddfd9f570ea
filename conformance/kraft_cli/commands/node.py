"""`kraft-spec node`: the reference as a real voter or observer.  Rule: cli.storage-format."""

import asyncio
import os
import re
import signal
from pathlib import Path
from typing import Annotated

import typer

from kraft_cli.commands.options import UntracedMutants, known_mutants, one_of
from kraft_conformance.console import say, stderr
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError, usage_error
from kraft_kafka.node.names import (
    ListedVoter,
    MalformedNameError,
    directory_id,
    initial_controllers,
    random_directory_id,
)
from kraft_kafka.node.settings import NodeProperties, read_node
from kraft_reference.identity import ReplicaKey, VoterDetails
from kraft_reference.log import Snapshot
from kraft_reference.profile import PROFILES

app = typer.Typer(
    help="Run the reference as a voter or observer over TCP: a specification to talk to, not a product.",
    no_args_is_help=True,
)

Config = Annotated[Path, typer.Option("--config", "-c", help="The properties of the node, as Kafka's.")]
ClusterId = Annotated[str, typer.Option("--cluster-id", "-t", help="The same on all nodes.")]
Standalone = Annotated[bool, typer.Option("--standalone", "-s", help="This node is the only voter: on one node only.")]
Listed = Annotated[
    str | None,
    typer.Option(
        "--initial-controllers",
        "-I",
        help="The first voters, the same list on each: id@host:port:uuid or id-uuid@host:port, with commas.",
    ),
]
NoControllers = Annotated[
    bool, typer.Option("--no-initial-controllers", "-N", help="No voters: the node waits to be added.")
]
DirectoryId = Annotated[str | None, typer.Option("--directory-id", help="In place of a random one.")]
ProfileName = Annotated[str, typer.Option("--profile", help=f"How open points are decided: {', '.join(PROFILES)}.")]
Trace = Annotated[
    Path | None, typer.Option("--trace", help="Where the node's trace goes; default: trace.jsonl in its data folder.")
]


@app.command("format")
def format_node(
    cluster: ClusterId,
    config: Config,
    standalone: Standalone = False,
    voters: Listed = None,
    no_initial_controllers: NoControllers = False,
    own_directory_id: DirectoryId = None,
) -> int:
    """Format the data folder of a node, as kafka-storage does: its ids, and the first voters.

    Rules: bootstrap.standalone, bootstrap.multi-voter, bootstrap.no-list-means-observer, bootstrap.static-quorum.
    """
    from kraft_kafka.node.disk import format_folder

    node = read_node(config)
    ways = [standalone, voters is not None, no_initial_controllers, bool(node.static_voters)]
    if sum(ways) != 1:
        raise usage_error(
            "expected just one of --standalone, --initial-controllers, --no-initial-controllers, "
            "or controller.quorum.voters in the properties"
        )
    try:
        listed = () if voters is None else initial_controllers(voters)
        own = own_directory_id and directory_id(own_directory_id)
    except MalformedNameError as error:
        raise usage_error(str(error)) from error
    for voter in listed:
        _check_uuid(voter.directory_id, f"--initial-controllers, node {voter.id}")
    _check_uuid(own, "--directory-id")
    # The example in Kafka's documentation is not canonical either.
    _check_uuid(cluster, "--cluster-id", is_canonical=False)
    mine = next((voter for voter in listed if voter.id == node.id), None)
    directory = own or (mine and mine.directory_id) or random_directory_id()
    if mine is not None and (mine.directory_id, mine.endpoint) != (directory, node.endpoint):
        raise usage_error(
            f"the list has {mine.id}-{mine.directory_id} at {mine.endpoint}, not {directory} at {node.endpoint}"
        )
    if standalone:
        listed = (ListedVoter(node.id, node.endpoint, directory),)
    key = ReplicaKey(node.id, directory)
    format_folder(node.metadata_directory, cluster, key, _make_checkpoint(listed) if listed else None)
    say(f"Formatted {node.metadata_directory} for node {key} of cluster {cluster}.")
    return ExitCode.CONFORMANT


def _check_uuid(text: str | None, option: str, is_canonical: bool = True) -> None:
    """Check a uuid of an option; one that is not canonical may have extra bits in its last character."""
    if text is None or (not is_canonical and re.fullmatch("[A-Za-z0-9_-]{22}", text)):
        return
    from kraft_kafka.wire.encoding import uuid_bytes
    from kraft_kafka.wire.errors import WireError

    try:
        uuid_bytes(text, option)
    except WireError as error:
        raise usage_error(str(error)) from error


def _make_checkpoint(listed: tuple[ListedVoter, ...]) -> Snapshot:
    details = tuple(VoterDetails(voter.id, voter.endpoint, 0, 1) for voter in listed)
    return Snapshot(0, 0, 1, frozenset(ReplicaKey(voter.id, voter.directory_id) for voter in listed), details)


def static_checkpoint(node: NodeProperties) -> Snapshot:
    """Return the state without any snapshot: the static voters, or no voters.  Rule: bootstrap.static-quorum."""
    details = tuple(VoterDetails(voter.id, voter.endpoint, 0, 0) for voter in node.static_voters)
    return Snapshot(0, 0, 0, frozenset(ReplicaKey(voter.id) for voter in node.static_voters), details)


@app.command("random-uuid")
def random_uuid() -> int:
    """Print a random directory id or cluster id."""
    print(random_directory_id())
    return ExitCode.CONFORMANT


@app.command("run")
def run(config: Config, profile: ProfileName = "kip", trace: Trace = None, mutant: UntracedMutants = None) -> int:
    """Run a formatted node until it is told to end: SIGTERM and Ctrl-C let a leader resign first."""
    node = read_node(config)
    one_of("profile", profile, PROFILES)
    for warning in node.likely_typos():
        say(f"warning: {warning}", console=stderr)
    asyncio.run(_run(node, profile, trace, known_mutants(mutant)))
    return ExitCode.CONFORMANT


async def _run(properties: NodeProperties, profile: str, trace: Path | None, mutants: tuple[str, ...]) -> None:
    from kraft_kafka.node.bootstrap import bootstrap_servers
    from kraft_kafka.node.disk import Disk
    from kraft_kafka.node.driver import Node, configuration_of
    from kraft_kafka.node.handing_on import live_as_broker
    from kraft_kafka.node.serving import Serving
    from kraft_kafka.node.trace import NodeTrace
    from kraft_kafka.wire.connections import Server
    from kraft_mutants.replicas import mutated_replicas

    static = static_checkpoint(properties)
    disk = Disk(properties.metadata_directory, static)
    if disk.key.id != properties.id:
        raise CommandError(
            f"{properties.metadata_directory} was formatted for node {disk.key.id}, and {properties.source} is of "
            f"node {properties.id}",
            ExitCode.BAD_INPUT,
        )
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    servers = await bootstrap_servers(properties, disk, ended)
    if servers is None:
        return
    level = disk.state.log.versions[0].kraft_version
    configuration = configuration_of(properties, disk, PROFILES[profile], servers, level)
    path = properties.metadata_directory / "trace.jsonl" if trace is None else trace

    async def respond(frame: bytes) -> bytes | None:
        return await serving.respond(frame)

    # Before opening the trace, so that a second process of this node ends here without writing.
    server = Server(*properties.bind, respond)
    try:
        await server.start()
    except OSError as error:
        why = os.strerror(error.errno or 0).lower()
        raise CommandError(
            f"{properties.source}: listeners: {server.host}:{server.port}: {why}", ExitCode.CANNOT_WRITE
        ) from None
    own = NodeTrace(path, configuration, disk.state)
    running = Node(configuration, disk, own, properties.snapshot_bytes, mutated_replicas(mutants))
    serving = Serving(running, properties.is_controller)
    running.start()
    say(f"node {running.id} listens at {server.host}:{server.port}")
    if not properties.is_controller:
        await live_as_broker(running, ended)
    await ended.wait()
    await running.stop(is_leaving=True)
    await server.stop()
