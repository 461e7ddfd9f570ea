"""Builders for the tests of the reference: clusters, states by role, logs, and one step; messages are in `wire`.

The names follow the examples of the rule catalogue: replicas 1, 2, 3 vote, the next ones observe; replica `i` has
the key (i, "U<i>") and listens at "replica-<i>:9093".
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from kraft_mutants.replicas import mutated_replicas
from kraft_reference.changes import AwaitingCatchUp, AwaitingCommit, AwaitingVersions, ChangeKind, Requester
from kraft_reference.configuration import Configuration, PreVoteSupport, ReplicaConfiguration
from kraft_reference.effects import StartTimer, Timer
from kraft_reference.events import Draw, Event, Receive
from kraft_reference.identity import ReplicaKey, VoterDetails, VoterSet
from kraft_reference.log import Log, Snapshot, append, flush, log_from
from kraft_reference.messages import Message, Reply
from kraft_reference.outcome import Outcome, Refusal
from kraft_reference.quorum_reassignment import next_steps
from kraft_reference.records import Record, RecordKind
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState

DRAW = Draw(correlation_id=77, election_timeout_ms=1500, election_backoff_ms=400)
ELECTION = StartTimer(Timer.ELECTION, 1500)
FETCH = StartTimer(Timer.FETCH, 2000)
CHANGE = StartTimer(Timer.VOTER_CHANGE, 30_000)


# ---------------------------------------------------------------------------------------------------------
# Clusters.
# ---------------------------------------------------------------------------------------------------------


def key(replica_id: int, directory_id: str | None = None) -> ReplicaKey:
    """Return the key of a replica, by default with its first disk."""
    return ReplicaKey(replica_id, directory_id or f"U{replica_id}")


def keys(*replica_ids: int) -> VoterSet:
    """Return the voter set of these replicas."""
    return frozenset(key(replica_id) for replica_id in replica_ids)


def endpoint(replica_id: int) -> str:
    """Return the endpoint of a replica."""
    return f"replica-{replica_id}:9093"


def details(*replica_ids: int, versions: tuple[int, int] = (0, 1)) -> tuple[VoterDetails, ...]:
    """Return the voter set's details of these replicas, each with current software."""
    return tuple(VoterDetails(replica_id, endpoint(replica_id), *versions) for replica_id in sorted(replica_ids))


def cluster(
    voters: int = 3, observers: int = 0, pre_vote: Mapping[int, PreVoteSupport] | None = None, **changes: Any
) -> Configuration:
    """Return a cluster: replicas 1 to `voters` vote, the next `observers` do not; static voters at kraft.version 0."""
    ids = range(1, voters + observers + 1)
    support = pre_vote or {}
    static = changes.get("kraft_version") == 0
    members = frozenset(ReplicaKey(i) if static else key(i) for i in range(1, voters + 1))
    replicas = {i: ReplicaConfiguration(key(i), endpoint(i), support.get(i, "supported")) for i in ids}
    return Configuration(**{"replicas": replicas, "voters": members, **changes})


def old_software(configuration: Configuration, replica_id: int) -> Configuration:
    """Return the cluster with one replica whose messages carry no endpoints."""
    replicas = dict(configuration.replicas)
    replicas[replica_id] = replace(replicas[replica_id], sends_leader_endpoint=False)
    return replace(configuration, replicas=replicas)


def joining(configuration: Configuration, *replica_ids: int) -> Configuration:
    """Return the cluster with these replicas joining the voters automatically."""
    replicas = dict(configuration.replicas)
    for replica_id in replica_ids:
        replicas[replica_id] = replace(replicas[replica_id], auto_join=True)
    return replace(configuration, replicas=replicas)


THREE = cluster(3)
FIVE = cluster(5)
OBSERVED = cluster(3, observers=1)
"""Replica 4 is an observer."""
SIX = cluster(3, observers=3)
"""Replicas 4, 5 and 6 are observers."""


# ---------------------------------------------------------------------------------------------------------
# Logs and states.
# ---------------------------------------------------------------------------------------------------------


def data(*epochs: int) -> tuple[Record, ...]:
    """Return a client's record for each epoch."""
    return tuple(Record(epoch, RecordKind.DATA, 0) for epoch in epochs)


def voters_record(epoch: int, *replica_ids: int) -> Record:
    """Return a VotersRecord of these replicas."""
    return Record(epoch, RecordKind.VOTERS, 0, keys(*replica_ids), details(*replica_ids))


def assignment(epoch: int, *replica_ids: int, target: Iterable[int] | None) -> Record:
    """Return a VoterAssignment of these replicas, with the target ids."""
    wanted = None if target is None else frozenset(target)
    return Record(epoch, RecordKind.VOTER_ASSIGNMENT, 0, keys(*replica_ids), details(*replica_ids), wanted)


def version_record(epoch: int, kraft_version: int = 1) -> Record:
    """Return a KRaftVersionRecord."""
    return Record(epoch, RecordKind.KRAFT_VERSION, kraft_version)


def checkpoint(voters: VoterSet, end_offset: int = 0, epoch: int = 0) -> Snapshot:
    """Return a snapshot, of kraft.version 0 if its voters are static."""
    ids = [voter.id for voter in voters]
    if voters and all(voter.directory_id is None for voter in voters):
        return Snapshot(end_offset, epoch, 0, voters, details(*ids, versions=(0, 0)))
    return Snapshot(end_offset, epoch, 1, voters, details(*ids))


def log_of(*epochs: int, voters: VoterSet = THREE.voters, more: tuple[Record, ...] = ()) -> Log:
    """Return a synced log on a bootstrap checkpoint, with a record for each epoch, followed by `more`."""
    return flush(append(log_from(checkpoint(voters)), (*data(*epochs), *more)))


EMPTY = log_of()


def _state(
    own: int, role: Role, epoch: int, leader_id: int | None, listens: str | None, voted: ReplicaKey | None, log: Log
) -> ReplicaState:
    """Return a replica whose quorum state file was last written at the kraft.version of its log."""
    state = ReplicaState(key(own), role, epoch, leader_id, listens, voted, log, -1)
    return state._replace(quorum_state_version=log.kraft_version)


def unattached(epoch: int, own: int = 1, *, leader: int | None = None, log: Log = EMPTY, **more: Any) -> ReplicaState:
    """Return U(epoch), which may remember a leader id without an endpoint."""
    return _state(own, Role.UNATTACHED, epoch, leader, None, more.pop("voted", None), log)._replace(**more)


def where(leader: int | None) -> str | None:
    """Return the endpoint of the leader, if any."""
    return None if leader is None else endpoint(leader)


def prospective(epoch: int, own: int = 1, *, leader: int | None = None, log: Log = EMPTY, **more: Any) -> ReplicaState:
    """Return P(epoch, leader) with its own grant."""
    state = _state(own, Role.PROSPECTIVE, epoch, leader, where(leader), more.pop("voted", None), log)
    return state._replace(granted=frozenset({own}))._replace(**more)


def candidate(epoch: int, own: int = 1, *, log: Log = EMPTY, **more: Any) -> ReplicaState:
    """Return C(epoch) with its own vote."""
    state = _state(own, Role.CANDIDATE, epoch, None, None, key(own), log)
    return state._replace(granted=frozenset({own}))._replace(**more)


def follower(epoch: int, leader: int, own: int = 1, *, log: Log = EMPTY, **more: Any) -> ReplicaState:
    """Return F(epoch, leader) that has not fetched yet."""
    voted = more.pop("voted", None)
    return _state(own, Role.FOLLOWER, epoch, leader, endpoint(leader), voted, log)._replace(**more)


def leader(epoch: int, own: int = 1, *, log: Log = EMPTY, **more: Any) -> ReplicaState:
    """Return L(epoch) whose log ends with the LeaderChange of its epoch."""
    written = flush(append(log, [Record(epoch, RecordKind.LEADER_CHANGE, own)]))
    state = _state(own, Role.LEADER, epoch, own, endpoint(own), key(own), written)
    return state._replace(epoch_start_offset=log.end_offset)._replace(**more)


def established(epoch: int, own: int = 1, *, log: Log = EMPTY, **more: Any) -> ReplicaState:
    """Return L(epoch) that has committed a record of its epoch, and so may change its voters."""
    return leader(epoch, own, log=log, **{"high_watermark": log.end_offset + 1, **more})


def reassigning(*replica_ids: int, target: Iterable[int] | None = (4, 5, 6), **more: Any) -> ReplicaState:
    """Return L(4) with these voters and a target, all committed: VoterAssignment@0 of epoch 3, LeaderChange@1."""
    return established(4, log=log_of(more=(assignment(3, *replica_ids, target=target),)), **more)


def resigned(epoch: int, own: int = 1, *, log: Log = EMPTY, **more: Any) -> ReplicaState:
    """Return R(epoch)."""
    return _state(own, Role.RESIGNED, epoch, own, endpoint(own), key(own), log)._replace(**more)


def stopped(epoch: int, own: int = 1, *, leader: int | None = None, log: Log = EMPTY, **more: Any) -> ReplicaState:
    """Return a stopped replica with the contents of its disk."""
    return _state(own, Role.STOPPED, epoch, leader, None, more.pop("voted", None), log)._replace(**more)


REQUESTER = Requester(None, 9)
"""An admin client with its request number 9."""


def learning(voter: int = 4, requester: Requester | None = REQUESTER) -> AwaitingVersions:
    """Return an addition that awaits the new voter's versions."""
    return AwaitingVersions(key(voter), endpoint(voter), requester)


def catching_up(voter: int = 4, end: int = 1, requester: Requester | None = REQUESTER) -> AwaitingCatchUp:
    """Return an addition that must reach an offset."""
    return AwaitingCatchUp(key(voter), VoterDetails(voter, endpoint(voter), 0, 1), end, requester)


def committing(kind: ChangeKind, voter: ReplicaKey | None, offset: int) -> AwaitingCommit:
    """Return a change whose record is in the log."""
    return AwaitingCommit(kind, voter, offset, REQUESTER)


def becomes(state: ReplicaState, role: Role, epoch: int, **fields: Any) -> ReplicaState:
    """Return the state right after entering a role: key, log and high watermark stay, other fields are as given or
    empty.
    """
    blank = ReplicaState(state.key, role, epoch, None, None, None, state.log, state.high_watermark)
    return blank._replace(quorum_state_version=state.quorum_state_version, moved_to=state.moved_to)._replace(**fields)


def in_every_role(epoch: int, own: int = 1) -> list[ReplicaState]:
    """Return a replica of the epoch in each running role; the Follower follows replica 2."""
    return [
        unattached(epoch, own),
        prospective(epoch, own),
        candidate(epoch, own),
        leader(epoch, own),
        follower(epoch, 2, own),
        resigned(epoch, own),
    ]


def role_name(state: ReplicaState) -> str:
    """Return the id of a parametrised case."""
    return str(state.role)


# ---------------------------------------------------------------------------------------------------------
# Steps.
# ---------------------------------------------------------------------------------------------------------


def step(state: ReplicaState, event: Event, configuration: Configuration = THREE, *without: str) -> Outcome:
    """Return the outcome of an event, with the mutants that omit these rules."""
    return mutated_replicas(without)(state, configuration).outcome(event, DRAW)


def receive(state: ReplicaState, message: Message, configuration: Configuration = THREE, *without: str) -> Outcome:
    """Return the outcome of a message, with the mutants that omit these rules."""
    return step(state, Receive(message), configuration, *without)


def messages(outcome: Outcome) -> tuple[Message, ...]:
    """Return the messages that an outcome sends to replicas."""
    return tuple(sent for sent in outcome.sends if not isinstance(sent, Reply))


def refused(state: ReplicaState, reason: Refusal) -> Outcome:
    """Return the outcome of an event that changed nothing."""
    return Outcome(state, refusal=reason)


# ---------------------------------------------------------------------------------------------------------
# Leaders with a target.

TARGET = frozenset((4, 5, 6))
"""The target of `reassigning`."""
FETCHED = {key(4): 2, key(5): 2, key(6): 2}
"""Observers that have fetched everything from `reassigning`."""


def steps(state: ReplicaState, configuration: Configuration = SIX) -> list[int | None]:
    """Return the ids that the next step may name; `None` for one that neither adds nor removes."""
    voters = next_steps(state)
    return sorted((None if voter is None else voter.id for voter in voters), key=lambda voter: voter or 0)


def appended(state: ReplicaState, *records: Record) -> ReplicaState:
    """Return the leader with records appended to its log."""
    return state._replace(log=flush(append(state.log, records)))
