"""The cluster that the agent's files show, and the disks with which the trace begins."""

from base64 import b64decode
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kraft_kafka.agent.checkpoints import base_of, state_of, static_voters, unknown_endpoint
from kraft_kafka.agent.decoding import snapshot_in
from kraft_kafka.agent.drafts import Begin
from kraft_kafka.agent.raw import CheckpointLine, RawLine, SendLine, StartLine
from kraft_kafka.agent.reading import RawFile
from kraft_kafka.releases import number, profile_of
from kraft_kafka.wire.disk_files import on_disk
from kraft_kafka.wire.snapshot_files import file_name
from kraft_reference.configuration import Configuration, ReplicaConfiguration
from kraft_reference.identity import ReplicaKey, VoterDetails
from kraft_reference.log import Snapshot
from kraft_reference.profile import PROFILES, Profile, with_settings
from kraft_reference.state import ReplicaState
from kraft_simulation.checkpoint import Checkpoint, Committed, Recollection
from kraft_traces.check.opening import with_states_remembered

_FIRST_PRE_VOTE = (4, 0)
"""First release with KIP-996."""
_JOIN_REQUESTS = ("AddRaftVoterRequest", "RemoveRaftVoterRequest")
"""Requests that only a replica with controller.quorum.auto.join.enable sends."""


First = StartLine | CheckpointLine
"""First line of a replica."""


def static_snapshot(starts: Iterable[First]) -> Snapshot:
    """Return the checkpoint of a disk that was formatted without voters: those of controller.quorum.voters."""
    endpoints = {id_: endpoint for start in starts for id_, endpoint in static_voters(start).items()}
    voters = frozenset(ReplicaKey(id_, None) for id_ in endpoints)
    return Snapshot(0, 0, 0, voters, tuple(VoterDetails(id_, endpoints[id_], 0, 0) for id_ in sorted(endpoints)))


def first_starts(files: Iterable[RawFile]) -> Mapping[int, First]:
    """Return the first line of each replica; the files are in the order of their starts."""
    starts: dict[int, First] = {}
    for file in files:
        starts.setdefault(file.start.replica, file.start)
    return starts


def is_fresh(start: First) -> bool:
    """True if the replica starts on an empty disk."""
    if isinstance(start, CheckpointLine):
        return False
    return start.log_end_offset == 0 and (start.election is None or start.election.epoch == 0)


class Shown(NamedTuple):
    """Parts of the cluster's configuration that lines after the first show."""

    joining: frozenset[int] = frozenset()
    """Replicas that have sent a request of controller.quorum.auto.join.enable."""
    servers: frozenset[str] = frozenset()
    """Endpoints of bootstrap servers to which requests were sent."""

    def and_line(self, replica: int, line: RawLine) -> "Shown":
        """Return what a line of a replica shows besides."""
        if not isinstance(line, SendLine):
            return self
        visible = self
        if line.message.name in _JOIN_REQUESTS:
            visible = visible._replace(joining=self.joining | {replica})
        if line.destination < 0:
            visible = visible._replace(servers=self.servers | {line.endpoint})
        return visible


def shown_by(files: Iterable[RawFile]) -> Shown:
    """Return what the lines of files show."""
    visible = Shown()
    for file in files:
        for line in file.lines:
            visible = visible.and_line(file.start.replica, line)
    return visible


def configuration_of(
    starts: Mapping[int, First],
    static: Snapshot,
    visible: Shown,
    others: Mapping[int, ReplicaConfiguration],
    profile: str | None,
) -> Configuration:
    """Return the cluster.

    Args:
        starts: the first line of each replica, in the order of time.
        static: the static voters.
        visible: what the lines after them show.
        others: replicas without a file that send or receive messages, by their ids.
        profile: name of the profile; None for that of the Kafka in the first file.
    """
    formatted = {id_: _formatted(start, static) for id_, start in starts.items()}
    bootstrap = next((it for it in formatted.values() if it is not None and it.kraft_version > 0), None)
    voters = static if bootstrap is None else bootstrap
    replicas = {
        id_: _replica(
            start,
            is_without_voters=bootstrap is not None and not _has_voters(formatted[id_]),
            is_joining=id_ in visible.joining,
        )
        for id_, start in starts.items()
    }
    details = {it.id: it for it in voters.details}
    for key in voters.voters:
        replicas.setdefault(key.id, _voter(key, details[key.id]))
    for id_, replica in others.items():
        replicas.setdefault(id_, replica)
    first = next(iter(starts.values()))
    return Configuration(
        replicas=dict(sorted(replicas.items())),
        voters=voters.voters,
        kraft_version=1 if bootstrap is not None else 0,
        cluster_id=first.cluster_id,
        profile=_profile(profile, first, starts),
        bootstrap_servers=_bootstrap_servers(visible.servers, replicas, voters),
    )


def _formatted(start: First, static: Snapshot) -> Snapshot | None:
    """Return the newest snapshot: the bootstrap checkpoint, if there is no other one yet."""
    if isinstance(start, CheckpointLine):
        return base_of(start.base)
    return None if start.snapshot is None else snapshot_in(start.snapshot, static)


def _has_voters(snapshot: Snapshot | None) -> bool:
    return snapshot is not None and bool(snapshot.voters)


def _replica(start: First, *, is_without_voters: bool, is_joining: bool) -> ReplicaConfiguration:
    return ReplicaConfiguration(
        ReplicaKey(start.replica, start.directory_id),
        start.endpoint or unknown_endpoint(start.replica),
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


def _profile(name: str | None, first: First, starts: Mapping[int, First]) -> Profile:
    """Return the profile, with Kafka's settings of open decisions that the receivers of its Fetches and its disks show.

    Rules: fetch.who-fetches, durable.vote.v0-uuid-in-memory.
    """
    profile = agent_profile(PROFILES[name if name is not None else profile_of(first.kafka or "unknown")])
    # A Candidate of Kafka has voted for its own key with the directory id, which the file of version 0 does not have.
    # With several replicas, another one may forget the directory id of its vote.
    has_own_vote = len(starts) == 1 and _has_own_vote(first)
    return with_settings(profile, voted_directory_at_version_0="remembered") if has_own_vote else profile


def agent_profile(profile: Profile) -> Profile:
    """Return the profile with the choices of Kafka that depend on its clocks.

    A replica whose Fetch is not answered may ask bootstrap servers; a leader adds or refuses a new voter that lags.
    Rules: fetch.who-fetches, add-voter.catch-up-first.
    """
    return with_settings(profile, f"{profile.name}+agent", unanswered_fetch="servers-too", lagging_voter="refused")


def _has_own_vote(start: First) -> bool:
    """True if the disk has a vote of kraft.version 0 for the replica itself."""
    if isinstance(start, CheckpointLine):
        return False
    voted = None if start.election is None else start.election.voted_key
    return bool(start.static_voters) and voted is not None and voted["id"] == start.replica


def _bootstrap_servers(
    endpoints: frozenset[str], replicas: Mapping[int, ReplicaConfiguration], voters: Snapshot
) -> tuple[int, ...]:
    """Return the bootstrap servers, if there are others than the voters: they have negative ids as destinations."""
    ids = {replica.endpoint: id_ for id_, replica in replicas.items()}
    servers = {ids[endpoint] for endpoint in endpoints if endpoint in ids} | {key.id for key in voters.voters}
    return () if servers == {key.id for key in voters.voters} else tuple(sorted(servers))


def opening_checkpoint(
    starts: Mapping[int, First], configuration: Configuration, begins: Mapping[int, Begin], *, is_needed: bool = False
) -> Checkpoint | None:
    """Return the states with which the trace begins; None if all disks are empty and `is_needed` is false.

    Args:
        starts: the first line of each replica.
        configuration: the cluster.
        begins: the first line of each replica that is observed from the middle of its life on.
        is_needed: True if a replica is not observed.
    """
    if not is_needed and all(map(is_fresh, starts.values())):
        return None
    states = {
        id_: state_at(begins.get(id_) or Begin(starts[id_], {}), configuration)
        if id_ in starts
        else on_disk(replica.key, {}, configuration.checkpoint(id_)).state
        for id_, replica in configuration.replicas.items()
    }
    empty = Recollection({}, {}, Committed(), 0, frozenset())
    return with_states_remembered(Checkpoint(0, 0, states, {}, frozenset(), empty, {}))


def state_at(begin: Begin, configuration: Configuration) -> ReplicaState:
    """Return the state of a replica at a line from which on it is observed.

    Raises:
        WireError: the bytes of its log are damaged.
    """
    id_ = begin.line.replica
    replica = configuration.replicas[id_]
    if isinstance(begin.line, CheckpointLine):
        return state_of(begin.line, replica, begin.awaiting)
    remembers = configuration.profile.latitude.voted_directory_at_version_0 == "remembered"
    return _on_disk(replica.key, begin.line, configuration.checkpoint(id_), remembers=remembers)


def _on_disk(key: ReplicaKey, start: StartLine, formatted: Snapshot, *, remembers: bool) -> ReplicaState:
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
