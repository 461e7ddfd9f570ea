"""The partitions of a cluster directory: topics are made, and what happens to them is written when a command ends."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from kraft_conformance.directories.cluster_directory import ClusterDirectory
from kraft_conformance.directories.errors import refused
from kraft_conformance.directories.partition_history import (
    PartitionHistory,
    read_partition_history,
    write_partition_history,
)
from kraft_conformance.directories.partition_work import next_event
from kraft_reference.partitions.configuration import PartitionConfiguration
from kraft_reference.partitions.decisions import PROFILES
from kraft_reference.partitions.events import BrokerFails, BrokerStarts
from kraft_reference.partitions.partition import Assignment, TopicPartition


class PartitionCluster:
    """The partitions where their history has left them, until the command ends."""

    def __init__(self, history: PartitionHistory) -> None:
        self.history = history

    def create_topic(self, topic: str, assignments: Sequence[Assignment], *, unclean: bool) -> None:
        """Make a topic: its replicas are empty, and so in sync as soon as their brokers are alive.

        Raises:
            CommandError: the topic is there, a broker is not, or the history has asked for the topic before.
        """
        configuration = self.history.configuration
        if any(name.topic == topic for name in configuration.assignments):
            raise refused(f"TOPIC_ALREADY_EXISTS (36): topic {topic} is there already")
        for number, replicas in enumerate(assignments):
            unknown = sorted(set(replicas) - configuration.brokers)
            if unknown:
                there = ", ".join(map(str, sorted(configuration.brokers)))
                raise refused(
                    f"INVALID_REPLICA_ASSIGNMENT (39): {topic}-{number}: no broker {unknown[0]}; there are {there}, "
                    "and --brokers brings others in"
                )
        new = {TopicPartition(topic, number): replicas for number, replicas in enumerate(assignments)}
        self.history = self.history.extended(
            replace(
                configuration,
                assignments={**configuration.assignments, **new},
                unclean_topics=configuration.unclean_topics | ({topic} if unclean else set()),
            )
        )
        self._let_catch_up(new)

    def register_brokers(self, brokers: Iterable[int]) -> None:
        """Bring brokers in that are not there yet.

        Raises:
            CommandError: the history has asked for one of them before.
        """
        configuration = self.history.configuration
        more = configuration.brokers.union(brokers)
        if more != configuration.brokers:
            self.history = self.history.extended(replace(configuration, brokers=more))

    def stop_broker(self, broker: int) -> None:
        """Let a broker fail.

        Raises:
            CommandError: it is not alive.
        """
        self._check_broker(broker)
        if broker not in self.history.state.alive:
            raise refused(f"broker {broker} is not alive")
        self.history = self.history.then(BrokerFails(broker))

    def start_broker(self, broker: int) -> None:
        """Let a broker come back; its replicas are in sync again when the cluster has worked on.

        Raises:
            CommandError: it is alive.
        """
        self._check_broker(broker)
        if broker in self.history.state.alive:
            raise refused(f"broker {broker} is alive already")
        self.history = self.history.then(BrokerStarts(broker))

    def _check_broker(self, broker: int) -> None:
        brokers = self.history.configuration.brokers
        if broker not in brokers:
            raise refused(f"no broker {broker}; there are {', '.join(map(str, sorted(brokers)))}")

    def _let_catch_up(self, names: Mapping[TopicPartition, Assignment]) -> None:
        for name in names:
            while event := next_event(self.history.state, self.history.configuration, name):
                self.history = self.history.worked_on(event)


@contextmanager
def open_partitions(cluster: ClusterDirectory, *, changes: bool = True) -> Iterator[PartitionCluster]:
    """The partitions of a directory; what happens in the block is written when it ends.

    After an error, and without `changes`, nothing is written, so that the directory is as before.

    Raises:
        CommandError: there are no topics yet, or a file is malformed.
        TraceError: the history is no trace.
    """
    with cluster.existing().locked():
        yield from _opened(cluster, read_partitions(cluster), changes)


def read_partitions(cluster: ClusterDirectory) -> PartitionCluster:
    """The partitions of a directory whose lock is held.

    Raises:
        CommandError, TraceError: as `open_partitions`.
    """
    if not cluster.partitions.exists():
        raise refused(f"{cluster.path}: there are no topics yet; begin with `kraft-spec admin topics create`")
    return PartitionCluster(read_partition_history(cluster.partitions))


@contextmanager
def open_or_begin_partitions(
    cluster: ClusterDirectory, brokers: Iterable[int], profile: str | None
) -> Iterator[PartitionCluster]:
    """As `open_partitions`, but the history may begin here; `brokers` are there from now on, besides those before."""
    with cluster.existing().locked():
        if cluster.partitions.exists():
            if profile is not None:
                raise refused("--profile is for the first topic; the history of this cluster has its own")
            there = PartitionCluster(read_partition_history(cluster.partitions))
            there.register_brokers(brokers)
        else:
            name = profile or "kip"
            if name not in PROFILES:
                raise refused(f"no profile {name!r}; there are {', '.join(PROFILES)}")
            configuration = PartitionConfiguration(frozenset(brokers), {}, profile=PROFILES[name])
            there = PartitionCluster(PartitionHistory(configuration))
        yield from _opened(cluster, there, True)


def _opened(cluster: ClusterDirectory, there: PartitionCluster, changes: bool) -> Iterator[PartitionCluster]:
    before = there.history
    yield there
    if changes and there.history is not before:
        write_partition_history(cluster.partitions, there.history)
