"""The cluster as the agent's files show it so far, and the header of its trace."""

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from kraft_kafka.agent.checkpoints import unknown_endpoint
from kraft_kafka.agent.drafts import Begin
from kraft_kafka.agent.joining import header_of, observed_part
from kraft_kafka.agent.opening import (
    Facts,
    First,
    configuration_of,
    is_fresh,
    opening_checkpoint,
    static_snapshot,
)
from kraft_kafka.agent.raw import CheckpointLine as RawCheckpoint
from kraft_reference.configuration import Configuration, ReplicaConfiguration
from kraft_reference.identity import ReplicaKey
from kraft_reference.log import Snapshot
from kraft_traces.checkpoints import checkpoint_line
from kraft_traces.encode import encode_line


class SavedCluster(Struct, frozen=True):
    """State of a `LiveCluster` as JSON."""

    starts: tuple[First, ...]
    facts: tuple[frozenset[int], frozenset[str]]
    others: tuple[tuple[int, str | None], ...]
    """Ids and directory ids."""
    declared: frozenset[int]


class LiveCluster:
    """Replicas with files, and those that only messages show."""

    def __init__(self, starts: Mapping[int, First]) -> None:
        """Begin with the first line of each replica that has a file, in the order of time."""
        self.starts = dict(starts)
        self.facts = Facts()
        self.others: dict[int, ReplicaConfiguration] = {}
        """Replicas without a file, which are not observed."""
        self.declared: frozenset[int] = frozenset()
        """Replicas that the header declares as not observed."""
        self.static: Snapshot = static_snapshot(self.starts.values())
        self.configuration = self._configuration()

    def _configuration(self) -> Configuration:
        return configuration_of(self.starts, self.static, self.facts, self.others, None)

    def update(self) -> bytes:
        """Return the header that the replicas known so far need."""
        self.configuration = self._configuration()
        first = next(iter(self.starts.values()))
        return encode_line(header_of(self.configuration, first.kafka, self.declared))

    def add_other(self, replica: int, directory_id: str | None) -> None:
        """Add a replica without a file."""
        self.others[replica] = ReplicaConfiguration(ReplicaKey(replica, directory_id), unknown_endpoint(replica))
        self.declared |= {replica}

    def find_replica(self, node: int, endpoint: str) -> int | None:
        """Return a node's replica; None for a bootstrap server that is not known."""
        if node >= 0:
            return node
        return next((id_ for id_, it in self.configuration.replicas.items() if it.endpoint == endpoint), None)

    @classmethod
    def restored(cls, saved: SavedCluster) -> "LiveCluster":
        """Return the cluster that an earlier `save` has returned."""
        cluster = cls({start.replica: start for start in saved.starts})
        cluster.facts, cluster.declared = Facts(*saved.facts), saved.declared
        for replica, directory_id in saved.others:
            cluster.add_other(replica, directory_id)
        cluster.update()
        return cluster

    def save(self) -> SavedCluster:
        """Return the cluster without the logs of its replicas."""
        starts = tuple(replace(start, log="") for start in self.starts.values())
        others = tuple((id_, it.key.directory_id) for id_, it in self.others.items())
        return SavedCluster(starts, (self.facts.joining, self.facts.servers), others, self.declared)

    @property
    def without_file(self) -> frozenset[int]:
        """Voters that have no file."""
        return frozenset(self.configuration.replicas) - self.starts.keys()

    def declare(self) -> None:
        """Declare the replicas as not observed that have no file, or whose state is known from a later line on only."""
        first = next(iter(self.starts.values()))
        later = {id_ for id_, it in self.starts.items() if it.log is None or (_is_attached(it) and it is not first)}
        self.declared = self.without_file | later

    def opening(self, begins: Mapping[int, Begin]) -> bytes | None:
        """Return the checkpoint with which the trace begins; None if all replicas start on empty disks.

        `begins` has the first lines of replicas that are observed from the middle of their lives on.
        """
        needed = bool(self.declared or begins)
        checkpoint = opening_checkpoint(self.starts, self.configuration, begins, is_needed=needed)
        if checkpoint is None:
            return None
        return encode_line(observed_part(checkpoint_line(checkpoint), self.declared))

    @property
    def is_fresh(self) -> bool:
        """True if all replicas start on empty disks, and are observed."""
        return not self.declared and all(map(is_fresh, self.starts.values()))


def _is_attached(start: First) -> bool:
    return isinstance(start, RawCheckpoint)
