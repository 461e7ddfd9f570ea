"""History of a run, as far as its properties depend on it.

Memory must not grow with each record, so records that every replica has in a snapshot are forgotten (`forget`).  A
voter with an empty disk may still come back below them, in an old epoch.  The remaining data is small and enough to
judge it: the leader of each epoch, the offsets at which committed records change their epoch, the voter sets and the
levels.  The epoch identifies a record at its offset, because no two different records have both the same
(OffsetEpochUnique).
"""

from bisect import bisect_right
from collections.abc import Iterable
from typing import NamedTuple

from kraft_reference.identity import ReplicaKey, VoterSet, names
from kraft_reference.log import Log, Snapshot, VersionEntry, VotersEntry
from kraft_reference.records import SET_KINDS, Record, RecordKind
from kraft_simulation.violation import BrokenProperty

Records = tuple[Record, ...]


class Part(NamedTuple):
    """Records of a log from an offset on."""

    start: int
    """Offset of the first record."""
    records: Records

    @property
    def end(self) -> int:
        """Offset after the last record."""
        return self.start + len(self.records)


def part_of(log: Log) -> Part:
    """Return the records of a log with their start offset."""
    return Part(log.start_offset, log.records)


class History:
    """Leaders, votes, written records and committed records of a whole run."""

    def __init__(self) -> None:
        self.committed_start = 0
        """Committed records before this offset are forgotten."""
        self.committed: list[Record] = []
        """Committed records from there on: those below the largest high watermark so far."""
        self._epochs: list[tuple[int, int]] = []
        """Offsets at which committed records change their epoch, with the epoch."""
        self._sets: list[VotersEntry] = []
        self._levels: list[VersionEntry] = []
        self._committed_by_epoch: dict[int, int] = {}
        self._leaders: dict[int, ReplicaKey] = {}
        self._leader_logs: dict[int, Part] = {}
        """Logs of the leaders at their election, by epoch."""
        self._held: dict[int, int] = {}
        """Number of committed records, from the first on, in the leader's log of each other epoch."""
        self._first_written: dict[int, tuple[int, int]] = {}
        """First written record of each epoch: its offset, and the epoch of the record before it."""
        self._newest_leader_epoch = 0
        self._votes: dict[ReplicaKey, tuple[int, ReplicaKey]] = {}
        self._written: dict[tuple[int, int], tuple[Record, int]] = {}

    @property
    def committed_end(self) -> int:
        """Largest high watermark so far."""
        return self.committed_start + len(self.committed)

    @property
    def size(self) -> int:
        """Number of values that are kept."""
        logs = sum(len(log.records) for log in self._leader_logs.values())
        epochs = (self._epochs, self._committed_by_epoch, self._leaders, self._held, self._first_written)
        others = (self._sets, self._levels, self._votes, self._written)
        return len(self.committed) + logs + sum(len(kept) for kept in (*epochs, *others))

    def is_committed(self, offset: int, record: Record) -> bool:
        """True if this record is committed at this offset; a forgotten record is identified by its epoch."""
        if offset < self.committed_start:
            return record.epoch == self._epoch_at(offset)
        if offset >= self.committed_end:
            return False
        committed = self.committed[offset - self.committed_start]
        return record is committed or record == committed

    def _epoch_at(self, offset: int) -> int:
        """Return the epoch of a committed record."""
        return self._epochs[bisect_right(self._epochs, offset, key=_offset_of) - 1][1]

    def vote(self, voter: ReplicaKey, epoch: int, candidate: ReplicaKey) -> None:
        """Record and check a vote or its grant.  VoteOncePerEpoch.

        The epoch of a voter never decreases, so its votes of earlier epochs are forgotten.
        """
        voted_epoch, first = self._votes.get(voter, (-1, candidate))
        if epoch > voted_epoch:
            self._votes[voter] = (epoch, candidate)
        # Static voters remember no directory id across a restart.
        elif epoch == voted_epoch and first != candidate and not names(candidate, first):
            raise BrokenProperty("VoteOncePerEpoch", f"{voter} voted in epoch {epoch} for {first} and for {candidate}")

    def lead(self, leader: ReplicaKey, epoch: int) -> None:
        """Record and check the leader of an epoch, even if only its disk has it.  ElectionSafety."""
        first = self._leaders.setdefault(epoch, leader)
        if first != leader:
            raise BrokenProperty("ElectionSafety", f"both {first} and {leader} are leaders of epoch {epoch}")

    def lead_with(self, epoch: int, log: Part) -> None:
        """Record and check the log of a new leader.  LeaderCompleteness."""
        self._leader_logs[epoch] = log
        self._newest_leader_epoch = max(self._newest_leader_epoch, epoch)
        needed = max((end for by, end in self._committed_by_epoch.items() if by <= epoch), default=0)
        self._check_holds("LeaderCompleteness", epoch, self._held_by(log), needed)

    def follow(self, follower: ReplicaKey, epoch: int, leader_id: int) -> None:
        """Check a leader that a replica has learnt.  ElectionSafety."""
        leader = self._leaders.get(epoch)
        if leader is None or leader.id != leader_id:
            raise BrokenProperty(
                "ElectionSafety", f"{follower} believes that {leader_id} leads epoch {epoch}, whose leader is {leader}"
            )

    def commit(self, replica: ReplicaKey, epoch: int, old_end: int, new_end: int, log: Part) -> None:
        """Record and check that a replica of this epoch has committed the records from `old_end` to `new_end`.

        All replicas commit the same records (StateMachineSafety), and the leaders of all later epochs have them,
        including those elected before the replica learnt of the commit (CommittedNeverLost).
        """
        known_end = self.committed_end
        if log.start > known_end:
            raise BrokenProperty(
                "StateMachineSafety",
                f"{replica} has a snapshot of {log.start} records, of which {known_end} are committed",
            )
        shared = min(new_end, known_end)
        for offset in range(max(old_end, log.start), shared):
            record = log.records[offset - log.start]
            if not self.is_committed(offset, record):
                raise BrokenProperty(
                    "StateMachineSafety",
                    f"{replica} committed {record} at offset {offset}, committed before was {self._shown(offset)}",
                )
        if new_end > known_end:
            self._extend(known_end, log.records[known_end - log.start : new_end - log.start])
        if new_end > self._committed_by_epoch.get(epoch, 0):
            self._committed_by_epoch[epoch] = new_end
            if epoch < self._newest_leader_epoch:
                for later in sorted({*self._leader_logs, *self._held}):
                    if later > epoch:
                        log_of_later = self._leader_logs.get(later)
                        held = self._held[later] if log_of_later is None else self._held_by(log_of_later)
                        self._check_holds("CommittedNeverLost", later, held, new_end)

    def _extend(self, offset: int, records: Iterable[Record]) -> None:
        for place, record in enumerate(records, offset):
            self.committed.append(record)
            if not self._epochs or self._epochs[-1][1] != record.epoch:
                self._epochs.append((place, record.epoch))
            if record.kind in SET_KINDS:
                entry = VotersEntry(place, record.voters, record.details, record.target)
                # A new leader at level 1 writes the current set again.
                if not self._sets or self._sets[-1][1:] != entry[1:]:
                    self._sets.append(entry)
            elif record.kind is RecordKind.KRAFT_VERSION and (
                not self._levels or self._levels[-1].kraft_version != record.value
            ):
                self._levels.append(VersionEntry(place, record.value))

    def snapshot(self, replica: ReplicaKey, snapshot: Snapshot) -> None:
        """Check that a snapshot covers committed records and has their voter set.

        StateMachineSafety, ConfigFollowsLog.
        """
        end = snapshot.end_offset
        if end > self.committed_end:
            raise BrokenProperty(
                "StateMachineSafety",
                f"{replica} has a snapshot of {end} records, of which {self.committed_end} are committed",
            )
        if end and self._epoch_at(end - 1) != snapshot.epoch:
            raise BrokenProperty(
                "StateMachineSafety", f"{replica} has a snapshot {snapshot.id} whose last record is of another epoch"
            )
        previous = next((entry for entry in reversed(self._sets) if entry.offset < end), None)
        if previous is not None and previous[1:] != (snapshot.voters, snapshot.details, snapshot.target):
            raise BrokenProperty(
                "ConfigFollowsLog",
                f"the snapshot {snapshot.id} of {replica} does not hold the voter set of offset {previous.offset}",
            )
        level = next((entry.kraft_version for entry in reversed(self._levels) if entry.offset < end), None)
        if level is not None and level != snapshot.kraft_version:
            raise BrokenProperty(
                "ConfigFollowsLog",
                f"the snapshot {snapshot.id} of {replica} holds kraft.version {snapshot.kraft_version}, not {level}",
            )

    def write(self, offset: int, record: Record, previous_epoch: int) -> None:
        """Record and check an append after a record of `previous_epoch`.  OffsetEpochUnique, LogMatching.

        If all records ever written at an (offset, epoch) are the same and follow the same epoch, then two logs that
        share an (offset, epoch) agree up to there, by induction.
        """
        first_offset, before = self._first_written.setdefault(record.epoch, (offset, previous_epoch))
        # The records written there are forgotten.
        if first_offset <= offset < self.committed_start:
            known_epoch = before if offset == first_offset else record.epoch
            if previous_epoch != known_epoch:
                raise BrokenProperty("LogMatching", _behind_two(offset, record.epoch, known_epoch, previous_epoch))
        first = self._written.setdefault((offset, record.epoch), (record, previous_epoch))
        if first[0] is not record and first[0] != record:
            raise BrokenProperty("OffsetEpochUnique", f"offset {offset} was written as {first[0]} and as {record}")
        if first[1] != previous_epoch:
            raise BrokenProperty("LogMatching", _behind_two(offset, record.epoch, first[1], previous_epoch))

    def forget(self, offset: int, keys: Iterable[ReplicaKey]) -> None:
        """Forget the records before an offset, and the votes of all other replicas, whose disks are gone."""
        for epoch, log in list(self._leader_logs.items()):
            held = self._held_by(log)
            if held < self.committed_end or log.end == held:
                # It has no further committed records.
                self._held[epoch] = held
                del self._leader_logs[epoch]
            else:
                self._leader_logs[epoch] = _cut(log, offset)
        if offset > self.committed_start:
            del self.committed[: offset - self.committed_start]
            self.committed_start = offset
            self._written = {place: kept for place, kept in self._written.items() if place[0] >= offset}
        current_keys = set(keys)
        self._votes = {voter: vote for voter, vote in self._votes.items() if voter in current_keys}

    def is_complete(self, log: Log) -> bool:
        """True if the log or its snapshot covers every committed record."""
        return self._held_by(part_of(log)) == self.committed_end

    @property
    def newest_set(self) -> VoterSet | None:
        """Newest committed voter set; None if there is none."""
        return self._sets[-1].voters if self._sets else None

    def _held_by(self, log: Part) -> int:
        """Return the number of committed records, from the first on, in a log or its snapshot."""
        end = min(log.end, self.committed_end)
        start = min(max(log.start, self.committed_start), end)
        wanted = self.committed[start - self.committed_start : end - self.committed_start]
        if log.start >= self.committed_start and list(log.records[: max(end - log.start, 0)]) == wanted:
            return end
        return next(
            (place for place in range(log.start, end) if not self.is_committed(place, log.records[place - log.start])),
            end,
        )

    def _check_holds(self, property_name: str, epoch: int, held: int, needed: int) -> None:
        if held < needed:
            raise BrokenProperty(
                property_name,
                f"the log of {self._leaders[epoch]}, leader of epoch {epoch}, has {held} of the {needed} records that "
                f"were committed in epochs up to its own",
            )

    def _shown(self, offset: int) -> str:
        if offset < self.committed_start:
            return f"one of epoch {self._epoch_at(offset)}"
        return str(self.committed[offset - self.committed_start])


def _offset_of(entry: tuple[int, int]) -> int:
    return entry[0]


def _behind_two(offset: int, epoch: int, first: int, other: int) -> str:
    return f"offset {offset} of epoch {epoch} stands behind epochs {first} and {other}"


def _cut(log: Part, offset: int) -> Part:
    """Return the part of a log from an offset on."""
    start = min(offset, log.end)
    return log if start <= log.start else Part(start, log.records[start - log.start :])
