"""The leader's high watermark."""

from kraft_reference.configuration import Configuration
from kraft_reference.identity import ReplicaKey, VoterSet, names
from kraft_reference.state import ReplicaState, is_majority, is_voter


def reached_by(state: ReplicaState, voter: ReplicaKey) -> int:
    """The log end offset of a voter as far as the leader knows.  Rule: hw.majority."""
    if names(voter, state.key):
        return state.log.end_offset
    return state.fetch_offsets.get(voter, 0)


def majority_offset(state: ReplicaState, configuration: Configuration) -> int:
    """The largest offset that a majority of the leader's voters set has reached.

    The newest set counts as soon as it is in the leader's log; a leader outside it does not count itself.
    Rules: hw.majority, hw.leader-excluded, state.voters-set.own-majority, voters.commit-by-new-set,
    voters.leader-removed-not-counted.
    """
    # Rules: voters.commit-by-new-set, state.voters-set.own-majority.
    voters: VoterSet = state.voters
    counted = voters
    if not configuration.enforces("hw.leader-excluded") and not is_voter(state):
        counted = voters | {state.key}
    # Rule: hw.majority.
    reached = sorted((reached_by(state, voter) for voter in counted), reverse=True)
    return next((offset for n, offset in enumerate(reached, 1) if is_majority(n, voters)), 0)


def with_high_watermark(state: ReplicaState, configuration: Configuration) -> ReplicaState:
    """The leader's state with its high watermark moved as far as the rules let it.

    Rules: hw.own-epoch, hw.monotonic.
    """
    offset = majority_offset(state, configuration)
    own_epoch = offset > state.epoch_start_offset or not configuration.enforces("hw.own-epoch")
    grows = offset > state.high_watermark or not configuration.enforces("hw.monotonic")
    return state._replace(high_watermark=offset) if own_epoch and grows else state
