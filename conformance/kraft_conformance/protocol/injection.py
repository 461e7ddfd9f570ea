"""The whole state of a replica as data: what a trace shows of it, and the little that a trace need not show.

A log is its snapshot and its records: the sets and levels in it, and their offsets, follow.
"""

from msgspec import UNSET, Struct

from kraft_reference.changes import CLIENT, REASSIGNMENT, PendingChange, Report
from kraft_reference.log import Log, append, log_on
from kraft_reference.state import ReplicaState
from kraft_traces.errors import IncompleteLineError
from kraft_traces.lines import TracedChange, TracedState
from kraft_traces.states import traced_state
from kraft_traces.values import (
    Offset,
    TracedKey,
    TracedRecord,
    TracedSnapshot,
    record_of,
    replica_key,
    snapshot_of,
    traced_key,
    traced_record,
    traced_snapshot,
)


class Before(Struct, frozen=True, forbid_unknown_fields=True):
    """A state to put a replica into."""

    state: TracedState
    """Every field of it."""
    snapshot: TracedSnapshot
    """What the log stands on; at `end_offset` 0 the bootstrap checkpoint, or the static voters."""
    records: tuple[TracedRecord, ...]
    """Those after the snapshot; up to `flushed_offset` they are synced."""
    epoch_start_offset: Offset
    """Leader: the offset of the first record of its epoch; 0 in other roles."""
    preferred_candidates: tuple[TracedKey, ...]
    """Resigned: the voters by falling fetch offset, as its EndQuorumEpoch requests name them."""


def before_of(state: ReplicaState) -> Before:
    """The protocol's form of a state."""
    return Before(
        traced_state(state),
        traced_snapshot(state.log.base),
        tuple([traced_record(record) for record in state.log.records]),
        state.epoch_start_offset,
        tuple([traced_key(key) for key in state.preferred_candidates]),
    )


def state_from(before: Before) -> ReplicaState:
    """The reference's form of a state.

    Raises:
        IncompleteLineError: `before.state` leaves a field out.
    """
    shown = before.state
    for name in TracedState.__struct_fields__:
        if getattr(shown, name) is UNSET:
            raise IncompleteLineError(f"$.before.state.{name}")
    log = append(log_on(snapshot_of(before.snapshot)), [record_of(record) for record in before.records])
    return ReplicaState(
        key=replica_key(shown.replica_key),  # type: ignore[arg-type]  # no field is absent
        role=shown.role,  # type: ignore[arg-type]
        epoch=shown.epoch,  # type: ignore[arg-type]
        leader_id=shown.leader_id,  # type: ignore[arg-type]
        leader_endpoint=shown.leader_endpoint,  # type: ignore[arg-type]
        voted_key=None if shown.voted_key is None else replica_key(shown.voted_key),  # type: ignore[arg-type]
        log=Log(log.records, shown.flushed_offset, log.voters, log.versions, log.base),  # type: ignore[arg-type]
        high_watermark=shown.high_watermark,  # type: ignore[arg-type]
        quorum_state_version=shown.quorum_state_version,  # type: ignore[arg-type]
        moved_to=shown.moved_to,  # type: ignore[arg-type]
        granted=frozenset(shown.granted),  # type: ignore[arg-type]
        rejected=frozenset(shown.rejected),  # type: ignore[arg-type]
        fetched=shown.fetched,  # type: ignore[arg-type]
        searching=shown.searching,  # type: ignore[arg-type]
        epoch_start_offset=before.epoch_start_offset,
        fetch_offsets={replica_key(key): offset for key, offset in shown.fetch_offsets},  # type: ignore[union-attr]
        fetchers=frozenset(shown.fetchers),  # type: ignore[arg-type]
        acknowledged=frozenset(shown.acknowledged),  # type: ignore[arg-type]
        preferred_candidates=tuple([replica_key(key) for key in before.preferred_candidates]),
        awaiting=dict(shown.awaiting),  # type: ignore[arg-type]
        pending_change=None if shown.pending_change is None else _change(shown.pending_change),  # type: ignore[arg-type]
        reports=tuple(
            [
                Report(replica_key(one.key), one.endpoint, one.min_version, one.max_version)
                for one in shown.reports  # type: ignore[union-attr]
            ]
        ),
        awaited_targets=dict(shown.awaited_targets),  # type: ignore[arg-type]
        wanted_snapshot=None
        if shown.wanted_snapshot is None
        else (shown.wanted_snapshot.end_offset, shown.wanted_snapshot.epoch),  # type: ignore[union-attr]
    )


def _change(change: TracedChange) -> PendingChange:
    return PendingChange(
        change.kind,
        change.phase,
        None if change.voter is None else replica_key(change.voter),
        change.endpoint,
        change.min_version,
        change.max_version,
        change.offset,
        _requester(change),
        change.request,
        change.when_committed,
    )


def _requester(change: TracedChange) -> int:
    match change.requester:
        case None:
            return CLIENT
        case int(replica_id):
            return replica_id
        case _:
            return REASSIGNMENT
