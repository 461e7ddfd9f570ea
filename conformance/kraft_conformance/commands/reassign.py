"""`kraft-spec reassign`: reassignments on a simulated cluster, as kafka-reassign-partitions has them.

Rules: cli.reassign-list, cli.reassign-additional, cli.reassign-cancel, cli.reassign-connection.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from kraft_conformance.commands.options import Json
from kraft_conformance.commands.reassign_shown import show_answer, show_plan
from kraft_conformance.commands.storage import ClusterDir
from kraft_conformance.commands.topics import Server
from kraft_conformance.console import print_json, shown, stderr, stdout
from kraft_conformance.directories.cluster_directory import ClusterDirectory
from kraft_conformance.directories.errors import refused
from kraft_conformance.directories.partition_cluster import PartitionCluster, open_partitions
from kraft_conformance.directories.partition_requests import forwarder, reassignments, steps_of, submitted
from kraft_conformance.directories.partition_text import (
    NOTHING_RUNS,
    list_text,
    partition_document,
    reassignment_line,
    status_line,
    step_document,
    steps_text,
    verified,
)
from kraft_conformance.directories.partition_work import Step, worked
from kraft_conformance.directories.quorum_reassignment import check_simulated, planned, split
from kraft_conformance.directories.reassignment_json import ReassignmentFile, read_reassignment, reassignment_text
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import usage_error

app = typer.Typer(help="Reassign partitions, as kafka-reassign-partitions does.", no_args_is_help=True)

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
ZooKeeper = Annotated[str | None, typer.Option("--zookeeper", help="Refused: use --bootstrap-server.")]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Cancel nothing; print a file that names what would be cancelled.")
]


@app.command("plan")
def plan(
    reassignment_json_file: JsonFile,
    bootstrap_server: Server = None,
    zookeeper: ZooKeeper = None,
    cluster_dir: ClusterDir = Path(),
    as_json: Json = False,
) -> int:
    """Show what `run` would do, step by step, and change nothing.

    Exit code: 1 if a partition would be refused, else 2 if a reassignment could not complete as the brokers are.
    """
    _check_connection(zookeeper)
    asked = _read(reassignment_json_file)
    voters, targets = split(asked.targets)
    cluster = ClusterDirectory(cluster_dir)
    of_quorum = None if voters is None else planned(cluster, voters)
    if not targets:
        return show_plan(of_quorum, (), None, as_json)
    with open_partitions(cluster, changes=False) as there:
        forwarder(there.history, bootstrap_server)
        running = reassignments(there.history)
        history, results = submitted(there.history, targets)
        steps = steps_of(results)
        for after, step in worked(history, None):
            history = after
            steps.append(step)
    if running:
        _warn("a reassignment is in progress: `run` needs --additional")
    named = {one.name for one in results if one.granted}
    steps = sorted((one for one in steps if one.name in named), key=lambda one: (one.name, one.round))
    return show_plan(of_quorum, results, (history, steps), as_json)


@app.command("run")
def run(
    reassignment_json_file: JsonFile,
    additional: Additional = False,
    rounds: Rounds = None,
    throttle: Throttle = None,
    bootstrap_server: Server = None,
    zookeeper: ZooKeeper = None,
    cluster_dir: ClusterDir = Path(),
    as_json: Json = False,
) -> int:
    """Ask for reassignments, and let the cluster work on them until they are complete, or for some rounds.

    Exit code: 1 if a partition is refused, else 2 if nothing happens any more and a reassignment is not complete.
    """
    _check_connection(zookeeper)
    asked = _read(reassignment_json_file)
    voters, targets = split(asked.targets)
    check_simulated(voters)
    with open_partitions(ClusterDirectory(cluster_dir)) as there:
        broker = forwarder(there.history, bootstrap_server)
        running = reassignments(there.history)
        if running and not additional:
            raise refused(
                "a reassignment is in progress, and nothing was asked for; --additional starts others beside it\n"
                + "\n".join(map(reassignment_line, running))
            )
        before = {name: part.replicas for name, part in there.history.state.partitions.items()}
        there.history, results = submitted(there.history, targets)
        steps = [*steps_of(results), *_work(there, rounds)]
    if throttle is not None:
        _warn(f"--throttle {throttle}: without effect, as no bytes move in the simulation")
    rollback = {one.name: before[one.name] for one in results if one.granted}
    return show_answer(there.history, broker, results, steps, as_json, rollback=rollback, waited=rounds is None)


@app.command("wait")
def wait(rounds: Rounds = None, cluster_dir: ClusterDir = Path(), as_json: Json = False) -> int:
    """Let the cluster work on until nothing happens by itself any more, or for some rounds.

    Exit code: 2 if nothing happens any more and a reassignment is not complete.
    """
    with open_partitions(ClusterDirectory(cluster_dir)) as there:
        steps = _work(there, rounds)
        left = reassignments(there.history)
    if as_json:
        rows = [partition_document(there.history, one.partition) for one in left]
        print_json({"steps": [step_document(one) for one in steps], "in_progress": rows})
    else:
        if steps:
            print(steps_text(steps))
        names = sorted({one.name for one in steps} | {one.partition for one in left})
        for name in names:
            stdout.print(shown(status_line(there.history, name)), soft_wrap=True)
        if not names:
            stdout.print(NOTHING_RUNS)
    return ExitCode.INCONCLUSIVE if left and rounds is None else ExitCode.CONFORMANT


@app.command("verify")
def verify(
    reassignment_json_file: JsonFile,
    bootstrap_server: Server = None,
    zookeeper: ZooKeeper = None,
    cluster_dir: ClusterDir = Path(),
    as_json: Json = False,
) -> int:
    """Say of each partition of a file whether its replicas are those that the file asks for; nothing changes.

    Exit code: 1 if some are others and nobody is at work on it, else 2 if a reassignment to them is in progress.
    """
    _check_connection(zookeeper)
    asked = _read(reassignment_json_file)
    check_simulated(split(asked.targets)[0])
    with open_partitions(ClusterDirectory(cluster_dir), changes=False) as there:
        forwarder(there.history, bootstrap_server)
        found = [(name, *verified(there.history, name, target)) for name, target in asked.targets]
    if as_json:
        rows = [{"topic": name.topic, "partition": name.partition, "status": word} for name, word, _ in found]
        print_json(rows)
    else:
        for name, _, text in found:
            stdout.print(shown(f"{name}: {text}"), soft_wrap=True)
    words = {word for _, word, _ in found}
    if words <= {"complete", "in progress"}:
        return ExitCode.INCONCLUSIVE if "in progress" in words else ExitCode.CONFORMANT
    return ExitCode.VIOLATION


@app.command("cancel")
def cancel(
    reassignment_json_file: MaybeJsonFile = None,
    dry_run: DryRun = False,
    bootstrap_server: Server = None,
    zookeeper: ZooKeeper = None,
    cluster_dir: ClusterDir = Path(),
    as_json: Json = False,
) -> int:
    """Cancel the reassignments of the partitions in a file, or all that are running; print what was restored.

    Exit code: 1 if a partition is refused.
    """
    _check_connection(zookeeper, "cancel")
    asked = None if reassignment_json_file is None else _read(reassignment_json_file)
    check_simulated(None if asked is None else split(asked.targets)[0])
    with open_partitions(ClusterDirectory(cluster_dir)) as there:
        broker = forwarder(there.history, bootstrap_server)
        running = {one.partition for one in reassignments(there.history)}
        names = sorted(running) if asked is None else [name for name, _ in asked.targets]
        if dry_run:
            moving = {name: there.history.state.partitions[name].target for name in names if name in running}
            stdout.print(reassignment_text(moving), markup=False, soft_wrap=True)
            return ExitCode.CONFORMANT
        if not names:
            if as_json:
                print_json({"results": [], "partitions": []})
            else:
                stdout.print(NOTHING_RUNS)
            return ExitCode.CONFORMANT
        there.history, results = submitted(there.history, [(name, None) for name in names])
    return show_answer(there.history, broker, results, [], as_json)


@app.command("list")
def list_running(
    bootstrap_server: Server = None,
    zookeeper: ZooKeeper = None,
    cluster_dir: ClusterDir = Path(),
    as_json: Json = False,
) -> int:
    """Print the running reassignments."""
    _check_connection(zookeeper, "list")
    with open_partitions(ClusterDirectory(cluster_dir), changes=False) as there:
        forwarder(there.history, bootstrap_server)
        running = reassignments(there.history)
        rows: list[dict[str, Any]] = [partition_document(there.history, one.partition) for one in running]
    if as_json:
        print_json(rows)
    else:
        print(list_text(running))
    return ExitCode.CONFORMANT


def _work(there: PartitionCluster, rounds: int | None) -> Sequence[Step]:
    steps = []
    for after, step in worked(there.history, rounds):
        there.history = after
        steps.append(step)
    return steps


def _read(source: Path) -> ReassignmentFile:
    asked = read_reassignment(source)
    for warning in asked.warnings:
        _warn(warning)
    return asked


def _warn(text: str) -> None:
    stderr.print(shown(f"warning: {text}"), soft_wrap=True)


def _check_connection(zookeeper: str | None, command: str | None = None) -> None:
    """Refuse --zookeeper.  Rule: cli.reassign-connection."""
    if zookeeper is None:
        return
    never = "" if command is None else f", and ZooKeeper has no `{command}`"
    raise usage_error(
        f"--zookeeper {zookeeper}: reassignments go through the admin API{never}; "
        "use --bootstrap-server bN:9092, or nothing (cli.reassign-connection)"
    )
