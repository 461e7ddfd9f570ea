"""What is left of a cluster when its faults stop: which replicas run, and which links are cut for good."""

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
"""One direction: the ids of the sender and the receiver."""


class SetLeft(NamedTuple):
    """What is left of one voters set."""

    members: frozenset[int]
    """Ids of its voters that run; one that came back with another disk is none."""
    size: int
    """Of the set, stopped and lost voters included."""

    def has_majority(self, replicas: Collection[int]) -> bool:
        """Are more than half of the set among these replicas?"""
        return 2 * len(self.members.intersection(replicas)) > self.size


@dataclass(frozen=True, slots=True)
class Remaining:
    """The part of a cluster that goes on, and the premises that the properties find in it."""

    sets: tuple[SetLeft, ...]
    """The voters sets that can decide something: the newest committed one and those after it; see `live_sets`."""
    running: frozenset[int]
    """Ids of all replicas that run."""
    cuts: frozenset[Link]
    """Links that nobody mends."""

    def __str__(self) -> str:
        cut = ", ".join(f"{source}>{destination}" for source, destination in sorted(self.cuts))
        return f"running: {', '.join(map(str, sorted(self.running)))}; links cut for good: {cut or 'none'}"

    @property
    def voters(self) -> frozenset[int]:
        """Ids of the voters of any of the sets that run."""
        return frozenset().union(*(left.members for left in self.sets))

    def hears(self, listener: int, speaker: int) -> bool:
        """Do messages get from one replica to another, if both run?"""
        return (speaker, listener) not in self.cuts

    def linked(self, one: int, other: int) -> bool:
        """Do both run, and do messages get from each to the other?"""
        both_run = one in self.running and other in self.running
        return both_run and self.hears(one, other) and self.hears(other, one)

    def is_majority(self, replicas: Collection[int]) -> bool:
        """Are these replicas more than half of each set?"""
        return bool(self.sets) and all(left.has_majority(replicas) for left in self.sets)

    def connected_majority(self) -> frozenset[int] | None:
        """A smallest group with a majority of each set, all linked to each other; None if there is none."""
        voters = sorted(self.voters)
        for size in range(max((left.size // 2 + 1 for left in self.sets), default=1), len(voters) + 1):
            for group in combinations(voters, size):
                linked = all(self.linked(one, other) for one, other in combinations(group, 2))
                if linked and self.is_majority(group):
                    return frozenset(group)
        return None

    def led_in_vain(self) -> frozenset[int]:
        """Voters whom a majority reaches, while they are linked to some others but not to a majority.

        As leader such a voter is kept in office by Fetches whose answers get lost: check quorum counts requests,
        and a follower that gets no answers soon comes back from Prospective and asks again.
        While it is in office, those that do get its answers refuse all Pre-Votes, so it can block a connected
        majority for ever; the rules do not prevent that, and EventualLeader does not promise it.
        That takes four voters: of three, the one that gets its answers makes a majority with it.
        """
        return frozenset(voter for left in self.sets for voter in left.members if self._reached_in_vain(voter, left))

    def _reached_in_vain(self, voter: int, left: SetLeft) -> bool:
        others = left.members - {voter}
        linked = {other for other in others if self.linked(voter, other)}
        heard = {other for other in others if self.hears(voter, other)}
        return bool(linked) and left.has_majority({voter, *heard}) and not left.has_majority({voter, *linked})


def live_sets(states: Collection[ReplicaState], committed_end: int) -> list[VoterSet]:
    """The sets with which somebody could lead: the newest committed one, and every one after it in any log.

    Of the logs, the best one says which is the newest committed: whoever leads next has that set or a later one.
    """
    best = max(states, key=lambda state: (state.log.last_epoch, state.log.end_offset), default=None)
    if best is None:
        return []
    committed = [entry.voters for entry in best.log.voters if entry.offset < committed_end]
    later = [entry.voters for state in states for entry in state.log.voters if entry.offset >= committed_end]
    return [voters for voters in dict.fromkeys([*committed[-1:], *later]) if voters]


def set_left(voters: VoterSet, states: Collection[ReplicaState]) -> SetLeft:
    """What is left of a set among the replicas that run.

    A replica that is outside of its own newest set asks for no votes.  If its log is longer than another voter's, it
    gives that one none either, so nobody can count on it; the rules have no way out of that.
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
    """What remains of a cluster when all but these links are mended and all but these replicas started."""
    states = [state for replica_id, state in world.states.items() if replica_id not in stopped]
    return Remaining(
        sets=tuple(set_left(voters, states) for voters in live_sets(states, world.committed_end)),
        running=frozenset(state.key.id for state in states),
        cuts=frozenset(cuts),
    )


def running_leaders(world: World) -> list[ReplicaState]:
    """The states of the replicas that lead as far as they know, by ascending id."""
    return [state for state in world.states.values() if state.role is Role.LEADER]
