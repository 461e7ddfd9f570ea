"""What the states of a scenario violate, judged after every occurrence.

The names are those at the head of the rule catalogue; the definitions are those of Properties.tla, written
down a second time so that a script and the model cannot share a mistake.
Liveness is not judged here: a script shows a loop.
"""

from collections.abc import Iterator, Mapping

from kraft_reference.configuration import Configuration
from kraft_reference.effects import AppendRecords, Effect, Send
from kraft_reference.events import Receive
from kraft_reference.identity import ReplicaKey, VoterSet, addresses, names
from kraft_reference.log import Log
from kraft_reference.messages import FetchRequest, VoteRequest, VoteResponse
from kraft_reference.records import SET_KINDS, Record
from kraft_reference.roles import Role, role_changes
from kraft_reference.state import UNKNOWN_HIGH_WATERMARK, ReplicaState, is_majority, is_voter, other_voters

# ---------------------------------------------------------------------------------------------------------
# Voters sets.
# ---------------------------------------------------------------------------------------------------------


class SetWatch:
    """Judges who may decide, and for whom votes and offsets count; keeps nothing but the newest committed set."""

    def __init__(self) -> None:
        self._judged = 0
        self._committed_set: VoterSet | None = None

    def broken(
        self,
        old: ReplicaState,
        after: ReplicaState,
        before: Mapping[int, ReplicaState],
        event: object,
        effects: tuple[Effect, ...],
        committed: tuple[Record, ...],
    ) -> list[str]:
        """The violated properties about voters sets after one event at the replica of `after`."""
        grown = committed[self._judged :]
        self._judged = len(committed)
        for record in grown:
            if record.kind in SET_KINDS:
                self._committed_set = record.voters
        states = [*[state for replica_id, state in before.items() if replica_id != after.key.id], after]
        broken = []
        if after.log is not old.log and not _follows_log(after.log):
            broken.append("ConfigFollowsLog")
        if after.role is Role.LEADER and _uncommitted_changes(after.log, len(committed)) > 1:
            broken.append("OnePendingChange")
        # A log that did not change decides as before, and what is committed only grows.
        if (after.log.end_offset, after.log.last_epoch) != (old.log.end_offset, old.log.last_epoch):
            deciders = [*self._deciders(states, committed)]
            if any(have_disjoint_majorities(one, other) for one in deciders for other in deciders):
                broken.append("ConfigOverlap")
        if isinstance(event, Receive) and not _is_bound(old, after, event, effects):
            broken.append("IdentityBinding")
        return broken

    def _deciders(self, states: list[ReplicaState], committed: tuple[Record, ...]) -> Iterator[VoterSet]:
        """The sets by which something may yet be decided.

        That is the newest committed one, and the set of every replica that may still win an election, because it has
        every committed record, or that leads.
        """
        if self._committed_set is not None:
            yield self._committed_set
        for state in states:
            if (is_voter(state) or state.role is Role.LEADER) and is_complete(state.log, committed):
                yield state.voters


def is_complete(log: Log, committed: tuple[Record, ...]) -> bool:
    """Is every committed record in the log, or covered by its snapshot?"""
    start, end = log.start_offset, len(committed)
    if start > end:
        return False
    covered = start == 0 or log.base.epoch == committed[start - 1].epoch
    return covered and log.end_offset >= end and log.between(start, end) == committed[start:]


def have_disjoint_majorities(one: VoterSet, other: VoterSet) -> bool:
    """Is there a majority of one set without any member of a majority of the other?"""
    common = sum(1 for a in one if any(_is_same(a, b) for b in other))

    def taken_from_common(voters: VoterSet) -> int:
        return max(0, len(voters) // 2 + 1 - (len(voters) - common))

    return taken_from_common(one) + taken_from_common(other) <= common


def _is_same(one: ReplicaKey, other: ReplicaKey) -> bool:
    return names(one, other) or names(other, one)


def _follows_log(log: Log) -> bool:
    """Is the set in force that of the newest VotersRecord, or of the snapshot under the log?"""
    newest = next((record for record in reversed(log.records) if record.kind in SET_KINDS), log.base)
    return log.voters[-1][1:] == (newest.voters, newest.details, newest.target)


def _uncommitted_changes(log: Log, committed: int) -> int:
    """How many uncommitted sets of the log have other voters than the set before them."""
    pairs = zip(log.voters, log.voters[1:], strict=False)
    return sum(1 for older, newer in pairs if newer.offset >= committed and newer.voters != older.voters)


def _is_bound(old: ReplicaState, after: ReplicaState, event: Receive, effects: tuple[Effect, ...]) -> bool:
    """Did a vote and a fetch count for nobody but the very replica, id and directory id, that it is of?

    A Pre-Vote is no vote: nothing is decided by it.
    """
    message = event.message
    if isinstance(message, VoteRequest):
        sent = [effect.message for effect in effects if isinstance(effect, Send)]
        granted = any(isinstance(one, VoteResponse) and one.granted and not one.pre_vote for one in sent)
        return not granted or addresses(message.voter_key, after.key)
    if isinstance(message, FetchRequest) and after.role is Role.LEADER:
        moved = {key for key in after.voters if old.fetch_offsets.get(key) != after.fetch_offsets.get(key)}
        bound = {voter.id for voter in old.voters if names(voter, message.replica_key)}
        return all(names(key, message.replica_key) for key in moved) and after.fetchers - old.fetchers <= bound
    return True


_ROLE_CHANGES = role_changes()


class PropertyWatch:
    """Collects the violated properties of one run, each with the sequence of its first violation."""

    def __init__(self, configuration: Configuration) -> None:
        self.violated: dict[str, int] = {}
        self._configuration = configuration
        self._leaders: dict[int, set[ReplicaKey]] = {}
        self._votes: dict[ReplicaKey, tuple[int, set[ReplicaKey | int]]] = {}
        self._written: dict[tuple[int, int], Record] = {}
        self._committed: tuple[Record, ...] = ()
        self._exposed: dict[int, Record] = {}
        self._sets = SetWatch()
        support = {replica.pre_vote for replica in configuration.replicas.values()}
        self._judges_elections = len(support) == 1
        """In a mixed cluster NoNeedlessElection promises nothing; one without any Pre-Vote is judged as if it had it,
        because that is what the texts compare with."""

    def observe(
        self,
        sequence: int,
        before: Mapping[int, ReplicaState],
        after: ReplicaState,
        event: object,
        effects: tuple[Effect, ...],
        cuts: set[tuple[int, int]],
    ) -> None:
        """One event at the replica of `after`; `before` are all states before it."""
        old = before[after.key.id]
        broken = [
            *self._leadership(old, after, before, cuts),
            *self._vote(after),
            *self._log(after, effects, before),
            *self._commitment(old, after),
        ]
        broken += self._sets.broken(old, after, before, event, effects, self._committed)
        if after.role is not old.role and (old.role, after.role) not in _ROLE_CHANGES:
            broken.append("RoleChange")
        if old.key == after.key and after.epoch < old.epoch:
            broken.append("EpochMonotonic")
        if after.role is Role.FOLLOWER and after.leader_id == after.key.id:
            broken.append("NotFollowerOfSelf")
        for name in broken:
            self.violated.setdefault(name, sequence)

    def _leadership(
        self,
        old: ReplicaState,
        after: ReplicaState,
        before: Mapping[int, ReplicaState],
        cuts: set[tuple[int, int]],
    ) -> list[str]:
        broken = []
        if after.role is Role.LEADER:
            leaders = self._leaders.setdefault(after.epoch, set())
            leaders.add(after.key)
            if len(leaders) > 1:
                broken.append("ElectionSafety")
            if old.role is not Role.LEADER and after.epoch == max(self._leaders):
                missing = not is_complete(after.log, self._committed)
                broken += ["LeaderCompleteness", "CommittedNeverLost"] if missing else []
        nominated = after.role in (Role.CANDIDATE, Role.LEADER) and after.epoch == old.epoch + 1
        if nominated and self._judges_elections and _is_led(old.epoch, before, cuts):
            broken.append("NoNeedlessElection")
        return broken

    def _vote(self, after: ReplicaState) -> list[str]:
        if after.voted_key is None:
            return []
        # At kraft.version 0 a restart forgets the directory id of a vote.  Rule: durable.vote.v0-uuid-in-memory.
        candidate = after.voted_key if self._configuration.kraft_version else after.voted_key.id
        epoch, candidates = self._votes.get(after.key, (-1, set()))
        candidates = {*candidates, candidate} if epoch == after.epoch else {candidate}
        self._votes[after.key] = (after.epoch, candidates)
        return ["VoteOncePerEpoch"] if len(candidates) > 1 else []

    def _log(self, after: ReplicaState, effects: tuple[Effect, ...], before: Mapping[int, ReplicaState]) -> list[str]:
        broken = []
        for effect in effects:
            if isinstance(effect, AppendRecords):
                for offset, record in enumerate(effect.records, effect.base_offset):
                    if self._written.setdefault((offset, record.epoch), record) != record:
                        broken.append("OffsetEpochUnique")
        others = [state for replica_id, state in before.items() if replica_id != after.key.id]
        if not all(_logs_match(after.log, other.log) for other in others):
            broken.append("LogMatching")
        return broken

    def _commitment(self, old: ReplicaState, after: ReplicaState) -> list[str]:
        broken = []
        high_watermark = after.high_watermark
        falls = after.role is not Role.STOPPED and old.key == after.key and high_watermark < old.high_watermark
        if falls and not self._may_forget(old, after):
            broken.append("HwMonotonic")
        if after.role in (Role.LEADER, Role.RESIGNED) and high_watermark > len(self._committed):
            self._committed += after.log.between(len(self._committed), high_watermark)
        if high_watermark > 0 and not is_complete(after.log, self._committed[:high_watermark]):
            broken.append("CommittedNeverLost")
        if high_watermark > old.high_watermark:
            start = max(old.high_watermark, after.log.start_offset, 0)
            for offset, record in enumerate(after.log.between(start, high_watermark), start):
                if self._exposed.setdefault(offset, record) != record:
                    broken.append("StateMachineSafety")
        return broken

    def _may_forget(self, old: ReplicaState, after: ReplicaState) -> bool:
        """Does a role begin in which no high watermark is known, by the profile?"""
        begins = after.role is not old.role and after.role in (Role.LEADER, Role.RESIGNED)
        forgets = after.high_watermark == UNKNOWN_HIGH_WATERMARK
        return begins and forgets and self._configuration.profile.leader_high_watermark == "unknown"


def _logs_match(one: Log, other: Log) -> bool:
    """Do two logs that share an (offset, epoch) agree up to the largest one they share, as far as both have records?"""
    start = max(one.start_offset, other.start_offset)
    end = min(one.end_offset, other.end_offset)
    same = next((n for n in range(end, start, -1) if one.record(n - 1).epoch == other.record(n - 1).epoch), start)
    return one.between(start, same) == other.between(start, same)


def _is_led(epoch: int, before: Mapping[int, ReplicaState], cuts: set[tuple[int, int]]) -> bool:
    """Does a Leader of the newest epoch have a majority fetching, over links that work?"""
    if any(state.epoch > epoch for state in before.values()):
        return False
    for leader in before.values():
        if leader.role is not Role.LEADER or leader.epoch != epoch:
            continue
        fetching = 1 if is_voter(leader) else 0
        for voter in other_voters(leader):
            state = before[voter.id]
            links = {(voter.id, leader.key.id), (leader.key.id, voter.id)}
            follows = state.role is Role.FOLLOWER and state.epoch == epoch and state.leader_id == leader.key.id
            fetching += follows and state.fetched and not links & cuts
        if is_majority(fetching, leader.voters):
            return True
    return False
