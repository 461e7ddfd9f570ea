"""EventualLeader, EventuallyFetching and CommitProgress: a connected majority gets a leader, followers and commits."""

from collections.abc import Iterator

from kraft_reference.events import ClientAppend, Receive
from kraft_reference.identity import VoterSet
from kraft_reference.messages import Error, FetchResponse
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState, is_voter
from kraft_simulation.liveness.remaining import Remaining
from kraft_simulation.liveness.standing import Leadership, Standing, Wait, follows, leadership_of
from kraft_simulation.membership import is_member
from kraft_simulation.occurrence import Occurrence
from kraft_simulation.world import World

LEADER_TIMEOUTS = 60
"""Bound of EventualLeader in election timeouts T.

A failed election takes at most 4 T: its own wait of less than 2 T, then a backoff of 1 T and the wait of the next
candidate.  The number of failed elections is random: remains of an old epoch cost the first two or three (a fetch
timeout and a check-quorum period each), and 12 further ones in a row are too unlikely."""
FETCHING_TIMEOUTS_PER_SERVER = 16
"""Bound of EventuallyFetching in election timeouts T, for each bootstrap server that the replica may ask.

The leader sends BeginQuorumEpoch every T to a voter that does not fetch, and an election attempt ends within 2 T.
An observer fetches from one of n servers at random; one that does not respond takes 1.1 T including the wait before
the next.  If only one server helps, 14 n requests in a row miss it with a chance of 1 in a million."""
COMMIT_TIMEOUTS = 20
"""Bound of CommitProgress in election timeouts T, from the latest of: the leader is established, the record is
appended, a replica without the record gets a further part of the log.

A follower with the record learns in two more Fetches that it is committed.  A Fetch in flight when the leadership began
costs a request timeout (0.7 T), becoming Follower again costs at most 4 T; EventuallyFetching covers a replica that
does not fetch yet."""


class EventualLeader:
    """If a majority stays connected, eventually there is a Leader it follows.

    Premise: the running voters include a majority of each deciding set whose members are all linked to each other
    (`Remaining`), and no other voter can stay leader by Fetches whose responses are lost (`Remaining.led_in_vain`).
    Satisfied by any leader that a majority follows and can communicate with: it may be another majority, because a
    voter outside of the connected one can be linked to enough others to be elected.
    """

    def __init__(self, remaining: Remaining, standing: Standing, timeout_ms: int) -> None:
        self._standing = standing
        self._bound_ms = LEADER_TIMEOUTS * timeout_ms
        self._owed_since_ms = 0
        self.owed = False
        """True if the premise of the property holds."""
        self.update(remaining, 0)

    def update(self, remaining: Remaining, now_ms: int) -> None:
        """Set the remaining cluster, at first and after a change of a voter set."""
        owed = remaining.connected_majority() is not None and not remaining.led_in_vain()
        if owed and not self.owed:
            self._owed_since_ms = now_ms
        self.owed = owed

    def waits(self, now_ms: int) -> Iterator[Wait]:
        """Return the wait for a leader."""
        if self.owed and self._standing.leadership is None:
            waited_ms = now_ms - max(self._standing.since_ms, self._owed_since_ms)
            yield Wait(None, "a leader that a majority follows and can talk to", waited_ms, self._bound_ms)


class EventuallyFetching:
    """A replica that can reach the leader and a bootstrap server eventually fetches.

    The leader is the established one (`Standing`).
    Premise: another running replica, voter or observer, is linked to it and to some bootstrap server.
    A replica that is linked to the majority but not to its leader is not required to fetch: followers that fetch
    refuse its Pre-Votes, and it waits for a leader that it can reach.
    Nor is a replica outside of the leader's voter set with a larger epoch than the leader's: it learned the epoch from
    a lost candidate, or was a candidate before its removal; the leader refuses its Fetches, and the rules have no
    solution for that.
    Nor, if observers ignore their fetch timer (`observer_refusal` = timer-unused), is an observer that follows a
    leader which it cannot reach, because it fetches from no other server.
    """

    def __init__(self, remaining: Remaining, standing: Standing, world: World) -> None:
        self._remaining = remaining
        self._standing = standing
        self._world = world
        configuration = world.configuration
        servers = {replica_id: configuration.bootstrap_server_ids(replica_id) for replica_id in remaining.running}
        self._searching = sorted(
            replica_id
            for replica_id, own in servers.items()
            if any(remaining.linked(replica_id, server) for server in own)
        )
        """Replicas that can reach a bootstrap server."""
        per_server_ms = FETCHING_TIMEOUTS_PER_SERVER * configuration.timeouts.election_timeout_ms
        self._bounds_ms = {replica_id: len(own) * per_server_ms for replica_id, own in servers.items()}
        self._fetches_from: dict[int, Leadership] = {}
        self._stopped_fetching_ms: dict[int, int] = {}

    def observe(self, occurrence: Occurrence, state: ReplicaState) -> None:
        """Follow a Fetch response, or the end of following the leader that a replica fetched from."""
        replica_id = state.key.id
        leadership = self._fetches_from.get(replica_id)
        if leadership is not None and not follows(state, leadership):
            del self._fetches_from[replica_id]
            self._stopped_fetching_ms[replica_id] = occurrence.time_ms
        event = occurrence.event
        if type(event) is not Receive or type(event.message) is not FetchResponse or occurrence.refusal is not None:
            return
        answer = event.message
        answered = Leadership(answer.source, answer.epoch)
        if answer.error is Error.NONE and follows(state, answered):
            self._fetches_from[replica_id] = answered

    @property
    def longest_bound_ms(self) -> int:
        """Return the largest bound of all replicas."""
        return max(self._bounds_ms.values(), default=0)

    def owing(self, leadership: Leadership) -> list[int]:
        """Return the replicas that must fetch from an established leader, by ascending id."""
        voters = self._world.state(leadership.leader_id).voters
        return [
            replica_id
            for replica_id in self._searching
            if replica_id != leadership.leader_id
            and self._remaining.linked(replica_id, leadership.leader_id)
            and self._is_served(self._world.state(replica_id), leadership.epoch, voters)
        ]

    def _is_served(self, state: ReplicaState, epoch: int, voters: VoterSet) -> bool:
        """False for a replica outside of the set with a larger epoch, and for an observer that asks no other server."""
        if state.epoch > epoch and not is_member(state.key, voters):
            return False
        if state.role is not Role.FOLLOWER or is_voter(state) or state.leader_id is None:
            return True
        is_unused = self._world.configuration.profile.observer_refusal == "timer-unused"
        return not is_unused or self._remaining.linked(state.key.id, state.leader_id)

    def fetching(self, leadership: Leadership) -> list[int]:
        """Return the replicas that must fetch and do, by ascending id."""
        return [replica_id for replica_id in self.owing(leadership) if self._fetches_from.get(replica_id) == leadership]

    def waits(self, now_ms: int) -> Iterator[Wait]:
        """Yield the waits of replicas that do not fetch, by ascending id."""
        leadership = self._standing.leadership
        if leadership is None:
            return
        waited_for = f"a Fetch from leader {leadership.leader_id} of epoch {leadership.epoch} with a good answer"
        for replica_id in self.owing(leadership):
            if self._fetches_from.get(replica_id) != leadership:
                since_ms = max(self._standing.since_ms, self._stopped_fetching_ms.get(replica_id, 0))
                yield Wait(replica_id, waited_for, now_ms - since_ms, self._bounds_ms[replica_id])


class CommitProgress:
    """With a stable majority, appended records eventually commit.

    The majority is stable while the same leader is established (`Standing`).
    It covers the first record that a client appends at that leader after the faults stopped: it must be below the high
    watermarks of the leader and of every replica that must fetch from it (`EventuallyFetching`).
    """

    def __init__(self, world: World, standing: Standing, fetching: EventuallyFetching) -> None:
        self._world = world
        self._standing = standing
        self._fetching = fetching
        self._bound_ms = COMMIT_TIMEOUTS * world.configuration.timeouts.election_timeout_ms
        self._appended: dict[Leadership, tuple[int, int]] = {}
        """Offset of the first record since the faults stopped, and the time of its append."""
        self._log_ends: dict[int, int] = {}
        self._moved_ms = world.time_ms

    def observe(self, occurrence: Occurrence, state: ReplicaState) -> None:
        """Follow an append at a leader, or the log of a follower that catches up."""
        if state.role is Role.LEADER:
            if type(occurrence.event) is ClientAppend:
                self._appended.setdefault(leadership_of(state), (state.log.end_offset - 1, occurrence.time_ms))
        elif state.role is Role.FOLLOWER:
            end = state.log.end_offset
            before = self._log_ends.get(state.key.id)
            if end != before:
                self._log_ends[state.key.id] = end
                standing = self._standing.leadership
                appended = self._appended.get(standing) if standing is not None and follows(state, standing) else None
                if appended is not None and (before is None or before <= appended[0]):
                    self._moved_ms = occurrence.time_ms

    def has_record(self) -> bool:
        """True if a client has appended a record at the established leader."""
        return self._standing.leadership in self._appended

    def waits(self, now_ms: int) -> Iterator[Wait]:
        """Yield the waits of replicas whose high watermark is not above the record, the leader first."""
        leadership = self._standing.leadership
        if leadership is None or leadership not in self._appended:
            return
        offset, appended_ms = self._appended[leadership]
        waited_for = f"a high watermark above offset {offset}, appended by a client"
        since_ms = max(appended_ms, self._standing.since_ms, self._moved_ms)
        for replica_id in (leadership.leader_id, *self._fetching.fetching(leadership)):
            if self._world.state(replica_id).high_watermark <= offset:
                yield Wait(replica_id, waited_for, now_ms - since_ms, self._bound_ms)
