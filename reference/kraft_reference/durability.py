"""What is on disk: the effects of an outcome in their order, crashes, restarts.  Beside it: Durability.tla."""

from collections.abc import Sequence

from kraft_reference.configuration import Configuration
from kraft_reference.effects import (
    AppendRecords,
    DurableEffect,
    Effect,
    FlushLog,
    PersistQuorumState,
    Send,
    TruncateLog,
)
from kraft_reference.elections import entered
from kraft_reference.events import Draw
from kraft_reference.identity import ReplicaKey, names
from kraft_reference.log import append, truncate
from kraft_reference.outcome import Outcome, Refusal
from kraft_reference.roles import Cause, Role
from kraft_reference.state import UNKNOWN_HIGH_WATERMARK, ReplicaState, is_voter, new_replica
from kraft_reference.transitions import endpoint_of, enter, leader_if_majority, new_round


def durable_effects(before: ReplicaState, after: ReplicaState) -> tuple[DurableEffect, ...]:
    """The writes between two states: quorum state, then cut or append, then sync.

    Entering Prospective or Resigned writes nothing, because nothing that is on disk changes.
    Rules: durable.write-before-act, durable.soft-transitions, vote.persist-before-reply, state.candidate.entry.
    """
    effects: list[DurableEffect] = []
    if (before.epoch, before.leader_id, before.voted_key) != (after.epoch, after.leader_id, after.voted_key):
        effects.append(PersistQuorumState(after.epoch, after.leader_id, after.voted_key))
    if after.log is not before.log:
        old_end, new_end = before.log.end_offset, after.log.end_offset
        if new_end < old_end:
            effects.append(TruncateLog(new_end))
        elif new_end > old_end:
            effects.append(AppendRecords(old_end, after.log.records[old_end:]))
        if after.log.flushed > before.log.flushed:
            effects.append(FlushLog(after.log.flushed))
    return tuple(effects)


def effects_of(before: ReplicaState, outcome: Outcome) -> tuple[Effect, ...]:
    """All effects of an outcome in the order in which the driver carries them out."""
    sends = tuple(Send(message) for message in outcome.sends)
    return (*durable_effects(before, outcome.state), *sends, *outcome.timers)


def apply_durable(state: ReplicaState, effects: Sequence[Effect]) -> ReplicaState:
    """What is on disk after these effects, starting from what was there before the step."""
    for effect in effects:
        match effect:
            case PersistQuorumState(epoch, leader_id, voted_key):
                state = state._replace(epoch=epoch, leader_id=leader_id, voted_key=voted_key)
            case TruncateLog(end_offset):
                state = state._replace(log=truncate(state.log, end_offset))
            case AppendRecords(_, records):
                state = state._replace(log=append(state.log, records))
            case FlushLog(end_offset):
                state = state._replace(log=state.log._replace(flushed=end_offset))
            case _:
                pass
    return state


def crashed(state: ReplicaState, log_end_offset: int) -> ReplicaState:
    """What is left after a crash: the quorum state and the log up to `log_end_offset`.

    Raises:
        ValueError: the offset is not between what was synced and the log's end.

    Rules: durable.flush-before-fetch, fetch.fetched-flag.
    """
    if not state.log.flushed <= log_end_offset <= state.log.end_offset:
        raise ValueError(
            f"a crash keeps between {state.log.flushed} and {state.log.end_offset} records, not {log_end_offset}"
        )
    # A replica that dies in the middle of its restart is stopped already.
    stopped = state if state.role is Role.STOPPED else enter(state, Role.STOPPED, Cause.CRASH)
    kept = truncate(state.log, log_end_offset)._replace(flushed=log_end_offset)
    return stopped._replace(log=kept, high_watermark=UNKNOWN_HIGH_WATERMARK)


def after_restart(state: ReplicaState, configuration: Configuration, draw: Draw) -> Outcome:
    """The role in which a process starts from its disk.

    A file that names the replica itself as leader means Resigned; a known leader means Follower; an own vote
    means Candidate; a log that is ahead of the file means that the file was lost, and its vote counts as spent.

    Raises:
        ValueError: at kraft.version 0 the configured static voters are not those in the quorum state file.
    """
    if state.role is not Role.STOPPED:
        return Outcome(state, refusal=Refusal.RUNNING)
    # CurrentVoters of version 0 of the file serve this check only.  Rule: durable.fields-v0.
    if configuration.kraft_version == 0 and state.log.voters[0].voters != configuration.voters:
        raise ValueError(f"replica {state.key} was formatted for other static voters")
    read = as_read_from_disk(state, configuration)
    own_vote = read.voted_key is not None and names(read.voted_key, read.key)
    leader_first = configuration.profile.restart_precedence == "known-leader"
    # Rule: durable.restart.log-epoch.
    if read.log.last_epoch > read.epoch:
        after = enter(read, Role.UNATTACHED, Cause.LARGER_EPOCH, epoch=read.log.last_epoch)
    # Rule: durable.restart.was-leader.
    elif read.leader_id == read.key.id:
        own_endpoint = configuration.replicas[read.key.id].endpoint
        after = enter(read, Role.RESIGNED, Cause.RESTART, leader_endpoint=own_endpoint)
    # Rule: durable.restart.voted-self.
    elif own_vote and is_voter(read) and not (leader_first and read.leader_id is not None):
        after = leader_if_majority(new_round(enter(read, Role.CANDIDATE, Cause.RESTART)), configuration)
    else:
        # Rule: durable.restart.known-leader.
        endpoint = None if read.leader_id is None else endpoint_of(read, configuration, read.leader_id, None)
        role = Role.UNATTACHED if endpoint is None else Role.FOLLOWER
        after = enter(read, role, Cause.RESTART, leader_endpoint=endpoint)
    return entered(state, after, configuration, draw)


def as_read_from_disk(state: ReplicaState, configuration: Configuration) -> ReplicaState:
    """The state that the quorum state file gives back: version 0 has no voted directory id.

    Rules: durable.vote.v0-uuid-in-memory, durable.fields-v0, durable.fields-v1, durable.version-by-kraft.
    """
    if configuration.kraft_version == 0 and state.voted_key is not None:
        return state._replace(voted_key=ReplicaKey(state.voted_key.id))
    return state


def after_replace_disk(state: ReplicaState, configuration: Configuration, directory_id: str) -> Outcome:
    """A stopped replica with an empty disk, which makes it another replica of the same id."""
    if state.role is not Role.STOPPED:
        return Outcome(state, refusal=Refusal.RUNNING)
    return Outcome(new_replica(ReplicaKey(state.key.id, directory_id), configuration.voters))
