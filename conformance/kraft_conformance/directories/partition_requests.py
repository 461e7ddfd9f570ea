"""The admin client of the partitions of a simulated cluster: whom it asks, what is answered, and what that means."""

from collections.abc import Sequence
from typing import NamedTuple

from kraft_conformance.directories.partition_history import PartitionHistory
from kraft_conformance.directories.partition_work import Step, listed
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError, usage_error
from kraft_reference.partitions.configuration import PartitionConfiguration
from kraft_reference.partitions.controller import handle
from kraft_reference.partitions.effects import AlterReassignmentsAnswer, ListReassignmentsAnswer, Reassignment
from kraft_reference.partitions.errors import ERROR_CODES, Error
from kraft_reference.partitions.events import AlterPartitionReassignments, ListPartitionReassignments
from kraft_reference.partitions.partition import Assignment, Partition, TopicPartition, without

Targets = Sequence[tuple[TopicPartition, Assignment | None]]


class Result(NamedTuple):
    """What became of one partition of a request."""

    name: TopicPartition
    error: Error
    said: str
    """What the error means, or what has changed."""
    before: Partition | None
    """None if there is no such partition."""
    after: Partition | None

    @property
    def granted(self) -> bool:
        """Was it granted?"""
        return self.error is Error.NONE

    def __str__(self) -> str:
        return f"{self.name}: {self.error} ({ERROR_CODES[self.error]}): {self.said}"


def forwarder(history: PartitionHistory, servers: str | None) -> int:
    """The broker that takes a request and forwards it to the controller: the first of the list that is alive.

    Broker N listens at bN:9092; without a list all brokers are in it.

    Raises:
        CommandError: an address is no broker's, or no broker of the list is alive.

    Rules: cli.reassign-connection, partition-reassign.controller-only.
    """
    brokers = {f"b{broker}:9092": broker for broker in sorted(history.configuration.brokers)}
    asked = list(brokers) if servers is None else [one.strip() for one in servers.split(",")]
    for address in asked:
        if address not in brokers:
            raise usage_error(f"--bootstrap-server {address}: no broker listens there; there are {', '.join(brokers)}")
    alive = [brokers[address] for address in asked if brokers[address] in history.state.alive]
    if not alive:
        raise CommandError(f"none of the brokers {', '.join(asked)} is alive: nothing was sent", ExitCode.UNAVAILABLE)
    return alive[0]


def reassignments(history: PartitionHistory, names: Sequence[TopicPartition] | None = None) -> tuple[Reassignment, ...]:
    """What the controller answers to ListPartitionReassignments; nothing changes.  Rule: partition-reassign.list."""
    asked = ListPartitionReassignments(history.state.controller, None if names is None else tuple(names))
    (answer,) = handle(history.state, asked, history.configuration).effects
    assert isinstance(answer, ListReassignmentsAnswer), "the one effect of a list"
    return answer.reassignments


def submitted(history: PartitionHistory, targets: Targets) -> tuple[PartitionHistory, tuple[Result, ...]]:
    """The history after AlterPartitionReassignments, and the results; the same history if nothing was granted.

    Rule: partition-reassign.per-partition.
    """
    after = history.then(AlterPartitionReassignments(history.state.controller, tuple(targets)))
    last = after.occurrences[-1]
    answer = next(effect for effect in last.effects if isinstance(effect, AlterReassignmentsAnswer))
    assert answer.error is Error.NONE, "the controller itself was asked, by who may"
    old, new = history.state.partitions, last.state.partitions
    wanted = dict(targets)
    results = tuple(
        [
            Result(
                name,
                error,
                _said(history, error, wanted[name], old.get(name), new.get(name)),
                old.get(name),
                new.get(name),
            )
            for name, error in answer.results
        ]
    )
    return after if last.refusal is None else history, results


def steps_of(results: Sequence[Result]) -> list[Step]:
    """The request as the first of the steps of each partition that it changed, after the state before it."""
    steps = []
    for one in results:
        if one.granted and one.before is not None and one.after is not None:
            steps += [Step(0, one.name, "before", one.before), Step(0, one.name, "asked", one.after)]
    return steps


def _said(
    history: PartitionHistory,
    error: Error,
    target: Assignment | None,
    before: Partition | None,
    after: Partition | None,
) -> str:
    match error:
        case Error.NONE:
            assert before is not None, "what is granted is there"
            assert after is not None, "what is granted is there"
            return _granted(target, before, after)
        case Error.UNKNOWN_TOPIC_OR_PARTITION:
            return "there is no such partition"
        case Error.NO_REASSIGNMENT_IN_PROGRESS:
            return "nothing is being reassigned, so that there is nothing to cancel"
        case _:
            assert error is Error.INVALID_REPLICA_ASSIGNMENT, "the errors of a partition"
            return _invalid(history.configuration, target)


def _granted(target: Assignment | None, before: Partition, after: Partition) -> str:
    gone = without(before.replicas, after.replicas)
    stopped = f"; {listed(gone)} stopped" if gone else ""
    if target is None:
        return f"cancelled, replicas {listed(after.replicas)}, in sync {listed(sorted(after.in_sync))}{stopped}"
    if not after.is_reassigned:
        return f"done at once, replicas {listed(after.replicas)}{stopped}"
    verb = "replaces the running reassignment" if before.is_reassigned else "started"
    return f"{verb}, replicas {listed(after.replicas)}{stopped}"


def _invalid(configuration: PartitionConfiguration, target: Assignment | None) -> str:
    unknown = [broker for broker in target or () if broker not in configuration.brokers]
    if unknown:
        there = ", ".join(map(str, sorted(configuration.brokers)))
        return f"no broker {listed(unknown)}; there are {there}"
    return "no replica in sync would be left, and with it acknowledged records would be lost"
