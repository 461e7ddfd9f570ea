"""`kraft-spec admin topics`: the topics and brokers of a simulated cluster.  Rule: cli.topics-describe."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from kraft_conformance.commands.options import Json
from kraft_conformance.commands.storage import ClusterDir
from kraft_conformance.console import print_json, stdout
from kraft_conformance.directories import assignments
from kraft_conformance.directories.cluster_directory import ClusterDirectory
from kraft_conformance.directories.errors import refused
from kraft_conformance.directories.names import MalformedNameError
from kraft_conformance.directories.partition_cluster import open_or_begin_partitions, open_partitions
from kraft_conformance.directories.partition_requests import forwarder, reassignments
from kraft_conformance.directories.partition_text import partition_document, partitions_of, status_line, topic_text
from kraft_conformance.directories.reassignment_json import QUORUM
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import usage_error

app = typer.Typer(help="Make and describe topics, as kafka-topics does; stop and start brokers.", no_args_is_help=True)

Topic = Annotated[str, typer.Option("--topic", help="The name.")]
MaybeTopic = Annotated[str | None, typer.Option("--topic", help="The name; default: all.")]
Assigned = Annotated[
    str, typer.Option("--replica-assignment", help="Broker ids with colons, partitions with commas: 1:2:3,2:3:4.")
]
Brokers = Annotated[
    str | None,
    typer.Option(help="Brokers that there are from now on besides those before: 1-6; at first also the assigned ones."),
]
Configs = Annotated[
    list[str] | None, typer.Option("--config", help="unclean.leader.election.enable=true, the only one simulated.")
]
ProfileName = Annotated[
    str | None, typer.Option("--profile", help="With the first topic, answers to KIP-455's open points: kip, kafka-4.")
]
Server = Annotated[
    str | None, typer.Option("--bootstrap-server", help="Brokers, bN:9092 with commas; default: all of them.")
]
Stop = Annotated[list[int] | None, typer.Option("--stop", help="Let a broker fail; repeatable.")]
Start = Annotated[list[int] | None, typer.Option("--start", help="Let a broker come back; repeatable.")]

_Read = TypeVar("_Read")


@app.command("create")
def create(
    topic: Topic,
    replica_assignment: Assigned,
    brokers: Brokers = None,
    config: Configs = None,
    profile: ProfileName = None,
    cluster_dir: ClusterDir = Path(),
) -> int:
    """Make a topic with these replicas; the first one begins the history of the partitions."""
    name = _read("--topic", assignments.topic_name, topic)
    replicas = _read("--replica-assignment", assignments.replica_assignment, replica_assignment)
    registered = frozenset() if brokers is None else _read("--brokers", assignments.brokers, brokers)
    unclean = _read("--config", assignments.is_unclean, config)
    cluster = ClusterDirectory(cluster_dir)
    if not cluster.partitions.exists():
        registered = registered.union(*replicas)
    with open_or_begin_partitions(cluster, registered, profile) as there:
        there.create_topic(name, replicas, unclean=unclean)
        known = len(there.history.configuration.brokers)
    plural = "" if len(replicas) == 1 else "s"
    stdout.print(f"Created topic {name} with {len(replicas)} partition{plural}; {known} brokers.", markup=False)
    return ExitCode.CONFORMANT


@app.command("describe")
def describe(
    topic: MaybeTopic = None, bootstrap_server: Server = None, cluster_dir: ClusterDir = Path(), as_json: Json = False
) -> int:
    """Print topics as kafka-topics describes them, with the replicas that a reassignment adds and removes."""
    with open_partitions(ClusterDirectory(cluster_dir), changes=False) as there:
        history = there.history
        forwarder(history, bootstrap_server)
        topics = sorted({name.topic for name in history.state.partitions})
        if topic == QUORUM.topic:
            raise refused(
                f"{topic} is the log of the quorum, and no topic; `kraft-spec admin quorum describe --status` "
                "shows its voters, `kraft-spec admin reassign list` their reassignment"
            )
        if topic is not None and topic not in topics:
            raise refused(f"UNKNOWN_TOPIC_OR_PARTITION (3): no topic {topic}; there are {', '.join(topics)}")
        chosen = topics if topic is None else [topic]
        running = {one.partition: one for one in reassignments(history)}
        if as_json:
            names = [name for one in chosen for name in partitions_of(history, one)]
            print_json([partition_document(history, name) for name in names])
        else:
            # Not through a console, which would turn the tabs of the layout into blanks.
            print("\n".join(topic_text(history, one, running) for one in chosen))
    return ExitCode.CONFORMANT


@app.command("brokers")
def brokers_of(stop: Stop = None, start: Start = None, cluster_dir: ClusterDir = Path(), as_json: Json = False) -> int:
    """Print the brokers; stop and start some before. A stopped one is not in sync, and a reassignment waits for it."""
    with open_partitions(ClusterDirectory(cluster_dir)) as there:
        for broker in stop or ():
            there.stop_broker(broker)
        for broker in start or ():
            there.start_broker(broker)
        history = there.history
    alive = history.state.alive
    held = {
        broker: [str(name) for name, one in sorted(history.state.partitions.items()) if broker in one.replicas]
        for broker in sorted(history.configuration.brokers)
    }
    if as_json:
        rows = [{"broker": one, "alive": one in alive, "partitions": names} for one, names in held.items()]
        print_json(rows)
        return ExitCode.CONFORMANT
    for broker, names in held.items():
        holds = f"holds {', '.join(names)}" if names else "holds nothing"
        stdout.print(f"broker {broker} at b{broker}:9092: {'alive' if broker in alive else 'stopped'}, {holds}")
    if stop or start:
        for name in sorted(history.state.partitions):
            stdout.print(status_line(history, name), markup=False, soft_wrap=True)
    return ExitCode.CONFORMANT


def _read(option: str, parse: Callable[..., _Read], given: object) -> _Read:
    try:
        return parse(given)
    except MalformedNameError as error:
        raise usage_error(f"{option}: {error}") from error
