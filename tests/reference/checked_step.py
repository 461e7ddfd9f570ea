"""A step with all properties of its effects checked: their order, the disk, and a crash after each."""

from kraft_reference.configuration import Configuration
from kraft_reference.durability import apply_durable, effects_of
from kraft_reference.effects import (
    Answer,
    AppendRecords,
    Effect,
    FlushLog,
    PersistQuorumState,
    Send,
    StartTimer,
    TruncateLog,
    WriteSnapshot,
)
from kraft_reference.events import Crash, Draw, Event, ReplaceDisk, Restart
from kraft_reference.identity import names
from kraft_reference.messages import (
    AddVoterRequest,
    ApiVersionsRequest,
    ApiVersionsResponse,
    FetchRequest,
    Message,
    RemoveVoterRequest,
    Reply,
    VoteResponse,
)
from kraft_reference.replica import Replica, Step, handle
from kraft_reference.state import ReplicaState

_STAGE: dict[type[Effect], int] = {
    PersistQuorumState: 0,
    WriteSnapshot: 1,
    TruncateLog: 2,
    AppendRecords: 2,
    FlushLog: 3,
    Send: 4,
    Answer: 4,
    StartTimer: 5,
}


def check_step(before: ReplicaState, configuration: Configuration, event: Event, draw: Draw) -> ReplicaState:
    """Take a step on a copy, check its effects, and return the state after it.

    Rules: durable.write-before-act, vote.persist-before-reply, durable.flush-before-fetch.
    """
    outcome = handle(before, configuration, event, draw)
    effects = effects_of(before, outcome)
    stages = [_STAGE[type(effect)] for effect in effects]
    assert stages == sorted(stages)
    for position, effect in enumerate(effects):
        if isinstance(effect, Send):
            _check_sent(effect.message, apply_durable(before, effects[:position]))
        if isinstance(effect, Answer):
            _check_sent(effect.reply, apply_durable(before, effects[:position]))
    on_disk, after = apply_durable(before, effects), outcome.state
    assert _durable_part(on_disk) == _durable_part(after)
    for completed in range(sum(stage < _STAGE[StartTimer] for stage in stages) + 1):
        _check_crash(before, configuration, event, draw, completed)
    return after


def _durable_part(state: ReplicaState) -> tuple[object, ...]:
    return state.key, state.epoch, state.leader_id, state.voted_key, state.quorum_state_version, state.log


def _check_sent(sent: Message | Reply, on_disk: ReplicaState) -> None:
    """Check that sent information is on disk."""
    if not isinstance(sent, ApiVersionsRequest | ApiVersionsResponse | AddVoterRequest | RemoveVoterRequest):
        assert sent.epoch == on_disk.epoch
    if isinstance(sent, FetchRequest):
        assert sent.fetch_offset == on_disk.log.flushed == on_disk.log.end_offset
    if isinstance(sent, VoteResponse) and sent.granted and not sent.pre_vote:
        assert on_disk.voted_key is not None
        assert on_disk.voted_key.id == sent.destination


def _check_crash(before: ReplicaState, configuration: Configuration, event: Event, draw: Draw, completed: int) -> None:
    replica = Replica(before, configuration)
    done = effects_of(before, handle(before, configuration, event, draw))[:completed]
    on_disk = apply_durable(before, done)
    for kept in {on_disk.log.flushed, on_disk.log.end_offset}:
        replica.state = before
        crashed = replica.crash_during(event, draw, completed, kept)
        assert crashed.effects == done
        back = replica.step(Restart(), draw).state
        start = on_disk.log.start_offset
        assert back.log.base == on_disk.log.base
        assert back.log.between(start, kept) == on_disk.log.between(start, kept)
        assert back.epoch >= on_disk.epoch
        if back.epoch == on_disk.epoch and on_disk.voted_key is not None:
            assert back.voted_key is not None
            assert names(back.voted_key, on_disk.voted_key)


class CheckedReplica(Replica):
    """A replica that checks each of its steps, except those about its disk."""

    def step(self, event: Event, draw: Draw) -> Step:
        """Handle an event."""
        if not isinstance(event, Crash | ReplaceDisk):
            check_step(self.state, self.configuration, event, draw)
        return super().step(event, draw)
