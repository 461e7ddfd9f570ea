"""Checkpoints of the agent as states of the reference."""

from base64 import b64decode
from collections.abc import Mapping
from typing import Any

from kraft_kafka.agent.decoding import key_of
from kraft_kafka.agent.raw import CheckpointLine, RawBase, StartLine
from kraft_kafka.wire.log_records import batches_of, records_of
from kraft_reference.configuration import ReplicaConfiguration
from kraft_reference.identity import ReplicaKey, VoterDetails, VoterSet, names
from kraft_reference.log import Snapshot, append, log_from
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState

_UNKNOWN_PORT = 1
"""Port in the endpoint of a replica whose endpoint is not recorded."""


def unknown_endpoint(replica: int) -> str:
    """Return the endpoint that stands for the unrecorded one of a replica."""
    return f"replica-{replica}:{_UNKNOWN_PORT}"


def static_voters(start: StartLine | CheckpointLine) -> Mapping[int, str]:
    """Return the endpoints of the static voters, by id."""
    if isinstance(start, StartLine):
        return start.static_voters
    base = base_of(start.base)
    return {} if base.kraft_version else {details.id: details.endpoint for details in base.details}


def base_of(base: RawBase) -> Snapshot:
    """Return the snapshot that stands for the log before a checkpoint's batches."""
    details = [
        VoterDetails(
            voter.key["id"],
            voter.endpoint or unknown_endpoint(voter.key["id"]),
            voter.min_version,
            voter.max_version,
        )
        for voter in base.voters
    ]
    voters = frozenset(key_of(voter.key) for voter in base.voters)
    return Snapshot(base.end_offset, base.epoch, base.kraft_version, voters, tuple(sorted(details)))


def is_searching(line: CheckpointLine, leader_id: int | None) -> bool:
    """True for a follower whose connection to its leader backs off, so that it asks other servers, too."""
    is_backing_off = any(it.destination == leader_id and it.correlation_id is None for it in line.requests)
    return line.state["role"] == "Follower" and is_backing_off


def state_of(line: CheckpointLine, configuration: ReplicaConfiguration, awaiting: Mapping[int, int]) -> ReplicaState:
    """Return the state at a checkpoint.

    Args:
        line: the checkpoint.
        configuration: that of the replica.
        awaiting: correlation ids of the requests that await a response, by their receiver.

    Raises:
        WireError: the log is damaged.
    """
    log = log_from(base_of(line.base))
    for batch in batches_of(b64decode(line.log)):
        log = append(log, records_of(batch))
    state, leader = line.state, line.leader
    role, leader_id = Role(state["role"]), state["leader_id"]
    own = configuration.key
    voters = log.voters[-1].voters
    acknowledging: frozenset[int] = frozenset()
    offsets: dict[ReplicaKey, int] = {}
    if leader is not None:
        others = [(_entry(voters, key_of(it.key)), it) for it in leader.progress if it.key["id"] != own.id]
        offsets = {key: it.fetch_offset for key, it in others if it.fetch_offset is not None}
        acknowledging = frozenset(key.id for key, it in others if it.acknowledged and key in voters)
    voted = state.get("voted_key")
    return ReplicaState(
        key=own,
        role=role,
        epoch=state["epoch"],
        leader_id=leader_id,
        leader_endpoint=state["leader_endpoint"],
        voted_key=_voted_key(role, own, voted),
        log=log._replace(flushed=log.end_offset),
        high_watermark=state["high_watermark"],
        quorum_state_version=log.kraft_version,
        moved_to=line.endpoint if line.endpoint not in (None, configuration.endpoint) else None,
        granted=frozenset(state["granted"]),
        rejected=frozenset(state["rejected"]),
        fetched=state.get("fetched", False),
        searching=is_searching(line, leader_id),
        epoch_start_offset=0 if leader is None else leader.epoch_start_offset,
        fetch_offsets=offsets,
        fetchers=frozenset() if leader is None else frozenset(leader.fetchers) - {own.id},
        acknowledging_voters=acknowledging,
        has_updated_leader=leader is None and line.has_updated_leader and leader_id is not None,
        awaiting=awaiting,
    )


def _voted_key(role: Role, own: ReplicaKey, voted: Mapping[str, Any] | None) -> ReplicaKey | None:
    """Return the vote: a leader of Kafka forgets the one for itself, which elected it."""
    if voted is not None:
        return key_of(voted)
    return own if role is Role.LEADER else None


def _entry(voters: VoterSet, key: ReplicaKey) -> ReplicaKey:
    """Return the voter that a key names; the key itself for an observer."""
    return next((voter for voter in voters if names(voter, key)), key)
