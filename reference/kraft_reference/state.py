"""The state of one replica, a value.

`epoch`, `leader_id`, `voted_key`, `quorum_state_version` and `log` are on disk, everything else is lost in a crash.
The fields are those of `NewReplica` in Durability.tla.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from kraft_reference.changes import PendingChange, Report
from kraft_reference.identity import ReplicaKey, Target, VoterDetails, VoterSet, names
from kraft_reference.log import Log, Snapshot, log_on
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
    quorum_state_version: int = 1
    """The version of the quorum state file, as it was last written.

    Rules: durable.version-by-kraft, wire.quorum-state."""
    moved_to: str | None = None
    """Where this process listens, if not where the configuration says.  Rule: update-voter.when-sent."""

    granted: frozenset[int] = _NO_IDS
    """Prospective, Candidate: voters that granted in this round, itself included."""
    rejected: frozenset[int] = _NO_IDS
    """Prospective, Candidate: voters that refused in this round."""
    fetched: bool = False
    """Follower: a fetch succeeded since it became Follower.  Rule: fetch.fetched-flag."""
    searching: bool = False
    """Follower: it asks the bootstrap servers, too.  Rules: observer.fetch-timeout, fetch.who-fetches."""
    epoch_start_offset: int = 0
    """Leader: offset of the first record of its epoch.  Rule: hw.own-epoch."""
    fetch_offsets: Mapping[ReplicaKey, int] = _NO_OFFSETS
    """Leader: fetch offset by voter entry, or by replica key for observers.  Rule: fetch.replica-key."""
    fetchers: frozenset[int] = _NO_IDS
    """Leader: voters that fetched in this check-quorum period.  Rule: check-quorum.counts-keys."""
    acknowledged: frozenset[int] = _NO_IDS
    """Leader, Resigned: voters that answered BeginQuorumEpoch, EndQuorumEpoch, or that are not told again before the
    begin-quorum timer fires (`Profile.announcement_again`).

    Follower: its leader, once that has taken note of its UpdateVoter.  Rule: update-voter.when-sent."""
    preferred_candidates: tuple[ReplicaKey, ...] = ()
    """Resigned: voters by falling fetch offset.  Rule: end-quorum.send."""
    awaiting: Mapping[int, int] = _NO_REQUESTS
    """Outstanding requests: destination to correlation id, one per connection."""
    pending_change: PendingChange | None = None
    """Leader: the voter change that it works on.  Rule: voters.one-change-at-a-time."""
    reports: tuple[Report, ...] = ()
    """Leader at kraft.version 0: what voters told of themselves, by id.  Rule: update-voter.in-memory-at-version-0."""
    awaited_targets: Mapping[int, int] = _NO_REQUESTS
    """Leader: AlterPartitionReassignments of clients that await the commit of their target: number of the request to
    offset of the record.  Rule: reassign.request-success-after-commit."""
    wanted_snapshot: tuple[int, int] | None = None
    """Follower: the id (end offset, epoch) of the snapshot that its leader has in place of the records it needs."""

    @property
    def voters(self) -> VoterSet:
        """The voters set in force: the newest in the own log, committed or not.

        Rules: voters.effective-on-append, state.voters-set.own-majority, voters.set-from-snapshot-and-log,
        reassign.effective-on-append.
        """
        return self.log.voters[-1].voters

    @property
    def target(self) -> Target:
        """The ids that the reassignment under way shall end with, None without one: from the newest assignment.

        Rules: reassign.assignment-record, reassign.new-leader-resumes.
        """
        return self.log.voters[-1].target


def new_replica(key: ReplicaKey, checkpoint: Snapshot) -> ReplicaState:
    """A replica as it is formatted: stopped, nothing on its disk but the bootstrap checkpoint.

    Rules: identity.directory-id-at-format, bootstrap.standalone, bootstrap.multi-voter,
    bootstrap.no-list-means-observer, bootstrap.static-quorum.
    """
    return ReplicaState(
        key=key,
        role=Role.STOPPED,
        epoch=0,
        leader_id=None,
        leader_endpoint=None,
        voted_key=None,
        log=log_on(checkpoint),
        high_watermark=UNKNOWN_HIGH_WATERMARK,
        quorum_state_version=checkpoint.kraft_version,
    )


def is_voter(state: ReplicaState) -> bool:
    """Is the replica, id and directory id, in its own voters set?  Otherwise it is an observer.

    Rules: identity.voter-definition, identity.observer-definition.
    """
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


def details_of(state: ReplicaState, voter_id: int) -> VoterDetails | None:
    """What the own voters set says of a voter beside its key; None if it is not in it.

    Rule: voters.endpoints-are-part-of-the-set.
    """
    return next((details for details in state.log.voters[-1].details if details.id == voter_id), None)


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
