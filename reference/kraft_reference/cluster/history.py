"""What has ever been true in a run, as far as its properties need to remember it."""

from kraft_reference.cluster.violation import BrokenProperty
from kraft_reference.identity import ReplicaKey, names
from kraft_reference.records import Record

Records = tuple[Record, ...]


class History:
    """Leaders, votes, written records and committed records of a whole run."""

    def __init__(self) -> None:
        self.committed: list[Record] = []
        """The longest prefix below any high watermark ever seen."""
        self._committed_by_epoch: dict[int, int] = {}
        self._leaders: dict[int, ReplicaKey] = {}
        self._leader_logs: dict[int, Records] = {}
        self._newest_leader_epoch = 0
        self._votes: dict[tuple[ReplicaKey, int], ReplicaKey] = {}
        self._written: dict[tuple[int, int], tuple[Record, int]] = {}

    def vote(self, voter: ReplicaKey, epoch: int, candidate: ReplicaKey) -> None:
        """A vote was cast, or a vote that was cast was granted.  VoteOncePerEpoch."""
        first = self._votes.setdefault((voter, epoch), candidate)
        # Static voters remember no directory id across a restart.
        if first != candidate and not names(candidate, first):
            raise BrokenProperty("VoteOncePerEpoch", f"{voter} voted in epoch {epoch} for {first} and for {candidate}")

    def lead(self, leader: ReplicaKey, epoch: int, records: Records) -> None:
        """A replica became leader of an epoch.  ElectionSafety, LeaderCompleteness."""
        first = self._leaders.setdefault(epoch, leader)
        if first != leader:
            raise BrokenProperty("ElectionSafety", f"both {first} and {leader} are leaders of epoch {epoch}")
        self._leader_logs[epoch] = records
        self._newest_leader_epoch = max(self._newest_leader_epoch, epoch)
        needed = max((end for by, end in self._committed_by_epoch.items() if by <= epoch), default=0)
        self._check_holds("LeaderCompleteness", leader, epoch, records, needed)

    def follow(self, follower: ReplicaKey, epoch: int, leader_id: int) -> None:
        """A replica learnt the leader of an epoch, who must be it.  ElectionSafety."""
        leader = self._leaders.get(epoch)
        if leader is None or leader.id != leader_id:
            raise BrokenProperty(
                "ElectionSafety", f"{follower} believes that {leader_id} leads epoch {epoch}, whose leader is {leader}"
            )

    def commit(self, replica: ReplicaKey, epoch: int, old_end: int, new_end: int, records: Records) -> None:
        """A replica of this epoch takes the records from `old_end` to `new_end` for committed.  CommittedNeverLost.

        Every replica that ever takes records for committed takes the same ones, and the leaders of all later
        epochs have them, those that were elected before this became known included.
        """
        known = self.committed
        shared = min(new_end, len(known))
        for offset in range(old_end, shared):
            if records[offset] is not known[offset] and records[offset] != known[offset]:
                raise BrokenProperty(
                    "CommittedNeverLost",
                    f"{replica} committed {records[offset]} at offset {offset}, committed before was {known[offset]}",
                )
        if new_end > shared:
            known.extend(records[shared:new_end])
        if new_end > self._committed_by_epoch.get(epoch, 0):
            self._committed_by_epoch[epoch] = new_end
            if epoch < self._newest_leader_epoch:
                for later in sorted(self._leader_logs):
                    if later > epoch:
                        log = self._leader_logs[later]
                        self._check_holds("CommittedNeverLost", self._leaders[later], later, log, new_end)

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

    def _check_holds(self, property_name: str, leader: ReplicaKey, epoch: int, records: Records, needed: int) -> None:
        if list(records[:needed]) != self.committed[:needed]:
            raise BrokenProperty(
                property_name,
                f"the log of {leader}, leader of epoch {epoch}, with {len(records)} records, lacks some of the "
                f"{needed} records that were committed in epochs up to its own",
            )
