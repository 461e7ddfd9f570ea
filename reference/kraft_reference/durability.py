"""Durability: the effects of an outcome in their order, crashes, restarts.  Beside it: Durability.tla."""

from collections.abc import Iterator, Sequence

from kraft_reference.configuration import Configuration
from kraft_reference.effects import (
    Answer,
    AppendRecords,
    DurableEffect,
    Effect,
    FlushLog,
    PersistQuorumState,
    Send,
    TruncateLog,
    WriteSnapshot,
)
from kraft_reference.events import Draw
from kraft_reference.identity import DirectoryId, Offset, ReplicaKey, names
from kraft_reference.log import Log, append, log_from, splits_batch, trim, truncate
from kraft_reference.messages import Reply
from kraft_reference.outcome import Outcome, Refusal, with_timers
from kraft_reference.profile import Latitude
from kraft_reference.roles import Cause, Role
from kraft_reference.state import UNKNOWN_HIGH_WATERMARK, ReplicaState, is_voter, new_replica
from kraft_reference.transitions import endpoint_of, enter, leader_if_majority, new_round, own_endpoint, to_prospective


def durable_effects(before: ReplicaState, after: ReplicaState) -> tuple[DurableEffect, ...]:
    """Return the writes between two states: quorum state, snapshot, then truncation or append, then sync."""
    effects: list[DurableEffect] = []
    # Prospective and Resigned keep epoch, leader and vote, so entering them writes nothing.
    # Rules: durable.soft-transitions, vote.persist-before-reply, state.candidate.entry, durable.write-before-act.
    if (before.epoch, before.leader_id, before.voted_key) != (after.epoch, after.leader_id, after.voted_key):
        version = after.quorum_state_version
        effects.append(PersistQuorumState(after.epoch, after.leader_id, after.voted_key, version))
    if after.log is not before.log:
        effects.extend(_log_effects(before.log, after.log))
    return tuple(effects)


def _log_effects(before: Log, after: Log) -> Iterator[DurableEffect]:
    """Yield the writes of a log: a snapshot alone; or a truncation or an append, and the sync."""
    if after.base is not before.base and after.base != before.base:
        # A fetched snapshot replaces the whole log, a taken one the part before its end.
        yield WriteSnapshot(after.base, replaces_log=not after.records)
        return
    old_end, new_end = before.end_offset, after.end_offset
    if new_end < old_end:
        yield TruncateLog(new_end)
    elif new_end > old_end:
        yield AppendRecords(old_end, after.between(old_end, new_end))
    # Rule: durable.flush-before-fetch.
    if after.flushed > before.flushed:
        yield FlushLog(after.flushed)


def effects_of(before: ReplicaState, outcome: Outcome) -> tuple[Effect, ...]:
    """Return all effects of an outcome in the order in which the driver must carry them out."""
    # Rules: durable.write-before-act, vote.persist-before-reply.
    sends = tuple([Answer(sent) if isinstance(sent, Reply) else Send(sent) for sent in outcome.sends])
    return (*durable_effects(before, outcome.state), *sends, *outcome.timers)


def apply_durable(state: ReplicaState, effects: Sequence[Effect]) -> ReplicaState:
    """Return the state with the durable ones of these effects applied."""
    for effect in effects:
        match effect:
            case PersistQuorumState(epoch, leader_id, voted_key, version):
                state = state._replace(
                    epoch=epoch, leader_id=leader_id, voted_key=voted_key, quorum_state_version=version
                )
            case WriteSnapshot(snapshot, replaces_log):
                state = state._replace(log=log_from(snapshot) if replaces_log else trim(state.log, snapshot))
            case TruncateLog(end_offset):
                state = state._replace(log=truncate(state.log, end_offset))
            case AppendRecords(_, records):
                state = state._replace(log=append(state.log, records))
            case FlushLog(end_offset):
                state = state._replace(log=state.log._replace(flushed=end_offset))
            case _:
                pass
    return state


def crash(state: ReplicaState, log_end_offset: Offset) -> ReplicaState:
    """Return the state that a crash leaves: the quorum state, and the log up to `log_end_offset`.

    Raises:
        ValueError: The offset is before the synced end of the log, after its end, or in the middle of a batch.
    """
    # Rule: durable.flush-before-fetch.
    if not state.log.flushed <= log_end_offset <= state.log.end_offset:
        raise ValueError(
            f"a crash keeps between {state.log.flushed} and {state.log.end_offset} records, not {log_end_offset}"
        )
    # The synced end is the end of a batch.  Rule: kraft-version.upgrade-atomic-batch.
    if log_end_offset > state.log.flushed and splits_batch(state.log, log_end_offset):
        raise ValueError(f"a crash keeps whole batches, and one goes on at {log_end_offset}")
    # A replica that crashes during its restart is stopped already.  Rule: fetch.fetched-flag.
    stopped = state if state.role is Role.STOPPED else enter(state, Role.STOPPED, Cause.CRASH)
    kept = truncate(state.log, log_end_offset)._replace(flushed=log_end_offset)
    stopped = stopped._replace(pending_change=None, awaited_targets={})
    return stopped._replace(log=kept, high_watermark=UNKNOWN_HIGH_WATERMARK, moved_to=None)


def with_file_version(before: ReplicaState, outcome: Outcome) -> Outcome:
    """Return the outcome with the version of the quorum state file, if the step writes the file."""
    # Rules: durable.version-by-kraft, wire.quorum-state, kraft-version.finalized-when.
    after = outcome.state
    written = (before.epoch, before.leader_id, before.voted_key) != (after.epoch, after.leader_id, after.voted_key)
    if not written or after.quorum_state_version == after.log.kraft_version:
        return outcome
    return outcome._replace(state=after._replace(quorum_state_version=after.log.kraft_version))


def after_restart(
    state: ReplicaState, configuration: Configuration, draw: Draw, endpoint: str | None = None
) -> Outcome:
    """Start a process from its disk: Resigned, Candidate, Follower or Unattached.

    Raises:
        ValueError: At kraft.version 0 the configured static voters are not those in the quorum state file.
    """
    if state.role is not Role.STOPPED:
        return Outcome(state, refusal=Refusal.RUNNING)
    # Version 0 of the file has CurrentVoters for this check only.  Rule: durable.fields-v0.
    static = state.log.base.kraft_version == 0 and state.log.base.end_offset == 0 and bool(state.log.base.voters)
    if static and state.log.base.voters != configuration.voters:
        raise ValueError(f"replica {state.key} was formatted for other static voters")
    # Rules: voters.set-from-snapshot-and-log, kraft-version.static-config-ignored.
    read = read_from_disk(state, configuration.profile.latitude)._replace(moved_to=endpoint)
    own_vote = read.voted_key is not None and names(read.voted_key, read.key)
    leader_first = configuration.profile.restart_precedence == "known-leader"
    # A log ahead of the file means that the file was lost.  The replica may have voted in that epoch, so the vote is
    # counted as given to itself.  If it campaigns in that epoch after another restart, every voter rejects it, because
    # its log has a record of the epoch already (elections._is_malformed).  Rule: durable.restart.log-epoch.
    if read.log.last_epoch > read.epoch:
        after = enter(read, Role.UNATTACHED, Cause.LARGER_EPOCH, epoch=read.log.last_epoch)
        if configuration.profile.latitude.vote_of_lost_file == "free":
            after = after._replace(voted_key=None)
    # The leader of an epoch must not lead it again after a restart.  KIP-595 lets it serve records before it has synced
    # them, so it might write other records at offsets of this epoch that a follower has.  (Here it syncs first.)
    # Rule: durable.restart.was-leader.
    elif read.leader_id == read.key.id:
        after = enter(read, Role.RESIGNED, Cause.RESTART, leader_endpoint=own_endpoint(read, configuration))
    # Rule: durable.restart.voted-self.
    elif own_vote and is_voter(read) and not (leader_first and read.leader_id is not None):
        after = _with_own_vote(read, configuration)
    else:
        # Rule: durable.restart.known-leader.
        leader_endpoint = None if read.leader_id is None else endpoint_of(read, configuration, read.leader_id, None)
        role = Role.UNATTACHED if leader_endpoint is None else Role.FOLLOWER
        after = enter(read, role, Cause.RESTART, leader_endpoint=leader_endpoint)
    return with_timers(state, after, configuration, draw)


def _with_own_vote(read: ReplicaState, configuration: Configuration) -> ReplicaState:
    """Return the role of a restart with a vote for itself.  Rule: durable.restart.voted-self."""
    role = configuration.profile.latitude.own_vote_at_restart
    if role == "candidate" or read.leader_id is not None:
        return leader_if_majority(new_round(enter(read, Role.CANDIDATE, Cause.RESTART)), configuration)
    if role == "prospective":
        return to_prospective(read, configuration, Cause.RESTART)
    return enter(read, Role.UNATTACHED, Cause.RESTART)


def read_from_disk(state: ReplicaState, latitude: Latitude) -> ReplicaState:
    """Return the state as the quorum state file holds it: version 0 has no voted directory id.

    Voters and target are read from snapshot and log, committed or not, and not from the file
    (reassign.quorum-state-holds-committed-assignment).
    """
    # Rules: durable.vote.v0-uuid-in-memory, identity.voted-uuid-volatile-at-version-0, durable.fields-v0,
    # durable.fields-v1, durable.version-by-kraft, wire.quorum-state.
    forgets = latitude.voted_directory_at_version_0 == "forgotten"
    if forgets and state.quorum_state_version == 0 and state.voted_key is not None:
        return state._replace(voted_key=ReplicaKey(state.voted_key.id))
    return state


def after_replace_disk(state: ReplicaState, configuration: Configuration, directory_id: DirectoryId) -> Outcome:
    """Give a stopped replica an empty disk, which makes it another replica of the same id."""
    # Rules: identity.directory-id-at-format, identity.replica-key, bootstrap.no-list-means-observer.
    if state.role is not Role.STOPPED:
        return Outcome(state, refusal=Refusal.RUNNING)
    return Outcome(new_replica(ReplicaKey(state.key.id, directory_id), configuration.empty_checkpoint()))
