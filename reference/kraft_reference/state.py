"""The state of one replica, a value.

`epoch`, `leader_id`, `voted_key` and `log` are on disk, everything else is lost in a crash.
The fields are those of `NewReplica` in Durability.tla.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from kraft_reference.identity import ReplicaKey, VoterSet, names
from kraft_reference.log import Log, empty_log
from kraft_reference.roles import Role

UNKNOWN_HIGH_WATERMARK = -1

_NO_OFFSETS: Mapping[ReplicaKey, int] = {}
_NO_REQUESTS: Mapping[int, int] = {}
_NO_IDS: frozenset[int] = frozenset()


class ReplicaState(NamedTuple):
    """Everything a replica knows."""

    key: ReplicaKey
    role: Role
    epoch: int
    leader_id: int | None
    """The leader of this epoch, if known; its own id for Leader and Resigned."""
    leader_endpoint: str | None
    """Where the leader listens, if known."""
    voted_key: ReplicaKey | None
    """Whom this replica voted for in this epoch.  Rule: vote.once-per-epoch."""
    log: Log
    high_watermark: int
    """Offset after the last record known to be committed, -1 while unknown.  Rule: hw.monotonic."""

    granted: frozenset[int] = _NO_IDS
    """Prospective, Candidate: voters that granted in this round, itself included."""
    rejected: frozenset[int] = _NO_IDS
    """Prospective, Candidate: voters that refused in this round."""
    fetched: bool = False
    """Follower: a fetch succeeded since it became Follower.  Rule: fetch.fetched-flag."""
    searching: bool = False
    """Follower outside the voters set: its fetch timer fired.  Rule: observer.fetch-timeout."""
    epoch_start_offset: int = 0
    """Leader: offset of the first record of its epoch.  Rule: hw.own-epoch."""
    fetch_offsets: Mapping[ReplicaKey, int] = _NO_OFFSETS
    """Leader: fetch offset by voter entry, or by replica key for observers.  Rule: fetch.replica-key."""
    fetchers: frozenset[int] = _NO_IDS
    """Leader: voters that fetched in this check-quorum period.  Rule: check-quorum.counts-keys."""
    acknowledged: frozenset[int] = _NO_IDS
    """Leader, Resigned: voters that answered BeginQuorumEpoch, EndQuorumEpoch."""
    preferred_candidates: tuple[ReplicaKey, ...] = ()
    """Resigned: voters by falling fetch offset.  Rule: end-quorum.send."""
    awaiting: Mapping[int, int] = _NO_REQUESTS
    """Outstanding requests: destination to correlation id, one per connection."""

    @property
    def voters(self) -> VoterSet:
        """The voters set in force: the newest in the own log, committed or not.

        Rules: state.voters-set.applied-uncommitted, state.voters-set.own-majority.
        """
        return self.log.voters[-1].voters


def new_replica(key: ReplicaKey, voters: VoterSet) -> ReplicaState:
    """A replica as it is formatted: stopped, nothing on its disk but what `voters` says."""
    return ReplicaState(
        key=key,
        role=Role.STOPPED,
        epoch=0,
        leader_id=None,
        leader_endpoint=None,
        voted_key=None,
        log=empty_log(voters),
        high_watermark=UNKNOWN_HIGH_WATERMARK,
    )


def is_voter(state: ReplicaState) -> bool:
    """Is the replica, id and directory id, in its own voters set?  Otherwise it is an observer."""
    key = state.key
    voters = state.log.voters[-1].voters
    return key in voters or any(names(voter, key) for voter in voters)


def _replica_id(key: ReplicaKey) -> int:
    return key.id


def other_voters(state: ReplicaState) -> tuple[ReplicaKey, ...]:
    """The voters of the own set without the replica itself, by ascending id."""
    return _others(state.log.voters[-1].voters, state.key)


@lru_cache(maxsize=4096)
def _others(voters: VoterSet, key: ReplicaKey) -> tuple[ReplicaKey, ...]:
    """Asked at almost every step, with the same few answers."""
    return tuple(sorted((voter for voter in voters if not names(voter, key)), key=_replica_id))


def is_majority(number: int, voters: VoterSet) -> bool:
    """Are `number` voters more than half of the set?  Rule: state.voters-set.own-majority."""
    return 2 * number > len(voters)


def voter_entry(state: ReplicaState, key: ReplicaKey) -> ReplicaKey | None:
    """The entry of the voters set that stands for the replica `key`; None for an observer.

    Rules: fetch.replica-key, state.voters-set.fallback-static.
    """
    voters = state.log.voters[-1].voters
    if key in voters:
        return key
    return next((voter for voter in voters if names(voter, key)), None)
