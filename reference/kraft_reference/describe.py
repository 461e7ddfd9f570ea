"""DescribeQuorum: the leader's view of its quorum, with directory ids and endpoints (version 2).

A replica has no clock, so its driver keeps the times of Fetches, as a value (`FetchTimes`).
Rules: wire.describe-quorum-2, cli.describe-status, cli.describe-replication.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from kraft_reference.configuration import Configuration
from kraft_reference.identity import ReplicaKey, names
from kraft_reference.messages import Error
from kraft_reference.responses import known_endpoint
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState, voter_entry

UNKNOWN = -1
"""Offset, lag or time that the leader does not know."""


class FetchTime(NamedTuple):
    """Times of one replica's Fetches from the leader, in milliseconds of the driver's clock."""

    last_fetch_ms: int
    last_caught_up_ms: int
    """Last time at which it had the whole log of the leader; -1 if never in this epoch."""
    leader_end_offset: int
    """End of the leader's log at the last Fetch."""


FetchTimes = Mapping[ReplicaKey, FetchTime]
"""By voter entry, or by replica key for observers, like `ReplicaState.fetch_offsets`; empty in a new epoch."""


def with_fetch(
    times: FetchTimes, state: ReplicaState, replica_key: ReplicaKey, fetch_offset: int, now_ms: int
) -> FetchTimes:
    """Return the times after a Fetch that the leader has served."""
    # A replica that has reached the end that the log had at its Fetch before was caught up at that time.
    # Rule: identity.leader-tracks-by-key.
    tracked = voter_entry(state, replica_key) or replica_key
    earlier = times.get(tracked, FetchTime(UNKNOWN, UNKNOWN, UNKNOWN))
    caught_up_ms = earlier.last_caught_up_ms
    if fetch_offset >= state.log.end_offset:
        caught_up_ms = now_ms
    elif 0 <= earlier.leader_end_offset <= fetch_offset:
        caught_up_ms = max(caught_up_ms, earlier.last_fetch_ms)
    return {**times, tracked: FetchTime(now_ms, caught_up_ms, state.log.end_offset)}


@dataclass(frozen=True, slots=True)
class ReplicaProgress:
    """Progress of one voter or observer; -1 is unknown."""

    key: ReplicaKey
    log_end_offset: int
    lag: int
    """Number of records of the leader's log that it lacks."""
    last_fetch_ms: int
    last_caught_up_ms: int


@dataclass(frozen=True, slots=True)
class QuorumDescription:
    """Response to DescribeQuorum; with an error it has only the leader and the epoch that the replica knows."""

    error: Error
    leader_id: int | None
    leader_endpoint: str | None
    leader_epoch: int
    high_watermark: int = UNKNOWN
    voters: tuple[ReplicaProgress, ...] = ()
    """Newest voter set, committed or not, by id."""
    observers: tuple[ReplicaProgress, ...] = ()
    """Replicas that have fetched in this epoch and are no voters, by id."""
    nodes: tuple[tuple[int, str], ...] = ()
    """Endpoint of each voter, by id; the latest of several voters with one id."""
    target: tuple[ReplicaProgress, ...] | None = None
    """KIP-642's TargetVoters, by id; None while no reassignment is under way.  Rule: reassign.describe-quorum."""

    @property
    def max_follower_lag(self) -> int:
        """Largest lag of a voter, in records; -1 if one is unknown."""
        lags = [voter.lag for voter in self.voters]
        return UNKNOWN if UNKNOWN in lags else max(lags, default=UNKNOWN)

    @property
    def max_follower_lag_ms(self) -> int:
        """Milliseconds between the latest and the earliest time of a caught-up voter; -1 if one is unknown."""
        times = [voter.last_caught_up_ms for voter in self.voters]
        return UNKNOWN if UNKNOWN in times or not times else max(times) - min(times)


def describe_quorum(
    state: ReplicaState, configuration: Configuration, times: FetchTimes, now_ms: int
) -> QuorumDescription:
    """Return the response to DescribeQuorum at `now_ms`; an error unless the replica is the leader.

    Rules: wire.describe-quorum-2, identity.leader-tracks-by-key, hw.own-epoch,
    reassign.describe-quorum.
    """
    endpoint = known_endpoint(state, configuration)
    if state.role is not Role.LEADER:
        return QuorumDescription(Error.NOT_LEADER_OR_FOLLOWER, state.leader_id, endpoint, state.epoch)
    return QuorumDescription(
        error=Error.NONE,
        leader_id=state.leader_id,
        leader_endpoint=endpoint,
        leader_epoch=state.epoch,
        high_watermark=state.high_watermark if state.high_watermark > state.epoch_start_offset else UNKNOWN,
        voters=tuple([_progress(state, voter, times, now_ms) for voter in sorted(state.voters, key=_place)]),
        observers=tuple(
            [
                _progress(state, key, times, now_ms)
                for key in sorted(state.fetch_offsets, key=_place)
                if _is_observer(state, key)
            ]
        ),
        nodes=tuple({details.id: (details.id, details.endpoint) for details in state.log.voters[-1].details}.values()),
        target=None if state.target is None else _target_progress(state, state.target, times, now_ms),
    )


def _target_progress(
    state: ReplicaState, target: frozenset[int], times: FetchTimes, now_ms: int
) -> tuple[ReplicaProgress, ...]:
    """Return the progress of each id of the target, voter or not; of several directories the one furthest ahead.

    Rules: reassign.describe-quorum, reassign.progress-only-during.
    """
    by_progress = sorted(state.fetch_offsets, key=lambda key: (state.fetch_offsets[key], _place(key)))
    by_id = {key.id: key for key in by_progress}
    by_id |= {voter.id: voter for voter in state.voters}
    keys = [by_id.get(replica_id, ReplicaKey(replica_id, None)) for replica_id in sorted(target)]
    return tuple([_progress(state, key, times, now_ms) for key in keys])


def _is_observer(state: ReplicaState, key: ReplicaKey) -> bool:
    """Return True if a replica that has fetched is no voter."""
    if voter_entry(state, key) is not None:
        return False
    # The progress of a static voter stays under its id when an upgrade adds its directory id.
    return key.directory_id is not None or all(voter.id != key.id for voter in state.voters)


def _place(key: ReplicaKey) -> tuple[int, str]:
    """Return the sort key of a replica: its id, without a directory id first."""
    return key.id, key.directory_id or ""


def _progress(state: ReplicaState, key: ReplicaKey, times: FetchTimes, now_ms: int) -> ReplicaProgress:
    """Return the progress of a replica; the leader itself is always caught up."""
    end = state.log.end_offset
    if names(key, state.key):
        return ReplicaProgress(state.key, end, 0, now_ms, now_ms)
    reached = state.fetch_offsets.get(key, UNKNOWN)
    time = times.get(key, FetchTime(UNKNOWN, UNKNOWN, UNKNOWN))
    lag = max(end - reached, 0) if reached >= 0 else UNKNOWN
    return ReplicaProgress(key, reached, lag, time.last_fetch_ms, time.last_caught_up_ms)
