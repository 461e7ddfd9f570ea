"""`kraft-spec admin quorum`: the simulated quorum of a cluster directory.

Rules: cli.add-controller, cli.remove-controller, cli.admin-routing.
"""

from pathlib import Path
from typing import Annotated

import typer

from kraft_conformance.commands.describe import At, Replication, Status
from kraft_conformance.commands.describe import describe as describe_trace
from kraft_conformance.commands.options import Json
from kraft_conformance.commands.storage import ClusterDir
from kraft_conformance.console import print_json, say, stderr, stdout
from kraft_conformance.directories.admin import Client, route
from kraft_conformance.directories.answers import show_outcome
from kraft_conformance.directories.cluster_directory import ClusterDirectory
from kraft_conformance.directories.errors import refused
from kraft_conformance.directories.membership import unknown_servers
from kraft_conformance.directories.metadata_directory import MetadataDirectory, read_metadata_directory, with_properties
from kraft_conformance.directories.names import MalformedNameError, directory_id
from kraft_conformance.directories.node import read_node
from kraft_conformance.directories.quorum import Quorum, open_or_begin, open_quorum
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import usage_error
from kraft_reference.changes import ChangeKind
from kraft_reference.events import AddVoter, RemoveVoter
from kraft_reference.identity import ReplicaKey
from kraft_reference.metrics import current_state
from kraft_reference.profile import PROFILES

app = typer.Typer(
    help="Run a simulated quorum, and change its voters as kafka-metadata-quorum does.", no_args_is_help=True
)

Nodes = Annotated[list[int] | None, typer.Argument(help="Node ids; without one: all that are formatted.")]
NodesNeeded = Annotated[list[int], typer.Argument(help="Node ids.")]
Seed = Annotated[int | None, typer.Option(min=0, help="At the first start: same seed and commands, same history.")]
ProfileName = Annotated[str | None, typer.Option("--profile", help=f"At the first start: {', '.join(PROFILES)}.")]
Configs = Annotated[
    list[Path] | None, typer.Option("--config", "-c", help="Start this node, with these properties; repeatable.")
]
Kill = Annotated[bool, typer.Option("--kill", help="At once: a leader does not hand over, unsynced records are lost.")]
ForMs = Annotated[int, typer.Option("--for-ms", min=1, max=86_400_000, help="How much virtual time passes.")]
Appends = Annotated[int, typer.Option(min=0, max=100_000, help="Records that clients append in that time.")]
Servers = Annotated[
    str | None, typer.Option("--bootstrap-server", help="Brokers, host:port with commas: one forwards to the leader.")
]
Controllers = Annotated[
    str | None,
    typer.Option("--bootstrap-controller", help="Controllers, host:port with commas; default: the quorum's own."),
]
Config = Annotated[Path, typer.Option("--config", "--command-config", "-c", help="The properties of the new node.")]
TimeoutMs = Annotated[int, typer.Option("--timeout-ms", min=1, help="How long the leader may work on it.")]
ControllerId = Annotated[int, typer.Option("--controller-id", help="The node id of the voter to remove.")]
ControllerUuid = Annotated[
    str, typer.Option("--controller-uuid", "--controller-directory-id", help="Its directory id.")
]
RequestClusterId = Annotated[
    str | None, typer.Option("--cluster-id", help="What the request names; default: the quorum's own.")
]


@app.command("start")
def start(
    nodes: Nodes = None,
    config: Configs = None,
    seed: Seed = None,
    profile: ProfileName = None,
    cluster_dir: ClusterDir = Path(),
) -> int:
    """Start nodes from their metadata directories; the first start begins the history."""
    with open_or_begin(ClusterDirectory(cluster_dir), seed, profile) as (quorum, formatted):
        chosen = {node_id: _formatted(formatted, node_id) for node_id in nodes or ()}
        changed: dict[int, str] = {}
        for file in config or ():
            node = read_node(file)
            chosen[node.id] = with_properties(_formatted(formatted, node.id), node, {**formatted, **chosen})
            changed[node.id] = file.read_text()
        if not chosen:
            chosen = {node_id: one for node_id, one in formatted.items() if not quorum.is_running(node_id)}
            if not chosen:
                raise refused("all formatted nodes are running already")
        for one in chosen.values():
            for warning in unknown_servers(quorum.configuration, one):
                say(f"warning: {warning}", console=stderr)
            quorum.start(one)
    for node_id, text in changed.items():
        chosen[node_id].keep_properties(text)
    stdout.print(f"started {', '.join(map(str, chosen))}")
    return ExitCode.CONFORMANT


@app.command("stop")
def stop(nodes: NodesNeeded, kill: Kill = False, cluster_dir: ClusterDir = Path()) -> int:
    """Stop nodes; a leader hands over first."""
    with open_quorum(ClusterDirectory(cluster_dir)) as (quorum, _):
        for node_id in nodes:
            _known(quorum, node_id)
            quorum.stop(node_id, kill=kill)
    stdout.print(f"{'killed' if kill else 'stopped'} {', '.join(map(str, nodes))}")
    return ExitCode.CONFORMANT


@app.command("run")
def run(for_ms: ForMs = 10_000, appends: Appends = 0, cluster_dir: ClusterDir = Path()) -> int:
    """Let virtual time pass: the nodes elect, replicate, and join as they do by themselves."""
    with open_quorum(ClusterDirectory(cluster_dir)) as (quorum, _):
        if not quorum.running:
            raise refused("no node is running; `kraft-spec admin quorum start` starts them")
        before = quorum.world.sequence
        quorum.run(for_ms, appends)
        events = quorum.world.sequence - before
        leader = quorum.leader()
    leads = "nobody leads" if leader is None else f"node {leader} leads epoch {quorum.state(leader).epoch}"
    stdout.print(f"{events} events in {for_ms} ms; {leads}")
    return ExitCode.CONFORMANT


@app.command("snapshot")
def snapshot(nodes: NodesNeeded, cluster_dir: ClusterDir = Path()) -> int:
    """Let nodes replace what they know to be committed by a snapshot."""
    with open_quorum(ClusterDirectory(cluster_dir)) as (quorum, _):
        for node_id in nodes:
            _known(quorum, node_id)
        ends = [(node_id, quorum.take_snapshot(node_id)) for node_id in nodes]
    for node_id, end in ends:
        stdout.print(f"node {node_id} has a snapshot of everything before offset {end}")
    return ExitCode.CONFORMANT


@app.command("add-controller")
def add_controller(
    config: Config,
    bootstrap_server: Servers = None,
    bootstrap_controller: Controllers = None,
    timeout_ms: TimeoutMs = 30_000,
    cluster_id: RequestClusterId = None,
    cluster_dir: ClusterDir = Path(),
    as_json: Json = False,
) -> int:
    """Add a node to the voters: id and endpoint from its properties, directory id from its meta.properties."""
    node = read_node(config)
    with open_quorum(ClusterDirectory(cluster_dir)) as (quorum, nodes):
        if not node.is_controller:
            raise usage_error(f"{config}: node {node.id} is a broker, which cannot vote")
        new = read_metadata_directory(cluster_dir / node.metadata_directory)
        if new.key.id != node.id:
            raise usage_error(f"{config} is of node {node.id}, {new.path} of node {new.key.id}")
        to = route(nodes, quorum, bootstrap_server, bootstrap_controller)
        asked = quorum.configuration.cluster_id if cluster_id is None else cluster_id
        outcome = Client(quorum, to).ask(
            lambda number: AddVoter(number, new.key, node.endpoint, timeout_ms, cluster_id=asked)
        )
    return show_outcome(f"add-controller {new.key} at {node.endpoint}", ChangeKind.ADD, outcome, as_json)


@app.command("remove-controller")
def remove_controller(
    controller_id: ControllerId,
    controller_uuid: ControllerUuid,
    bootstrap_server: Servers = None,
    bootstrap_controller: Controllers = None,
    cluster_id: RequestClusterId = None,
    cluster_dir: ClusterDir = Path(),
    as_json: Json = False,
) -> int:
    """Remove a voter, named by its node id and its directory id."""
    try:
        key = ReplicaKey(controller_id, directory_id(controller_uuid))
    except MalformedNameError as error:
        raise usage_error(f"--controller-uuid: {error}") from error
    with open_quorum(ClusterDirectory(cluster_dir)) as (quorum, nodes):
        to = route(nodes, quorum, bootstrap_server, bootstrap_controller)
        asked = quorum.configuration.cluster_id if cluster_id is None else cluster_id
        outcome = Client(quorum, to).ask(lambda number: RemoveVoter(number, key, cluster_id=asked))
    one = quorum.configuration.replicas.get(controller_id)
    if one is not None and one.auto_join and quorum.is_running(controller_id) and outcome.succeeded:
        say(f"warning: node {controller_id} runs with auto join and will join again", console=stderr)
    return show_outcome(f"remove-controller {key}", ChangeKind.REMOVE, outcome, as_json)


@app.command("describe")
def describe(
    status: Status = False,
    replication: Replication = False,
    at: At = None,
    cluster_dir: ClusterDir = Path(),
    as_json: Json = False,
) -> int:
    """Print the quorum: `kraft-spec describe` on this cluster directory."""
    return describe_trace(str(cluster_dir), status, replication, at, as_json)


@app.command("nodes")
def nodes_of(cluster_dir: ClusterDir = Path(), as_json: Json = False) -> int:
    """List the formatted nodes and what has become of them."""
    with open_quorum(ClusterDirectory(cluster_dir), changes=False) as (quorum, formatted):
        rows = [_node_row(quorum, formatted.get(node_id), node_id) for node_id in quorum.world.replicas]
    if as_json:
        print_json(rows)
        return ExitCode.CONFORMANT
    for row in rows:
        name = f"{row['node_id']} {row['directory_id'] or ''}".rstrip()
        progress = f"epoch {row['epoch']}, log end {row['log_end_offset']}"
        say(f"node {name} at {row['endpoint']}: {row['state']}, {progress}")
    return ExitCode.CONFORMANT


def _node_row(quorum: Quorum, one: MetadataDirectory | None, node_id: int) -> dict[str, object]:
    state = quorum.state(node_id)
    return {
        "node_id": node_id,
        "directory_id": None if one is None else one.key.directory_id,
        "endpoint": quorum.configuration.replicas[node_id].endpoint if one is None else one.node.endpoint,
        "state": _process_state(quorum, one, node_id),
        "epoch": state.epoch,
        "log_end_offset": state.log.end_offset,
    }


def _process_state(quorum: Quorum, one: MetadataDirectory | None, node_id: int) -> str:
    """The metric current-state of a process that runs, else why none does."""
    if one is None:
        return "no disk"
    if not quorum.is_running(node_id):
        return "stopped"
    return current_state(quorum.state(node_id), quorum.configuration)


def _formatted(nodes: dict[int, MetadataDirectory], node_id: int) -> MetadataDirectory:
    if node_id not in nodes:
        there = ", ".join(map(str, nodes)) or "none"
        raise usage_error(f"node {node_id} has no formatted metadata directory; formatted: {there}")
    return nodes[node_id]


def _known(quorum: Quorum, node_id: int) -> None:
    if node_id not in quorum.world.replicas:
        raise usage_error(f"no node {node_id}; there are {', '.join(map(str, quorum.world.replicas))}")
