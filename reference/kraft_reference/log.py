"""The replicated log of one replica, a value.

Offsets count from 0; an *end offset* is the offset after the last record (exclusive), and so are the offsets
that Fetch and Vote requests carry.
The voters sets in the log are kept beside it with their offsets, so that truncation can revert them.
"""

from collections.abc import Sequence
from typing import NamedTuple

from kraft_reference.identity import VoterSet
from kraft_reference.records import Record, RecordKind


class VotersEntry(NamedTuple):
    """A voters set and the offset of its VotersRecord; -1 for static voters and the bootstrap checkpoint."""

    offset: int
    voters: VoterSet


class EpochEnd(NamedTuple):
    """An epoch of a log and the offset after its last record."""

    epoch: int
    offset: int


class Log(NamedTuple):
    """Records, how far they are synced to disk, and the voters sets among them, oldest first."""

    records: tuple[Record, ...]
    flushed: int
    """Records before this offset survive a crash."""
    voters: tuple[VotersEntry, ...]

    @property
    def end_offset(self) -> int:
        """The offset after the last record."""
        return len(self.records)

    @property
    def last_epoch(self) -> int:
        """The epoch of the last record, 0 for an empty log."""
        return self.records[-1].epoch if self.records else 0


def empty_log(voters: VoterSet) -> Log:
    """A log without records; `voters` are the static voters or those of the bootstrap checkpoint.

    Rule: state.voters-set.fallback-static.
    """
    return Log((), 0, (VotersEntry(-1, voters),))


def append(log: Log, records: Sequence[Record]) -> Log:
    """The log with records at its end, not yet synced.

    A VotersRecord takes effect at once, committed or not.
    Rule: state.voters-set.applied-uncommitted.
    """
    base = len(log.records)
    voters = log.voters
    for position, record in enumerate(records):
        if record.kind is RecordKind.VOTERS:
            voters = (*voters, VotersEntry(base + position, record.voters))
    return Log(log.records + tuple(records), log.flushed, voters)


def truncate(log: Log, end_offset: int) -> Log:
    """The log cut to `end_offset` records; voters sets beyond it are reverted.

    Rules: fetch.diverging.truncate, fetch.truncate.voters-set.
    """
    assert 0 <= end_offset <= len(log.records), "a log is only ever cut to a part of itself"
    voters = log.voters
    if voters[-1].offset >= end_offset:
        voters = tuple(entry for entry in voters if entry.offset < end_offset)
    return Log(log.records[:end_offset], min(log.flushed, end_offset), voters)


def flush(log: Log) -> Log:
    """The log with everything in it synced.  Rule: durable.flush-before-fetch."""
    return log if log.flushed == len(log.records) else log._replace(flushed=len(log.records))


def end_of_epoch(log: Log, epoch: int) -> EpochEnd:
    """The largest epoch in the log that is not larger than `epoch`, and where it ends; (0, 0) if none."""
    if epoch >= log.last_epoch:
        return EpochEnd(log.last_epoch, log.end_offset)
    end = log.end_offset
    while end and log.records[end - 1].epoch > epoch:
        end -= 1
    return EpochEnd(log.records[end - 1].epoch if end else 0, end)


def agrees(log: Log, offset: int, last_epoch: int) -> bool:
    """Does a log that ends at `offset` with `last_epoch` agree with this one up to there?

    Rule: fetch.diverging.truncate.
    """
    return offset == 0 or (offset <= len(log.records) and log.records[offset - 1].epoch == last_epoch)


def up_to_date(last_epoch: int, end_offset: int, log: Log) -> bool:
    """Is a requester's log, given by (last epoch, end offset), at least as good as this one?

    The epoch decides first, equality is enough, and uncommitted records count.
    Rules: vote.log-check, prevote.request.log-check.
    """
    return (last_epoch, end_offset) >= (log.last_epoch, log.end_offset)
