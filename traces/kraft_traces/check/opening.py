"""The history of a checkpoint before the first event, where no lines say how the run came there.

It is compared with the states of the replicas, which must not show a leader, a vote or a record that it lacks.
"""

from collections.abc import Mapping

from kraft_reference.identity import ReplicaKey
from kraft_reference.state import ReplicaState
from kraft_simulation.checkpoint import NO_VOTES, CastVotes, Checkpoint, LedEpoch

_NOT_LED = LedEpoch(frozenset(), 0, rewritten=False)


def with_states_remembered(checkpoint: Checkpoint) -> Checkpoint:
    """The checkpoint with a history that has everything that its states show; unchanged if a run has written it."""
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
    """A record has the epoch of the leader that wrote it, whose log went at least so far."""
    log = state.log
    written = [(record.epoch, offset + 1) for offset, record in enumerate(log.records, log.start_offset)]
    if log.start_offset > 0:
        written.append((log.base.epoch, log.start_offset))
    for epoch, end_offset in written:
        led = epochs.get(epoch, _NOT_LED)
        epochs[epoch] = led._replace(end_offset=max(led.end_offset, end_offset))


def _unnamed_leader(led: LedEpoch, state: ReplicaState, replicas: Mapping[int, ReplicaState]) -> frozenset[ReplicaKey]:
    """The leader that the replica is or follows, unless the history names it."""
    leader_id = state.leader_id
    assert leader_id is not None, "the caller asks only where a leader is known"
    if leader_id == state.key.id:
        return frozenset((state.key,))
    if leader_id in {key.id for key in led.leaders}:
        # Its disk may have been replaced since.
        return frozenset()
    return frozenset((replicas[leader_id].key if leader_id in replicas else ReplicaKey(leader_id, None),))


def _votes(cast: CastVotes, state: ReplicaState) -> CastVotes:
    """The votes in the newest epoch in which the replica voted; its state keeps the vote as long as the epoch."""
    if state.voted_key is None:
        return cast if cast.epoch < state.epoch else NO_VOTES
    earlier = cast.candidates if cast.epoch == state.epoch else frozenset()
    return CastVotes(state.epoch, earlier | {state.voted_key})
