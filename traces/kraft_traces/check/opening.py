"""Check of the history of a checkpoint before the first event, where no lines lead to its state.

The states of the replicas must not have a leader, a vote or a record that the history lacks.
"""

from collections.abc import Mapping

from kraft_reference.identity import ReplicaKey
from kraft_reference.state import ReplicaState
from kraft_simulation.checkpoint import NO_VOTES, CastVotes, Checkpoint, LedEpoch

_NOT_LED = LedEpoch(frozenset(), 0, rewritten=False)


def with_states_remembered(checkpoint: Checkpoint) -> Checkpoint:
    """Return the checkpoint with everything in its states added to its history; unchanged if a run has written it."""
    replicas, history = checkpoint.replicas, checkpoint.recollection
    epochs, votes = dict(history.epochs), dict(history.votes)
    for state in replicas.values():
        _remember_records(epochs, state)
        if state.leader_id is not None:
            led = epochs.get(state.epoch, _NOT_LED)
            epochs[state.epoch] = led._replace(leaders=led.leaders | _unnamed_leader(led, state, replicas))
        votes[state.key.id] = _votes(votes.get(state.key.id, NO_VOTES), state)
    directories = history.directories | {state.key.directory_id or "" for state in replicas.values()}
    return checkpoint._replace(recollection=history._replace(epochs=epochs, votes=votes, directories=directories))


def _remember_records(epochs: dict[int, LedEpoch], state: ReplicaState) -> None:
    """Add the records of a replica: the leader of a record's epoch wrote it, so its log was at least that long."""
    log = state.log
    written = [(record.epoch, offset + 1) for offset, record in enumerate(log.records, log.start_offset)]
    if log.start_offset > 0:
        written.append((log.base.epoch, log.start_offset))
    for epoch, end_offset in written:
        led = epochs.get(epoch, _NOT_LED)
        epochs[epoch] = led._replace(end_offset=max(led.end_offset, end_offset))


def _unnamed_leader(led: LedEpoch, state: ReplicaState, replicas: Mapping[int, ReplicaState]) -> frozenset[ReplicaKey]:
    """Return the leader that the replica is or follows, unless the history has it."""
    leader_id = state.leader_id
    assert leader_id is not None, "the caller asks only where a leader is known"
    if leader_id == state.key.id:
        return frozenset((state.key,))
    if leader_id in {key.id for key in led.leaders}:
        # The leader's disk may have been replaced since.
        return frozenset()
    return frozenset((replicas[leader_id].key if leader_id in replicas else ReplicaKey(leader_id, None),))


def _votes(cast: CastVotes, state: ReplicaState) -> CastVotes:
    """Return the votes in the newest epoch in which the replica voted; its state has the vote until the next epoch."""
    if state.voted_key is None:
        return cast if cast.epoch < state.epoch else NO_VOTES
    earlier = cast.candidates if cast.epoch == state.epoch else frozenset()
    return CastVotes(state.epoch, earlier | {state.voted_key})
