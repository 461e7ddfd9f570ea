"""`kraft-spec admin reassign`: reassignments on a simulated cluster, as kafka-reassign-partitions has them.

Rules: cli.reassign-list, cli.reassign-additional, cli.reassign-cancel, cli.reassign-connection.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from kraft_conformance.commands.options import Json
from kraft_conformance.commands.reassign_options import (
    Additional,
    Controllers,
    DryRun,
    JsonFile,
    MaybeJsonFile,
    Rounds,
    Throttle,
    ZooKeeper,
    check_connection,
    check_controllers_option,
    read_asked,
    warn,
)
from kraft_conformance.commands.reassign_shown import Answered, show_answer, show_plan, show_wait, worst
from kraft_conformance.commands.storage import ClusterDir
from kraft_conformance.commands.topics import Server
from kraft_conformance.console import print_json, shown, stdout
from kraft_conformance.directories.admin import route
from kraft_conformance.directories.cluster_directory import ClusterDirectory
from kraft_conformance.directories.errors import refused
from kraft_conformance.directories.partition_cluster import PartitionCluster
from kraft_conformance.directories.partition_requests import Result, Targets, forwarder, steps_of, submitted
from kraft_conformance.directories.partition_text import NOTHING_RUNS, list_text, reassignment_line
from kraft_conformance.directories.partition_work import Step, worked
from kraft_conformance.directories.quorum_reassignment import check_controllers, planned, quorum_now, split
from kraft_conformance.directories.quorum_requests import asked_quorum
from kraft_conformance.directories.quorum_work import Watch, work
from kraft_conformance.directories.reassigned_cluster import ReassignedCluster, open_reassigned
from kraft_conformance.directories.reassigned_partitions import document, replicas, target_of, verified
from kraft_conformance.directories.reassignment_json import QUORUM, reassignment_text
from kraft_conformance.exit_codes import ExitCode
from kraft_reference.partitions.partition import Assignment, TopicPartition

app = typer.Typer(help="Reassign partitions, as kafka-reassign-partitions does.", no_args_is_help=True)


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
    check_connection(zookeeper)
    voters, targets = split(read_asked(reassignment_json_file).targets)
    with open_reassigned(
        ClusterDirectory(cluster_dir), quorum=voters is not None, partitions=bool(targets), changes=False
    ) as there:
        if there.running:
            warn("a reassignment is in progress: `run` needs --additional")
        of_quorum = None
        if voters is not None:
            check_controllers(there.nodes, voters)
            of_quorum = planned(there.quorum, there.nodes, voters)
        if not targets:
            return show_plan(of_quorum, (), None, as_json)
        forwarder(there.partitions.history, bootstrap_server)
        history, results = submitted(there.partitions.history, targets)
        steps = steps_of(results)
        for after, step in worked(history, None):
            history = after
            steps.append(step)
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
    bootstrap_controller: Controllers = None,
    zookeeper: ZooKeeper = None,
    cluster_dir: ClusterDir = Path(),
    as_json: Json = False,
) -> int:
    """Ask for reassignments, and let the cluster work on them until they are complete, or for some rounds.

    Exit code: 1 if a partition is refused, else 2 if nothing happens any more and a reassignment is not complete.
    """
    check_connection(zookeeper)
    asked = read_asked(reassignment_json_file).targets
    voters, targets = split(asked)
    check_controllers_option(bootstrap_controller, voters is not None)
    with open_reassigned(ClusterDirectory(cluster_dir), quorum=voters is not None, partitions=bool(targets)) as there:
        if voters is not None:
            check_controllers(there.nodes, voters)
        running = there.running
        if running and not additional:
            # An address that is nobody's is the first thing to say, as it was before anything ran.
            _check_servers(there, [name for name, _ in asked], bootstrap_server, bootstrap_controller)
            raise refused(
                "a reassignment is in progress, and nothing was asked for; --additional starts others beside it\n"
                + "\n".join(map(reassignment_line, running))
            )
        before = replicas(there)
        answered = _ask(there, [name for name, _ in asked], targets, voters, bootstrap_server, bootstrap_controller)
        steps = list(steps_of(answered.results))
        if targets:
            steps += _work(there.partitions, rounds)
        if answered.answer is not None and answered.answer.granted:
            work(there.quorum, answered.answer.watch, rounds)
    if throttle is not None:
        warn(f"--throttle {throttle}: without effect, as no bytes move in the simulation")
    rollback = {name: before[name] for name in answered.granted}
    return show_answer(there, answered, steps, as_json, rollback=rollback, waited=rounds is None)


@app.command("wait")
def wait(rounds: Rounds = None, cluster_dir: ClusterDir = Path(), as_json: Json = False) -> int:
    """Let the cluster work on until nothing happens by itself any more, or for some rounds.

    Exit code: 2 if nothing happens any more and a reassignment is not complete.
    """
    with open_reassigned(ClusterDirectory(cluster_dir)) as there:
        watch = None
        if there.maybe_quorum is not None and quorum_now(there.quorum).target is not None:
            watch = Watch(there.quorum)
        steps: Sequence[Step] = ()
        if there.maybe_partitions is not None:
            steps = _work(there.partitions, rounds)
        if watch is not None:
            work(there.quorum, watch, rounds)
    return show_wait(there, steps, watch, as_json, waited=rounds is None)


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
    check_connection(zookeeper)
    asked = read_asked(reassignment_json_file).targets
    voters, targets = split(asked)
    with open_reassigned(
        ClusterDirectory(cluster_dir), quorum=voters is not None, partitions=bool(targets), changes=False
    ) as there:
        _check_servers(there, [name for name, _ in asked], bootstrap_server)
        found = [(name, *verified(there, name, target)) for name, target in asked]
    if as_json:
        rows = [{"topic": name.topic, "partition": name.partition, "status": word} for name, word, _ in found]
        print_json(rows)
    else:
        for name, _, text in found:
            stdout.print(shown(f"{name}: {text}"), soft_wrap=True)
    codes = {"complete": ExitCode.CONFORMANT, "in progress": ExitCode.INCONCLUSIVE}
    return worst([codes.get(word, ExitCode.VIOLATION) for _, word, _ in found])


@app.command("cancel")
def cancel(
    reassignment_json_file: MaybeJsonFile = None,
    dry_run: DryRun = False,
    bootstrap_server: Server = None,
    bootstrap_controller: Controllers = None,
    zookeeper: ZooKeeper = None,
    cluster_dir: ClusterDir = Path(),
    as_json: Json = False,
) -> int:
    """Cancel the reassignments of the partitions in a file, or all that are running; print what was restored.

    The quorum stays with the voters that there are.  Exit code: 1 if a partition is refused.
    """
    check_connection(zookeeper, "cancel")
    asked = None
    if reassignment_json_file is not None:
        asked = [name for name, _ in read_asked(reassignment_json_file).targets]
        check_controllers_option(bootstrap_controller, QUORUM in asked)
    with open_reassigned(
        ClusterDirectory(cluster_dir), quorum=QUORUM in (asked or ()), partitions=bool(set(asked or ()) - {QUORUM})
    ) as there:
        running = [one.partition for one in there.running]
        names = running if asked is None else asked
        targets = [(name, None) for name in names if name != QUORUM]
        _check_servers(there, names, bootstrap_server, bootstrap_controller)
        if dry_run:
            moving = {name: target_of(there, name) for name in names if name in running}
            stdout.print(reassignment_text(moving), markup=False, soft_wrap=True)
            return ExitCode.CONFORMANT
        if not names:
            if as_json:
                print_json({"results": [], "partitions": []})
            else:
                stdout.print(NOTHING_RUNS)
            return ExitCode.CONFORMANT
        answered = _ask(there, names, targets, None, bootstrap_server, bootstrap_controller)
    return show_answer(there, answered, [], as_json)


@app.command("list")
def list_running(
    bootstrap_server: Server = None,
    zookeeper: ZooKeeper = None,
    cluster_dir: ClusterDir = Path(),
    as_json: Json = False,
) -> int:
    """Print the running reassignments."""
    check_connection(zookeeper, "list")
    with open_reassigned(ClusterDirectory(cluster_dir), changes=False) as there:
        _check_servers(there, (), bootstrap_server)
        running = there.running
        rows: list[dict[str, Any]] = [document(there, one.partition) for one in running]
    if as_json:
        print_json(rows)
    else:
        print(list_text(running))
    return ExitCode.CONFORMANT


# ---------------------------------------------------------------------------------------------------------
# Inside.
# ---------------------------------------------------------------------------------------------------------


def _ask(
    there: ReassignedCluster,
    names: Sequence[TopicPartition],
    targets: Targets,
    voters: Assignment | None,
    servers: str | None,
    controllers: str | None,
) -> Answered:
    """Ask the controller for the partitions, and the leader for the quorum; `voters` is None for a cancellation."""
    broker = forwarder(there.partitions.history, servers) if targets else None
    answer = None
    if QUORUM in names:
        # Beside topics --bootstrap-server is theirs too, so that --bootstrap-controller may be given with it.
        to = route(there.nodes, there.quorum, None if controllers and targets else servers, controllers)
        answer = asked_quorum(there.quorum, to, voters)
    results: tuple[Result, ...] = ()
    if targets:
        there.partitions.history, results = submitted(there.partitions.history, targets)
    return Answered(tuple(names), broker, results, answer)


def _check_servers(
    there: ReassignedCluster, names: Sequence[TopicPartition], servers: str | None, controllers: str | None = None
) -> None:
    """Check whom a request about these partitions would go to; about none: about all that there is.

    Raises:
        CommandError: an address is nobody's of that kind, or no broker of the list is alive.
    """
    if set(names) - {QUORUM} or (not names and there.maybe_partitions is not None):
        forwarder(there.partitions.history, servers)
    else:
        route(there.nodes, there.quorum, servers, controllers)


def _work(there: PartitionCluster, rounds: int | None) -> Sequence[Step]:
    steps = []
    for after, step in worked(there.history, rounds):
        there.history = after
        steps.append(step)
    return steps
