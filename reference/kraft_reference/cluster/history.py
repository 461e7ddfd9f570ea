"""What has ever been true in a run, as far as its properties need to remember it.

What no replica can contradict any more is forgotten (`forget`): records that every log has in a snapshot, and epochs
that every replica has left behind.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeVar

from kraft_reference.cluster.violation import BrokenProperty
from kraft_reference.identity import ReplicaKey, names
from kraft_reference.log import Log, Snapshot, VersionEntry, VotersEntry
from kraft_reference.records import SET_KINDS, Record, RecordKind

Records = tuple[Record, ...]
_Entry = TypeVar("_Entry", VotersEntry, VersionEntry)


class Part(NamedTuple):
    """The part of a log that is still there."""

    start: int
    """The offset of the first record."""
    records: Records

    @property
    def end(self) -> int:
        """The offset after the last record."""
        return self.start + len(self.records)


def part_of(log: Log) -> Part:
    """The records of a log with their place in it."""
    return Part(log.start_offset, log.records)


class History:
    """Leaders, votes, written records and committed records of a whole run."""

    def __init__(self) -> None:
        self.committed_start = 0
        """Committed records before this offset are forgotten."""
        self.committed: list[Record] = []
        """From there on, everything below any high watermark ever seen."""
        self._sets: list[VotersEntry] = []
        self._levels: list[VersionEntry] = []
        self._committed_by_epoch: dict[int, int] = {}
        self._leaders: dict[int, ReplicaKey] = {}
        self._forgotten_epoch = -1
        self._leader_logs: dict[int, Part] = {}
        self._newest_leader_epoch = 0
        self._votes: dict[ReplicaKey, tuple[int, ReplicaKey]] = {}
        self._written: dict[tuple[int, int], tuple[Record, int]] = {}

    @property
    def committed_end(self) -> int:
        """The largest high watermark ever seen."""
        return self.committed_start + len(self.committed)

    @property
    def size(self) -> int:
        """How many things are remembered."""
        logs = sum(len(log.records) for log in self._leader_logs.values())
        others = (self._sets, self._levels, self._committed_by_epoch, self._leaders, self._votes, self._written)
        return len(self.committed) + logs + sum(len(kept) for kept in others)

    def is_committed(self, offset: int, record: Record) -> bool:
        """Is this the record that is committed at this offset?  Of what is forgotten, every one counts."""
        if offset < self.committed_start:
            return True
        return offset < self.committed_end and self.committed[offset - self.committed_start] == record

    def vote(self, voter: ReplicaKey, epoch: int, candidate: ReplicaKey) -> None:
        """A vote was cast, or a vote that was cast was granted.  VoteOncePerEpoch.

        The epoch of a voter never falls, so its votes of earlier epochs are forgotten.
        """
        voted_epoch, first = self._votes.get(voter, (-1, candidate))
        if epoch > voted_epoch:
            self._votes[voter] = (epoch, candidate)
        # Static voters remember no directory id across a restart.
        elif epoch == voted_epoch and first != candidate and not names(candidate, first):
            raise BrokenProperty("VoteOncePerEpoch", f"{voter} voted in epoch {epoch} for {first} and for {candidate}")

    def lead(self, leader: ReplicaKey, epoch: int, log: Part) -> None:
        """A replica became leader of an epoch.  ElectionSafety, LeaderCompleteness."""
        first = self._leaders.setdefault(epoch, leader)
        if first != leader:
            raise BrokenProperty("ElectionSafety", f"both {first} and {leader} are leaders of epoch {epoch}")
        self._leader_logs[epoch] = log
        self._newest_leader_epoch = max(self._newest_leader_epoch, epoch)
        needed = max((end for by, end in self._committed_by_epoch.items() if by <= epoch), default=0)
        self._check_holds("LeaderCompleteness", leader, epoch, log, needed)

    def follow(self, follower: ReplicaKey, epoch: int, leader_id: int) -> None:
        """A replica learnt the leader of an epoch, who must be it.  ElectionSafety."""
        leader = self._leaders.get(epoch)
        if leader is None and epoch <= self._forgotten_epoch:
            return
        if leader is None or leader.id != leader_id:
            raise BrokenProperty(
                "ElectionSafety", f"{follower} believes that {leader_id} leads epoch {epoch}, whose leader is {leader}"
            )

    def commit(self, replica: ReplicaKey, epoch: int, old_end: int, new_end: int, log: Part) -> None:
        """A replica of this epoch takes the records from `old_end` to `new_end` for committed.

        Every replica that ever takes records for committed takes the same ones (StateMachineSafety), and the leaders
        of all later epochs have them, those that were elected before this became known included
        (CommittedNeverLost).
        """
        known_end = self.committed_end
        if log.start > known_end:
            raise BrokenProperty(
                "StateMachineSafety",
                f"{replica} has a snapshot of {log.start} records, of which {known_end} are committed",
            )
        shared = min(new_end, known_end)
        for offset in range(max(old_end, log.start, self.committed_start), shared):
            record, known = log.records[offset - log.start], self.committed[offset - self.committed_start]
            if record is not known and record != known:
                raise BrokenProperty(
                    "StateMachineSafety",
                    f"{replica} committed {record} at offset {offset}, committed before was {known}",
                )
        if new_end > known_end:
            self._extend(known_end, log.records[known_end - log.start : new_end - log.start])
        if new_end > self._committed_by_epoch.get(epoch, 0):
            self._committed_by_epoch[epoch] = new_end
            if epoch < self._newest_leader_epoch:
                for later in sorted(self._leader_logs):
                    if later > epoch:
                        leader_log = self._leader_logs[later]
                        self._check_holds("CommittedNeverLost", self._leaders[later], later, leader_log, new_end)

    def _extend(self, offset: int, records: Iterable[Record]) -> None:
        for place, record in enumerate(records, offset):
            self.committed.append(record)
            if record.kind in SET_KINDS:
                self._sets.append(VotersEntry(place, record.voters, record.details, record.target))
            elif record.kind is RecordKind.KRAFT_VERSION:
                self._levels.append(VersionEntry(place, record.value))

    def snapshot(self, replica: ReplicaKey, snapshot: Snapshot) -> None:
        """A replica has a snapshot, which stands for committed records and says what they say of the voters.

        StateMachineSafety, ConfigFollowsLog.
        """
        end = snapshot.end_offset
        if end > self.committed_end:
            raise BrokenProperty(
                "StateMachineSafety",
                f"{replica} has a snapshot of {end} records, of which {self.committed_end} are committed",
            )
        if end > self.committed_start and self.committed[end - 1 - self.committed_start].epoch != snapshot.epoch:
            raise BrokenProperty(
                "StateMachineSafety", f"{replica} has a snapshot {snapshot.id} whose last record is of another epoch"
            )
        known = next((entry for entry in reversed(self._sets) if entry.offset < end), None)
        if known is not None and known[1:] != (snapshot.voters, snapshot.details, snapshot.target):
            raise BrokenProperty(
                "ConfigFollowsLog",
                f"the snapshot {snapshot.id} of {replica} does not hold the voters set of offset {known.offset}",
            )
        level = next((entry.kraft_version for entry in reversed(self._levels) if entry.offset < end), None)
        if level is not None and level != snapshot.kraft_version:
            raise BrokenProperty(
                "ConfigFollowsLog",
                f"the snapshot {snapshot.id} of {replica} holds kraft.version {snapshot.kraft_version}, not {level}",
            )

    def write(self, offset: int, record: Record, previous_epoch: int) -> None:
        """A record was appended after one of `previous_epoch`.  OffsetEpochUnique, LogMatching.

        When every record that is ever written at an (offset, epoch) is the same and stands behind the same
        epoch, then two logs that share an (offset, epoch) agree up to there, by induction.
        """
        first = self._written.setdefault((offset, record.epoch), (record, previous_epoch))
        if first[0] is not record and first[0] != record:
            raise BrokenProperty("OffsetEpochUnique", f"offset {offset} was written as {first[0]} and as {record}")
        if first[1] != previous_epoch:
            raise BrokenProperty(
                "LogMatching",
                f"offset {offset} of epoch {record.epoch} stands behind epochs {first[1]} and {previous_epoch}",
            )

    def forget(self, offset: int, epoch: int, keys: Iterable[ReplicaKey]) -> None:
        """Forget the records before an offset, the epochs before an epoch, and the votes of all but these replicas."""
        if offset > self.committed_start:
            del self.committed[: offset - self.committed_start]
            self.committed_start = offset
            self._sets = _from_newest_before(self._sets, offset)
            self._levels = _from_newest_before(self._levels, offset)
            self._written = {place: kept for place, kept in self._written.items() if place[0] >= offset}
        if epoch - 1 > self._forgotten_epoch:
            self._forgotten_epoch = epoch - 1
            self._leaders = {of: leader for of, leader in self._leaders.items() if of >= epoch}
            floor = max((end for by, end in self._committed_by_epoch.items() if by < epoch), default=0)
            recent = {by: end for by, end in self._committed_by_epoch.items() if by >= epoch}
            self._committed_by_epoch = {epoch - 1: floor, **recent}
        self._leader_logs = {of: _cut(log, offset) for of, log in self._leader_logs.items() if of >= epoch}
        known = set(keys)
        self._votes = {voter: vote for voter, vote in self._votes.items() if voter in known}

    def _check_holds(self, property_name: str, leader: ReplicaKey, epoch: int, log: Part, needed: int) -> None:
        start = max(log.start, self.committed_start)
        held = log.records[start - log.start : max(needed - log.start, 0)]
        wanted = self.committed[start - self.committed_start : max(needed - self.committed_start, 0)]
        if log.end < needed or list(held) != wanted:
            raise BrokenProperty(
                property_name,
                f"the log of {leader}, leader of epoch {epoch}, with {log.end} records, lacks some of the "
                f"{needed} records that were committed in epochs up to its own",
            )


def _cut(log: Part, offset: int) -> Part:
    """The part of a log from an offset on."""
    start = min(offset, log.end)
    return log if start <= log.start else Part(start, log.records[start - log.start :])


def _from_newest_before(entries: Sequence[_Entry], offset: int) -> list[_Entry]:
    """The entries from the last one before an offset on."""
    older = sum(entry.offset < offset for entry in entries)
    return list(entries[max(older - 1, 0) :])
