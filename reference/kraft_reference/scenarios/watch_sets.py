"""What the voters sets of a run violate: beside `watch`, which says how the properties are judged."""

from collections.abc import Iterator, Mapping

from kraft_reference.effects import Effect, Send
from kraft_reference.events import Receive
from kraft_reference.identity import ReplicaKey, VoterSet, addresses, names
from kraft_reference.log import Log
from kraft_reference.messages import FetchRequest, VoteRequest, VoteResponse
from kraft_reference.records import SET_KINDS, Record
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState, is_voter


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
