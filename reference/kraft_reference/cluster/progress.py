"""What a healed cluster owes: one leader that everybody follows, and a new record committed everywhere."""

from collections.abc import Mapping

from kraft_reference.cluster.occurrence import Occurrence
from kraft_reference.cluster.violation import Violation
from kraft_reference.cluster.world import World
from kraft_reference.events import ClientAppend
from kraft_reference.replica import Replica
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState

PROGRESS_PROPERTIES = ("EventualLeader", "CommitProgress")
"""The properties that only a wait can break."""


class Progress:
    """Watches the liveness phase until the cluster has made progress."""

    def __init__(self, world: World, lost_for_good: frozenset[int]) -> None:
        self._replicas: Mapping[int, Replica] = {
            replica_id: replica for replica_id, replica in world.replicas.items() if replica_id not in lost_for_good
        }
        self._appended: dict[int, int] = {}
        """Offset of the first record that a client appended since the network healed, by epoch of the leader."""

    def observe(self, occurrence: Occurrence) -> bool:
        """Is this the occurrence with which the cluster has made progress?"""
        state = occurrence.state
        if state is None:
            return False
        if isinstance(occurrence.event, ClientAppend) and state.role is Role.LEADER:
            self._appended.setdefault(state.epoch, state.log.end_offset - 1)
        offset = self._appended.get(state.epoch)
        if offset is None or state.high_watermark <= offset:
            return False
        leader = self.leader()
        return leader is not None and all(replica.state.high_watermark > offset for replica in self._replicas.values())

    def leader(self) -> ReplicaState | None:
        """The leader that all running replicas follow in its epoch, if there is one."""
        states = [replica.state for replica in self._replicas.values()]
        leaders = [state for state in states if state.role is Role.LEADER]
        if len(leaders) != 1:
            return None
        (leader,) = leaders
        agreed = all(
            state is leader
            or (state.role is Role.FOLLOWER and (state.epoch, state.leader_id) == (leader.epoch, leader.key.id))
            for state in states
        )
        return leader if agreed else None

    def missing(self, sequence: int, waited_ms: int) -> Violation:
        """What the cluster did not manage in time."""
        leader = self.leader()
        name = PROGRESS_PROPERTIES[0 if leader is None else 1]
        states = "; ".join(
            f"{replica.state.key} {replica.state.role}({replica.state.epoch}) leader {replica.state.leader_id} "
            f"log end {replica.state.log.end_offset} high watermark {replica.state.high_watermark}"
            for _, replica in sorted(self._replicas.items())
        )
        return Violation(name, sequence, None, f"no progress in {waited_ms} ms after the faults ended: {states}")
