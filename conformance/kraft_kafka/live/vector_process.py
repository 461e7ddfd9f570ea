"""The process of a vector: what is on its disk to begin with, and what its file says later."""

import shutil
from collections.abc import Mapping
from pathlib import Path

from kraft_kafka.live.process import Commands, Process, Timeouts
from kraft_kafka.live.translating import OLDEST_METADATA_VERSION
from kraft_kafka.node.disk import format_folder
from kraft_kafka.wire.decoding import Document
from kraft_kafka.wire.errors import WireError
from kraft_kafka.wire.quorum_state import DATA_VERSION
from kraft_kafka.wire.schema import NULL_UUID
from kraft_kafka.wire.snapshot_files import encode_snapshot
from kraft_kafka.wire.translation import directory_of
from kraft_reference.configuration import Configuration
from kraft_reference.log import Snapshot
from kraft_traces.effects import TracedPersistQuorumState
from kraft_traces.values import TracedKey


class VectorProcess(Process):
    """The replica of a vector, on a disk that is written here: the vector says what is on it."""

    def __init__(
        self, commands: Commands, home: Path, ports: Mapping[int, int], cluster: Configuration, replica: int
    ) -> None:
        """`cluster` has the endpoints of the loopback, on these ports."""
        static = ",".join(f"{one}@127.0.0.1:{ports[one]}" for one in sorted(voter.id for voter in cluster.voters))
        more = "" if cluster.kraft_version else f"controller.quorum.voters={static}\n"
        super().__init__(commands, home, ports, cluster.bootstrap_server_ids(replica) or (replica,), more, replica)
        self._cluster = cluster

    def format(self, timeouts: Timeouts) -> None:
        """An empty disk, and for Kafka's controller the one record that it begins with."""
        self.configure(timeouts)
        key, formatted = self._cluster.replicas[self.id].key, self._cluster.checkpoint(self.id)
        shutil.rmtree(self.data, ignore_errors=True)
        format_folder(self.data, self._cluster.cluster_id, key, formatted if formatted.kraft_version else None)
        bootstrap = encode_snapshot(Snapshot(0, 0, 0, frozenset()), [OLDEST_METADATA_VERSION], 0)
        (self.data / "bootstrap.checkpoint").write_bytes(bootstrap)


class QuorumStateFile:
    """The file quorum-state, and what is new in it."""

    def __init__(self, process: VectorProcess, directories: Mapping[int, str | None]) -> None:
        """`directories` are those of the cluster's replicas, for a file that has no place for them."""
        self._process, self._directories = process, directories
        self.said = process.quorum_state()

    def _now(self) -> Document:
        try:
            return self._process.quorum_state()
        except WireError:
            return self.said

    def news(self) -> list[TracedPersistQuorumState]:
        """What was written since the last look: one write at most, as far as that can be seen."""
        now = self._now()
        if now == self.said:
            return []
        self.said = now
        voted, leader = now["votedId"], now["leaderId"]
        directory = directory_of(now.get("votedDirectoryId", NULL_UUID))
        if "votedDirectoryId" not in now:
            directory = self._directories.get(voted)
        key = None if voted < 0 else TracedKey(voted, directory)
        leader_id = None if leader < 0 else leader
        return [TracedPersistQuorumState(now["leaderEpoch"], leader_id, key, now[DATA_VERSION])]

    def has(self, written: TracedPersistQuorumState) -> bool:
        """Whether it says so by now; a leader's own vote, and directory ids, are not waited for."""
        file = self._now()
        leader = -1 if written.leader_id is None else written.leader_id
        voted = -1 if written.voted_key is None else written.voted_key.id
        has_leader = (file["leaderEpoch"], file["leaderId"]) == (written.epoch, leader)
        return has_leader and (file["votedId"] == voted or voted == leader)
