"""Replicated log of one replica, a value.

The offsets that Fetch and Vote requests carry are end offsets.
A log begins at a snapshot (`base`): the bootstrap checkpoint, later the newest snapshot that the replica took or
fetched.  Records before its end are deleted.
The voter sets and kraft.version levels in the log are kept beside it with their offsets, so that truncation can revert
them.
"""

from collections.abc import Sequence
from typing import NamedTuple

from kraft_reference.identity import Epoch, Offset, Target, VoterDetails, VoterSet
from kraft_reference.records import SET_KINDS, Record, RecordKind


class Snapshot(NamedTuple):
    """Snapshot as far as it carries voters: its header, its KRaftVersionRecord and its VotersRecord.

    Rules: snapshot.control-records-first, snapshot.bootstrap-checkpoint.
    """

    end_offset: Offset
    """The snapshot replaces all records before this offset; 0 for the bootstrap checkpoint."""
    epoch: Epoch
    """Epoch of the last of these records; 0 for the bootstrap checkpoint."""
    kraft_version: int
    """At level 0 there is no VotersRecord; `voters` are then the static ones.  Rule: kraft-version.record-gate."""
    voters: VoterSet
    details: tuple[VoterDetails, ...] = ()
    target: Target = None
    """Target of the reassignment that was under way.  Rule: reassign.assignment-record."""

    @property
    def id(self) -> tuple[Offset, Epoch]:
        """Snapshot id: (end offset, epoch)."""
        return (self.end_offset, self.epoch)


class VotersEntry(NamedTuple):
    """Voter set, target of a reassignment that is under way, and the offset of their record.

    The set of a snapshot has the last offset that the snapshot covers: -1 for static voters and the bootstrap
    checkpoint.
    Rules: snapshot.load-resets-history, snapshot.bootstrap-checkpoint.
    """

    offset: Offset
    voters: VoterSet
    details: tuple[VoterDetails, ...] = ()
    target: Target = None


class VersionEntry(NamedTuple):
    """Level of kraft.version and the offset of its KRaftVersionRecord; from a snapshot as in `VotersEntry`."""

    offset: Offset
    kraft_version: int


class EpochEnd(NamedTuple):
    """Epoch of a log and the offset after its last record."""

    epoch: Epoch
    offset: Offset


class Log(NamedTuple):
    """Records, how far they are synced to disk, and the voter sets and levels among them, oldest first."""

    records: tuple[Record, ...]
    """Records from `start_offset` on."""
    flushed: Offset
    """Records before this offset survive a crash."""
    voters: tuple[VotersEntry, ...]
    """From the set in force at the snapshot to the newest.  Rule: voters.history-kept-from-snapshot-to-leo."""
    versions: tuple[VersionEntry, ...]
    """The same for kraft.version."""
    base: Snapshot
    """Snapshot that replaces the records before `start_offset`."""

    @property
    def has_voters_record(self) -> bool:
        """True if the log, or a snapshot of its records, has a voter set: not only the bootstrap checkpoint.

        Rule: bootstrap.first-leader-writes-records.
        """
        return self.start_offset > 0 or len(self.voters) > 1

    @property
    def start_offset(self) -> Offset:
        """Offset of the first record, which is the end of the snapshot."""
        return self.base.end_offset

    @property
    def end_offset(self) -> Offset:
        """Offset after the last record."""
        return self.base.end_offset + len(self.records)

    @property
    def last_epoch(self) -> Epoch:
        """Epoch of the last record, 0 for an empty log."""
        return self.records[-1].epoch if self.records else self.base.epoch

    @property
    def kraft_version(self) -> int:
        """Newest level in the log, committed or not."""
        return self.versions[-1].kraft_version

    def record(self, offset: Offset) -> Record:
        """Return the record at an offset that the log still has."""
        return self.records[offset - self.base.end_offset]

    def epoch_before(self, offset: Offset) -> Epoch:
        """Return the epoch of the record before an offset from `start_offset` on; 0 for offset 0."""
        place = offset - self.base.end_offset
        return self.records[place - 1].epoch if place else self.base.epoch

    def between(self, start_offset: Offset, end_offset: Offset) -> tuple[Record, ...]:
        """Return the records from one offset up to another, both from the log's `start_offset` on."""
        start = self.base.end_offset
        return self.records[start_offset - start : end_offset - start]


def log_from(snapshot: Snapshot) -> Log:
    """Return a log without records that begins at a snapshot, with no other voter set and level than the snapshot's.

    Rules: snapshot.load-resets-history, state.voters-set.fallback-static.
    """
    offset = snapshot.end_offset - 1
    voters = (VotersEntry(offset, snapshot.voters, snapshot.details, snapshot.target),)
    return Log((), snapshot.end_offset, voters, (VersionEntry(offset, snapshot.kraft_version),), snapshot)


def append(log: Log, records: Sequence[Record]) -> Log:
    """Return the log with records at its end, not yet synced."""
    # A voter set takes effect at once, committed or not, and replaces the whole set before.
    # Rules: voters.effective-on-append, voters.record-replaces-set, reassign.effective-on-append,
    # reassign.assignment-record, kraft-version.finalized-when.
    base = log.end_offset
    voters, versions = log.voters, log.versions
    for position, record in enumerate(records):
        if record.kind in SET_KINDS:
            voters = (*voters, VotersEntry(base + position, record.voters, record.details, record.target))
        elif record.kind is RecordKind.KRAFT_VERSION:
            versions = (*versions, VersionEntry(base + position, record.value))
    return Log(log.records + tuple(records), log.flushed, voters, versions, log.base)


def truncate(log: Log, end_offset: Offset) -> Log:
    """Return the log without records from `end_offset` on; voter sets and levels among these are reverted."""
    # Rules: fetch.diverging.truncate, voters.truncation-reverts, reassign.truncation-reverts.
    assert log.start_offset <= end_offset <= log.end_offset, "a log is truncated to a part of itself"
    voters, versions = log.voters, log.versions
    if voters[-1].offset >= end_offset:
        voters = tuple(entry for entry in voters if entry.offset < end_offset)
    if versions[-1].offset >= end_offset:
        versions = tuple(entry for entry in versions if entry.offset < end_offset)
    kept = log.records[: end_offset - log.start_offset]
    return Log(kept, min(log.flushed, end_offset), voters, versions, log.base)


def flush(log: Log) -> Log:
    """Return the log with all records synced.  Rule: durable.flush-before-fetch."""
    return log if log.flushed == log.end_offset else log._replace(flushed=log.end_offset)


def snapshot_at(log: Log, end_offset: Offset) -> Snapshot:
    """Return the snapshot of all records before `end_offset`, with the set, target and level in force there."""
    # Rules: snapshot.set-at-its-end-offset, snapshot.control-records-first.
    assert log.start_offset <= end_offset <= log.end_offset, "a snapshot is of records that the log has"
    entry = next(entry for entry in reversed(log.voters) if entry.offset < end_offset)
    version = next(entry for entry in reversed(log.versions) if entry.offset < end_offset)
    level = version.kraft_version
    return Snapshot(end_offset, log.epoch_before(end_offset), level, entry.voters, entry.details, entry.target)


def trim(log: Log, snapshot: Snapshot) -> Log:
    """Return the log without the records that its own snapshot replaces, which are durable in the snapshot."""
    # The newest set and level before the end of the snapshot stay, at its last offset; older ones are forgotten.
    # Rules: snapshot.trim-keeps-last, voters.history-kept-from-snapshot-to-leo.
    end = snapshot.end_offset
    on_snapshot = log_from(snapshot)
    return Log(
        log.records[end - log.start_offset :],
        max(log.flushed, end),
        (*on_snapshot.voters, *[entry for entry in log.voters if entry.offset >= end]),
        (*on_snapshot.versions, *[entry for entry in log.versions if entry.offset >= end]),
        snapshot,
    )


def splits_batch(log: Log, end_offset: Offset) -> bool:
    """Return True if `end_offset` is between two control records of one batch.

    Two kinds of batches have several records: [LeaderChange, KRaftVersion, VotersRecord] at the start of an epoch, and
    [KRaftVersion, VotersRecord] of an upgrade.  Records carry no batch, so their kinds have to tell.
    """
    # Rules: kraft-version.upgrade-atomic-batch, state.leader.first-leader.
    if not log.start_offset < end_offset < log.end_offset:
        return False
    before, after = log.record(end_offset - 1).kind, log.record(end_offset).kind
    if after is RecordKind.KRAFT_VERSION:
        # A new leader writes a KRaftVersion record only at level 1, whereas an upgrade starts at level 0.  A replica
        # that was formatted without voters has level 0 until it has read the very first batch.
        level = next(entry.kraft_version for entry in reversed(log.versions) if entry.offset < end_offset)
        first_leader = end_offset == 1 and not log.base.voters
        return before is RecordKind.LEADER_CHANGE and (level > 0 or first_leader)
    return after in SET_KINDS and before is RecordKind.KRAFT_VERSION


def last_batch_end(log: Log, end_offset: Offset) -> Offset:
    """Return the largest offset up to `end_offset` at which a batch ends."""
    while splits_batch(log, end_offset):
        end_offset -= 1
    return end_offset


def batch_end(log: Log, end_offset: Offset) -> Offset:
    """Return the smallest offset from `end_offset` on at which a batch ends."""
    while splits_batch(log, end_offset):
        end_offset += 1
    return end_offset


def end_of_epoch(log: Log, epoch: Epoch) -> EpochEnd:
    """Return the largest epoch in the log that is not larger than `epoch`, and its end; (0, 0) if there is none.

    The records before the snapshot's end count as one epoch, the snapshot's.
    """
    if epoch >= log.last_epoch:
        return EpochEnd(log.last_epoch, log.end_offset)
    end = log.end_offset
    while end > log.start_offset and log.record(end - 1).epoch > epoch:
        end -= 1
    return EpochEnd(log.epoch_before(end), end)


def matches(log: Log, offset: Offset, last_epoch: Epoch) -> bool:
    """Return True if a log that ends at `offset` with `last_epoch` is a prefix of this one."""
    # Rule: fetch.diverging.truncate.
    if not log.start_offset <= offset <= log.end_offset:
        return False
    return offset == 0 or log.epoch_before(offset) == last_epoch


def needs_snapshot(log: Log, offset: Offset, last_epoch: Epoch) -> bool:
    """Return True if a log that ends at `offset` with `last_epoch` must begin again from this log's snapshot.

    The records that it lacks are deleted here, or it diverges before the snapshot's end and this log cannot tell where.
    """
    # Rule: fetch.snapshot.bootstrap-not-served.
    base = log.base
    if base.end_offset == 0:
        return False
    behind = offset < base.end_offset or last_epoch < base.epoch
    return behind or (offset == base.end_offset and last_epoch != base.epoch)


def is_up_to_date(last_epoch: Epoch, end_offset: Offset, log: Log) -> bool:
    """Return True if a log that ends at `end_offset` with `last_epoch` is at least as up to date as this one."""
    # The epoch decides first, equality is enough, and uncommitted records count.
    # Rules: vote.log-check, prevote.request.log-check.
    return (last_epoch, end_offset) >= (log.last_epoch, log.end_offset)
