"""The leader's high watermark."""

from kraft_reference.identity import ReplicaKey, VoterSet, names
from kraft_reference.state import ReplicaState, is_majority


def reached_by(state: ReplicaState, voter: ReplicaKey) -> int:
    """The log end offset of a voter as far as the leader knows.  Rule: hw.majority."""
    if names(voter, state.key):
        return state.log.end_offset
    return state.fetch_offsets.get(voter, 0)


def majority_offset(state: ReplicaState) -> int:
    """The largest offset that a majority of the leader's voters set has reached.

    The newest set counts as soon as it is in the leader's log; a leader outside it does not count itself.
    Rules: hw.majority, hw.leader-excluded, state.voters-set.own-majority, voters.commit-by-new-set,
    remove-voter.append-and-apply.
    """
    # Rules: voters.commit-by-new-set, state.voters-set.own-majority.
    voters: VoterSet = state.voters
    # Rules: hw.majority, hw.leader-excluded.
    reached = sorted((reached_by(state, voter) for voter in voters), reverse=True)
    # All of them are a majority of themselves, so there is one.
    return next(offset for n, offset in enumerate(reached, 1) if is_majority(n, voters))


def with_high_watermark(state: ReplicaState) -> ReplicaState:
    """The leader's state with its high watermark moved as far as the rules let it.

    Rules: hw.own-epoch, hw.monotonic.
    """
    offset = majority_offset(state)
    own_epoch = offset > state.epoch_start_offset
    grows = offset > state.high_watermark
    return state._replace(high_watermark=offset) if own_epoch and grows else state
