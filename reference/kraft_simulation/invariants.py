"""Properties of elections and replication, checked at every occurrence of a run.

They have the names of the rule catalogue and follow its definitions, independently of the reference and the model:
each occurrence is checked against the replica's state before, its disk (`Disk`) and the history of the run
(`History`).  Only changes are checked, which is cheap; `check_all` checks everything.
"""

from collections.abc import Callable
from typing import Any, get_args

from kraft_reference.configuration import Configuration
from kraft_reference.effects import (
    Answer,
    AppendRecords,
    DurableEffect,
    Effect,
    Send,
    StartTimer,
    TruncateLog,
    WriteSnapshot,
)
from kraft_reference.events import Crash, Receive, ReplaceDisk, ReplaceSoftware, Restart
from kraft_reference.identity import ReplicaKey
from kraft_reference.messages import FetchResponse, VoteRequest, VoteResponse
from kraft_reference.roles import Role
from kraft_reference.state import UNKNOWN_HIGH_WATERMARK, ReplicaState
from kraft_simulation.disk import Disk
from kraft_simulation.history import History, part_of
from kraft_simulation.membership import (
    check_config,
    check_credit,
    check_grant,
    check_level,
    check_overlap,
    check_pending,
)
from kraft_simulation.occurrence import Occurrence
from kraft_simulation.type_check import check_type
from kraft_simulation.violation import BrokenProperty, Violation

_STAGES: dict[type[Effect], int] = {
    **dict.fromkeys(get_args(DurableEffect), 0),
    **dict.fromkeys((Send, Answer), 1),
    StartTimer: 2,
}
"""Order of the effects of a step."""


class Invariants:
    """Checks of a run; `observe` takes its occurrences in order."""

    def __init__(self, configuration: Configuration, initial: dict[int, ReplicaState]) -> None:
        self._configuration = configuration
        self._states = dict(initial)
        self._disks = {replica_id: Disk(state) for replica_id, state in initial.items()}
        self._history = History()
        self._broken: list[BrokenProperty] = []
        """Violations by the current occurrence."""

    def observe(self, occurrence: Occurrence) -> tuple[Violation, ...]:
        """Return the violations by an occurrence."""
        if occurrence.state is not None:
            self._observe(occurrence, occurrence.state)
        return self._taken(occurrence.sequence, occurrence.replica_id)

    def _check(self, check: Callable[..., None], *values: Any) -> None:
        try:
            check(*values)
        except BrokenProperty as broken:
            self._broken.append(broken)

    def _taken(self, sequence: int, replica_id: int | None) -> tuple[Violation, ...]:
        if not self._broken:
            return ()
        violations = tuple(
            [Violation(problem.property_name, sequence, replica_id, problem.message) for problem in self._broken]
        )
        self._broken.clear()
        return violations

    def _observe(self, occurrence: Occurrence, after: ReplicaState) -> None:
        replica_id = after.key.id
        before = self._states[replica_id]
        self._states[replica_id] = after
        event = occurrence.event
        disk = self._disks[replica_id]
        if isinstance(event, Crash):
            self._check(disk.crash, after.log.end_offset)
        elif isinstance(event, ReplaceDisk):
            disk = self._disks[replica_id] = Disk(after)
        elif isinstance(event, ReplaceSoftware) and occurrence.refusal is None:
            self._configuration = self._configuration.with_software({replica_id: event.pre_vote})
        elif after.epoch < before.epoch:
            falls = f"the epoch falls from {before.epoch} to {after.epoch}"
            self._broken.append(BrokenProperty("EpochMonotonic", falls))
        if occurrence.effects:
            self._check_effects(before, after, disk, occurrence)
        if occurrence.crash is not None:
            self._check(disk.crash, after.log.end_offset)
        self._check(disk.check_equals, after)
        if isinstance(event, Receive) and isinstance(event.message, VoteRequest):
            self._check(self._check_pre_vote_is_pure, before, after, occurrence, event.message)
        self._check_roles(before, after)
        # A log that did not change decides as before, and what is committed only grows; what this event commits is
        # decided by a set that has to agree with those that could decide until now.
        if (after.log.end_offset, after.log.last_epoch) != (before.log.end_offset, before.log.last_epoch):
            self._check(check_overlap, self._states.values(), self._history)
        if after.high_watermark != before.high_watermark:
            self._check(self._check_high_watermark, before, after, isinstance(event, Restart))
        if after.log is not before.log:
            # The records before the old end of the log were checked before.
            checked_end = min(before.log.end_offset, after.log.end_offset)
            self._check(check_config, after.log, checked_end)
            self._check(check_level, after.log, checked_end)
        if after.role is Role.LEADER:
            if before.role is Role.LEADER:
                message = event.message if isinstance(event, Receive) else None
                self._check(check_credit, before, after, message, self._configuration.profile)
            if after.role is not before.role or after.log.voters is not before.log.voters:
                self._check(check_pending, after.log, self._history)

    # -----------------------------------------------------------------------------------------------------
    # Effects.
    # -----------------------------------------------------------------------------------------------------

    def _check_effects(self, before: ReplicaState, after: ReplicaState, disk: Disk, occurrence: Occurrence) -> None:
        """Check the order of effects (writes, sends, timers), and that the disk has what each message promises."""
        reached = 0
        own_id = after.key.id
        for effect in occurrence.effects:
            stage = _STAGES[type(effect)]
            if stage < reached:
                late = f"{type(effect).__name__} comes too late among the effects"
                self._broken.append(BrokenProperty("DurableBeforeSend", late))
            reached = stage
            if isinstance(effect, Send):
                self._check(disk.check_send, effect, own_id)
                message = effect.message
                if isinstance(message, VoteResponse) and message.granted and not message.pre_vote:
                    self._check(self._check_grant, after, disk, occurrence, message)
                elif isinstance(message, FetchResponse) and occurrence.crash is not None:
                    self._check(self._check_published, before, disk, message)
            elif stage == 0:
                if isinstance(effect, AppendRecords):
                    self._check(self._check_append, effect, disk)
                elif isinstance(effect, TruncateLog):
                    self._check(self._check_truncate, effect, before)
                self._check(disk.write, effect)
                if isinstance(effect, WriteSnapshot):
                    self._check(self._history.snapshot, after.key, disk.base)

    def _check_grant(self, after: ReplicaState, disk: Disk, occurrence: Occurrence, response: VoteResponse) -> None:
        event = occurrence.event
        if not isinstance(event, Receive) or not isinstance(event.message, VoteRequest):
            raise BrokenProperty("TypeOk", "a vote is granted that nobody asked for")
        request = event.message
        if request.epoch != response.epoch:
            raise BrokenProperty(
                "VoteOncePerEpoch", f"a vote asked for in epoch {request.epoch} is granted in {response.epoch}"
            )
        self._check(self._check_vote, after, response.epoch, request.replica_key)
        self._check(disk.check_grant, request, response)
        self._check(check_grant, after.key, request)

    def _check_vote(self, after: ReplicaState, epoch: int, candidate: ReplicaKey) -> None:
        """Record a vote; version 0 of the quorum state file has no directory id of the candidate."""
        written = candidate if after.quorum_state_version else ReplicaKey(candidate.id)
        self._history.vote(after.key, epoch, written)

    def _check_published(self, before: ReplicaState, disk: Disk, response: FetchResponse) -> None:
        """Record a high watermark that is sent just before a crash."""
        old_end = max(before.high_watermark, 0)
        if response.high_watermark > old_end:
            self._history.commit(before.key, response.epoch, old_end, response.high_watermark, disk.part())

    def _check_append(self, effect: AppendRecords, disk: Disk) -> None:
        previous_epoch = disk.last_epoch
        write = self._history.write
        offset = effect.base_offset
        for record in effect.records:
            if record.epoch < previous_epoch:
                raise BrokenProperty(
                    "LogMatching",
                    f"a record of epoch {record.epoch} at offset {offset} follows one of {previous_epoch}",
                )
            write(offset, record, previous_epoch)
            previous_epoch = record.epoch
            offset += 1

    @staticmethod
    def _check_truncate(effect: TruncateLog, before: ReplicaState) -> None:
        if effect.end_offset < before.high_watermark:
            raise BrokenProperty(
                "CommittedNeverLost",
                f"the log is cut to {effect.end_offset}, below the high watermark {before.high_watermark}",
            )
        if before.role is Role.LEADER:
            raise BrokenProperty("CommittedNeverLost", f"a leader cuts its own log to {effect.end_offset}")

    # -----------------------------------------------------------------------------------------------------
    # States.
    # -----------------------------------------------------------------------------------------------------

    def _check_pre_vote_is_pure(
        self, before: ReplicaState, after: ReplicaState, occurrence: Occurrence, request: VoteRequest
    ) -> None:
        """Check that a Pre-Vote of its own epoch changes nothing at a receiver with Pre-Vote."""
        if not request.pre_vote or request.epoch != before.epoch:
            return
        if self._configuration.replicas[before.key.id].pre_vote != "supported":
            return
        if any(not isinstance(effect, Send) for effect in occurrence.effects):
            raise BrokenProperty("PreVoteIsPure", f"a Pre-Vote of epoch {before.epoch} has effects beyond its answer")
        if occurrence.crash is None and after is not before and after != before:
            raise BrokenProperty("PreVoteIsPure", f"a Pre-Vote of epoch {before.epoch} changes the replica")

    def _check_roles(self, before: ReplicaState, after: ReplicaState) -> None:
        """Check role, epoch and leader when one of them has changed."""
        changed_epoch = after.epoch != before.epoch or after.key is not before.key
        if after.voted_key is not None and (changed_epoch or after.voted_key is not before.voted_key):
            self._check(self._check_vote, after, after.epoch, after.voted_key)
        if after.leader_id is not None and (changed_epoch or after.leader_id != before.leader_id):
            if after.leader_id != after.key.id:
                self._check(self._history.follow, after.key, after.epoch, after.leader_id)
            else:
                self._check(self._history.lead, after.key, after.epoch)
                # A replica that crashes during its election may not have written the first records of its epoch.
                if after.role is not Role.STOPPED:
                    self._check(self._history.lead_with, after.epoch, part_of(after.log))
        if after.role is not before.role or changed_epoch or after.leader_id != before.leader_id:
            self._check(check_type, after)

    def _check_high_watermark(self, before: ReplicaState, after: ReplicaState, restarted: bool) -> None:
        old, new = before.high_watermark, after.high_watermark
        if new < old:
            # An implementation may have another setting of `leader_high_watermark` than the cluster's profile.
            begins = after.role is not before.role and after.role in (Role.LEADER, Role.RESIGNED)
            forgets = begins and new == UNKNOWN_HIGH_WATERMARK
            if after.role is not Role.STOPPED and not restarted and not forgets:
                raise BrokenProperty("HwMonotonic", f"the high watermark falls from {old} to {new}")
            return
        if new > after.log.end_offset:
            raise BrokenProperty("TypeOk", f"the high watermark is {new}, the log ends at {after.log.end_offset}")
        self._history.commit(after.key, after.epoch, max(old, 0), new, part_of(after.log))

    # -----------------------------------------------------------------------------------------------------
    # Everything.
    # -----------------------------------------------------------------------------------------------------

    def check_all(self, sequence: int) -> tuple[Violation, ...]:
        """Return the violations by whole logs, whole disks, and pairs of replicas."""
        violations: list[Violation] = []
        for replica_id, state in sorted(self._states.items()):
            self._check(check_type, state)
            self._check(check_config, state.log, state.log.start_offset)
            self._check(check_level, state.log, state.log.start_offset)
            disk = self._disks[replica_id]
            self._check(disk.check_equals, state)
            if tuple(disk.records) != state.log.records:
                self._broken.append(BrokenProperty("DurableBeforeSend", "the log on disk is not the log of the state"))
            self._check(self._check_committed_prefix, state)
            violations += self._taken(sequence, replica_id)
        self._check(self._check_log_matching)
        return (*violations, *self._taken(sequence, None))

    def _check_committed_prefix(self, state: ReplicaState) -> None:
        history = self._history
        start, end = state.log.start_offset, state.high_watermark
        if not all(history.is_committed(place, state.log.record(place)) for place in range(start, end)):
            raise BrokenProperty(
                "CommittedNeverLost", f"the records from {start} to {end} are not those that were committed"
            )

    def _check_log_matching(self) -> None:
        """Check that logs agree up to the largest (offset, epoch) that they share."""
        logs = [state.log for _, state in sorted(self._states.items())]
        for place, log in enumerate(logs):
            for other in logs[place + 1 :]:
                start = max(log.start_offset, other.start_offset)
                end = min(log.end_offset, other.end_offset)
                while end > start and log.record(end - 1).epoch != other.record(end - 1).epoch:
                    end -= 1
                if end > start and log.between(start, end) != other.between(start, end):
                    raise BrokenProperty("LogMatching", f"two logs agree at offset {end - 1} and differ before it")

    def forget(self) -> None:
        """Forget old records, so that the memory of a run with snapshots does not grow with its length."""
        states = self._states.values()
        # An empty log does not matter, because its later records are in other logs.
        starts = [state.log.start_offset for state in states if state.log.end_offset]
        self._history.forget(min(starts, default=0), [state.key for state in states])

    def remembered(self) -> int:
        """Return the number of values that are kept of the run, including records on disks."""
        return self._history.size + sum(len(disk.records) for disk in self._disks.values())
