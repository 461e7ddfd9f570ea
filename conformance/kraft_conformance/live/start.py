"""Where a recorded run begins: what the files of the nodes said before anybody could connect.

Fresh disks are the beginning of any trace.
Anything else is a checkpoint at which all replicas are stopped: what they remember is what is on their disks.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from kraft_conformance.live.capture import CaptureHeader, FileLine, Line
from kraft_conformance.wire.batches import decode_batch
from kraft_conformance.wire.errors import Reason, WireError
from kraft_conformance.wire.log_records import batches_of, control_record, records_of
from kraft_conformance.wire.quorum_state import DATA_VERSION, decode_quorum_state
from kraft_conformance.wire.schema import record_of
from kraft_conformance.wire.translation import directory_of
from kraft_reference.cluster.checkpoint import CastVotes, Checkpoint, Committed, Recollection
from kraft_reference.configuration import Configuration, ReplicaConfiguration
from kraft_reference.identity import ReplicaKey
from kraft_reference.log import Snapshot, append, log_on
from kraft_reference.profile import Profile
from kraft_reference.records import Record, RecordKind
from kraft_reference.state import ReplicaState, new_replica

QUORUM_STATE = "quorum-state"
LOG, CHECKPOINT = ".log", ".checkpoint"

Files = Mapping[int, Mapping[str, bytes]]
"""Content by name, by node."""


class Start(NamedTuple):
    """The cluster of a capture, and where its run begins."""

    configuration: Configuration
    checkpoint: Checkpoint | None
    """None: on fresh disks."""


def start_of(header: CaptureHeader, lines: Iterable[Line], profile: Profile) -> Start:
    """Where the run of a capture begins.

    Raises:
        WireError: a file is damaged; `where` names it.
    """
    files = first_files(lines)
    configuration = configuration_of(header, files, profile)
    if not any(name == QUORUM_STATE or name.endswith(LOG) for held in files.values() for name in held):
        return Start(configuration, None)
    states = {
        replica_id: _on_disk(replica_id, files.get(replica_id, {}), configuration)
        for replica_id in sorted(configuration.replicas)
    }
    votes = {
        one: CastVotes(0, frozenset())
        if state.voted_key is None
        else CastVotes(state.epoch, frozenset([state.voted_key]))
        for one, state in states.items()
    }
    directories = [replica.key.directory_id for replica in configuration.replicas.values()]
    known = Recollection({}, votes, Committed(), 0, frozenset([one for one in directories if one is not None]))
    return Start(configuration, Checkpoint(0, 0, states, {}, frozenset(), known))


def first_files(lines: Iterable[Line]) -> Files:
    """The files that stand before anything else in a capture."""
    found: dict[int, dict[str, bytes]] = {}
    for line in lines:
        if not isinstance(line, FileLine):
            break
        found.setdefault(line.node, {})[line.name] = bytes.fromhex(line.bytes)
    return found


def configuration_of(header: CaptureHeader, files: Files, profile: Profile) -> Configuration:
    """The cluster: voters are those that the header lists, else those of a bootstrap checkpoint, else all nodes."""
    replicas = {
        one.id: ReplicaConfiguration(ReplicaKey(one.id, one.directory_id), one.endpoint) for one in header.nodes
    }
    listed = frozenset([ReplicaKey(one.id, one.directory_id) for one in header.voters])
    bootstrap = {node: _bootstrap(held) for node, held in files.items()}
    formatted = next((one for _, one in sorted(bootstrap.items()) if one is not None), None)
    voters = listed or (formatted.voters if formatted else frozenset([one.key for one in replicas.values()]))
    if formatted is not None:
        # Whose disk has no bootstrap checkpoint was formatted without voters.
        replicas = {
            one: replica
            if bootstrap.get(one) is not None or one not in files
            else replace(replica, initial_voters=frozenset())
            for one, replica in replicas.items()
        }
    return Configuration(
        replicas=replicas,
        voters=voters,
        kraft_version=1 if (formatted.kraft_version if formatted else header.kraft_version) else 0,
        cluster_id=header.cluster_id or "",
        profile=profile,
    )


def _bootstrap(held: Mapping[str, bytes]) -> Snapshot | None:
    return next((one for one in _snapshots(held) if one.end_offset == 0), None)


def _on_disk(replica_id: int, held: Mapping[str, bytes], configuration: Configuration) -> ReplicaState:
    formatted = new_replica(configuration.replicas[replica_id].key, configuration.checkpoint(replica_id))
    base = max(_snapshots(held), default=formatted.log.base, key=lambda one: one.end_offset)
    records = [
        record
        for name in sorted(held)
        if name.endswith(LOG)
        for offset, record in _records(held[name], name)
        if offset >= base.end_offset
    ]
    log = append(log_on(base), records)
    state = formatted._replace(log=log._replace(flushed=log.end_offset))
    if QUORUM_STATE not in held:
        return state
    said = decode_quorum_state(held[QUORUM_STATE].decode())
    leader, voted = said["leaderId"], said["votedId"]
    directory = said.get("votedDirectoryId")
    key = ReplicaKey(voted, None if directory is None else directory_of(directory))
    return state._replace(
        epoch=said["leaderEpoch"],
        leader_id=None if leader < 0 else leader,
        voted_key=None if voted < 0 else key,
        quorum_state_version=said[DATA_VERSION],
    )


def _records(raw: bytes, name: str) -> Iterator[tuple[int, Record]]:
    for batch in _named(name, raw):
        yield from enumerate(records_of(batch), batch.base_offset)


def _named(name: str, raw: bytes) -> Iterator[Any]:
    try:
        yield from batches_of(raw)
    except WireError as error:
        raise WireError(error.reason, f"{name}: {error.where}", error.expected, error.actual, error.offset) from None


def _snapshots(held: Mapping[str, bytes]) -> Iterator[Snapshot]:
    for name, raw in sorted(held.items()):
        if not name.endswith(CHECKPOINT):
            continue
        end, _, epoch = name.removesuffix(CHECKPOINT).partition("-")
        if not end.isdecimal() or not epoch.isdecimal():
            raise WireError(Reason.OUT_OF_RANGE, name, "OFFSET-EPOCH.checkpoint", name)
        level, voters = 0, None
        for record in _voters_records(name, raw):
            if record.kind is RecordKind.KRAFT_VERSION:
                level = record.value
            else:
                voters = record
        if voters is not None:
            yield Snapshot(int(end), int(epoch), level, voters.voters, voters.details)


def _voters_records(name: str, raw: bytes) -> Iterator[Record]:
    for batch in _named(name, raw):
        if batch.is_control:
            document, _ = decode_batch(batch.raw, is_lenient=True)
            for record in document["records"]:
                if record["key"]["type"] in _OF_VOTERS:
                    yield control_record(batch.epoch, record)


_OF_VOTERS = frozenset([record_of(name).key for name in ("KRaftVersionRecord", "VotersRecord")])
"""Types of these control records.  Rule: wire.control-records."""
