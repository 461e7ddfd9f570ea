"""Invariants of a single replica: TypeOk, NotFollowerOfSelf."""

from kraft_reference.changes import AwaitingCommit
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState
from kraft_simulation.violation import BrokenProperty

_ELECTING = (Role.PROSPECTIVE, Role.CANDIDATE)


def check_type(state: ReplicaState) -> None:
    """Check the state of a replica.

    Raises:
        BrokenProperty: its state contradicts itself.
    """
    if state.role is Role.FOLLOWER and state.leader_id == state.key.id:
        raise BrokenProperty("NotFollowerOfSelf", f"the replica follows itself in epoch {state.epoch}")
    wrong = _wrong_about_role(state) or _wrong_about_log(state) or _wrong_about_change(state)
    if wrong is not None:
        raise BrokenProperty("TypeOk", f"{wrong}: {state.role} in epoch {state.epoch}, leader {state.leader_id}")


def _wrong_about_role(state: ReplicaState) -> str | None:
    role, own_id = state.role, state.key.id
    if role is Role.FOLLOWER and (state.leader_id is None or state.leader_endpoint is None):
        return "a Follower knows its leader and its endpoint"
    if role in (Role.LEADER, Role.RESIGNED) and state.leader_id != own_id:
        return f"a {role} is the leader of its epoch"
    if role is Role.CANDIDATE and (state.voted_key is None or state.voted_key.id != own_id):
        return "a Candidate has voted for itself"
    if role is Role.CANDIDATE and state.leader_id is not None:
        return "a Candidate knows no leader"
    if role in _ELECTING and own_id not in state.granted:
        return f"a {role} has its own vote"
    if role not in _ELECTING and (state.granted or state.rejected):
        return f"a {role} counts no votes"
    if role is not Role.FOLLOWER and (state.fetched or state.searching or state.has_updated_leader):
        return "only a Follower fetches from a leader and reports to it"
    if role not in (Role.LEADER, Role.RESIGNED) and state.acknowledging_voters:
        return "only a Leader or a Resigned replica has acknowledging voters"
    if state.granted & state.rejected:
        return "a voter both granted and refused"
    if role is Role.STOPPED and state.high_watermark != -1:
        return "a stopped replica knows no high watermark"
    if role is Role.STOPPED and state.awaiting:
        return "a stopped replica awaits no answer"
    if own_id in state.awaiting:
        return "a replica asks itself"
    return None


def _wrong_about_log(state: ReplicaState) -> str | None:
    log = state.log
    if not log.start_offset <= log.flushed <= log.end_offset or state.high_watermark > log.end_offset:
        return "the log is shorter than what is synced or committed"
    if log.last_epoch > state.epoch:
        return f"the log has epoch {log.last_epoch}, the replica {state.epoch}"
    if state.role is not Role.LEADER:
        return None
    start = state.epoch_start_offset
    if not 0 <= start < log.end_offset:
        return "a Leader has begun its epoch in its log"
    if start >= log.start_offset and log.record(start).epoch != state.epoch:
        return "the epoch of a Leader starts elsewhere in its log"
    return None


def _wrong_about_change(state: ReplicaState) -> str | None:
    change = state.pending_change
    if state.reports and state.role is not Role.LEADER:
        return "only a Leader keeps reports"
    if state.awaited_targets and state.role is not Role.LEADER:
        return "only a Leader has clients that await a target"
    if any(not state.high_watermark <= offset < state.log.end_offset for offset in state.awaited_targets.values()):
        return "a client awaits a target that is committed or was never appended"
    if state.wanted_snapshot is not None and state.role is not Role.FOLLOWER:
        return "only a Follower wants a snapshot"
    if change is None:
        return None
    if state.role is not Role.LEADER:
        return "only a Leader works on a voter change"
    if isinstance(change, AwaitingCommit) and not state.high_watermark <= change.offset < state.log.end_offset:
        return "a voter change waits for a commit that has been or cannot come"
    return None
