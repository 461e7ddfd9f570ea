"""Conversion of a replica's state to trace form."""

from collections.abc import Mapping
from functools import lru_cache

from kraft_reference.changes import ChangeKind, PendingChange, Report
from kraft_reference.identity import ReplicaKey
from kraft_reference.log import VotersEntry
from kraft_reference.state import ReplicaState
from kraft_spec.mapping_forms import shown_change
from kraft_traces.state_types import (
    ChangePhase,
    TracedChange,
    TracedReport,
    TracedSnapshotId,
    TracedState,
    TracedVoters,
)
from kraft_traces.values import TracedKey, by_id_and_directory, traced_key, traced_target, traced_voters


def traced_state(state: ReplicaState) -> TracedState:
    """Return the trace form of a replica's state."""
    log, voted_key = state.log, state.voted_key
    return TracedState(
        traced_key(state.key),
        state.role,
        state.epoch,
        state.leader_id,
        state.leader_endpoint,
        None if voted_key is None else traced_key(voted_key),
        log.end_offset,
        log.last_epoch,
        log.flushed,
        state.high_watermark,
        _traced_voters_entry(log.voters[-1]),
        log.versions[-1].kraft_version,  # type: ignore[arg-type]  # appended kraft.versions are supported
        tuple(sorted(state.granted)) if state.granted else (),
        tuple(sorted(state.rejected)) if state.rejected else (),
        state.fetched,
        state.searching,
        tuple(sorted(state.awaiting.items())) if state.awaiting else (),
        _acknowledged(state),
        tuple(sorted(state.fetchers)) if state.fetchers else (),
        _traced_fetch_offsets(state.fetch_offsets) if state.fetch_offsets else (),
        log.base.end_offset,
        None if state.pending_change is None else _traced_change(state.pending_change),
        tuple([_traced_report(report) for report in state.reports]) if state.reports else (),
        tuple(sorted(state.awaited_targets.items())) if state.awaited_targets else (),
        None if state.wanted_snapshot is None else TracedSnapshotId(*state.wanted_snapshot),
        state.quorum_state_version,  # type: ignore[arg-type]
        state.moved_to,
    )


def _acknowledged(state: ReplicaState) -> tuple[int, ...]:
    """Return the field `acknowledged`, in which kraft-trace/1 has two fields of the state."""
    if state.has_updated_leader:
        assert state.leader_id is not None, "a Follower knows its leader"
        return (state.leader_id,)
    return tuple(sorted(state.acknowledging_voters)) if state.acknowledging_voters else ()


@lru_cache(maxsize=64)
def _traced_change(change: PendingChange) -> TracedChange:
    fields = shown_change(change)
    voter = None if change.voter is None else traced_key(change.voter)
    return TracedChange(ChangeKind(fields.kind), ChangePhase(fields.phase), voter, *fields[3:])  # type: ignore[arg-type]


@lru_cache(maxsize=64)
def _traced_report(report: Report) -> TracedReport:
    return TracedReport(traced_key(report.key), report.endpoint, report.min_version, report.max_version)


def _traced_fetch_offsets(offsets: Mapping[ReplicaKey, int]) -> tuple[tuple[TracedKey, int], ...]:
    return tuple([(traced, offsets[key]) for key, traced in _in_order(tuple(offsets))])


@lru_cache(maxsize=1024)
def _in_order(keys: tuple[ReplicaKey, ...]) -> tuple[tuple[ReplicaKey, TracedKey], ...]:
    return tuple((key, traced_key(key)) for key in sorted(keys, key=by_id_and_directory))


@lru_cache(maxsize=1024)
def _traced_voters_entry(entry: VotersEntry) -> TracedVoters:
    return TracedVoters(entry.offset, traced_voters(entry.voters), traced_target(entry.target))
