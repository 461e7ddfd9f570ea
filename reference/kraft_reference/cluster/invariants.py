"""The properties of elections and replication, checked on every occurrence of a run.

They bear the names of the rule catalogue and are written from its definitions, without the reference's own
judgements and without the model: each occurrence is held against what the replica was before, against its disk
(`Disk`) and against everything that has ever been true (`History`).
That is cheap, because only what changed is looked at; `check_all` looks at everything.
"""

from kraft_reference.cluster.disk import Disk
from kraft_reference.cluster.history import History
from kraft_reference.cluster.occurrence import Occurrence
from kraft_reference.cluster.violation import BrokenProperty, Violation
from kraft_reference.configuration import Configuration
from kraft_reference.effects import AppendRecords, Effect, Send, StartTimer, TruncateLog
from kraft_reference.events import Crash, Receive, ReplaceDisk, Restart
from kraft_reference.log import VotersEntry
from kraft_reference.messages import FetchResponse, VoteRequest, VoteResponse
from kraft_reference.records import RecordKind
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState

_ELECTING = (Role.PROSPECTIVE, Role.CANDIDATE)


class Invariants:
    """The checks of one run, fed with its occurrences in order."""

    def __init__(self, configuration: Configuration, initial: dict[int, ReplicaState]) -> None:
        self._configuration = configuration
        self._states = dict(initial)
        self._disks = {replica_id: Disk() for replica_id in initial}
        self._history = History()

    def observe(self, occurrence: Occurrence) -> Violation | None:
        """Check one occurrence; None when everything holds."""
        after = occurrence.state
        if after is None:
            return None
        try:
            self._observe(occurrence, after)
        except BrokenProperty as broken:
            return Violation(broken.property_name, occurrence.sequence, occurrence.replica_id, broken.message)
        return None

    def _observe(self, occurrence: Occurrence, after: ReplicaState) -> None:
        replica_id = after.key.id
        before = self._states[replica_id]
        self._states[replica_id] = after
        event = occurrence.event
        kind = type(event)
        disk = self._disks[replica_id]
        if kind is Crash:
            disk.crash(after.log.end_offset)
        elif kind is ReplaceDisk:
            disk = self._disks[replica_id] = Disk()
        elif after.epoch < before.epoch:
            raise BrokenProperty("EpochMonotonic", f"the epoch falls from {before.epoch} to {after.epoch}")
        if occurrence.effects:
            self._check_effects(before, after, disk, occurrence)
        if occurrence.crash is not None:
            disk.crash(after.log.end_offset)
        disk.check_equals(after)
        if kind is Receive:
            assert isinstance(event, Receive)
            message = event.message
            if type(message) is VoteRequest and message.pre_vote and message.epoch == before.epoch:
                self._check_pre_vote_is_pure(before, after, occurrence)
        self._check_roles(before, after)
        if after.high_watermark != before.high_watermark:
            self._check_high_watermark(before, after, kind is Restart)
        if after.log is not before.log or kind is ReplaceDisk:
            self._check_config(before, after)

    # -----------------------------------------------------------------------------------------------------
    # Effects.
    # -----------------------------------------------------------------------------------------------------

    def _check_effects(self, before: ReplicaState, after: ReplicaState, disk: Disk, occurrence: Occurrence) -> None:
        """Writes, then sends, then timers; and at each send the disk has what the message promises."""
        stage = 0
        own_id = after.key.id
        for effect in occurrence.effects:
            kind = type(effect)
            if kind is Send:
                assert isinstance(effect, Send)
                self._expect_stage(1, stage, effect)
                stage = 1
                disk.check_send(effect, own_id)
                message = effect.message
                if type(message) is VoteResponse and message.granted and not message.pre_vote:
                    self._check_grant(after, disk, occurrence, message)
                elif type(message) is FetchResponse and occurrence.crash is not None:
                    self._check_published(before, disk, message)
            elif kind is StartTimer:
                stage = 2
            else:
                self._expect_stage(0, stage, effect)
                if kind is AppendRecords:
                    assert isinstance(effect, AppendRecords)
                    self._check_append(effect, disk)
                elif kind is TruncateLog:
                    assert isinstance(effect, TruncateLog)
                    self._check_truncate(effect, before)
                disk.write(effect)

    @staticmethod
    def _expect_stage(wanted: int, stage: int, effect: Effect) -> None:
        if stage > wanted:
            raise BrokenProperty("DurableBeforeSend", f"{type(effect).__name__} comes too late among the effects")

    def _check_grant(self, after: ReplicaState, disk: Disk, occurrence: Occurrence, response: VoteResponse) -> None:
        event = occurrence.event
        if not isinstance(event, Receive) or not isinstance(event.message, VoteRequest):
            raise BrokenProperty("TypeOk", "a vote is granted that nobody asked for")
        request = event.message
        if request.epoch != response.epoch:
            raise BrokenProperty(
                "VoteOncePerEpoch", f"a vote asked for in epoch {request.epoch} is granted in {response.epoch}"
            )
        self._history.vote(after.key, response.epoch, request.replica_key)
        disk.check_grant(request, response)

    def _check_published(self, before: ReplicaState, disk: Disk, response: FetchResponse) -> None:
        """A high watermark that leaves just before a crash is published all the same."""
        old_end = max(before.high_watermark, 0)
        if response.high_watermark > old_end:
            records = tuple(disk.records)
            self._history.commit(before.key, response.epoch, old_end, response.high_watermark, records)

    def _check_append(self, effect: AppendRecords, disk: Disk) -> None:
        previous_epoch = disk.records[-1].epoch if disk.records else 0
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

    def _check_pre_vote_is_pure(self, before: ReplicaState, after: ReplicaState, occurrence: Occurrence) -> None:
        """Of a Pre-Vote of the own epoch nothing remains at its receiver, if it knows what a Pre-Vote is."""
        if self._configuration.replicas[before.key.id].pre_vote != "supported":
            return
        if any(not isinstance(effect, Send) for effect in occurrence.effects):
            raise BrokenProperty("PreVoteIsPure", f"a Pre-Vote of epoch {before.epoch} has effects beyond its answer")
        if occurrence.crash is None and after is not before and after != before:
            raise BrokenProperty("PreVoteIsPure", f"a Pre-Vote of epoch {before.epoch} changes the replica")

    def _check_roles(self, before: ReplicaState, after: ReplicaState) -> None:
        """What a role, an epoch and a leader mean together; only when one of them changed."""
        changed_epoch = after.epoch != before.epoch or after.key is not before.key
        if after.voted_key is not None and (changed_epoch or after.voted_key is not before.voted_key):
            self._history.vote(after.key, after.epoch, after.voted_key)
        if after.leader_id is not None and (changed_epoch or after.leader_id != before.leader_id):
            if after.leader_id == after.key.id:
                self._history.lead(after.key, after.epoch, after.log.records)
            else:
                self._history.follow(after.key, after.epoch, after.leader_id)
        if after.role is not before.role or changed_epoch or after.leader_id != before.leader_id:
            check_type(after)

    def _check_high_watermark(self, before: ReplicaState, after: ReplicaState, restarted: bool) -> None:
        old, new = before.high_watermark, after.high_watermark
        if new < old:
            if after.role is not Role.STOPPED and not restarted:
                raise BrokenProperty("HwMonotonic", f"the high watermark falls from {old} to {new}")
            return
        records = after.log.records
        if new > len(records):
            raise BrokenProperty("TypeOk", f"the high watermark is {new}, the log has {len(records)} records")
        self._history.commit(after.key, after.epoch, max(old, 0), new, records)

    def _check_config(self, before: ReplicaState, after: ReplicaState) -> None:
        """The voters set is the newest in the log, of which only what was appended is new.  ConfigFollowsLog."""
        entry = after.log.voters[-1]
        self._check_config_from(after, entry, max(entry.offset + 1, len(before.log.records)))

    def _check_config_from(self, after: ReplicaState, entry: VotersEntry, start: int) -> None:
        records = after.log.records
        if entry.offset < 0:
            expected = self._configuration.voters
        else:
            named = entry.offset < len(records) and records[entry.offset].kind is RecordKind.VOTERS
            if not named:
                raise BrokenProperty("ConfigFollowsLog", f"there is no VotersRecord at offset {entry.offset}")
            expected = records[entry.offset].voters
        if entry.voters is not expected and entry.voters != expected:
            raise BrokenProperty("ConfigFollowsLog", f"the voters set is not the one at offset {entry.offset}")
        for record in records[start:]:
            if record.kind is RecordKind.VOTERS:
                raise BrokenProperty("ConfigFollowsLog", f"the voters set is the one at {entry.offset}, not the newest")

    # -----------------------------------------------------------------------------------------------------
    # Everything.
    # -----------------------------------------------------------------------------------------------------

    def check_all(self, sequence: int) -> Violation | None:
        """Check whole logs, whole disks and each replica against each other; None when everything holds."""
        replica_id: int | None = None
        try:
            for replica_id, state in sorted(self._states.items()):
                check_type(state)
                self._check_config_from(state, state.log.voters[-1], state.log.voters[-1].offset + 1)
                disk = self._disks[replica_id]
                disk.check_equals(state)
                if tuple(disk.records) != state.log.records:
                    raise BrokenProperty("DurableBeforeSend", "the log on disk is not the log of the state")
                self._check_committed_prefix(state)
            self._check_log_matching()
        except BrokenProperty as broken:
            return Violation(broken.property_name, sequence, replica_id, broken.message)
        return None

    def _check_committed_prefix(self, state: ReplicaState) -> None:
        end = max(state.high_watermark, 0)
        if list(state.log.records[:end]) != self._history.committed[:end]:
            raise BrokenProperty("CommittedNeverLost", f"the first {end} records are not those that were committed")

    def _check_log_matching(self) -> None:
        """Logs that share an (offset, epoch) agree up to the largest one they share."""
        logs = [state.log.records for _, state in sorted(self._states.items())]
        for place, one in enumerate(logs):
            for other in logs[place + 1 :]:
                end = min(len(one), len(other))
                while end and one[end - 1].epoch != other[end - 1].epoch:
                    end -= 1
                if one[:end] != other[:end]:
                    raise BrokenProperty("LogMatching", f"two logs agree at offset {end - 1} and differ before it")


def check_type(state: ReplicaState) -> None:
    """What must be true of a replica by itself.  TypeOk, NotFollowerOfSelf."""
    role, own_id, log = state.role, state.key.id, state.log
    if role is Role.FOLLOWER and state.leader_id == own_id:
        raise BrokenProperty("NotFollowerOfSelf", f"the replica follows itself in epoch {state.epoch}")
    wrong = None
    if role is Role.FOLLOWER and (state.leader_id is None or state.leader_endpoint is None):
        wrong = "a Follower knows its leader and its endpoint"
    elif role in (Role.LEADER, Role.RESIGNED) and state.leader_id != own_id:
        wrong = f"a {role} is the leader of its epoch"
    elif role is Role.CANDIDATE and (state.voted_key is None or state.voted_key.id != own_id):
        wrong = "a Candidate has voted for itself"
    elif role is Role.CANDIDATE and state.leader_id is not None:
        wrong = "a Candidate knows no leader"
    elif role in _ELECTING and own_id not in state.granted:
        wrong = f"a {role} has its own vote"
    elif role not in _ELECTING and (state.granted or state.rejected):
        wrong = f"a {role} counts no votes"
    elif state.granted & state.rejected:
        wrong = "a voter both granted and refused"
    elif role is Role.LEADER and not 0 <= state.epoch_start_offset < log.end_offset:
        wrong = "a Leader has begun its epoch in its log"
    elif role is Role.LEADER and log.records[state.epoch_start_offset].epoch != state.epoch:
        wrong = "the epoch of a Leader starts elsewhere in its log"
    elif role is Role.STOPPED and state.high_watermark != -1:
        wrong = "a stopped replica knows no high watermark"
    elif role is Role.STOPPED and state.awaiting:
        wrong = "a stopped replica awaits no answer"
    elif own_id in state.awaiting:
        wrong = "a replica asks itself"
    elif not 0 <= log.flushed <= log.end_offset or state.high_watermark > log.end_offset:
        wrong = "the log is shorter than what is synced or committed"
    elif log.last_epoch > state.epoch:
        wrong = f"the log has epoch {log.last_epoch}, the replica {state.epoch}"
    if wrong is not None:
        raise BrokenProperty("TypeOk", f"{wrong}: {role} in epoch {state.epoch}, leader {state.leader_id}")
