"""A cluster directory for `kraft-spec admin reassign`: the partitions of its topics, and the quorum with its own."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from kraft_conformance.directories.cluster_directory import ClusterDirectory
from kraft_conformance.directories.metadata_directory import MetadataDirectory
from kraft_conformance.directories.partition_cluster import PartitionCluster, read_partitions
from kraft_conformance.directories.partition_history import write_partition_history
from kraft_conformance.directories.partition_requests import reassignments
from kraft_conformance.directories.quorum import Quorum, read_quorum, write_quorum
from kraft_conformance.directories.quorum_reassignment import quorum_now
from kraft_reference.partitions.effects import Reassignment


@dataclass(frozen=True, slots=True)
class ReassignedCluster:
    """What can be reassigned in a cluster directory; one of the two is there at least."""

    maybe_quorum: Quorum | None
    nodes: dict[int, MetadataDirectory]
    """The formatted nodes; none without a quorum."""
    maybe_partitions: PartitionCluster | None

    @property
    def quorum(self) -> Quorum:
        """The quorum, for who has said that it is needed."""
        assert self.maybe_quorum is not None, "a quorum that is needed is there"
        return self.maybe_quorum

    @property
    def partitions(self) -> PartitionCluster:
        """The partitions, for who has said that they are needed."""
        assert self.maybe_partitions is not None, "partitions that are needed are there"
        return self.maybe_partitions

    @property
    def running(self) -> tuple[Reassignment, ...]:
        """What is being reassigned, the quorum's own partition too, in order."""
        found: list[Reassignment] = []
        if self.maybe_partitions is not None:
            found += reassignments(self.maybe_partitions.history)
        if self.maybe_quorum is not None:
            own = quorum_now(self.maybe_quorum).reassignment
            found += [] if own is None else [own]
        return tuple(sorted(found, key=lambda one: one.partition))


@contextmanager
def open_reassigned(
    cluster: ClusterDirectory, *, quorum: bool = False, partitions: bool = False, changes: bool = True
) -> Iterator[ReassignedCluster]:
    """What there is of a quorum and of partitions; what happens in the block is written when it ends.

    After an error, and without `changes`, nothing is written, so that the directory is as before.

    Args:
        cluster: the directory.
        quorum: there must be a quorum.
        partitions: there must be topics.
        changes: whether to write.

    Raises:
        CommandError: one that must be there is not, or neither is, or a file is malformed.
        TraceError: a history is no trace.
    """
    with cluster.existing().locked():
        there = _read(cluster, quorum, partitions)
        own, topics = there.maybe_quorum, there.maybe_partitions
        events = 0 if own is None else own.world.sequence
        before = None if topics is None else topics.history
        yield there
        if not changes:
            return
        if topics is not None and topics.history is not before:
            write_partition_history(cluster.partitions, topics.history)
        if own is not None and own.world.sequence > events:
            write_quorum(cluster, own)


def _read(cluster: ClusterDirectory, quorum: bool, partitions: bool) -> ReassignedCluster:
    topics = read_partitions(cluster) if partitions or cluster.partitions.exists() else None
    own = None
    nodes: dict[int, MetadataDirectory] = {}
    if quorum or cluster.history.exists():
        own, nodes = read_quorum(cluster)
    if topics is None and own is None:
        topics = read_partitions(cluster)
    return ReassignedCluster(own, nodes, topics)
