"""The cluster that the agent's files show, and the disks with which the trace begins."""

from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from kraft_kafka.agent.decoding import snapshot_in
from kraft_kafka.agent.raw import RawFile, RawLine, SendLine, StartLine
from kraft_kafka.releases import number, profile_of
from kraft_kafka.wire.disk_files import on_disk
from kraft_kafka.wire.snapshot_files import file_name
from kraft_reference.configuration import Configuration, ReplicaConfiguration
from kraft_reference.identity import ReplicaKey, VoterDetails
from kraft_reference.log import Snapshot
from kraft_reference.profile import PROFILES, Profile
from kraft_reference.state import ReplicaState
from kraft_simulation.checkpoint import Checkpoint, Committed, Recollection
from kraft_traces.check.opening import with_states_remembered

_FIRST_PRE_VOTE = (4, 0)
"""First release with KIP-996."""
_UNKNOWN_PORT = 1


def static_snapshot(files: Iterable[RawFile]) -> Snapshot:
    """Return the checkpoint of a disk that was formatted without voters: those of controller.quorum.voters."""
    endpoints = {id_: endpoint for file in files for id_, endpoint in file.start.static_voters.items()}
    voters = frozenset(ReplicaKey(id_, None) for id_ in endpoints)
    return Snapshot(0, 0, 0, voters, tuple(VoterDetails(id_, endpoints[id_], 0, 0) for id_ in sorted(endpoints)))


def first_starts(files: Iterable[RawFile]) -> Mapping[int, StartLine]:
    """Return the first start of each replica; the files are in the order of their starts."""
    starts: dict[int, StartLine] = {}
    for file in files:
        starts.setdefault(file.start.replica, file.start)
    return starts


def is_fresh(start: StartLine) -> bool:
    """True if the replica starts on an empty disk."""
    return start.log_end_offset == 0 and (start.election is None or start.election.epoch == 0)


def configuration_of(
    files: Sequence[RawFile], others: Mapping[int, ReplicaConfiguration], profile: str | None
) -> Configuration:
    """Return the cluster.

    Args:
        files: the files, in the order of their starts.
        others: replicas without a file that send or receive messages, by their ids.
        profile: name of the profile; None for that of the Kafka in the first file.
    """
    starts, static = first_starts(files), static_snapshot(files)
    formatted = {id_: _formatted(start, static) for id_, start in starts.items()}
    bootstrap = next((it for it in formatted.values() if it is not None and it.kraft_version > 0), None)
    voters = static if bootstrap is None else bootstrap
    replicas = {
        id_: _replica(
            start,
            is_without_voters=bootstrap is not None and not _has_voters(formatted[id_]),
            is_joining=any(map(_is_join_request, lines_of(files, id_))),
        )
        for id_, start in starts.items()
    }
    details = {it.id: it for it in voters.details}
    for key in voters.voters:
        replicas.setdefault(key.id, _voter(key, details[key.id]))
    for id_, replica in others.items():
        replicas.setdefault(id_, replica)
    first = files[0].start
    return Configuration(
        replicas=dict(sorted(replicas.items())),
        voters=voters.voters,
        kraft_version=1 if bootstrap is not None else 0,
        cluster_id=first.cluster_id,
        profile=_profile(profile, first, starts),
        bootstrap_servers=_bootstrap_servers(files, replicas, voters),
    )


def _formatted(start: StartLine, static: Snapshot) -> Snapshot | None:
    """Return the bootstrap checkpoint, as long as the disk still has it as its newest snapshot."""
    return None if start.snapshot is None else snapshot_in(start.snapshot, static)


def _has_voters(snapshot: Snapshot | None) -> bool:
    return snapshot is not None and bool(snapshot.voters)


def lines_of(files: Iterable[RawFile], replica: int) -> Iterator[RawLine]:
    """Yield the lines of a replica."""
    return (line for file in files if file.start.replica == replica for line in file.lines)


def _is_join_request(line: RawLine) -> bool:
    """True for a request that only a replica with controller.quorum.auto.join.enable sends."""
    return isinstance(line, SendLine) and line.message.name in ("AddRaftVoterRequest", "RemoveRaftVoterRequest")


def _replica(start: StartLine, *, is_without_voters: bool, is_joining: bool) -> ReplicaConfiguration:
    return ReplicaConfiguration(
        ReplicaKey(start.replica, start.directory_id),
        start.endpoint or f"replica-{start.replica}:{_UNKNOWN_PORT}",
        "supported" if start.kafka is None or number(start.kafka) >= _FIRST_PRE_VOTE else "unsupported",
        min_version=start.min_version,
        max_version=start.max_version,
        initial_voters=frozenset() if is_without_voters else None,
        auto_join=is_joining,
    )


def _voter(key: ReplicaKey, details: VoterDetails) -> ReplicaConfiguration:
    if key.directory_id is None:
        return ReplicaConfiguration(key, details.endpoint)
    low, high = details.min_version, details.max_version
    return ReplicaConfiguration(key, details.endpoint, min_version=low, max_version=high)


def _profile(name: str | None, first: StartLine, starts: Mapping[int, StartLine]) -> Profile:
    """Return the profile, with Kafka's settings of open decisions that the receivers of its Fetches and its disks show.

    Rules: fetch.who-fetches, durable.vote.v0-uuid-in-memory.
    """
    profile = PROFILES[name if name is not None else profile_of(first.kafka or "unknown")]
    profile = replace(profile, name=f"{profile.name}+agent", unanswered_fetch="servers-too")
    # A Candidate of Kafka has voted for its own key with the directory id, which the file of version 0 does not have.
    # With several replicas, another one may forget the directory id of its vote.
    has_own_vote = len(starts) == 1 and _has_own_vote(first)
    return replace(profile, voted_directory_at_version_0="remembered") if has_own_vote else profile


def _has_own_vote(start: StartLine) -> bool:
    """True if the disk has a vote of kraft.version 0 for the replica itself."""
    voted = None if start.election is None else start.election.voted_key
    return bool(start.static_voters) and voted is not None and voted["id"] == start.replica


def _bootstrap_servers(
    files: Sequence[RawFile], replicas: Mapping[int, ReplicaConfiguration], voters: Snapshot
) -> tuple[int, ...]:
    """Return the bootstrap servers, if there are others than the voters: they have negative ids as destinations."""
    ids = {replica.endpoint: id_ for id_, replica in replicas.items()}
    sends = (line for file in files for line in file.lines if isinstance(line, SendLine))
    endpoints = {line.endpoint for line in sends if line.destination < 0}
    servers = {ids[endpoint] for endpoint in endpoints if endpoint in ids} | {key.id for key in voters.voters}
    return () if servers == {key.id for key in voters.voters} else tuple(sorted(servers))


def opening_checkpoint(
    files: Sequence[RawFile], configuration: Configuration, *, is_needed: bool = False
) -> Checkpoint | None:
    """Return the disks with which the trace begins; None if all are empty and `is_needed` is false."""
    starts = first_starts(files)
    if not is_needed and all(map(is_fresh, starts.values())):
        return None
    remembers = configuration.profile.voted_directory_at_version_0 == "remembered"
    states = {
        id_: _on_disk(replica.key, starts.get(id_), configuration.checkpoint(id_), remembers=remembers)
        for id_, replica in configuration.replicas.items()
    }
    empty = Recollection({}, {}, Committed(), 0, frozenset())
    return with_states_remembered(Checkpoint(0, 0, states, {}, frozenset(), empty, {}))


def _on_disk(key: ReplicaKey, start: StartLine | None, formatted: Snapshot, *, remembers: bool) -> ReplicaState:
    if start is None:
        return on_disk(key, {}, formatted).state
    files: dict[str, bytes] = {}
    if start.snapshot is not None and start.snapshot.end_offset <= start.log_start_offset:
        # The log begins at an older snapshot until Kafka deletes it up to the newest one.
        snapshot = Snapshot(start.snapshot.end_offset, start.snapshot.epoch, 0, frozenset())
        files[file_name(snapshot)] = b64decode(start.snapshot.bytes)
    if start.log:
        files["log.log"] = b64decode(start.log)
    state = on_disk(key, files, formatted).state
    return state if start.election is None else _with_election(state, start, remembers=remembers)


def _with_election(state: ReplicaState, start: StartLine, *, remembers: bool) -> ReplicaState:
    election = start.election
    assert election is not None, "the caller has checked it"
    voted = election.voted_key
    key = None if voted is None else ReplicaKey(voted["id"], voted["directory_id"])
    if remembers and _has_own_vote(start):
        key = state.key
    version = state.log.kraft_version
    return state._replace(
        epoch=election.epoch, leader_id=election.leader_id, voted_key=key, quorum_state_version=version
    )
