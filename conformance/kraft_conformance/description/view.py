"""DescribeQuorum's view at some point of a trace, as far as the trace shows it."""

from dataclasses import dataclass
from pathlib import Path

from kraft_conformance.description.observations import Observations, ObservedReplica, ObservedVoters, place
from kraft_conformance.failure import usage_error
from kraft_reference.describe import UNKNOWN, FetchTime, QuorumDescription, ReplicaProgress
from kraft_reference.identity import ReplicaKey, names
from kraft_reference.messages import Error
from kraft_reference.roles import Role
from kraft_traces.reader import open_trace


@dataclass(frozen=True, slots=True)
class QuorumView:
    """The quorum after some line of a trace."""

    cluster_id: str
    sequence: int
    """Of the last line that counts; 0 for the beginning."""
    time_ms: int | None
    """Virtual or real, as the trace has it; None if it shows none."""
    description: QuorumDescription
    """Of the leader of the highest epoch; without one, what is known without a leader."""


def view_of(path: Path | str, at: int | None = None) -> QuorumView:
    """The view after the line with sequence `at`, or after the last line.

    Raises:
        TraceError: the file is no trace.
        CommandError: the trace ends before that line.
    """
    with open_trace(path) as reader:
        observed = Observations(reader.header)
        if at != 0:
            for line in reader:
                observed.observe(line)
                if line.sequence == at:
                    break
            if at is not None and observed.sequence < at:
                raise usage_error(f"{path}: --at {at}: the trace ends at sequence {observed.sequence}")
    return view(observed)


def view(observed: Observations) -> QuorumView:
    """The view at this point."""
    leaders = [seen for seen in observed.replicas.values() if seen.role is Role.LEADER]
    if leaders:
        leader = max(leaders, key=lambda seen: (UNKNOWN if seen.epoch is None else seen.epoch, seen.key.id))
        described = _of_leader(leader, UNKNOWN if observed.time_ms is None else observed.time_ms)
    else:
        described = _without_leader(observed)
    return QuorumView(observed.header.cluster_id, observed.sequence, observed.time_ms, described)


def _of_leader(leader: ObservedReplica, now_ms: int) -> QuorumDescription:
    high_watermark = UNKNOWN if leader.high_watermark is None else leader.high_watermark
    if leader.epoch_start_offset is not None and high_watermark <= leader.epoch_start_offset:
        high_watermark = UNKNOWN
    added, removed = _uncommitted(leader)
    observers = [key for key in leader.fetch_offsets or () if _is_observer(leader, key)]
    return QuorumDescription(
        error=Error.NONE,
        leader_id=leader.key.id,
        leader_endpoint=leader.newest.endpoints.get(leader.key.id),
        leader_epoch=UNKNOWN if leader.epoch is None else leader.epoch,
        high_watermark=high_watermark,
        voters=tuple(_progress(leader, voter, now_ms) for voter in sorted(leader.newest.voters, key=place)),
        observers=tuple(_progress(leader, key, now_ms) for key in sorted(observers, key=place)),
        nodes=_nodes(leader.newest),
        uncommitted_added=added,
        uncommitted_removed=removed,
        target=_target_progress(leader, now_ms),
    )


def _target_progress(leader: ObservedReplica, now_ms: int) -> tuple[ReplicaProgress, ...] | None:
    """How far each id of the target is; of several disks the one furthest on, of nobody nothing is known.

    Rule: reassign.describe-quorum.
    """
    target = leader.newest.target
    if target is None:
        return None
    reached = leader.fetch_offsets or {}
    known = {key.id: key for key in sorted(reached, key=lambda key: (reached[key], place(key)))}
    known |= {voter.id: voter for voter in leader.newest.voters}
    keys = [known.get(replica_id, ReplicaKey(replica_id, None)) for replica_id in sorted(target)]
    return tuple(_progress(leader, key, now_ms) for key in keys)


def _is_observer(leader: ObservedReplica, key: ReplicaKey) -> bool:
    """Is a fetcher no voter?  What an upgrade has left under a static voter's bare id is none either."""
    if leader.entry_of(key) is not None:
        return False
    return key.directory_id is not None or all(voter.id != key.id for voter in leader.newest.voters)


def _without_leader(observed: Observations) -> QuorumDescription:
    """The highest epoch and the newest set that anybody has shown; how far anybody is, only a leader says."""
    seen = observed.replicas.values()
    newest = max(seen, key=lambda one: (UNKNOWN if one.epoch is None else one.epoch, one.newest.offset)).newest
    return QuorumDescription(
        error=Error.NOT_LEADER_OR_FOLLOWER,
        leader_id=None,
        leader_endpoint=None,
        leader_epoch=max((one.epoch for one in seen if one.epoch is not None), default=UNKNOWN),
        voters=tuple(
            ReplicaProgress(voter, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN) for voter in sorted(newest.voters, key=place)
        ),
        nodes=_nodes(newest),
    )


def _nodes(entry: ObservedVoters) -> tuple[tuple[int, str], ...]:
    voters = {voter.id for voter in entry.voters}
    return tuple(sorted((node_id, endpoint) for node_id, endpoint in entry.endpoints.items() if node_id in voters))


def _uncommitted(leader: ObservedReplica) -> tuple[ReplicaKey | None, ReplicaKey | None]:
    """Whom the newest set adds and removes while it is not known to be committed."""
    if len(leader.sets) < 2 or leader.high_watermark is None:
        return None, None
    newest, known = leader.newest, max(leader.log_start_offset, leader.high_watermark)
    if newest.offset < known:
        return None, None
    before = next((entry for entry in reversed(leader.sets) if entry.offset < known), leader.sets[0])
    added = {voter.id for voter in newest.voters} - {voter.id for voter in before.voters}
    removed = {voter.id for voter in before.voters} - {voter.id for voter in newest.voters}
    return (
        next((voter for voter in sorted(newest.voters, key=place) if voter.id in added), None),
        next((voter for voter in sorted(before.voters, key=place) if voter.id in removed), None),
    )


def _progress(leader: ObservedReplica, key: ReplicaKey, now_ms: int) -> ReplicaProgress:
    end = UNKNOWN if leader.log_end_offset is None else leader.log_end_offset
    if names(key, leader.key):
        return ReplicaProgress(leader.key, end, 0, now_ms, now_ms)
    reached = (leader.fetch_offsets or {}).get(key, UNKNOWN)
    lag = max(end - reached, 0) if reached >= 0 and end >= 0 else UNKNOWN
    time = leader.fetch_times.get(key, FetchTime(UNKNOWN, UNKNOWN, UNKNOWN))
    return ReplicaProgress(key, reached, lag, time.last_fetch_ms, time.last_caught_up_ms)
