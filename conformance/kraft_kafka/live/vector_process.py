"""The process of a vector: its initial disk, and the changes of its quorum-state."""

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
    """The replica of a vector, whose initial disk is written here as the vector says."""

    def __init__(
        self, commands: Commands, home: Path, ports: Mapping[int, int], cluster: Configuration, replica: int
    ) -> None:
        """Set the cluster, which has the endpoints of the loopback interface with these ports."""
        static = ",".join(f"{id_}@127.0.0.1:{ports[id_]}" for id_ in sorted(voter.id for voter in cluster.voters))
        more = "" if cluster.kraft_version else f"controller.quorum.voters={static}\n"
        super().__init__(commands, home, ports, cluster.bootstrap_server_ids(replica) or (replica,), more, replica)
        self._cluster = cluster

    def format(self, timeouts: Timeouts) -> None:
        """Write an empty disk, with the controller's initial record for Kafka."""
        self.configure(timeouts)
        key, formatted = self._cluster.replicas[self.id].key, self._cluster.checkpoint(self.id)
        shutil.rmtree(self.data, ignore_errors=True)
        format_folder(self.data, self._cluster.cluster_id, key, formatted if formatted.kraft_version else None)
        bootstrap = encode_snapshot(Snapshot(0, 0, 0, frozenset()), [OLDEST_METADATA_VERSION], 0)
        (self.data / "bootstrap.checkpoint").write_bytes(bootstrap)


class QuorumStateFile:
    """The file quorum-state, and its changes."""

    def __init__(self, process: VectorProcess, directories: Mapping[int, str | None]) -> None:
        """Set the replicas' directory ids, for a file version that has none."""
        self._process, self._directories = process, directories
        self.said = process.quorum_state()

    def _read(self) -> Document:
        try:
            return self._process.quorum_state()
        except WireError:
            return self.said

    def news(self) -> list[TracedPersistQuorumState]:
        """Return the change since the last call; several writes in between look like one."""
        now = self._read()
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
        """True if the file has this state; a leader's own vote and directory ids are not compared."""
        file = self._read()
        leader = -1 if written.leader_id is None else written.leader_id
        voted = -1 if written.voted_key is None else written.voted_key.id
        has_leader = (file["leaderEpoch"], file["leaderId"]) == (written.epoch, leader)
        return has_leader and (file["votedId"] == voted or voted == leader)
