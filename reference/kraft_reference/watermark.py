"""The leader's high watermark."""

from kraft_reference.identity import Offset, ReplicaKey, VoterSet, names
from kraft_reference.state import ReplicaState, is_majority


def reached_by(state: ReplicaState, voter: ReplicaKey) -> Offset:
    """Return the log end offset of a voter as far as the leader knows, 0 before its first Fetch.  Rule: hw.majority."""
    if names(voter, state.key):
        return state.log.end_offset
    return state.fetch_offsets.get(voter, 0)


def majority_offset(state: ReplicaState) -> Offset:
    """Return the largest offset that a majority of the leader's newest voter set has reached."""
    # The set counts as soon as it is in the leader's log, committed or not, its own record included.
    # Rules: voters.commit-by-new-set, state.voters-set.own-majority, remove-voter.append-and-apply.
    voters: VoterSet = state.voters
    # A leader that removes itself leads until the record is committed, but its own log does not count (the reason is at
    # leadership.removal_is_committed).  If leader 1 removes itself from {1, 2}, the record is committed as soon as 2
    # has fetched past it, and not before.
    # Rules: hw.majority, hw.leader-excluded.
    reached = sorted((reached_by(state, voter) for voter in voters), reverse=True)
    # The whole set is a majority of itself, so there is such an offset.
    return next(offset for n, offset in enumerate(reached, 1) if is_majority(n, voters))


def with_high_watermark(state: ReplicaState) -> ReplicaState:
    """Return the leader's state with the high watermark advanced as far as the rules allow."""
    offset = majority_offset(state)
    # Records of earlier epochs are committed only together with one of the leader's own epoch: a majority may have
    # them, and a leader of another epoch may still replace them (Raft paper, figure 8).  Rule: hw.own-epoch.
    own_epoch = offset > state.epoch_start_offset
    # Rule: hw.monotonic.
    grows = offset > state.high_watermark
    return state._replace(high_watermark=offset) if own_epoch and grows else state
