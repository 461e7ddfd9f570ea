"""Conversion of the reference's checkpoints to lines, and back."""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import UNSET, Struct
from msgspec.json import encode

from kraft_reference.changes import PendingChange, Report
from kraft_reference.configuration import PreVoteSupport
from kraft_reference.identity import ReplicaKey
from kraft_reference.log import append, log_from
from kraft_reference.records import SET_KINDS, RecordKind
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState
from kraft_simulation.checkpoint import NO_VOTES, CastVotes, Checkpoint, Committed, InForce, LedEpoch, Recollection
from kraft_simulation.world import Flight
from kraft_spec.mapping_forms import ChangeError, change_of
from kraft_traces.checkpoint_types import (
    CheckpointLine,
    TracedCommitted,
    TracedFlight,
    TracedHistory,
    TracedInForce,
    TracedLedEpoch,
    TracedReplicaState,
    TracedVotes,
)
from kraft_traces.errors import FieldProblem, IncompleteLineError
from kraft_traces.messages import message_of, traced_message
from kraft_traces.state_types import TracedChange, TracedReport
from kraft_traces.states import traced_state
from kraft_traces.values import (
    TracedRecord,
    record_of,
    replica_key,
    snapshot_of,
    target_of,
    traced_details,
    traced_key,
    traced_record,
    traced_snapshot,
    traced_target,
    traced_voters,
    voter_details,
    voter_set,
)


class CheckpointError(ValueError):
    """A checkpoint lacks a field, or two of its fields contradict each other.

    Attributes:
        field: JSON path of the field.
        detail: the problem.
        problem: the kind of problem, as in `FieldError`.
    """

    def __init__(self, field: str, detail: str, problem: FieldProblem = "inconsistent") -> None:
        super().__init__(field, detail)
        self.field = field
        self.detail = detail
        self.problem = problem

    def __str__(self) -> str:
        return f"{self.field}: {self.detail}"


# ---------------------------------------------------------------------------------------------------------
# To a line.
# ---------------------------------------------------------------------------------------------------------
def checkpoint_line(checkpoint: Checkpoint) -> CheckpointLine:
    """Return the line of a checkpoint; sets and mappings are in ascending order, messages oldest first."""
    recollection = checkpoint.recollection
    return CheckpointLine(
        checkpoint.sequence,
        checkpoint.time_ms,
        tuple(traced_replica_state(state) for _, state in sorted(checkpoint.replicas.items())),
        tuple(
            TracedFlight(traced_message(identifier, flight.message), flight.copies)
            for identifier, flight in sorted(checkpoint.network.items(), key=lambda item: by_sending(item[0]))
        ),
        tuple(sorted(checkpoint.cuts)),
        TracedHistory(
            tuple(
                TracedLedEpoch(epoch, traced_voters(led.leaders), led.end_offset, led.rewritten)
                for epoch, led in sorted(recollection.epochs.items())
            ),
            tuple(
                TracedVotes(voter, votes.epoch, traced_voters(votes.candidates))
                for voter, votes in sorted(recollection.votes.items())
            ),
            _traced_committed(recollection.committed),
            recollection.crashes,
            tuple(sorted(recollection.directories)),
        ),
        tuple(sorted(checkpoint.software.items())),
    )


def by_sending(identifier: str) -> tuple[int, int, str]:
    """Return the sort key of a message id: the line that sent the message, then its receiver."""
    sent, receiver, *change = identifier.split(".")
    return int(sent), int(receiver), "".join(change)


def traced_replica_state(state: ReplicaState) -> TracedReplicaState:
    """Return the trace form of everything that a replica knows."""
    return TracedReplicaState(
        traced_state(state),
        traced_snapshot(state.log.base),
        tuple([traced_record(record) for record in state.log.records]),
        state.epoch_start_offset,
        tuple([traced_key(key) for key in state.preferred_candidates]),
    )


def _traced_committed(committed: Committed) -> TracedCommitted:
    base = _traced_in_force(committed.start_offset, committed.base)
    return TracedCommitted(
        base.offset,
        base.epoch,
        base.kraft_version,
        base.voters,
        base.details,
        base.target,
        tuple([traced_record(record) for record in committed.records]),
        tuple([_traced_in_force(offset, in_force) for offset, in_force in committed.past]),
    )


def _traced_in_force(offset: int, in_force: InForce) -> TracedInForce:
    return TracedInForce(
        offset,
        in_force.epoch,
        in_force.kraft_version,  # type: ignore[arg-type]  # what is committed is a level that there is
        None if in_force.voters is None else traced_voters(in_force.voters),
        traced_details(in_force.details),
        traced_target(in_force.target),
    )


# ---------------------------------------------------------------------------------------------------------
# And back.
# ---------------------------------------------------------------------------------------------------------
def checkpoint_of(line: CheckpointLine) -> Checkpoint:
    """Return the reference's checkpoint of a line.

    Raises:
        CheckpointError: a field is missing, or contradicts another one.
    """
    replicas: dict[int, ReplicaState] = {}
    for index, replica in enumerate(line.replicas):
        state = replica_state_of(f"$.replicas[{index}]", replica)
        _add(replicas, state.key.id, state, f"$.replicas[{index}].state.replica_key.id")
    network: dict[str, Flight] = {}
    for index, flight in enumerate(line.network):
        path = f"$.network[{index}].message"
        identifier = flight.message.id
        if identifier is UNSET:
            raise _missing(f"{path}.id")
        try:
            message = message_of(flight.message, path)
        except IncompleteLineError as error:
            raise _missing(error.field) from None
        _check_whole(f"{path}.records", getattr(flight.message, "records", ()))
        _add(network, identifier, Flight(message, flight.copies), f"{path}.id")
    cuts: dict[tuple[int, int], bool] = {}
    for index, cut in enumerate(line.cuts):
        _add(cuts, cut, True, f"$.cuts[{index}]")
    software: dict[int, PreVoteSupport] = {}
    for index, (replica_id, support) in enumerate(line.software):
        if replica_id not in replicas:
            raise CheckpointError(f"$.software[{index}][0]", f"expected a replica of the checkpoint, got {replica_id}")
        _add(software, replica_id, support, f"$.software[{index}][0]")
    recollection = unknown_history(replicas) if line.history is UNSET else _recollection_of(line.history)
    return Checkpoint(line.sequence, line.time_ms, replicas, network, frozenset(cuts), recollection, software)


def unknown_history(replicas: Mapping[int, ReplicaState]) -> Recollection:
    """Return the history of a run of which only the present states of some replicas are known."""
    directories = frozenset(state.key.directory_id or "" for state in replicas.values())
    return Recollection({}, dict.fromkeys(replicas, NO_VOTES), Committed(), 0, directories)


def _add(mapping: dict[Any, Any], key: Any, value: Any, field: str) -> None:
    if key in mapping:
        raise CheckpointError(field, "appears twice, expected each value once")
    mapping[key] = value


def _missing(path: str) -> CheckpointError:
    name = path.rpartition(".")[2]
    return CheckpointError(path, f"missing field {name!r}, a checkpoint must have every field", "missing")


def _check_whole(path: str, records: tuple[TracedRecord, ...]) -> None:
    """Check that records have the fields that are optional in event lines."""
    for index, record in enumerate(records):
        if record.kind in SET_KINDS and record.details is UNSET:
            raise _missing(f"{path}[{index}].details")
        if record.kind is RecordKind.VOTER_ASSIGNMENT and record.target is UNSET:
            raise _missing(f"{path}[{index}].target")


def _recollection_of(history: TracedHistory) -> Recollection:
    epochs: dict[int, LedEpoch] = {}
    for index, led in enumerate(history.epochs):
        led_epoch = LedEpoch(voter_set(led.leaders), led.end_offset, led.rewritten)
        _add(epochs, led.epoch, led_epoch, f"$.history.epochs[{index}].epoch")
    votes: dict[int, CastVotes] = {}
    for index, cast in enumerate(history.votes):
        entry = CastVotes(cast.epoch, voter_set(cast.candidates))
        _add(votes, cast.replica, entry, f"$.history.votes[{index}].replica")
    committed = history.committed
    _check_whole("$.history.committed.records", committed.records)
    # Early versions wrote neither.
    if (committed.past is UNSET) != (history.directories is UNSET):
        raise _missing("$.history.committed.past" if committed.past is UNSET else "$.history.directories")
    return Recollection(
        epochs,
        votes,
        Committed(
            committed.start_offset,
            _in_force_of(committed),
            tuple(record_of(record) for record in committed.records),
            () if committed.past is UNSET else tuple((entry.offset, _in_force_of(entry)) for entry in committed.past),
        ),
        history.crashes,
        frozenset() if history.directories is UNSET else frozenset(history.directories),
    )


def _in_force_of(traced: TracedCommitted | TracedInForce) -> InForce:
    return InForce(
        traced.epoch,
        traced.kraft_version,
        None if traced.voters is None else voter_set(traced.voters),
        voter_details(traced.details),
        target_of(traced.target),
    )


def replica_state_of(path: str, replica: TracedReplicaState) -> ReplicaState:
    """Return the state of a replica; the fields that follow from its log must agree with it.

    Args:
        path: JSON path of `replica`, for errors.
        replica: from a checkpoint, or from a message to an implementation under test.

    Raises:
        CheckpointError: a field is missing, or contradicts another one.
    """
    for field in _missing_fields(replica.state, f"{path}.state"):
        raise _missing(field)
    _check_whole(f"{path}.records", replica.records)
    state: Any = replica.state
    log = append(log_from(snapshot_of(replica.snapshot)), [record_of(record) for record in replica.records])
    pending = state.pending_change
    change = None if pending is None else _change_of(f"{path}.state.pending_change", pending)
    follows = state.role is Role.FOLLOWER
    restored = ReplicaState(
        key=replica_key(state.replica_key),
        role=state.role,
        epoch=state.epoch,
        leader_id=state.leader_id,
        leader_endpoint=state.leader_endpoint,
        voted_key=_optional_key(state.voted_key),
        log=log._replace(flushed=state.flushed_offset),
        high_watermark=state.high_watermark,
        quorum_state_version=state.quorum_state_version,
        moved_to=state.moved_to,
        granted=frozenset(state.granted),
        rejected=frozenset(state.rejected),
        fetched=state.fetched,
        searching=state.searching,
        epoch_start_offset=replica.epoch_start_offset,
        fetch_offsets={replica_key(key): offset for key, offset in state.fetch_offsets},
        fetchers=frozenset(state.fetchers),
        acknowledging_voters=frozenset() if follows else frozenset(state.acknowledged),
        has_updated_leader=follows and state.leader_id in state.acknowledged,
        preferred_candidates=tuple(replica_key(key) for key in replica.preferred_candidates),
        awaiting=dict(state.awaiting),
        pending_change=change,
        reports=tuple(_report_of(report) for report in state.reports),
        awaited_targets=dict(state.awaited_targets),
        wanted_snapshot=None
        if state.wanted_snapshot is None
        else (state.wanted_snapshot.end_offset, state.wanted_snapshot.epoch),
    )
    derived = traced_state(restored)
    for name in _OF_THE_LOG:
        actual, expected = getattr(replica.state, name), getattr(derived, name)
        differ = _as_set(actual) != _as_set(expected) if name == "voters" else actual != expected
        if differ:
            detail = f"the snapshot and the records give {_json(expected)}, got {_json(actual)}"
            raise CheckpointError(f"{path}.state.{name}", detail)
    return restored


_OF_THE_LOG = ("log_start_offset", "log_end_offset", "last_epoch", "voters", "kraft_version")
"""Fields that follow from the snapshot and the records."""


def _as_set(entry: Any) -> tuple[Any, ...]:
    return entry.offset, voter_set(entry.voters), target_of(entry.target)


def _json(value: Any) -> str:
    return encode(value).decode()


def _missing_fields(part: Struct, path: str) -> Iterator[str]:
    """Yield the paths of missing fields of a part of a line."""
    for name in part.__struct_fields__:
        value = getattr(part, name)
        if value is UNSET:
            yield f"{path}.{name}"
        elif isinstance(value, Struct):
            yield from _missing_fields(value, f"{path}.{name}")


def _optional_key(key: Any) -> ReplicaKey | None:
    return None if key is None else replica_key(key)


def _change_of(path: str, change: TracedChange) -> PendingChange:
    try:
        return change_of(change, replica_key)
    except ChangeError as error:
        raise CheckpointError(f"{path}.{error.field}", str(error)) from None


def _report_of(report: TracedReport) -> Report:
    return Report(replica_key(report.key), report.endpoint, report.min_version, report.max_version)
