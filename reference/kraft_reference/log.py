"""The replicated log of one replica, a value.

Offsets count from 0; an *end offset* is the offset after the last record (exclusive), and so are the offsets
that Fetch and Vote requests carry.
A log stands on a snapshot (`base`): the bootstrap checkpoint before the first offset, later the newest snapshot
that the replica took or fetched; the records before its end offset are gone.
The voters sets and the levels of kraft.version in the log are kept beside it with their offsets, so that truncation
can revert them.
"""

from collections.abc import Sequence
from typing import NamedTuple

from kraft_reference.identity import Target, VoterDetails, VoterSet
from kraft_reference.records import SET_KINDS, Record, RecordKind


class Snapshot(NamedTuple):
    """A snapshot as far as it carries voters: its header, its KRaftVersionRecord and its VotersRecord.

    Rules: snapshot.control-records-first, snapshot.bootstrap-checkpoint.
    """

    end_offset: int
    """It stands for all records before this offset; 0 for the bootstrap checkpoint."""
    epoch: int
    """The epoch of the last of them; 0 for the bootstrap checkpoint."""
    kraft_version: int
    """At level 0 it holds no VotersRecord; `voters` are then the static ones.  Rule: kraft-version.record-gate."""
    voters: VoterSet
    details: tuple[VoterDetails, ...] = ()
    target: Target = None
    """Of the reassignment that was under way there.  Rule: reassign.assignment-record."""

    @property
    def id(self) -> tuple[int, int]:
        """The snapshot id: (end offset, epoch)."""
        return (self.end_offset, self.epoch)


class VotersEntry(NamedTuple):
    """A voters set, the target of a reassignment that is under way, and the offset of their record.

    The set of a snapshot stands at the last offset that the snapshot covers: -1 for static voters and the bootstrap
    checkpoint.
    Rules: snapshot.load-resets-history, snapshot.bootstrap-checkpoint.
    """

    offset: int
    voters: VoterSet
    details: tuple[VoterDetails, ...] = ()
    target: Target = None


class VersionEntry(NamedTuple):
    """A level of kraft.version and the offset of its KRaftVersionRecord; of a snapshot as in `VotersEntry`."""

    offset: int
    kraft_version: int


class EpochEnd(NamedTuple):
    """An epoch of a log and the offset after its last record."""

    epoch: int
    offset: int


class Log(NamedTuple):
    """Records, how far they are synced to disk, and the voters sets and levels among them, oldest first."""

    records: tuple[Record, ...]
    """Those from `start_offset` on."""
    flushed: int
    """Records before this offset survive a crash."""
    voters: tuple[VotersEntry, ...]
    """From the set in force at the snapshot to the newest.  Rule: voters.history-kept-from-snapshot-to-leo."""
    versions: tuple[VersionEntry, ...]
    """The same of kraft.version."""
    base: Snapshot
    """What stands for the records that are not there."""

    @property
    def has_voters_record(self) -> bool:
        """Is there a voters set in the log or in its snapshot, and not only in the bootstrap checkpoint?

        Rule: bootstrap.first-leader-writes-records.
        """
        return self.start_offset > 0 or len(self.voters) > 1

    @property
    def start_offset(self) -> int:
        """The offset of the first record, which is where the snapshot ends."""
        return self.base.end_offset

    @property
    def end_offset(self) -> int:
        """The offset after the last record."""
        return self.base.end_offset + len(self.records)

    @property
    def last_epoch(self) -> int:
        """The epoch of the last record, 0 for an empty log."""
        return self.records[-1].epoch if self.records else self.base.epoch

    @property
    def kraft_version(self) -> int:
        """The newest level in the log, committed or not."""
        return self.versions[-1].kraft_version

    def record(self, offset: int) -> Record:
        """The record at an offset that the log still has."""
        return self.records[offset - self.base.end_offset]

    def epoch_before(self, offset: int) -> int:
        """The epoch of the record before an offset from `start_offset` on; 0 at the very beginning."""
        place = offset - self.base.end_offset
        return self.records[place - 1].epoch if place else self.base.epoch

    def between(self, start_offset: int, end_offset: int) -> tuple[Record, ...]:
        """The records from one offset up to another, both from `start_offset` on."""
        start = self.base.end_offset
        return self.records[start_offset - start : end_offset - start]


def log_on(snapshot: Snapshot) -> Log:
    """A log without records on a snapshot, which forgets every set and level that was known before.

    Rules: snapshot.load-resets-history, state.voters-set.fallback-static.
    """
    offset = snapshot.end_offset - 1
    voters = (VotersEntry(offset, snapshot.voters, snapshot.details, snapshot.target),)
    return Log((), snapshot.end_offset, voters, (VersionEntry(offset, snapshot.kraft_version),), snapshot)


def append(log: Log, records: Sequence[Record]) -> Log:
    """The log with records at its end, not yet synced.

    A VotersRecord or VoterAssignment takes effect at once, committed or not, and replaces the whole set.
    Rules: voters.effective-on-append, voters.record-replaces-set, reassign.effective-on-append,
    kraft-version.finalized-when, reassign.assignment-record.
    """
    base = log.end_offset
    voters, versions = log.voters, log.versions
    for position, record in enumerate(records):
        if record.kind in SET_KINDS:
            voters = (*voters, VotersEntry(base + position, record.voters, record.details, record.target))
        elif record.kind is RecordKind.KRAFT_VERSION:
            versions = (*versions, VersionEntry(base + position, record.value))
    return Log(log.records + tuple(records), log.flushed, voters, versions, log.base)


def truncate(log: Log, end_offset: int) -> Log:
    """The log cut to `end_offset`; voters sets and levels beyond it are reverted.

    Rules: fetch.diverging.truncate, voters.truncation-reverts, reassign.truncation-reverts.
    """
    assert log.start_offset <= end_offset <= log.end_offset, "a log is only ever cut to a part of itself"
    voters, versions = log.voters, log.versions
    if voters[-1].offset >= end_offset:
        voters = tuple(entry for entry in voters if entry.offset < end_offset)
    if versions[-1].offset >= end_offset:
        versions = tuple(entry for entry in versions if entry.offset < end_offset)
    kept = log.records[: end_offset - log.start_offset]
    return Log(kept, min(log.flushed, end_offset), voters, versions, log.base)


def flush(log: Log) -> Log:
    """The log with everything in it synced.  Rule: durable.flush-before-fetch."""
    return log if log.flushed == log.end_offset else log._replace(flushed=log.end_offset)


def snapshot_at(log: Log, end_offset: int) -> Snapshot:
    """The snapshot of everything before `end_offset`, with the set, the target and the level in force there.

    Rules: snapshot.set-at-its-end-offset, snapshot.control-records-first.
    """
    assert log.start_offset <= end_offset <= log.end_offset, "a snapshot is of records that the log has"
    entry = next(entry for entry in reversed(log.voters) if entry.offset < end_offset)
    version = next(entry for entry in reversed(log.versions) if entry.offset < end_offset)
    level = version.kraft_version
    return Snapshot(end_offset, log.epoch_before(end_offset), level, entry.voters, entry.details, entry.target)


def rebased(log: Log, snapshot: Snapshot) -> Log:
    """The log without the records that its own snapshot stands for, which are durable in it.

    The newest set and level below the end of the snapshot stay, in its last place; older ones are forgotten.
    Rules: snapshot.trim-keeps-last, voters.history-kept-from-snapshot-to-leo.
    """
    end = snapshot.end_offset
    on_snapshot = log_on(snapshot)
    return Log(
        log.records[end - log.start_offset :],
        max(log.flushed, end),
        (*on_snapshot.voters, *[entry for entry in log.voters if entry.offset >= end]),
        (*on_snapshot.versions, *[entry for entry in log.versions if entry.offset >= end]),
        snapshot,
    )


def tears_a_batch(log: Log, end_offset: int) -> bool:
    """Does a cut at `end_offset` part control records that were appended in one batch?

    A KRaftVersionRecord is never without its VotersRecord.
    It has a LeaderChange before it in its batch at the start of an epoch, that is, where the level was 1 already; a
    replica that was formatted without voters learns of that level from the very first batch.
    Rules: kraft-version.upgrade-atomic-batch, state.leader.first-leader.
    """
    if not log.start_offset < end_offset < log.end_offset:
        return False
    before, after = log.record(end_offset - 1).kind, log.record(end_offset).kind
    if after is RecordKind.KRAFT_VERSION:
        level = next(entry.kraft_version for entry in reversed(log.versions) if entry.offset < end_offset)
        first_leader = end_offset == 1 and not log.base.voters
        return before is RecordKind.LEADER_CHANGE and (level > 0 or first_leader)
    return after in SET_KINDS and before is RecordKind.KRAFT_VERSION


def batch_start(log: Log, end_offset: int) -> int:
    """The largest cut up to `end_offset` that parts no batch."""
    while tears_a_batch(log, end_offset):
        end_offset -= 1
    return end_offset


def batch_end(log: Log, end_offset: int) -> int:
    """The smallest cut from `end_offset` on that parts no batch."""
    while tears_a_batch(log, end_offset):
        end_offset += 1
    return end_offset


def end_of_epoch(log: Log, epoch: int) -> EpochEnd:
    """The largest epoch in the log that is not larger than `epoch`, and where it ends; (0, 0) if none.

    What is before the snapshot counts as one epoch, the snapshot's.
    """
    if epoch >= log.last_epoch:
        return EpochEnd(log.last_epoch, log.end_offset)
    end = log.end_offset
    while end > log.start_offset and log.record(end - 1).epoch > epoch:
        end -= 1
    return EpochEnd(log.epoch_before(end), end)


def agrees(log: Log, offset: int, last_epoch: int) -> bool:
    """Does a log that ends at `offset` with `last_epoch` agree with this one up to there?

    Rule: fetch.diverging.truncate.
    """
    if not log.start_offset <= offset <= log.end_offset:
        return False
    return offset == 0 or log.epoch_before(offset) == last_epoch


def needs_snapshot(log: Log, offset: int, last_epoch: int) -> bool:
    """Has a log that ends at `offset` with `last_epoch` to begin anew from the snapshot of this one?

    Either what it lacks is gone here, or it differs before the snapshot, where this log can no longer say from
    which offset on.
    Rule: fetch.snapshot.bootstrap-not-served.
    """
    base = log.base
    if base.end_offset == 0:
        return False
    behind = offset < base.end_offset or last_epoch < base.epoch
    return behind or (offset == base.end_offset and last_epoch != base.epoch)


def up_to_date(last_epoch: int, end_offset: int, log: Log) -> bool:
    """Is a requester's log, given by (last epoch, end offset), at least as good as this one?

    The epoch decides first, equality is enough, and uncommitted records count.
    Rules: vote.log-check, prevote.request.log-check.
    """
    return (last_epoch, end_offset) >= (log.last_epoch, log.end_offset)
