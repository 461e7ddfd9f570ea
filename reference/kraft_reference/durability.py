"""What is on disk: the effects of an outcome in their order, crashes, restarts.  Beside it: Durability.tla."""

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
from kraft_reference.identity import ReplicaKey, names
from kraft_reference.log import Log, append, log_on, rebased, tears_a_batch, truncate
from kraft_reference.messages import Reply
from kraft_reference.outcome import Outcome, Refusal, entered
from kraft_reference.profile import Profile
from kraft_reference.roles import Cause, Role
from kraft_reference.state import UNKNOWN_HIGH_WATERMARK, ReplicaState, is_voter, new_replica
from kraft_reference.transitions import endpoint_of, enter, leader_if_majority, new_round, own_endpoint, to_prospective


def durable_effects(before: ReplicaState, after: ReplicaState) -> tuple[DurableEffect, ...]:
    """The writes between two states: quorum state, snapshot, then cut or append, then sync.

    Entering Prospective or Resigned writes nothing, because nothing that is on disk changes.
    Rules: durable.write-before-act, durable.soft-transitions, vote.persist-before-reply, state.candidate.entry.
    """
    effects: list[DurableEffect] = []
    if (before.epoch, before.leader_id, before.voted_key) != (after.epoch, after.leader_id, after.voted_key):
        version = after.quorum_state_version
        effects.append(PersistQuorumState(after.epoch, after.leader_id, after.voted_key, version))
    if after.log is not before.log:
        effects.extend(_log_effects(before.log, after.log))
    return tuple(effects)


def _log_effects(before: Log, after: Log) -> Iterator[DurableEffect]:
    """What happens to a log: a snapshot alone, or a cut, or an append, and the sync.

    Rule: durable.flush-before-fetch.
    """
    if after.base is not before.base and after.base != before.base:
        # A snapshot that was fetched leaves nothing of the log; one that was taken, what comes after it.
        yield WriteSnapshot(after.base, replaces_log=not after.records)
        return
    old_end, new_end = before.end_offset, after.end_offset
    if new_end < old_end:
        yield TruncateLog(new_end)
    elif new_end > old_end:
        yield AppendRecords(old_end, after.between(old_end, new_end))
    if after.flushed > before.flushed:
        yield FlushLog(after.flushed)


def effects_of(before: ReplicaState, outcome: Outcome) -> tuple[Effect, ...]:
    """All effects of an outcome in the order in which the driver carries them out.

    Rules: durable.write-before-act, vote.persist-before-reply.
    """
    sends = tuple([Answer(sent) if isinstance(sent, Reply) else Send(sent) for sent in outcome.sends])
    return (*durable_effects(before, outcome.state), *sends, *outcome.timers)


def apply_durable(state: ReplicaState, effects: Sequence[Effect]) -> ReplicaState:
    """What is on disk after these effects, starting from what was there before the step."""
    for effect in effects:
        match effect:
            case PersistQuorumState(epoch, leader_id, voted_key, version):
                state = state._replace(
                    epoch=epoch, leader_id=leader_id, voted_key=voted_key, quorum_state_version=version
                )
            case WriteSnapshot(snapshot, replaces_log):
                state = state._replace(log=log_on(snapshot) if replaces_log else rebased(state.log, snapshot))
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
        ValueError: the offset is not between what was synced and the log's end, or in the middle of a batch.

    Rules: durable.flush-before-fetch, fetch.fetched-flag, kraft-version.upgrade-atomic-batch.
    """
    if not state.log.flushed <= log_end_offset <= state.log.end_offset:
        raise ValueError(
            f"a crash keeps between {state.log.flushed} and {state.log.end_offset} records, not {log_end_offset}"
        )
    # What was synced ended a batch, whatever it looks like.
    if log_end_offset > state.log.flushed and tears_a_batch(state.log, log_end_offset):
        raise ValueError(f"a crash keeps whole batches, and one goes on at {log_end_offset}")
    # A replica that dies in the middle of its restart is stopped already.
    stopped = state if state.role is Role.STOPPED else enter(state, Role.STOPPED, Cause.CRASH)
    kept = truncate(state.log, log_end_offset)._replace(flushed=log_end_offset)
    return stopped._replace(log=kept, high_watermark=UNKNOWN_HIGH_WATERMARK, moved_to=None)


def with_file_version(before: ReplicaState, outcome: Outcome) -> Outcome:
    """The outcome of a step, with the version in which the quorum state file is written, if it is.

    Rules: durable.version-by-kraft, wire.quorum-state, kraft-version.finalized-when.
    """
    after = outcome.state
    written = (before.epoch, before.leader_id, before.voted_key) != (after.epoch, after.leader_id, after.voted_key)
    if not written or after.quorum_state_version == after.log.kraft_version:
        return outcome
    return outcome._replace(state=after._replace(quorum_state_version=after.log.kraft_version))


def after_restart(
    state: ReplicaState, configuration: Configuration, draw: Draw, endpoint: str | None = None
) -> Outcome:
    """The role in which a process starts from its disk.

    A file that names the replica itself as leader means Resigned; a known leader means Follower; an own vote
    means Candidate; a log that is ahead of the file means that the file was lost, and its vote counts as spent.

    Raises:
        ValueError: at kraft.version 0 the configured static voters are not those in the quorum state file.
    """
    if state.role is not Role.STOPPED:
        return Outcome(state, refusal=Refusal.RUNNING)
    # CurrentVoters of version 0 of the file serve this check only.  Rule: durable.fields-v0.
    static = state.log.base.kraft_version == 0 and state.log.base.end_offset == 0 and bool(state.log.base.voters)
    if static and state.log.base.voters != configuration.voters:
        raise ValueError(f"replica {state.key} was formatted for other static voters")
    # Rules: voters.set-from-snapshot-and-log, kraft-version.static-config-ignored.
    read = as_read_from_disk(state, configuration.profile)._replace(moved_to=endpoint)
    own_vote = read.voted_key is not None and names(read.voted_key, read.key)
    leader_first = configuration.profile.restart_precedence == "known-leader"
    # Rule: durable.restart.log-epoch.
    if read.log.last_epoch > read.epoch:
        after = enter(read, Role.UNATTACHED, Cause.LARGER_EPOCH, epoch=read.log.last_epoch)
        if configuration.profile.vote_of_lost_file == "free":
            after = after._replace(voted_key=None)
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
    return entered(state, after, configuration, draw)


def _with_own_vote(read: ReplicaState, configuration: Configuration) -> ReplicaState:
    """The role of a restart with an own vote.  Rule: durable.restart.voted-self."""
    answer = configuration.profile.own_vote_at_restart
    if answer == "candidate" or read.leader_id is not None:
        return leader_if_majority(new_round(enter(read, Role.CANDIDATE, Cause.RESTART)), configuration)
    if answer == "prospective":
        return to_prospective(read, configuration, Cause.RESTART)
    return enter(read, Role.UNATTACHED, Cause.RESTART)


def as_read_from_disk(state: ReplicaState, profile: Profile) -> ReplicaState:
    """The state that the quorum state file gives back: version 0 has no voted directory id.

    Voters and target come from snapshot and log, committed or not, and not from the file
    (reassign.quorum-state-holds-committed-assignment).
    Rules: durable.vote.v0-uuid-in-memory, identity.voted-uuid-volatile-at-version-0, durable.fields-v0,
    durable.fields-v1, durable.version-by-kraft, wire.quorum-state.
    """
    forgets = profile.voted_directory_at_version_0 == "forgotten"
    if forgets and state.quorum_state_version == 0 and state.voted_key is not None:
        return state._replace(voted_key=ReplicaKey(state.voted_key.id))
    return state


def after_replace_disk(state: ReplicaState, configuration: Configuration, directory_id: str) -> Outcome:
    """A stopped replica with an empty disk, which makes it another replica of the same id.

    Rules: identity.directory-id-at-format, identity.replica-key, bootstrap.no-list-means-observer.
    """
    if state.role is not Role.STOPPED:
        return Outcome(state, refusal=Refusal.RUNNING)
    return Outcome(new_replica(ReplicaKey(state.key.id, directory_id), configuration.empty_checkpoint()))
