"""Replicas without a file of the agent, as the messages of the others show them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from kraft_kafka.agent.checkpoints import base_of, static_voters, unknown_endpoint
from kraft_kafka.agent.decoding import message_fields, snapshot_in
from kraft_kafka.agent.located import located
from kraft_kafka.agent.raw import CheckpointLine, PersistLine, RequestLine, SendLine, StartLine
from kraft_kafka.agent.reading import RawFile
from kraft_reference.configuration import ReplicaConfiguration
from kraft_reference.identity import ReplicaKey
from kraft_reference.log import Snapshot

_FIRST_UNKNOWN_ID = 1_000_000
"""Id of the first server that is known by its endpoint only."""


@dataclass(frozen=True, slots=True)
class Peers:
    """Identities of the replicas that send or receive messages."""

    endpoints: dict[int, str]
    initial_endpoints: dict[int, str]
    """Endpoints of the voters with which the replicas start."""
    named_ids: frozenset[int]
    """Further ids, of leaders and votes."""
    directories: dict[int, str]

    @property
    def ids(self) -> frozenset[int]:
        """Ids of the replicas to which requests are sent, or that are named."""
        return frozenset(self.endpoints) | self.named_ids

    def id_at(self, endpoint: str) -> int | None:
        """Return the id of the replica with this endpoint."""
        return next((id_ for id_, other in self.endpoints.items() if other == endpoint), None)

    def configuration(self, id_: int) -> ReplicaConfiguration:
        """Return the configuration of a replica, as far as it is known."""
        endpoint = self.initial_endpoints.get(id_) or self.endpoints.get(id_, unknown_endpoint(id_))
        return ReplicaConfiguration(ReplicaKey(id_, self.directories.get(id_)), endpoint)


def peers_of(files: Sequence[RawFile]) -> Peers:
    """Return the replicas to which requests are sent; one that is known by its endpoint only gets an id.

    Raises:
        LineError: the bytes of a request are damaged.
    """
    initial = {id_: endpoint for file in files for id_, endpoint in _formatted(file)}
    sends = [line for file in files for line in file.lines if isinstance(line, SendLine)]
    endpoints = {line.destination: line.endpoint for line in sends if line.destination >= 0}
    for endpoint in dict.fromkeys(line.endpoint for line in sends if line.destination < 0):
        if endpoint not in endpoints.values():
            unknown = _FIRST_UNKNOWN_ID + len(endpoints)
            id_ = next((id_ for id_, other in initial.items() if other == endpoint), unknown)
            endpoints[id_] = endpoint
    return Peers(endpoints, initial, frozenset(_named(files)), dict(_directories(files)))


def _formatted(file: RawFile) -> Iterable[tuple[int, str]]:
    """Yield the endpoints of the voters with which a process starts, and its own."""
    yield from static_voters(file.start).items()
    if isinstance(file.start, CheckpointLine):
        yield from ((details.id, details.endpoint) for details in base_of(file.start.base).details)
    elif file.start.snapshot is not None:
        empty = Snapshot(0, 0, 0, frozenset())
        yield from ((details.id, details.endpoint) for details in snapshot_in(file.start.snapshot, empty).details)
    if file.start.endpoint is not None:
        yield file.start.replica, file.start.endpoint


def _named(files: Iterable[RawFile]) -> Iterable[int]:
    """Yield the ids of leaders and votes."""
    for file in files:
        first = file.start.election if isinstance(file.start, StartLine) else None
        elections = [first, *(line.election for line in file.lines if isinstance(line, PersistLine))]
        for election in elections:
            if election is not None and election.leader_id is not None:
                yield election.leader_id
            if election is not None and election.voted_key is not None:
                yield election.voted_key["id"]


def _directories(files: Iterable[RawFile]) -> Iterable[tuple[int, str]]:
    """Yield the directory ids with which replicas send requests."""
    for checkpoint in (file.start for file in files if isinstance(file.start, CheckpointLine)):
        keys = [voter.key for voter in checkpoint.base.voters]
        yield from ((key["id"], key["directory_id"]) for key in keys if key["directory_id"] is not None)
    for file, index, line in _requests(files):
        with located(file.place(index), line):
            fields = message_fields(line.message) or {}
        key = fields.get("replica_key") or fields.get("voter")
        if key and key["directory_id"] is not None and not fields["type"].startswith(("AddVoter", "RemoveVoter")):
            yield key["id"], key["directory_id"]


def _requests(files: Iterable[RawFile]) -> Iterator[tuple[RawFile, int, RequestLine]]:
    """Yield the requests with their files, and their numbers as for `RawFile.place`."""
    for file in files:
        for index, line in enumerate(file.lines, 1):
            if isinstance(line, RequestLine):
                yield file, index, line
