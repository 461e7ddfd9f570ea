"""The properties of voters sets, written from their definitions at the head of the membership catalogue.

ConfigOverlap       any two voters sets that can both decide something have no disjoint majorities
OnePendingChange    a leader's log holds at most one uncommitted membership change
ConfigFollowsLog    a replica's voters set is a function of its snapshot and log
IdentityBinding     votes and offsets are counted only for the exact (id, directory id)
"""

from collections.abc import Mapping
from itertools import combinations

from kraft_reference.cluster.history import History
from kraft_reference.cluster.occurrence import Occurrence
from kraft_reference.cluster.violation import BrokenProperty
from kraft_reference.events import Receive
from kraft_reference.identity import ReplicaKey, VoterSet
from kraft_reference.log import Log
from kraft_reference.messages import FetchRequest, FetchSnapshotRequest, VoteRequest, VoteResponse
from kraft_reference.records import SET_KINDS, Record, RecordKind
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState

_REMEMBERED_SEQUENCES = 5000
"""For so many occurrences it is remembered who granted a vote; no answer is as late as that."""


def stands_for(entry: ReplicaKey, key: ReplicaKey) -> bool:
    """Is this the replica that an entry of a voters set means?  One without a directory id means any of its id."""
    return entry.id == key.id and entry.directory_id in (None, key.directory_id)


def is_member(key: ReplicaKey, voters: VoterSet) -> bool:
    """Is a replica in a voters set?"""
    return any(stands_for(entry, key) for entry in voters)


def may_disagree(one: VoterSet, other: VoterSet) -> bool:
    """Is there a majority of the one that has nobody in common with a majority of the other?"""
    shared = sum(any(stands_for(a, b) or stands_for(b, a) for b in other) for a in one)
    needed = sum(max(len(voters) // 2 + 1 - (len(voters) - shared), 0) for voters in (one, other))
    return needed <= shared


class Membership:
    """The checks of one run."""

    def __init__(self, states: Mapping[int, ReplicaState], history: History) -> None:
        """`states` is looked at again at every occurrence."""
        self._states = states
        self._history = history
        self._sets = {replica_id: state.voters for replica_id, state in states.items()}
        self._far_apart = False
        self._granted_by: dict[tuple[int, int, int], ReplicaKey] = {}

    def observe(self, before: ReplicaState, after: ReplicaState, occurrence: Occurrence) -> None:
        """Check what one occurrence did to a replica."""
        event = occurrence.event
        if type(event) is Receive:
            message = event.message
            if isinstance(message, (FetchRequest, FetchSnapshotRequest)):
                self._check_progress(before, after, message.replica_key)
            elif type(message) is VoteResponse:
                self._check_vote(before, after, message)
        if after.role is Role.LEADER and (after.role is not before.role or after.log.voters is not before.log.voters):
            self._check_pending(after)
        if self._sets[after.key.id] is not after.voters:
            self._sets[after.key.id] = after.voters
            distinct = sorted({voters for voters in self._sets.values() if voters}, key=_shown)
            self._far_apart = any(may_disagree(one, other) for one, other in combinations(distinct, 2))
        if self._far_apart and (
            after.log is not before.log or after.role is not before.role or after.epoch != before.epoch
        ):
            self._check_overlap()

    @property
    def size(self) -> int:
        """How many things are remembered."""
        return len(self._granted_by)

    def granted(self, voter: ReplicaKey, request: VoteRequest) -> None:
        """A replica grants a vote."""
        self._granted_by[voter.id, request.source, request.correlation_id] = voter

    def forget(self, sequence: int) -> None:
        """Forget what no message can bring up any more."""
        first = sequence - _REMEMBERED_SEQUENCES
        self._granted_by = {asked: voter for asked, voter in self._granted_by.items() if asked[2] >= first}

    # -----------------------------------------------------------------------------------------------------
    # IdentityBinding.
    # -----------------------------------------------------------------------------------------------------

    def _check_progress(self, before: ReplicaState, after: ReplicaState, fetcher: ReplicaKey) -> None:
        """A Fetch counts for the entry of its sender and for no other."""
        if after.role is not Role.LEADER:
            return
        if after.fetch_offsets is not before.fetch_offsets:
            for entry, offset in after.fetch_offsets.items():
                if before.fetch_offsets.get(entry) != offset and not stands_for(entry, fetcher):
                    raise BrokenProperty("IdentityBinding", f"a Fetch of {fetcher} counts for {entry}")
        for counted in after.fetchers - before.fetchers:
            if counted != fetcher.id or not is_member(fetcher, before.voters | after.voters):
                raise BrokenProperty("IdentityBinding", f"a Fetch of {fetcher} keeps a leader of {before.voters}")

    def _check_vote(self, before: ReplicaState, after: ReplicaState, answer: VoteResponse) -> None:
        """A vote that is counted was given by the voter of the set, not by another replica with its id."""
        if before.role is not Role.CANDIDATE or not answer.granted or answer.source in before.granted:
            return
        if answer.source not in after.granted and after.role is not Role.LEADER:
            return
        voter = self._granted_by.get((answer.source, answer.destination, answer.correlation_id))
        if voter is None or not is_member(voter, before.voters):
            raise BrokenProperty("IdentityBinding", f"a vote of {voter} counts for voter {answer.source} of the set")

    # -----------------------------------------------------------------------------------------------------
    # OnePendingChange, ConfigOverlap.
    # -----------------------------------------------------------------------------------------------------

    def _check_pending(self, leader: ReplicaState) -> None:
        log = leader.log
        if len(log.voters) == 1:
            return
        open_changes = [
            entry.offset
            for previous, entry in zip(log.voters, log.voters[1:], strict=False)
            if previous.voters != entry.voters
            and not self._history.is_committed(entry.offset, log.record(entry.offset))
        ]
        if len(open_changes) > 1:
            raise BrokenProperty(
                "OnePendingChange", f"the changes at offsets {open_changes} of a leader's log are not committed"
            )

    def _check_overlap(self) -> None:
        deciding = [
            voters
            for voters in sorted({voters for voters in self._sets.values() if voters}, key=_shown)
            if self._can_decide(voters)
        ]
        for one, other in combinations(deciding, 2):
            if may_disagree(one, other):
                raise BrokenProperty(
                    "ConfigOverlap",
                    f"both {_shown(one)} and {_shown(other)} can decide, and have majorities without a common voter",
                )

    def _can_decide(self, voters: VoterSet) -> bool:
        """Could a replica with this set be elected by it, or commit by it as the leader that it is?

        Whoever has the longer log does not vote for it, whoever is in a later epoch does not follow it.
        """
        members = [state for state in self._states.values() if is_member(state.key, voters)]
        for replica_id, own in self._sets.items():
            if own != voters:
                continue
            state = self._states[replica_id]
            if state.role is Role.LEADER:
                following = sum(member.epoch <= state.epoch for member in members)
                if 2 * following > len(voters):
                    return True
            if not is_member(state.key, voters):
                continue
            best = (state.log.last_epoch, state.log.end_offset)
            voting = sum((member.log.last_epoch, member.log.end_offset) <= best for member in members)
            if 2 * voting > len(voters):
                return True
        return False


# ---------------------------------------------------------------------------------------------------------
# ConfigFollowsLog.
# ---------------------------------------------------------------------------------------------------------


def check_config(log: Log, new_from: int) -> None:
    """The newest voters set and level are those of the snapshot, or of the newest record of the kind after it.

    The records before `new_from` were looked at before.

    Raises:
        BrokenProperty: they are not.
    """
    entry, version, base = log.voters[-1], log.versions[-1], log.base
    expected = (base.voters, base.details, base.target)
    if entry.offset >= log.start_offset:
        record = _control_record(log, entry.offset, *SET_KINDS)
        expected = (record.voters, record.details, record.target)
        if version.kraft_version == 0:
            raise BrokenProperty("ConfigFollowsLog", f"a VotersRecord at offset {entry.offset} at kraft.version 0")
    elif entry.offset != base.end_offset - 1:
        raise BrokenProperty("ConfigFollowsLog", f"the voters set of the snapshot stands at offset {entry.offset}")
    if entry[1:] != expected:
        raise BrokenProperty("ConfigFollowsLog", f"the voters set is not the one at offset {entry.offset}")
    level = base.kraft_version
    if version.offset >= log.start_offset:
        level = _control_record(log, version.offset, RecordKind.KRAFT_VERSION).value
    if version.kraft_version != level:
        raise BrokenProperty("ConfigFollowsLog", f"the level is not the one at offset {version.offset}")
    for offset in range(max(new_from, log.start_offset), log.end_offset):
        kind = log.record(offset).kind
        if kind in SET_KINDS and offset > entry.offset:
            raise BrokenProperty("ConfigFollowsLog", f"the voters set is the one at {entry.offset}, not the newest")
        if kind is RecordKind.KRAFT_VERSION and offset > version.offset:
            raise BrokenProperty("ConfigFollowsLog", f"the level is the one at {version.offset}, not the newest")
    if log.records and log.records[-1].kind is RecordKind.KRAFT_VERSION:
        raise BrokenProperty("ConfigFollowsLog", "the log ends between a level and its voters set, which are one batch")


def _control_record(log: Log, offset: int, *kinds: RecordKind) -> Record:
    if offset >= log.end_offset or log.record(offset).kind not in kinds:
        raise BrokenProperty("ConfigFollowsLog", f"there is no {kinds[0]} record at offset {offset}")
    return log.record(offset)


def _shown(voters: VoterSet) -> str:
    return "{" + ", ".join(str(voter) for voter in sorted(voters)) + "}"
