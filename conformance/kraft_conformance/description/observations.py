"""What a trace shows of each replica up to some line: its observed fields, and what was seen of its log and fetches."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from msgspec import UNSET, UnsetType

from kraft_reference.describe import UNKNOWN, FetchTime
from kraft_reference.identity import ReplicaKey, Target, VoterSet, names
from kraft_reference.records import SET_KINDS
from kraft_reference.roles import Role
from kraft_traces.effects import TracedAppendRecords, TracedEffect, TracedWriteSnapshot
from kraft_traces.lines import EventLine, HeaderLine
from kraft_traces.message_types import TracedFetchRequest
from kraft_traces.state_types import TracedState
from kraft_traces.values import TracedDetails, replica_key, target_of, voter_set

_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class ObservedVoters:
    """A voters set in the log of a replica."""

    offset: int
    """Of its record; -1 or the last offset of a snapshot for what stands before the log."""
    voters: VoterSet
    endpoints: Mapping[int, str]
    """By replica id, as far as the record was seen."""
    target: Target = None
    """Of the reassignment that was under way."""


@dataclass(slots=True)
class ObservedReplica:
    """What was last seen of one replica; None for what was never seen."""

    key: ReplicaKey
    role: Role | None = None
    epoch: int | None = None
    leader_id: int | None = None
    log_end_offset: int | None = None
    log_start_offset: int = 0
    high_watermark: int | None = None
    epoch_start_offset: int | None = None
    """Of a Leader whose election was seen."""
    fetch_offsets: Mapping[ReplicaKey, int] | None = None
    fetch_times: dict[ReplicaKey, FetchTime] = field(default_factory=dict)
    """Of a Leader: when each of its fetchers did, in this epoch."""
    sets: list[ObservedVoters] = field(default_factory=list)
    """Voters sets of its log, oldest first."""

    @property
    def newest(self) -> ObservedVoters:
        """The set in force."""
        return self.sets[-1]

    def entry_of(self, key: ReplicaKey) -> ReplicaKey | None:
        """The voter that stands for a replica; None for an observer."""
        return next((voter for voter in sorted(self.newest.voters, key=place) if names(voter, key)), None)


class Observations:
    """Follows a trace; `time_ms` and `sequence` are those of the line seen last."""

    def __init__(self, header: HeaderLine) -> None:
        self.header = header
        self.sequence = 0
        self.time_ms: int | None = None
        self.replicas: dict[int, ObservedReplica] = {}
        voters = voter_set(header.voters)
        endpoints = {replica.id: replica.endpoint for replica in header.replicas}
        for replica in header.replicas:
            own = voters if replica.initial_voters is UNSET else voter_set(replica.initial_voters)
            known = {voter.id: endpoints[voter.id] for voter in own if voter.id in endpoints}
            self.replicas[replica.id] = ObservedReplica(
                ReplicaKey(replica.id, replica.directory_id), sets=[ObservedVoters(-1, own, known)]
            )

    def observe(self, line: EventLine) -> None:
        """Note what a line shows."""
        self.sequence = line.sequence
        if line.time_ms is not UNSET:
            self.time_ms = line.time_ms
        if line.replica is UNSET:
            return
        seen = self.replicas[line.replica]
        if line.event == "ReplaceDisk":
            static = voter_set(self.header.voters) if self.header.kraft_version == 0 else frozenset()
            seen.sets = [ObservedVoters(-1, static, seen.sets[0].endpoints)]
        effects = () if line.effects is UNSET else line.effects
        for effect in effects:
            _observe_effect(seen, effect)
        if line.state is not UNSET:
            _observe_state(seen, line.state, effects)
        if line.event == "HandleFetchRequest":
            self._observe_fetch(seen, line)

    def _observe_fetch(self, leader: ObservedReplica, line: EventLine) -> None:
        """A fetcher that has reached where the log ended at its fetch before was caught up at that one."""
        request = line.message
        if not isinstance(request, TracedFetchRequest) or request.replica_key is UNSET or request.fetch_offset is UNSET:
            return
        if leader.role is not Role.LEADER or line.refusal not in (None, UNSET) or self.time_ms is None:
            return
        fetcher = replica_key(request.replica_key)
        tracked = leader.entry_of(fetcher) or fetcher
        # A Fetch that diverges is answered, and is no progress.
        if leader.fetch_offsets is not None and leader.fetch_offsets.get(tracked) != request.fetch_offset:
            return
        end = UNKNOWN if leader.log_end_offset is None else leader.log_end_offset
        earlier = leader.fetch_times.get(tracked, FetchTime(UNKNOWN, UNKNOWN, UNKNOWN))
        caught_up_ms = earlier.last_caught_up_ms
        if 0 <= end <= request.fetch_offset:
            caught_up_ms = self.time_ms
        elif 0 <= earlier.leader_end_offset <= request.fetch_offset:
            caught_up_ms = max(caught_up_ms, earlier.last_fetch_ms)
        leader.fetch_times[tracked] = FetchTime(self.time_ms, caught_up_ms, end)


def place(key: ReplicaKey) -> tuple[int, str]:
    """Where a replica stands in a list: by id, one without a directory id first."""
    return key.id, key.directory_id or ""


def _shown_or(value: _Value | UnsetType, before: _Value) -> _Value:
    return before if isinstance(value, UnsetType) else value


def _observe_effect(seen: ObservedReplica, effect: TracedEffect) -> None:
    if isinstance(effect, TracedAppendRecords):
        for position, record in enumerate(effect.records):
            if record.kind in SET_KINDS and record.voters is not UNSET:
                details = () if record.details is UNSET else record.details
                target = None if record.target is UNSET else target_of(record.target)
                _observe_set(seen, effect.base_offset + position, voter_set(record.voters), details, target)
    elif isinstance(effect, TracedWriteSnapshot):
        snapshot = effect.snapshot
        end = snapshot.end_offset
        later = [] if effect.replaces_log else [entry for entry in seen.sets if entry.offset >= end]
        seen.sets.clear()
        _observe_set(seen, end - 1, voter_set(snapshot.voters), snapshot.details, target_of(snapshot.target))
        seen.sets += later
        seen.log_start_offset = end


def _observe_set(
    seen: ObservedReplica, offset: int, voters: VoterSet, details: tuple[TracedDetails, ...], target: Target
) -> None:
    seen.sets = [entry for entry in seen.sets if entry.offset < offset]
    seen.sets.append(ObservedVoters(offset, voters, {one.id: one.endpoint for one in details}, target))


def _observe_state(seen: ObservedReplica, state: TracedState, effects: tuple[TracedEffect, ...]) -> None:
    before = (seen.role, seen.epoch)
    if state.replica_key is not UNSET:
        seen.key = replica_key(state.replica_key)
    seen.role = _shown_or(state.role, seen.role)
    seen.epoch = _shown_or(state.epoch, seen.epoch)
    seen.leader_id = _shown_or(state.leader_id, seen.leader_id)
    seen.log_end_offset = _shown_or(state.log_end_offset, seen.log_end_offset)
    seen.log_start_offset = _shown_or(state.log_start_offset, seen.log_start_offset)
    seen.high_watermark = _shown_or(state.high_watermark, seen.high_watermark)
    if state.fetch_offsets is not UNSET:
        seen.fetch_offsets = {replica_key(key): offset for key, offset in state.fetch_offsets}
    if (seen.role, seen.epoch) != before:
        seen.fetch_times.clear()
        appended = next((effect for effect in effects if isinstance(effect, TracedAppendRecords)), None)
        elected = seen.role is Role.LEADER and appended is not None
        seen.epoch_start_offset = appended.base_offset if elected and appended is not None else None
    _observe_sets_of_state(seen, state)


def _observe_sets_of_state(seen: ObservedReplica, state: TracedState) -> None:
    """Cut what truncation or a crash took, and note a set whose record was not seen."""
    if state.log_end_offset is not UNSET:
        kept = [entry for entry in seen.sets if entry.offset < max(state.log_end_offset, 0)]
        seen.sets = kept or seen.sets[:1]
    if state.voters is UNSET or state.voters.voters is UNSET:
        return
    voters = voter_set(state.voters.voters)
    offset = _shown_or(state.voters.offset, seen.newest.offset)
    given = state.voters.target
    target = seen.newest.target if given is UNSET else target_of(given)
    if (voters, offset, target) != (seen.newest.voters, seen.newest.offset, seen.newest.target):
        known = next(
            (entry.endpoints for entry in reversed(seen.sets) if entry.voters == voters), seen.newest.endpoints
        )
        seen.sets = [entry for entry in seen.sets if entry.offset < offset]
        seen.sets.append(ObservedVoters(offset, voters, known, target))
