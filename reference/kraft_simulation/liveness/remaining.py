"""The remaining cluster after the faults stop: running replicas, and links that stay cut."""

from collections.abc import Collection
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from kraft_reference.identity import VoterSet
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState
from kraft_simulation.membership import is_member
from kraft_simulation.world import World

Link = tuple[int, int]
"""Direction of a link: ids of the sender and the receiver."""


class SetLeft(NamedTuple):
    """Remaining voters of a voter set."""

    members: frozenset[int]
    """Ids of its running voters, without those that have lost their disk."""
    size: int
    """Size of the set, including stopped and lost voters."""

    def has_majority(self, replicas: Collection[int]) -> bool:
        """True if these replicas include a majority of the set."""
        return 2 * len(self.members.intersection(replicas)) > self.size


@dataclass(frozen=True, slots=True)
class Remaining:
    """The remaining cluster, with the premises of the properties."""

    sets: tuple[SetLeft, ...]
    """Voter sets that can decide: the newest committed one and those after it; see `live_sets`."""
    running: frozenset[int]
    """Ids of all running replicas."""
    cuts: frozenset[Link]
    """Links that stay cut."""

    def __str__(self) -> str:
        cut = ", ".join(f"{source}>{destination}" for source, destination in sorted(self.cuts))
        return f"running: {', '.join(map(str, sorted(self.running)))}; links cut for good: {cut or 'none'}"

    @property
    def voters(self) -> frozenset[int]:
        """Ids of the running voters of all sets."""
        return frozenset().union(*(left.members for left in self.sets))

    def hears(self, listener: int, speaker: int) -> bool:
        """True if messages get from one replica to another, provided that both run."""
        return (speaker, listener) not in self.cuts

    def linked(self, replica_id: int, other: int) -> bool:
        """True if both replicas run, and messages get through in both directions."""
        both_run = replica_id in self.running and other in self.running
        return both_run and self.hears(replica_id, other) and self.hears(other, replica_id)

    def is_majority(self, replicas: Collection[int]) -> bool:
        """True if these replicas include a majority of each set."""
        return bool(self.sets) and all(left.has_majority(replicas) for left in self.sets)

    def connected_majority(self) -> frozenset[int] | None:
        """Return a smallest group of linked replicas with a majority of each set; None if there is none."""
        voters = sorted(self.voters)
        for size in range(max((left.size // 2 + 1 for left in self.sets), default=1), len(voters) + 1):
            for group in combinations(voters, size):
                linked = all(self.linked(first, other) for first, other in combinations(group, 2))
                if linked and self.is_majority(group):
                    return frozenset(group)
        return None

    def led_in_vain(self) -> frozenset[int]:
        """Voters that a majority can reach, but that can reach only some others and no majority.

        Such a leader stays leader by Fetches whose responses are lost: check quorum counts requests, and a follower
        without responses soon returns from Prospective and fetches again.  Meanwhile the followers that receive its
        responses refuse all Pre-Votes, so it can block a connected majority forever.  The rules do not prevent that,
        and EventualLeader excludes it.  It takes four voters: of three, the follower that receives responses makes a
        majority with it.
        """
        return frozenset(voter for left in self.sets for voter in left.members if self._reached_in_vain(voter, left))

    def _reached_in_vain(self, voter: int, left: SetLeft) -> bool:
        others = left.members - {voter}
        linked = {other for other in others if self.linked(voter, other)}
        heard = {other for other in others if self.hears(voter, other)}
        return bool(linked) and left.has_majority({voter, *heard}) and not left.has_majority({voter, *linked})


def live_sets(states: Collection[ReplicaState], committed_end: int) -> list[VoterSet]:
    """Return the voter sets of possible leaders: the newest committed one, and every later one in any log.

    The best log decides the newest committed set, because the next leader has that set or a later one.
    """
    best = max(states, key=lambda state: (state.log.last_epoch, state.log.end_offset), default=None)
    if best is None:
        return []
    committed = [entry.voters for entry in best.log.voters if entry.offset < committed_end]
    later = [entry.voters for state in states for entry in state.log.voters if entry.offset >= committed_end]
    return [voters for voters in dict.fromkeys([*committed[-1:], *later]) if voters]


def set_left(voters: VoterSet, states: Collection[ReplicaState]) -> SetLeft:
    """Return the remaining voters of a set among the running replicas.

    A replica outside of its own newest set does not campaign, and refuses its vote to voters with shorter logs, so no
    candidate can rely on it; the rules have no solution for that.
    """
    members = [state for state in states if is_member(state.key, voters)]
    best = [(state.log.last_epoch, state.log.end_offset) for state in members]
    shortest = min(best, default=(0, 0))
    useful = {
        state.key.id
        for state, log_end in zip(members, best, strict=True)
        if is_member(state.key, state.voters) or log_end <= shortest
    }
    return SetLeft(frozenset(useful), len(voters))


def remaining_of(world: World, cuts: Collection[Link], stopped: Collection[int]) -> Remaining:
    """Return the remaining cluster if all other links are healed and all other replicas started."""
    states = [state for replica_id, state in world.states.items() if replica_id not in stopped]
    return Remaining(
        sets=tuple(set_left(voters, states) for voters in live_sets(states, world.committed_end)),
        running=frozenset(state.key.id for state in states),
        cuts=frozenset(cuts),
    )


def running_leaders(world: World) -> list[ReplicaState]:
    """Return the states of the replicas in role Leader, by ascending id."""
    return [state for state in world.states.values() if state.role is Role.LEADER]
