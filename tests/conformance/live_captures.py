"""Handwritten captures of three voters."""

from base64 import b64encode
from io import FileIO
from pathlib import Path
from typing import Any, Self

from kraft_kafka.live.capture import (
    SCHEMA,
    CapturedNode,
    CapturedVoter,
    CaptureHeader,
    CaptureWriter,
    Closed,
    FileLine,
    FrameLine,
    Line,
    Opened,
)
from kraft_kafka.wire.frames import encode_frame
from kraft_kafka.wire.log_records import control_batch, data_batch, number_of
from kraft_kafka.wire.quorum_state import encode_quorum_state
from kraft_kafka.wire.translation import to_kafka
from kraft_reference.identity import ReplicaKey, VoterDetails
from kraft_reference.records import Record, RecordKind

CLUSTER = "MkU3OEVBNTcwNTJENDM2Qk"
DIRECTORIES = {item: f"AAAAAAAAAAAAAAAAAAA{letter}AQ" for item, letter in ((1, "B"), (2, "C"), (3, "D"))}
ENDPOINTS = {replica_id: f"127.0.0.1:{19000 + replica_id}" for replica_id in DIRECTORIES}
VERSIONS = {"Vote": 2, "BeginQuorumEpoch": 1, "Fetch": 17}
VALUE = b"v7"
_VOTERS = frozenset(ReplicaKey(*replica_id) for replica_id in DIRECTORIES.items())
_DETAILS = tuple(VoterDetails(replica_id, ENDPOINTS[replica_id], 0, 1) for replica_id in sorted(DIRECTORIES))
FIRST_BATCH = control_batch(
    0,
    (
        Record(1, RecordKind.LEADER_CHANGE, 1),
        Record(1, RecordKind.KRAFT_VERSION, 1),
        Record(1, RecordKind.VOTERS, 0, _VOTERS, _DETAILS),
    ),
    0,
    (1, 2, 3),
)
DATA_BATCH = data_batch(3, 1, (VALUE,), 0)
NUMBER = number_of(VALUE)


def key(replica_id: int) -> dict[str, Any]:
    """Return the replica key of a voter for a trace."""
    return {"id": replica_id, "directory_id": DIRECTORIES[replica_id]}


class Capture:
    """A capture that grows by one frame a call, 2 ms after the one before unless a call says when."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self.now_ms = 0
        self._connections: dict[tuple[int, int], int] = {}
        self._opened = 0
        self._ids = dict.fromkeys(DIRECTORIES, 0)
        self._asked: dict[int, tuple[int, str, int, int]] = {}

    def wait(self, ms: int) -> Self:
        self.now_ms += ms
        return self

    def connect(self, source: int, node: int) -> int:
        """Open a connection, on which the next requests of the source to the node go."""
        self._opened += 1
        self._connections[source, node] = self._opened
        self.lines.append(Opened(self._us(), self._opened, node))
        return self._opened

    def close(self, source: int, node: int) -> None:
        self.lines.append(Closed(self._us(), self._connections.pop((source, node))))

    def restart(self, node: int) -> None:
        """Close all connections of a node; its correlation ids begin anew."""
        for ends in [ends for ends in self._connections if node in ends]:
            self.close(*ends)
        self._ids[node] = 0

    def ask(self, kind: str, source: int, node: int, *, id_: int | None = None, **fields: Any) -> int:
        """Write a request; return its number."""
        if (source, node) not in self._connections:
            self.connect(source, node)
        if id_ is None:
            id_ = self._ids[source] = self._ids[source] + 1
        number = len(self.lines)
        self._asked[number] = (self._connections[source, node], kind, source, id_)
        traced = {"cluster_id": CLUSTER, "source": source, "destination": node, **fields}
        self._write(number, f"{kind}Request", source, id_, traced)
        return number

    def answer(self, number: int, *, id_: int | None = None, batch: bytes = b"", **fields: Any) -> None:
        """Write the response to a request."""
        _, kind, source, asked_with = self._asked[number]
        traced = {"error": "NONE", "destination": source, **fields}
        self._write(number, f"{kind}Response", source, asked_with if id_ is None else id_, traced, batch)

    def _write(self, number: int, name: str, client: int, id_: int, traced: dict[str, Any], batch: bytes = b"") -> None:
        connection, kind, _, _ = self._asked[number]
        version = VERSIONS[kind]
        message, document = to_kafka({"type": name, "correlation_id": id_, **traced}, version)
        document["header"]["correlationId"] = id_
        is_request = name.endswith("Request")
        if is_request:
            document["header"]["clientId"] = f"raft-client-{client}"
        if batch:
            document["body"]["responses"][0]["partitions"][0]["records"] = b64encode(batch).decode()
        raw, _ = encode_frame(message, version, document)
        self.frame(connection, "request" if is_request else "response", raw)

    def frame(self, connection: int, direction: Any, raw: bytes) -> None:
        self.lines.append(FrameLine(self._us(), connection, direction, raw.hex()))

    def file(self, node: int, name: str, content: bytes) -> None:
        self.lines.append(FileLine(self._us(), node, name, content.hex()))

    def _us(self) -> int:
        self.now_ms += 2
        return 1000 * self.now_ms

    def save(self, path: Path) -> Path:
        nodes = tuple(
            CapturedNode(id=replica_id, endpoint=ENDPOINTS[replica_id], directory_id=DIRECTORIES[replica_id])
            for replica_id in ENDPOINTS
        )
        voters = tuple(CapturedVoter(*replica_id) for replica_id in DIRECTORIES.items())
        header = CaptureHeader(schema=SCHEMA, generator="test", nodes=nodes, cluster_id=CLUSTER, voters=voters)
        with FileIO(path, "wb") as stream:
            writer = CaptureWriter(stream, header)
            for line in self.lines:
                writer.write(line)
            writer.end()
        return path

    # What replicas send.
    def vote(
        self, source: int, node: int, epoch: int, *, pre_vote: bool, end: tuple[int, int] = (0, 0), **more: Any
    ) -> int:
        fields = {"epoch": epoch, "pre_vote": pre_vote, "end_offset": end[0], "last_epoch": end[1]}
        return self.ask("Vote", source, node, replica_key=key(source), voter_key=key(node), **fields, **more)

    def voted(self, number: int, epoch: int, *, granted: bool = True, leader: int | None = None, **more: Any) -> None:
        self.answer(number, epoch=epoch, granted=granted, **_leader(leader), **more)

    def fetch(self, source: int, epoch: int, end: tuple[int, int], leader: int = 1, **more: Any) -> int:
        fields = {"epoch": epoch, "fetch_offset": end[0], "last_epoch": end[1]}
        return self.ask("Fetch", source, leader, replica_key=key(source), **fields, **more)

    def fetched(self, number: int, epoch: int, hw: int, batch: bytes = b"", leader: int = 1, **more: Any) -> None:
        none = dict.fromkeys(("diverging_epoch", "diverging_end_offset", "snapshot_end_offset", "snapshot_epoch"), -1)
        more |= {"epoch": epoch, "high_watermark": hw, "records": (), **_leader(leader), **none}
        self.answer(number, batch=batch, **more)

    def announce(self, source: int, node: int, epoch: int) -> None:
        endpoint = ENDPOINTS[source]
        requested = self.ask(
            "BeginQuorumEpoch", source, node, epoch=epoch, voter_key=key(node), leader_endpoint=endpoint
        )
        self.answer(requested, epoch=epoch, **_leader(source))


def _leader(replica_id: int | None) -> dict[str, Any]:
    return {"leader_id": replica_id, "leader_endpoint": None if replica_id is None else ENDPOINTS[replica_id]}


def elected() -> Capture:
    """Replica 1 is elected in epoch 1, and replicas 2 and 3 fetch its first batch and one record."""
    capture = Capture()
    for pre_vote, epoch in ((True, 0), (False, 1)):
        for request in [capture.vote(1, node, epoch, pre_vote=pre_vote) for node in (2, 3)]:
            capture.voted(request, epoch)
    for node in (2, 3):
        capture.announce(1, node, 1)
    capture.fetched(capture.fetch(2, 1, (0, 0)), 1, -1, FIRST_BATCH)
    capture.fetched(capture.fetch(3, 1, (0, 0)), 1, -1, FIRST_BATCH)
    for node in (2, 3):
        capture.fetched(capture.fetch(node, 1, (3, 1)), 1, 3)
    for node in (2, 3):
        capture.fetched(capture.fetch(node, 1, (3, 1)), 1, 3, DATA_BATCH)
    for node in (2, 3):
        capture.fetched(capture.fetch(node, 1, (4, 1)), 1, 4)
    return capture


def quorum_state(epoch: int, leader: int = -1, voted: int = -1) -> bytes:
    """Content of a file quorum-state."""
    directory = DIRECTORIES.get(voted, "AAAAAAAAAAAAAAAAAAAAAA")
    document = {"leaderId": leader, "leaderEpoch": epoch, "votedId": voted, "votedDirectoryId": directory}
    return encode_quorum_state(1, document)[0].encode()
