"""State of one replica, a value.

`epoch`, `leader_id`, `voted_key`, `quorum_state_version` and `log` are on disk; the other fields are lost in a crash.
`NewReplica` in Durability.tla has the same fields.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from kraft_reference.changes import PendingChange, Report
from kraft_reference.identity import Epoch, Offset, ReplicaId, ReplicaKey, Target, VoterDetails, VoterSet, names
from kraft_reference.log import Log, Snapshot, log_from
from kraft_reference.roles import Role

UNKNOWN_HIGH_WATERMARK = -1

_NO_OFFSETS: Mapping[ReplicaKey, Offset] = {}
_NO_REQUESTS: Mapping[int, int] = {}
_NO_IDS: frozenset[ReplicaId] = frozenset()


class ReplicaState(NamedTuple):
    """All that a replica knows; the later fields belong to one role each."""

    key: ReplicaKey
    role: Role
    epoch: Epoch
    leader_id: ReplicaId | None
    """Leader of this epoch, if known; its own id for Leader and Resigned."""
    leader_endpoint: str | None
    """Endpoint of the leader, if known."""
    voted_key: ReplicaKey | None
    """Replica that it voted for in this epoch.  Rule: vote.once-per-epoch."""
    log: Log
    high_watermark: Offset
    """Offset after the last record known to be committed, -1 while unknown.  Rule: hw.monotonic."""
    quorum_state_version: int = 1
    """Version of the quorum state file when it was last written.

    Rules: durable.version-by-kraft, wire.quorum-state."""
    moved_to: str | None = None
    """Endpoint of this process, if it is not the configured one.  Rule: update-voter.when-sent."""

    granted: frozenset[ReplicaId] = _NO_IDS
    """Prospective, Candidate: voters that granted in this round, itself included."""
    rejected: frozenset[ReplicaId] = _NO_IDS
    """Prospective, Candidate: voters that refused in this round."""
    fetched: bool = False
    """Follower: a Fetch has succeeded since it became Follower.  Rule: fetch.fetched-flag."""
    searching: bool = False
    """Follower: it fetches from the bootstrap servers, too.  Rules: observer.fetch-timeout, fetch.who-fetches."""
    has_updated_leader: bool = False
    """Follower: its leader has accepted its UpdateVoter.  Rule: update-voter.when-sent."""
    epoch_start_offset: Offset = 0
    """Leader: offset of the first record of its epoch.  Rule: hw.own-epoch."""
    fetch_offsets: Mapping[ReplicaKey, Offset] = _NO_OFFSETS
    """Leader: fetch offset by voter entry, or by replica key for observers.  Rule: fetch.replica-key."""
    fetchers: frozenset[ReplicaId] = _NO_IDS
    """Leader: voters that fetched in this check-quorum period.  Rule: check-quorum.counts-keys."""
    acknowledging_voters: frozenset[ReplicaId] = _NO_IDS
    """Leader, Resigned: voters that acknowledged BeginQuorumEpoch or EndQuorumEpoch, or that get the announcement again
    only when the begin-quorum timer fires (`Latitude.announcement_again`)."""
    preferred_candidates: tuple[ReplicaKey, ...] = ()
    """Resigned: voters by descending fetch offset.  Rule: end-quorum.send."""
    awaiting: Mapping[ReplicaId, int] = _NO_REQUESTS
    """Outstanding requests: destination to correlation id, one for each connection."""
    pending_change: PendingChange | None = None
    """Leader: the voter change in progress.  Rule: voters.one-change-at-a-time."""
    reports: tuple[Report, ...] = ()
    """Leader at kraft.version 0: reports of voters, by id.  Rule: update-voter.in-memory-at-version-0."""
    awaited_targets: Mapping[int, int] = _NO_REQUESTS
    """Leader: AlterPartitionReassignments that await the commit of their target: number of the request to offset of the
    record.  Rule: reassign.request-success-after-commit."""
    wanted_snapshot: tuple[Offset, Epoch] | None = None
    """Follower: id of the snapshot that its leader has in place of the records it needs."""

    @property
    def voters(self) -> VoterSet:
        """Voter set in force: the newest in the replica's log, committed or not.

        Rules: voters.effective-on-append, state.voters-set.own-majority, voters.set-from-snapshot-and-log,
        reassign.effective-on-append.
        """
        return self.log.voters[-1].voters

    @property
    def target(self) -> Target:
        """Target of the reassignment under way, from the newest assignment in the log; None without one.

        Rules: reassign.assignment-record, reassign.new-leader-resumes.
        """
        return self.log.voters[-1].target


def new_replica(key: ReplicaKey, checkpoint: Snapshot) -> ReplicaState:
    """Return a replica as it is formatted: stopped, with only the bootstrap checkpoint on its disk."""
    # Rules: identity.directory-id-at-format, bootstrap.standalone, bootstrap.multi-voter,
    # bootstrap.no-list-means-observer, bootstrap.static-quorum.
    return ReplicaState(
        key=key,
        role=Role.STOPPED,
        epoch=0,
        leader_id=None,
        leader_endpoint=None,
        voted_key=None,
        log=log_from(checkpoint),
        high_watermark=UNKNOWN_HIGH_WATERMARK,
        quorum_state_version=checkpoint.kraft_version,
    )


def is_voter(state: ReplicaState) -> bool:
    """Return True if the replica, by id and directory id, is in its own voter set; otherwise it is an observer."""
    # Rules: identity.voter-definition, identity.observer-definition.
    key = state.key
    voters = state.log.voters[-1].voters
    return key in voters or any(names(voter, key) for voter in voters)


def _replica_id(key: ReplicaKey) -> int:
    return key.id


def other_voters(state: ReplicaState) -> tuple[ReplicaKey, ...]:
    """Return the voters of the replica's own set without itself, by ascending id."""
    return _others(state.log.voters[-1].voters, state.key)


@lru_cache(maxsize=4096)
def _others(voters: VoterSet, key: ReplicaKey) -> tuple[ReplicaKey, ...]:
    """Return the other voters; cached, because almost every step needs them."""
    return tuple(sorted((voter for voter in voters if not names(voter, key)), key=_replica_id))


def details_of(state: ReplicaState, voter_id: ReplicaId) -> VoterDetails | None:
    """Return endpoint and supported versions of a voter in the replica's own set; None if it is no member.

    Rule: voters.endpoints-are-part-of-the-set.
    """
    return next((details for details in state.log.voters[-1].details if details.id == voter_id), None)


def is_majority(number: int, voters: VoterSet) -> bool:
    """Return True if `number` voters are more than half of the set.  Rule: state.voters-set.own-majority."""
    return 2 * number > len(voters)


def voter_entry(state: ReplicaState, key: ReplicaKey) -> ReplicaKey | None:
    """Return the entry of the voter set that names the replica `key`; None for an observer.

    Rules: fetch.replica-key, state.voters-set.fallback-static.
    """
    voters = state.log.voters[-1].voters
    if key in voters:
        return key
    return next((voter for voter in voters if names(voter, key)), None)
