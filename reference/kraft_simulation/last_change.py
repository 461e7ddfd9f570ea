"""The voter change that an operator requests after the faults until it succeeds; see `EventualChange`."""

from kraft_reference.events import AddVoter, AlterPartitionReassignments, RemoveVoter, UpdateFeatures
from kraft_reference.identity import ReplicaKey, VoterSet
from kraft_reference.messages import Reply
from kraft_reference.state import ReplicaState
from kraft_simulation.clients import ChangeRequest, Clients
from kraft_simulation.driver import Driver
from kraft_simulation.liveness.remaining import Remaining, set_left
from kraft_simulation.liveness.standing import Leadership
from kraft_simulation.liveness.watch import LivenessWatch
from kraft_simulation.membership import is_member
from kraft_simulation.occurrence import Occurrence

_FIRST_WAIT_MS = 300
_PAUSE_MS = 700
"""Delay between a reply and the next request."""


class LastChange:
    """An operator with one request at a time."""

    def __init__(self, driver: Driver, clients: Clients, remaining: Remaining, watch: LivenessWatch) -> None:
        """If operators reassign, the request is a reassignment that removes the leader."""
        self._driver = driver
        self._clients = clients
        self._remaining = remaining
        self._watch = watch
        self._unanswered: tuple[Leadership, int] | None = None
        driver.after_answer = self._answered

    def start(self) -> None:
        """Schedule the first request; until there is a possible one, the watch expects it."""
        self._watch.change.expected = True
        self._watch.change.reassigns = self._clients.reassigns
        self._driver.queue.around(_FIRST_WAIT_MS, self._ask)

    def _answered(self, _: int, reply: Reply) -> None:
        if self._unanswered is not None and reply.request == self._unanswered[1]:
            self._unanswered = None

    def _ask(self) -> Occurrence | None:
        change = self._watch.change
        if change.is_done:
            return None
        self._driver.queue.around(_PAUSE_MS, self._ask)
        leadership = self._watch.leadership
        if leadership is None or (self._unanswered is not None and self._unanswered[0] == leadership):
            return None
        leader = self._driver.world.state(leadership.leader_id)
        if leader.target is not None:
            return None
        request = self._target(leader) if self._clients.reassigns else self._wish(leader)
        # Without a possible request nothing is owed, unless a replica is joining, which makes one possible.
        change.expected = request is not None
        if request is None:
            return None
        self._unanswered = (leadership, request.request)
        return self._driver.happen(leader.key.id, request)

    def _target(self, leader: ReplicaState) -> ChangeRequest | None:
        """Return a target of all replicas but the leader, if all are linked."""
        everybody = sorted(self._remaining.running)
        linked = all(
            self._remaining.linked(first, other) for first in everybody for other in everybody if first != other
        )
        others = tuple([replica_id for replica_id in everybody if replica_id != leader.key.id])
        possible = leader.log.kraft_version > 0 and linked and len(others) > 0
        return AlterPartitionReassignments(self._clients.next_request(), others) if possible else None

    def _wish(self, leader: ReplicaState) -> ChangeRequest | None:
        """Return the upgrade, else an addition, else a removal; None if none is possible."""
        if leader.log.kraft_version == 0:
            possible = all(self._may_upgrade(leader, voter) for voter in leader.voters)
            return UpdateFeatures(self._clients.next_request(), 1) if possible else None
        number = self._clients.next_request()
        replicas = self._driver.world.configuration.replicas
        taken = {voter.id for voter in leader.voters}
        for replica_id in sorted(self._remaining.running - taken):
            own = replicas[replica_id]
            if self._linked(leader, replica_id) and own.min_version <= 1 <= own.max_version and not own.auto_join:
                return AddVoter(number, self._driver.world.state(replica_id).key, own.endpoint)
        leavers = [voter for voter in sorted(leader.voters) if self._may_leave(leader, voter)]
        return RemoveVoter(number, leavers[0]) if leavers else None

    def _linked(self, leader: ReplicaState, replica_id: int) -> bool:
        return replica_id == leader.key.id or self._remaining.linked(leader.key.id, replica_id)

    def _may_upgrade(self, leader: ReplicaState, voter: ReplicaKey) -> bool:
        """True if the leader can learn that a voter supports kraft.version 1: no voter reports itself in Kafka 4.0."""
        configuration = self._driver.world.configuration
        own = configuration.replicas[voter.id]
        reports = voter.id == leader.key.id or configuration.profile.report_at_version_0 == "noted"
        return reports and self._linked(leader, voter.id) and own.min_version <= 1 <= own.max_version

    def _may_leave(self, leader: ReplicaState, voter: ReplicaKey) -> bool:
        """True if a connected majority remains, of the current set and of the set without this voter."""
        replica = self._driver.world.configuration.replicas.get(voter.id)
        if replica is not None and replica.auto_join:
            return False
        after = leader.voters - {voter}
        return (
            bool(after)
            and self._connected(leader, after, after)
            and (voter.id != leader.key.id or self._connected(leader, after, leader.voters))
        )

    def _connected(self, leader: ReplicaState, members: VoterSet, voters: VoterSet) -> bool:
        """True if the members that are linked to the leader, and to each other, are a majority of a set."""
        states = [self._driver.world.state(replica_id) for replica_id in sorted(self._remaining.running)]
        present = [
            state.key.id for state in states if is_member(state.key, members) and self._linked(leader, state.key.id)
        ]
        mutual = [
            member
            for member in present
            if all(member == other or self._remaining.linked(member, other) for other in present)
        ]
        return 2 * len(mutual) > set_left(voters, states).size
