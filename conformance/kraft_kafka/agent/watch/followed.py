"""Replicas whose files are followed, and the state from which another watch goes on."""

from typing import NamedTuple

from msgspec import Struct

from kraft_kafka.agent.events import ReplicaEvents
from kraft_kafka.agent.saved import SavedConverter
from kraft_kafka.agent.watch.cluster import SavedCluster
from kraft_kafka.agent.watch.files import Head, ReplicaFiles
from kraft_kafka.agent.watch.merging import SavedAgentMerge
from kraft_kafka.agent.watch.process import AgentProcess, SavedProcess
from kraft_traces.watch.growing import Position
from kraft_traces.watch.judging import SavedJudge


class Snapshot(NamedTuple):
    """State of a replica between two events, and where its lines go on."""

    counts: tuple[int, int]
    head: Head
    position: Position
    converter: SavedConverter
    is_closed: bool
    directory_id: str | None


class Followed:
    """Replica with its files.

    Attributes:
        process: its events that wait to be merged.
        events: the converter of its lines.
        begins_client: True until the line with the state of a new client is read.
        is_closed: True if the newest client was closed.
        directory_id: of the newest client.
    """

    def __init__(self, process: AgentProcess, events: ReplicaEvents, files: ReplicaFiles) -> None:
        self.process, self.events, self.files = process, events, files
        self.begins_client = self.is_closed = False
        self.directory_id: str | None = None
        self.snapshots: list[Snapshot] = []
        """States between two events, oldest first, of which the first has no event that is not merged."""
        self.snapshot_due = 0.0


class SavedReplica(Struct, frozen=True):
    """State of a replica with its files, as JSON."""

    head: Head
    position: Position
    converter: SavedConverter
    is_closed: bool
    directory_id: str | None
    process: SavedProcess


class SavedAgents(Struct, frozen=True, tag="agents"):
    """State of `WatchedAgents` as JSON."""

    cluster: SavedCluster
    merge: SavedAgentMerge
    judge: SavedJudge
    replicas: tuple[SavedReplica, ...]
    start_us: int
    alerts: int
    malformed: int
    """Number of the alerts about malformed lines."""
    gaps: int
